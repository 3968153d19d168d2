// The version that records are bound to: a change in what decides is a new version.
#pragma once

namespace fiel {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace fiel
