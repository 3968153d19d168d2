#include "decide/variant_program.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/printable.h"
#include "base/subprocess.h"
#include "decide/artifact.h"
#include "decide/variant_record.h"
#include "model/model_file.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

fs::path model_in(const fs::path& folder) {
  for (const char* name : {"model.onnx", "model.xml"}) {
    std::error_code code;
    if (fs::is_regular_file(fs::symlink_status(folder / name, code))) return folder / name;  // no link: it would lead out
  }
  return {};
}

// Nothing: it left a model.
Result<std::optional<Failure>> run(Lab& lab, const VariantFile& variant, const fs::path& folder) {
  lab.progress.step(fmt::format("variant {}: `{}` makes it", variant.name, printable(fmt::format("{}", fmt::join(variant.program, " ")))));
  FIEL_TRY(remove_tree(folder));
  FIEL_TRY(ensure_folder(folder));
  std::vector<std::string> argv = variant.program;
  for (const fs::path& path : {lab.model.path, lab.contract.calibration, folder}) argv.push_back(fs::absolute(path).string());
  // It reads a model that may come from anywhere, with the libraries that an engine reads it with.
  std::optional<Confinement> confinement;
  if (variant.confine) confinement = Confinement{.writable = {folder}};
  auto done = run_program(argv, {.timeout_seconds = seconds_for_building(lab, variant.timeout_seconds),
                                 .environment = {{"TMPDIR", fs::absolute(folder).string()}},
                                 .cancel_fd = lab.cancel_fd,
                                 .confinement = std::move(confinement)});
  if (!done) {
    // That it could not even be started says nothing of what it would have made.
    const bool not_its_fault = done.error().kind == ErrorKind::kCancelled || done.error().kind == ErrorKind::kEnvironment;
    if (not_its_fault) return std::unexpected(std::move(done).error().with_context("variant " + variant.name));
    const auto kind = done.error().kind == ErrorKind::kTimeout ? FailureKind::kTimeout : FailureKind::kBuildError;
    return std::optional(variant_failure(kind, "its program: " + done.error().message));
  }
  const std::string tail = printable(done->errors_tail);
  if (!done->exit.is_success()) return std::optional(variant_failure(FailureKind::kBuildError, "its program ended with " + to_string(done->exit), tail));
  if (const std::string unfit = why_no_artifact(folder); !unfit.empty()) {
    return std::optional(variant_failure(FailureKind::kBuildError, "its program: " + unfit, tail));
  }
  if (model_in(folder).empty()) return std::optional(variant_failure(FailureKind::kBuildError, "its program left no model.onnx or model.xml", tail));
  return std::optional<Failure>();
}

}  // namespace

Result<Outcome<fs::path>> make_by_program(Lab& lab, const VariantFile& variant) {
  if (lab.contract.calibration.empty()) {
    return Outcome<fs::path>(variant_failure(FailureKind::kUnsupported, "its program needs [data] calibration"));
  }
  if (const auto known = lab.failed_variants.find(variant.name); known != lab.failed_variants.end()) return Outcome<fs::path>(known->second);
  const fs::path folder = lab.folder / "variants" / variant.name;
  if (!lab.recorder.recorded(variant_key(variant.name)) || model_in(folder).empty()) {  // a run's bulk data may have been deleted
    if (auto failure = FIEL_TRY(run(lab, variant, folder))) {
      lab.failed_variants.emplace(variant.name, *failure);
      return Outcome<fs::path>(std::move(*failure));
    }
  }
  const fs::path model = model_in(folder);
  const std::string digest = FIEL_TRY(digest_model_file(model));
  FIEL_TRY(record_variant(lab, variant.name, digest, {{"program", variant.program}}));
  return Outcome<fs::path>(model);
}

}  // namespace fiel
