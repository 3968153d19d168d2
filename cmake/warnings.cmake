# One interface target carries what every translation unit of ours is compiled with.
add_library(fiel_flags INTERFACE)
target_include_directories(fiel_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
target_compile_options(fiel_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                            -Wold-style-cast -Werror=switch)
if(CMAKE_UNITY_BUILD)  # g++ takes the first file of a batch for the program and the others for headers
  target_compile_options(fiel_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(FIEL_WERROR)
  target_compile_options(fiel_flags INTERFACE -Werror)
endif()
if(FIEL_SANITIZE)
  target_compile_options(fiel_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
                                              -fno-sanitize-recover=undefined)
  target_link_options(fiel_flags INTERFACE -fsanitize=address,undefined)
endif()
if(FIEL_FUZZ)
  target_compile_options(fiel_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined)
  target_link_options(fiel_flags INTERFACE -fsanitize=address,undefined)
endif()
