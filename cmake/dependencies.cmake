# Everything fiel stands on, found once. Debian's packages come from ./setup; OpenVINO's C++ SDK lies
# inside the wheel in the project's virtual environment. ONNX Runtime: onnxruntime.cmake.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
# CMake renamed the target; this name is ours.
add_library(fiel_sqlite INTERFACE)
if(TARGET SQLite3::SQLite3)
  target_link_libraries(fiel_sqlite INTERFACE SQLite3::SQLite3)
else()
  target_link_libraries(fiel_sqlite INTERFACE SQLite::SQLite3)
endif()
set(CMAKE_POLICY_DEFAULT_CMP0167 NEW)
find_package(Boost CONFIG REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
find_path(FIEL_TOMLPP_INCLUDE toml++/toml.h REQUIRED)
find_path(FIEL_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
if(FIEL_TESTS)
  find_package(GTest REQUIRED)
endif()

# The Python whose packages are built with: the project's own, or the one that pip builds a wheel with. -DFIEL_PYTHON names another.
if(NOT FIEL_PYTHON)
  if(SKBUILD)
    set(FIEL_PYTHON ${Python_EXECUTABLE})
  else()
    set(FIEL_PYTHON ${FIEL_VENV}/bin/python)
  endif()
endif()
if(NOT EXISTS ${FIEL_PYTHON})
  message(FATAL_ERROR "no Python at ${FIEL_PYTHON}: run ./setup first")
endif()

# It is asked where they lie: what pip builds in is spread over several folders.
function(fiel_python_package name result)
  execute_process(COMMAND ${FIEL_PYTHON} -c "import importlib.util as i; s = i.find_spec('${name}'); print(s.submodule_search_locations[0] if s else '')"
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT folder)
    message(FATAL_ERROR "${FIEL_PYTHON} has no package ${name}: run ./setup again")
  endif()
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

fiel_python_package(openvino _openvino_package)
find_package(OpenVINO REQUIRED COMPONENTS Runtime PATHS ${_openvino_package}/cmake NO_DEFAULT_PATH)
fiel_python_package(onnx _onnx_package)
if(NOT EXISTS ${_onnx_package}/onnx-ml.proto)
  message(FATAL_ERROR "${_onnx_package} has no onnx-ml.proto: run ./setup again")
endif()

# ONNX's own schema, compiled by protoc from the file that the onnx package ships.
set(_onnx_out ${CMAKE_BINARY_DIR}/generated/onnx_proto)
file(MAKE_DIRECTORY ${_onnx_out})
add_custom_command(
  OUTPUT ${_onnx_out}/onnx-ml.pb.cc ${_onnx_out}/onnx-ml.pb.h
  COMMAND protobuf::protoc --cpp_out=${_onnx_out} -I ${_onnx_package} ${_onnx_package}/onnx-ml.proto
  DEPENDS ${_onnx_package}/onnx-ml.proto VERBATIM)
add_library(fiel_onnx_proto STATIC ${_onnx_out}/onnx-ml.pb.cc)
target_include_directories(fiel_onnx_proto SYSTEM PUBLIC ${_onnx_out})
target_link_libraries(fiel_onnx_proto PUBLIC protobuf::libprotobuf)
