// A variant that a program of somebody else makes: [[variant]] program.
//
//   PROGRAM... MODEL CALIBRATION FOLDER     leaves model.onnx or model.xml in FOLDER, with what belongs to it, and exits with 0
#pragma once

#include <filesystem>

#include "decide/lab.h"

namespace fiel {

/// Made once a run, below its folder; what came out is recorded by digest. A Failure where the program fails, takes too long or
/// leaves no model.
Result<Outcome<std::filesystem::path>> make_by_program(Lab& lab, const VariantFile& variant);

}  // namespace fiel
