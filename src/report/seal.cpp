#include "report/seal.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "report/fields.h"

namespace fiel {
namespace {

constexpr const char* kListFile = "bundle.json";
constexpr const char* kKind = "fiel bundle";

// Over all of bundle.json but the digest itself; keys are sorted, so equal documents have equal digests.
std::string digest_of(Json bundle) {
  bundle.erase("seal");
  return sha256_hex(dump_json(bundle));
}

std::string text_of(const Json& bundle) { return bundle.dump(1) + "\n"; }

Result<Json> read_list(const std::filesystem::path& folder) {
  const auto text = read_text(folder / kListFile);
  auto parsed = text ? parse_json(*text) : Result<Json>(Json());
  if (!parsed) {
    return fail(ErrorKind::kCorrupt, fmt::format("the seal is broken: {} of {}: {}", kListFile, folder.string(),
                                                 parsed.error().message),
                "write the bundle anew with `fiel export`");
  }
  Json bundle = *std::move(parsed);
  if (fields::text(bundle, "kind") != kKind) {
    return fail(ErrorKind::kUsage, fmt::format("{} is no bundle", folder.string()), "name a folder that `fiel export` wrote");
  }
  const auto format = fields::integer(bundle, "format").value_or(0);
  if (format > kBundleFormat) {
    return fail(ErrorKind::kEnvironment, fmt::format("{} has format {}, this fiel reads up to {}", folder.string(), format,
                                                 kBundleFormat),
                "use the version of fiel that wrote it, or a newer one");
  }
  return bundle;
}

}  // namespace

bool is_bundle(const std::filesystem::path& folder) {
  const auto text = read_text(folder / kListFile);
  if (!text) return false;
  const auto bundle = parse_json(*text);
  return bundle && fields::text(*bundle, "kind") == kKind;
}

Result<Json> sealed_files(const std::filesystem::path& folder) {
  Json files = Json::object();
  std::error_code code;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, code);
       !code && it != std::filesystem::recursive_directory_iterator(); it.increment(code)) {
    const auto status = it->symlink_status(code);
    if (code || std::filesystem::is_directory(status)) continue;
    const std::string name = it->path().lexically_relative(folder).generic_string();
    if (!std::filesystem::is_regular_file(status)) {
      return fail(ErrorKind::kEnvironment, fmt::format("{} is no plain file", it->path().string()),
                  "a bundle holds files and folders only");
    }
    const auto bytes = static_cast<std::int64_t>(it->file_size(code));
    files[name] = {{"bytes", bytes}, {"sha256", FIEL_TRY(sha256_file(it->path()))}};
  }
  if (code) return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}: {}", folder.string(), code.message()));
  return files;
}

Result<> write_seal(const std::filesystem::path& folder, Json bundle) {
  bundle["format"] = kBundleFormat;
  bundle["kind"] = kKind;
  bundle["files"] = FIEL_TRY(sealed_files(folder));
  bundle["seal"] = digest_of(bundle);
  return write_atomic(folder / kListFile, text_of(bundle));
}

Result<Sealed> check_seal(const std::filesystem::path& bundle_folder) {
  const Json bundle = FIEL_TRY(read_list(bundle_folder));
  Json found = FIEL_TRY(sealed_files(bundle_folder));
  found.erase(kListFile);
  Sealed sealed;
  const Json& listed = fields::member(bundle, "files");
  const std::string text = FIEL_TRY(read_text(bundle_folder / kListFile));
  // The bytes too, not only what they mean: nothing may be slipped in between.
  if (fields::text(bundle, "seal") != digest_of(bundle) || text != text_of(bundle)) sealed.changed.push_back(kListFile);
  if (listed.is_object()) {
    for (const auto& [name, file] : listed.items()) {
      const Json& here = fields::member(found, name);
      if (here.is_null()) {
        sealed.missing.push_back(name);
      } else if (fields::text(here, "sha256") != fields::text(file, "sha256")) {
        sealed.changed.push_back(name);
      }
    }
  }
  for (const auto& [name, file] : found.items()) {
    if (fields::member(listed, name).is_null()) sealed.extra.push_back(name);
  }
  std::ranges::sort(sealed.changed);
  return sealed;
}

}  // namespace fiel
