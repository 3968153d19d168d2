# ONNX Runtime's headers, of which ./setup says where they come from. Its library is no business of the build: the worker
# loads one when it runs. Sets FIEL_HAS_ONNXRUNTIME; without headers everything but that worker is built.
find_path(FIEL_ONNXRUNTIME_INCLUDE onnxruntime_c_api.h
          PATH_SUFFIXES onnxruntime include/onnxruntime
          HINTS ${CMAKE_SOURCE_DIR}/.cache/onnxruntime-headers/usr/include)
if(FIEL_ONNXRUNTIME_INCLUDE)
  set(FIEL_HAS_ONNXRUNTIME TRUE)
else()
  set(FIEL_HAS_ONNXRUNTIME FALSE)
  message(STATUS "No headers of ONNX Runtime: its worker and its tests are left out. ./setup fetches them (libonnxruntime-dev).")
  return()
endif()
add_library(fiel_onnxruntime_headers INTERFACE)
target_include_directories(fiel_onnxruntime_headers SYSTEM INTERFACE ${FIEL_ONNXRUNTIME_INCLUDE})
target_compile_definitions(fiel_onnxruntime_headers INTERFACE ORT_API_MANUAL_INIT)
