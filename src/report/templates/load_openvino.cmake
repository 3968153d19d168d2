# Builds load.cpp. Build outside of the bundle, so that its seal stays whole:
#   cmake -S . -B /tmp/load -DOpenVINO_DIR="$(python3 -c 'import openvino as o; print(o.__path__[0] + "/cmake")')"
#   cmake --build /tmp/load && /tmp/load/load
cmake_minimum_required(VERSION 3.20)
project(load LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(OpenVINO REQUIRED COMPONENTS Runtime)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
add_executable(load load.cpp)
target_compile_definitions(load PRIVATE BUNDLE_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(load PRIVATE openvino::runtime OpenSSL::Crypto)
