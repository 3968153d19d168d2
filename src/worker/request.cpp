#include "worker/request.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace fiel {
namespace {

constexpr std::int64_t kMaxBatch = 65536;
constexpr std::int64_t kMaxCount =
    100'000'000;  // a hundred seconds of a microsecond; more is a mistake
constexpr double kMaxSeconds = 86400;

Result<std::filesystem::path> get_path(const Json& request, std::string_view key) {
  std::filesystem::path path = FIEL_TRY(get_string(request, key));
  if (!path.is_absolute())
    return fail(ErrorKind::kProtocol, fmt::format("\"{}\" is not an absolute path", key));
  return path;
}

Result<std::filesystem::path> get_folder(const Json& request, std::string_view key) {
  std::filesystem::path path = FIEL_TRY(get_path(request, key));
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return fail(ErrorKind::kProtocol, fmt::format("\"{}\": {} is no folder", key, path.string()));
  }
  return path;
}

struct Range {
  std::int64_t low;
  std::int64_t high;
};

Result<std::int64_t> get_int_in(const Json& request, std::string_view key, Range range) {
  const std::int64_t value = FIEL_TRY(get_int(request, key));
  if (value < range.low || value > range.high) {
    return fail(ErrorKind::kProtocol,
                fmt::format("\"{}\" is {}, not in {} to {}", key, value, range.low, range.high));
  }
  return value;
}

Result<double> get_seconds(const Json& request, std::string_view key) {
  const double value = FIEL_TRY(get_number(request, key));
  if (!(value >= 0 && value <= kMaxSeconds)) {
    return fail(ErrorKind::kProtocol,
                fmt::format("\"{}\" is {}, not in 0 to {} seconds", key, value, kMaxSeconds));
  }
  return value;
}

Result<std::string> get_scenario(const Json& request) {
  std::string scenario = FIEL_TRY(get_string(request, "scenario"));
  if (scenario != "single_stream" && scenario != "offline" && scenario != "server") {
    return fail(
        ErrorKind::kProtocol,
        fmt::format("\"scenario\" is \"{}\", not \"single_stream\", \"offline\" or \"server\"", scenario));
  }
  return scenario;
}

// Little-endian float64 seconds, ascending.
Result<std::vector<double>> read_arrivals(const std::filesystem::path& path) {
  const std::string bytes = FIEL_TRY(read_text(path));
  std::vector<double> arrivals(bytes.size() / sizeof(double));
  if (arrivals.empty() || bytes.size() % sizeof(double) != 0) {
    return fail(ErrorKind::kProtocol, fmt::format("\"arrivals_file\" has {} bytes", bytes.size()));
  }
  std::memcpy(arrivals.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!(arrivals[i] >= (i == 0 ? 0 : arrivals[i - 1]) && arrivals[i] <= kMaxSeconds)) {
      return fail(ErrorKind::kProtocol, fmt::format("arrival {} is at {} seconds", i, arrivals[i]));
    }
  }
  return arrivals;
}

Result<Settings> get_settings(const Json& request) {
  Settings settings;
  if (!request.contains("settings")) return settings;
  const Json& given = request.at("settings");
  if (!given.is_object()) return fail(ErrorKind::kProtocol, "\"settings\" is no object");
  for (const auto& [name, value] : given.items()) {
    if (!value.is_string())
      return fail(ErrorKind::kProtocol, fmt::format("\"settings\": {} is no string", name));
    settings.emplace(name, value.get<std::string>());
  }
  return settings;
}

Result<std::vector<std::map<std::string, Shape>>> get_shapes(const Json& request) {
  std::vector<std::map<std::string, Shape>> shapes;
  if (!request.contains("shapes")) return shapes;
  const Json& given = request.at("shapes");
  if (!given.is_array()) return fail(ErrorKind::kProtocol, "\"shapes\" is no list");
  for (const Json& one : given) {
    if (!one.is_object())
      return fail(ErrorKind::kProtocol, "\"shapes\" has an entry that is no object");
    std::map<std::string, Shape>& shape = shapes.emplace_back();
    for (const auto& [name, value] : one.items()) {
      Result<Shape> parsed = parse_shape(value, 0);
      if (!parsed)
        return std::unexpected(std::move(parsed).error().with_context("\"shapes\": " + name));
      shape.emplace(name, *std::move(parsed));
    }
  }
  return shapes;
}

}  // namespace

Result<BuildRequest> parse_build(const Json& request) {
  BuildRequest build;
  build.model = FIEL_TRY(get_path(request, "model"));
  build.device = FIEL_TRY(get_string(request, "device"));
  build.settings = FIEL_TRY(get_settings(request));
  build.shapes = FIEL_TRY(get_shapes(request));
  build.artifact_dir = FIEL_TRY(get_folder(request, "artifact_dir"));
  return build;
}

Result<LoadRequest> parse_load(const Json& request) {
  LoadRequest load;
  load.artifact_dir = FIEL_TRY(get_folder(request, "artifact_dir"));
  load.device = FIEL_TRY(get_string(request, "device"));
  load.settings = FIEL_TRY(get_settings(request));
  load.shapes = FIEL_TRY(get_shapes(request));
  load.scenario = FIEL_TRY(get_scenario(request));
  if (const auto profile = request.find("profile"); profile != request.end()) {
    if (!profile->is_boolean()) return fail(ErrorKind::kProtocol, "\"profile\" is neither true nor false");
    load.profile = profile->get<bool>();
  }
  return load;
}

Result<std::vector<StateLink>> parse_load_state(const Json& request) {
  if (!request.contains("state")) return std::vector<StateLink>();
  return parse_state(request.at("state"));
}

Result<InferRequest> parse_infer(const Json& request) {
  InferRequest infer;
  infer.batch = FIEL_TRY(get_int_in(request, "batch", {.low = 1, .high = kMaxBatch}));
  infer.output_dir = FIEL_TRY(get_folder(request, "output_dir"));
  if (!request.contains("samples")) return fail(ErrorKind::kProtocol, "\"samples\" is missing");
  infer.samples = FIEL_TRY(parse_samples(request.at("samples")));
  return infer;
}

Result<MeasureRequest> parse_measure(const Json& request) {
  MeasureRequest measure;
  measure.infer = FIEL_TRY(parse_infer(request));
  measure.scenario = FIEL_TRY(get_scenario(request));
  measure.limits.warmup_count =
      FIEL_TRY(get_int_in(request, "warmup_count", {.low = 0, .high = kMaxCount}));
  measure.limits.min_count =
      FIEL_TRY(get_int_in(request, "min_count", {.low = 1, .high = kMaxCount}));
  measure.limits.min_seconds = FIEL_TRY(get_seconds(request, "min_seconds"));
  measure.limits.max_seconds = FIEL_TRY(get_seconds(request, "max_seconds"));
  measure.latency_file = FIEL_TRY(get_path(request, "latency_file"));
  if (measure.scenario == "server") {
    measure.arrivals_seconds = FIEL_TRY(read_arrivals(FIEL_TRY(get_path(request, "arrivals_file"))));
  }
  return measure;
}

}  // namespace fiel
