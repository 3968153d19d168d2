// The part of `verify` that runs the artifact: its answers against a reference made afresh, its time against what it was proven
// faster than. Writes what it finds into the Verification; an Error is what kept it from finding out.
#pragma once

#include "tune/one_off.h"
#include "tune/verify.h"

namespace fiel {

Result<> examine_bundle(OneOffWithHoldout workshop, const std::filesystem::path& folder, Verification& all);

}  // namespace fiel
