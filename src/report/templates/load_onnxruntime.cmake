# Builds load.cpp. Build outside of the bundle, so that its seal stays whole. ONNX Runtime's headers are Debian's libonnxruntime-dev,
# or name their folder with -DONNXRUNTIME_INCLUDE=; its library is the one of the Python wheel, or name it:
#   cmake -S . -B /tmp/load -DONNXRUNTIME_LIBRARY="$(python3 -c 'import glob, onnxruntime as o; print(glob.glob(o.__path__[0] + "/capi/libonnxruntime.so*")[0])')"
#   cmake --build /tmp/load && /tmp/load/load
cmake_minimum_required(VERSION 3.20)
project(load LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_path(ONNXRUNTIME_INCLUDE onnxruntime_cxx_api.h PATH_SUFFIXES onnxruntime include/onnxruntime REQUIRED)
set(ONNXRUNTIME_LIBRARY "libonnxruntime.so.1" CACHE STRING "The library to load, of the version that was measured")
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
add_executable(load load.cpp)
target_include_directories(load SYSTEM PRIVATE ${ONNXRUNTIME_INCLUDE})
target_compile_definitions(load PRIVATE BUNDLE_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}"
                                        ONNXRUNTIME_LIBRARY="${ONNXRUNTIME_LIBRARY}")
target_link_libraries(load PRIVATE OpenSSL::Crypto ${CMAKE_DL_LIBS})
