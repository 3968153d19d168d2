# What is different where pip builds a wheel (pyproject.toml): nobody has run ./setup, and nothing may point into this tree.
# Included twice: before project() for the compiler, at the end for what is installed.
if(NOT PROJECT_NAME)
  # The newest g++ that will do, as `./setup --compiler` has it, unless the user names one.
  if(NOT CMAKE_CXX_COMPILER AND "$ENV{CXX}" STREQUAL "")
    find_program(CMAKE_CXX_COMPILER NAMES g++-14 g++-16 g++-15 g++-13 g++-12 c++)
  endif()
  find_program(FIEL_CCACHE ccache)
  if(FIEL_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${FIEL_CCACHE})
  endif()
  return()
endif()

# The programs lie in fiel/bin beside each other, which is how they find each other; an engine's libraries lie at the same place
# relative to them in every environment, whatever its Python.
get_property(_programs GLOBAL PROPERTY FIEL_PROGRAMS)
install(TARGETS ${_programs} RUNTIME DESTINATION fiel/bin)
# What the pages tell people to use, who may have no source tree: programs for other quantisers, schemas for editors.
install(FILES ${CMAKE_SOURCE_DIR}/variants/calibration.py ${CMAKE_SOURCE_DIR}/variants/nncf_ptq.py
              ${CMAKE_SOURCE_DIR}/variants/onnxruntime_static.py DESTINATION fiel/variants)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/schema DESTINATION fiel FILES_MATCHING PATTERN "*.json")
# What the programs are made of wants to be named where they go.
foreach(_package nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libboost-dev libfmt-dev libprotobuf-dev libonnxruntime-dev)
  foreach(_place /usr/share/doc ${CMAKE_SOURCE_DIR}/.cache/onnxruntime-headers/usr/share/doc)
    if(EXISTS ${_place}/${_package}/copyright)
      install(FILES ${_place}/${_package}/copyright DESTINATION fiel/licences RENAME ${_package}.txt)
      break()
    endif()
  endforeach()
endforeach()
set_target_properties(fiel-worker-openvino PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF INSTALL_RPATH "$ORIGIN/../../openvino/libs")
