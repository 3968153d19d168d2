#include "report/bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "embedded/bundle_load_cpp.h"
#include "embedded/bundle_load_py.h"
#include "embedded/bundle_onnxruntime_cmake.h"
#include "embedded/bundle_onnxruntime_h.h"
#include "embedded/bundle_onnxruntime_py.h"
#include "embedded/bundle_openvino_cmake.h"
#include "embedded/bundle_openvino_h.h"
#include "embedded/bundle_openvino_py.h"
#include "report/bundle_parts.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/view.h"

namespace fiel {
namespace {

Result<> sync(const std::filesystem::path& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || fsync(file.get()) != 0) return std::unexpected(file_error("keep", path, errno));
  return {};
}

Result<const CandidateView*> choose(const RunView& view, std::optional<int> candidate, Force force) {
  if (!candidate && view.verdict.empty()) {
    return fail(ErrorKind::kUsage, "the run has no verdict yet, so nothing ships",
                "`fiel resume` goes on with it; --candidate N exports one by hand");
  }
  if (!candidate && !view.ships) {
    return fail(ErrorKind::kUsage, fmt::format("the verdict is {}: nothing ships", view.verdict),
                "`fiel show` says what is missing; --candidate N exports one by hand");
  }
  const int id = candidate ? *candidate : *view.ships;
  const CandidateView* found = view.find(id);
  if (found == nullptr) {
    return fail(ErrorKind::kUsage, fmt::format("there is no candidate {}", id), "`fiel show --all` lists them");
  }
  const std::string why = found->reason.empty() ? found->kind : found->reason;
  if (found->artifact.empty()) {
    return fail(ErrorKind::kUsage, fmt::format("candidate {} has no artifact ({})", id, why),
                "choose one that was built: `fiel show --all`");
  }
  if (found->status != "admissible" && force == Force::kNo) {
    return fail(ErrorKind::kUsage, fmt::format("candidate {} is not admissible ({}: {})", id, found->kind, why),
                "`fiel show --all` lists what meets the contract; --force exports it all the same, labelled as inadmissible");
  }
  return found;
}

// Bit by bit, durable, and never through a link.
Result<> copy_files(const std::filesystem::path& from, const std::filesystem::path& to) {
  FIEL_TRY(ensure_folder(to));
  const Json files = FIEL_TRY(sealed_files(from));
  for (const auto& [name, file] : files.items()) {
    const auto target = to / name;
    FIEL_TRY(ensure_folder(target.parent_path()));
    std::ifstream in(from / name, std::ios::binary);
    std::ofstream out(target, std::ios::binary);
    if (in.peek() != std::ifstream::traits_type::eof()) out << in.rdbuf();
    out.close();
    if (!in || !out) return std::unexpected(file_error("copy to", target, errno));
    FIEL_TRY(sync(target));
  }
  return {};
}

Result<> take_artifact(const RunView& view, const CandidateView& candidate, const std::filesystem::path& to) {
  const auto from = view.folder / "artifacts" / candidate.artifact;
  if (!std::filesystem::is_directory(from)) {
    return fail(ErrorKind::kEnvironment, fmt::format("the artifact of candidate {} is gone: {}", candidate.id, from.string()),
                "what was measured can't be built again to the byte: start a new run");
  }
  FIEL_TRY(copy_files(from, to));
  // The copy is checked, so that what ships is what was measured, whatever happened on the way.
  if (FIEL_TRY(sha256_folder(to)) == candidate.artifact) return {};
  return fail(ErrorKind::kCorrupt, fmt::format("the seal of candidate {} is broken: {} is not what was measured",
                                               candidate.id, from.string()),
              "restore the run folder from a copy, or start a new run");
}

Result<Json> read_note(const std::filesystem::path& artifact) {
  if (!std::filesystem::exists(artifact / "load.json")) return Json();
  return parse_json(FIEL_TRY(read_text(artifact / "load.json")));
}

// One program for all engines; what is different in each stands in a file of its own beside it.
struct EnginePart {
  std::string_view engine, python, cpp, cmake;
};
const std::vector<EnginePart>& engine_parts() {
  static const std::vector<EnginePart> parts = {
      {"openvino", embedded::bundle_openvino_py, embedded::bundle_openvino_h, embedded::bundle_openvino_cmake},
      {"onnxruntime", embedded::bundle_onnxruntime_py, embedded::bundle_onnxruntime_h, embedded::bundle_onnxruntime_cmake}};
  return parts;
}

Result<> write_loaders(const std::filesystem::path& folder, const Json& bundle, const Json& note) {
  const auto part = std::ranges::find(engine_parts(), fields::text(bundle, "engine"), &EnginePart::engine);
  if (part == engine_parts().end()) return {};
  const Json files = FIEL_TRY(sealed_files(folder / "artifact"));
  FIEL_TRY(write_atomic(folder / "load.py", embedded::bundle_load_py));
  FIEL_TRY(write_atomic(folder / "engine.py", part->python));
  FIEL_TRY(write_atomic(folder / "load.cpp", embedded::bundle_load_cpp));
  FIEL_TRY(write_atomic(folder / "engine.h", part->cpp));
  FIEL_TRY(write_atomic(folder / "CMakeLists.txt", part->cmake));
  return write_atomic(folder / "sealed.h", sealed_header(bundle, note, files));
}

Result<> fill(const RunView& view, const CandidateView& candidate, const std::filesystem::path& folder) {
  FIEL_TRY(take_artifact(view, candidate, folder / "artifact"));
  const std::string contract = FIEL_TRY(read_text(view.folder / "contract.toml"));
  FIEL_TRY(write_atomic(folder / "contract.toml", contract));
  FIEL_TRY(write_atomic(folder / "evidence.json", format_json(view).dump(1) + "\n"));
  const Json note = FIEL_TRY(read_note(folder / "artifact"));
  const std::string asked = fields::text(fields::parsed(view.run_json), "device");
  const BundleFacts facts{.view = view,
                          .candidate = candidate,
                          .contract_digest = sha256_hex(contract),
                          .device = asked.empty() ? fields::text(note, "device") : asked,
                          .note = note};
  const Json bundle = bundle_json(facts);
  FIEL_TRY(write_atomic(folder / "README.md", readme_text(facts)));
  FIEL_TRY(write_loaders(folder, bundle, note));
  return write_seal(folder, bundle);
}

// An empty folder, or an older bundle of ours, may be replaced; anything else may be somebody's work.
Result<> check_place(const std::filesystem::path& place) {
  std::error_code code;
  const auto status = std::filesystem::symlink_status(place, code);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  const bool folder = std::filesystem::is_directory(status);
  if (folder && (std::filesystem::is_empty(place, code) || is_bundle(place))) return {};
  return fail(ErrorKind::kUsage, fmt::format("{} is there already and is no bundle of fiel's", place.string()),
              "name another folder with -o");
}

Result<> put_in_place(const std::filesystem::path& made, const std::filesystem::path& place,
                      const std::filesystem::path& aside) {
  if (std::rename(made.c_str(), place.c_str()) == 0) return sync(place.parent_path());  // nothing, or an empty folder, was there
  // The two change places in one step; the old one then goes with the temporary folder.
  if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return sync(place.parent_path());
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return std::unexpected(file_error("replace", place, errno));
  // A file system that can't exchange: for an instant there is no bundle, never half a one.
  if (std::rename(place.c_str(), aside.c_str()) != 0) return std::unexpected(file_error("replace", place, errno));
  if (std::rename(made.c_str(), place.c_str()) != 0) return std::unexpected(file_error("write", place, errno));
  return sync(place.parent_path());
}

}  // namespace

Result<std::filesystem::path> write_bundle(const std::filesystem::path& run_folder, std::optional<int> candidate,
                                           const std::filesystem::path& out_folder, Force force) {
  const RunView view = FIEL_TRY(read_run(run_folder));
  const CandidateView* chosen = FIEL_TRY(choose(view, candidate, force));
  auto place = std::filesystem::absolute(out_folder).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  FIEL_TRY(check_place(place));
  FIEL_TRY(ensure_folder(place.parent_path()));
  const auto temporary = FIEL_TRY(TempFolder::create(place.parent_path(), ".bundle-"));
  const auto made = temporary.path() / "made";
  FIEL_TRY(fill(view, *chosen, made));
  FIEL_TRY(put_in_place(made, place, temporary.path() / "old"));
  return place;
}

}  // namespace fiel
