// Texts that get a user started: a contract to edit, a script that writes samples, and the contract
// of `fiel tune MODEL
// --data DIR`. All are made from what the model (and the data) say of themselves; no value of an
// input is made up.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/onnx_model.h"

namespace fiel {

/// A commented contract: inputs, shapes and dtypes filled in, what only the user knows as commented
/// questions. Paths are relative to the current folder, where it is assumed to be saved.
/// `engines` are those that work here, the one that gives the reference first.
std::string propose_contract(const OnnxModel& model, const std::vector<std::string>& engines);

/// A short Python program that writes .npz samples for this model; the user replaces the zeros.
std::string sample_script(const OnnxModel& model);

/// One folder of samples, split by content. Judged by top1 where labels.csv gives class numbers,
/// else by agreement with the float32 reference. Several shapes of a dynamic input become the
/// traffic's shapes, weighted as the data have them.
Result<std::string> default_contract_text(const std::filesystem::path& model,
                                          const std::filesystem::path& data,
                                          const std::vector<std::string>& engines);

}  // namespace fiel
