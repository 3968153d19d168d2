# The executables: the coordinator holds no engine; each worker holds exactly one.
add_custom_target(programs)

function(fiel_program name source)
  cmake_parse_arguments(program "" "" "NEEDS" ${ARGN})
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  target_link_libraries(${name} PRIVATE fiel_flags ${program_NEEDS})
  add_dependencies(programs ${name})
endfunction()

fiel_program(fiel cli/main.cpp NEEDS fiel_cli)
