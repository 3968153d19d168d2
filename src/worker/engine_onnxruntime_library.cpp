#include "worker/engine_onnxruntime_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <charconv>

#include "worker/guard.h"

namespace fiel {
namespace {

constexpr int kOldestMinor = 21;  // of 1.x: the first whose headers Debian has
constexpr const char* kSystemNames[] = {"libonnxruntime.so.1", "libonnxruntime.so", "libonnxruntime.so.1.21"};
constexpr const char* kHint =
    "pip install onnxruntime (1.21 or newer) beside fiel or, as ./setup does, into the project's .venv, or name the file: "
    "[engines.onnxruntime] library = \"/…/libonnxruntime.so\"";

std::string last_error() {
  const char* words = ::dlerror();
  return words == nullptr ? "no reason given" : words;
}

// Its names stay its own: what the worker is linked with must not be found by it, nor the other way round.
void* open_library(const std::string& name) { return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); }

std::filesystem::path path_of(const void* function, const std::filesystem::path& otherwise) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : otherwise;
}

// "1.32.0" -> 32; -1 where that is no version of the 1.x line.
int minor_of(std::string_view version) {
  int minor = -1;
  if (!version.starts_with("1.")) return -1;
  std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor;
}

EngineResult<OnnxRuntimeLibrary> talk_to(void* handle, const std::filesystem::path& path) {
  using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
  void* symbol = ::dlsym(handle, "OrtGetApiBase");
  if (symbol == nullptr) {
    return engine_fail("unsupported", fmt::format("{} is not ONNX Runtime: it has no OrtGetApiBase", path.string()));
  }
  const OrtApiBase* base = reinterpret_cast<GetApiBase>(symbol)();
  OnnxRuntimeLibrary library{.path = path_of(symbol, path), .version = base->GetVersionString(), .minor = 0, .api = nullptr};
  library.minor = minor_of(library.version);
  // An older one would print a complaint of its own and answer null.
  if (library.minor >= kOldestMinor) library.api = base->GetApi(ORT_API_VERSION);
  if (library.api == nullptr) {
    return engine_fail("unsupported",
                       fmt::format("{} is ONNX Runtime {}; fiel was compiled with the headers of 1.{} and needs at least that: {}",
                                   library.path.string(), library.version, ORT_API_VERSION, kHint));
  }
  return library;
}

}  // namespace

namespace {

std::filesystem::path library_in(const std::filesystem::path& site_packages) {
  std::vector<std::filesystem::path> found;
  std::error_code code;
  for (const auto& file : std::filesystem::directory_iterator(site_packages / "onnxruntime/capi", code)) {
    if (file.path().filename().string().starts_with("libonnxruntime.so")) found.push_back(file.path());
  }
  return found.empty() ? std::filesystem::path() : *std::ranges::max_element(found);
}

// pip puts this program into site-packages/fiel/bin (cmake/wheel.cmake), beside what else its environment has.
std::filesystem::path library_beside() {
  std::error_code code;
  const auto package = std::filesystem::read_symlink("/proc/self/exe", code).parent_path().parent_path();
  return package.filename() == "fiel" ? library_in(package.parent_path()) : std::filesystem::path();
}

std::filesystem::path library_here() {
  const auto beside = library_beside();
  return beside.empty() ? library_in_venv(FIEL_VENV) : beside;
}

}  // namespace

std::filesystem::path library_in_venv(const std::filesystem::path& venv) {
  std::filesystem::path newest;
  std::error_code code;
  if (venv.empty()) return newest;  // a wheel's
  for (const auto& python : std::filesystem::directory_iterator(venv / "lib", code)) {
    newest = std::max(newest, library_in(python.path() / "site-packages"));
  }
  return newest;
}

EngineResult<OnnxRuntimeLibrary> load_onnxruntime(const std::filesystem::path& named) {
  const std::filesystem::path path = named.empty() ? library_here() : named;
  if (!path.empty()) {
    void* handle = open_library(path.string());
    if (handle != nullptr) return talk_to(handle, path);
    return engine_fail("unsupported", fmt::format("cannot load {}: {}", path.string(), last_error()));
  }
  for (const char* name : kSystemNames) {
    if (void* handle = open_library(name)) return talk_to(handle, name);
  }
  return engine_fail("unsupported", fmt::format("no library of ONNX Runtime: none in {}, none of the system's ({}): {}",
                                                *FIEL_VENV == '\0' ? "the environment that fiel is installed in" : FIEL_VENV,
                                                last_error(), kHint));
}

}  // namespace fiel
