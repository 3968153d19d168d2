# fiel_embed(TARGET FILE NAME): the text of FILE as `fiel::embedded::NAME` (a std::string_view) for TARGET, declared in
# "embedded/NAME.h". One file, so that what a program says and what the page says cannot drift apart.
function(fiel_embed target file name)
  get_filename_component(path ${file} ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  set(folder ${CMAKE_BINARY_DIR}/generated/embedded)
  file(CONFIGURE OUTPUT ${folder}/${name}.h @ONLY CONTENT [[
#pragma once
#include <string_view>
namespace fiel::embedded {
extern const std::string_view @name@;
}
]])
  file(CONFIGURE OUTPUT ${folder}/${name}.cpp @ONLY CONTENT [[
#include "embedded/@name@.h"
namespace fiel::embedded {
const std::string_view @name@ = R"fiel_embed(@text@)fiel_embed";
}
]])
  target_sources(${target} PRIVATE ${folder}/${name}.cpp)
endfunction()
