// How does TensorRT's trtexec write a build route, and which settings are that to us? "-copy_ppg=off -match_mha=on" on its side;
// here each knob is named "route." and its option without the dash. Knows no knob by name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fiel {

inline constexpr std::string_view kTrtexecRoutePrefix = "route.";

/// Of the settings whose names start with "route.", in name order; empty where there are none.
std::string to_trtexec_route(const std::map<std::string, std::string>& settings);

/// kCorrupt for a word that is no "-option=value", or an option that is there twice.
Result<std::map<std::string, std::string>> from_trtexec_route(std::string_view text);

}  // namespace fiel
