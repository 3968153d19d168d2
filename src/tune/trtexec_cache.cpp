#include "tune/trtexec_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "report/fields.h"
#include "route/trtexec_route.h"

namespace fiel {
namespace {

constexpr std::int64_t kMaxFileBytes = std::int64_t{256} << 20;
constexpr std::size_t kMaxIterations = 200'000;
constexpr double kMillisecond = 1e-3;

std::optional<double> threshold_of(const Json& header) {
  const auto epsilon = fields::number(fields::member(header, "accuracy_parameter"), "epsilon");
  return epsilon && *epsilon > 0 ? epsilon : std::nullopt;
}

int pairs_of(const Json& header) {
  const auto arguments = fields::texts(header, "argv");
  const auto pairs = std::ranges::count_if(arguments, [](const std::string& word) { return word.starts_with("--refPair"); });
  if (pairs > 0) return static_cast<int>(pairs);
  return std::ranges::any_of(arguments, [](const std::string& word) { return word.starts_with("--loadRefOutputs"); }) ? 1 : 0;
}

Result<TrtexecCache> read_header(const Json& header) {
  if (!header.is_object() || !header.contains("tuning_expr") || !header.contains("argv")) {
    return fail(ErrorKind::kUsage, "its first line is no header of a tuning cache (no \"tuning_expr\", no \"argv\")",
                "it is the file that trtexec wrote for --tuningCacheFile");
  }
  TrtexecCache cache;
  cache.tuner_version = fields::text(header, "tuner_version");
  cache.search = fields::text(header, "searching_algorithm");
  cache.metric = fields::text(header, "accuracy_algorithm");
  cache.command_line = fields::text(header, "command_line");
  cache.model = fields::text(fields::member(header, "files"), "onnx");
  cache.threshold = threshold_of(header);
  cache.reference_pairs = pairs_of(header);
  cache.default_settings = FIEL_TRY(from_trtexec_route(fields::text(header, "default_build_route")));
  return cache;
}

Result<TrtexecIteration> read_iteration(const Json& line, const TrtexecCache& cache) {
  TrtexecIteration iteration;
  iteration.number = FIEL_TRY(get_int(line, "iter"));
  iteration.build_route = FIEL_TRY(get_string(line, "build_route"));
  iteration.crashed = fields::member(line, "crash") == Json(true);
  iteration.message = fields::text(line, "error_message");
  for (auto& [name, value] : FIEL_TRY(from_trtexec_route(iteration.build_route))) {
    const auto usual = cache.default_settings.find(name);
    if (usual == cache.default_settings.end() || usual->second != value) iteration.settings[name] = value;
  }
  if (const Json& losses = fields::member(line, "accuracy_loss"); losses.is_object()) {
    for (const auto& [output, loss] : losses.items()) {
      iteration.losses[output] = loss.is_number() ? std::optional(loss.get<double>()) : std::nullopt;
    }
  }
  if (const auto milliseconds = fields::number(line, "gpu_time"); milliseconds && *milliseconds > 0) {
    iteration.gpu_seconds = *milliseconds * kMillisecond;
  }
  return iteration;
}

}  // namespace

Result<TrtexecCache> read_trtexec_cache(const std::filesystem::path& file) {
  const std::string text = FIEL_TRY(read_text(file, kMaxFileBytes));
  std::optional<TrtexecCache> cache;
  std::size_t line_number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const bool last = end == rest.size();
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line_number;
    if (line.empty()) continue;
    const auto in_line = [&](Error error) {
      return std::unexpected(std::move(error).with_context(fmt::format("{}, line {}", file.string(), line_number)));
    };
    const auto json = parse_json(line);
    if (!json && last && cache) {
      cache->torn = true;
      break;
    }
    if (!json) return in_line(json.error());
    if (!cache) {
      auto header = read_header(*json);
      if (!header) return in_line(header.error());
      cache = *std::move(header);
      continue;
    }
    if (cache->iterations.size() >= kMaxIterations) {
      return in_line({.kind = ErrorKind::kUsage, .message = fmt::format("more than {} iterations", kMaxIterations), .hint = {}});
    }
    auto iteration = read_iteration(*json, *cache);
    if (!iteration) return in_line(iteration.error());
    cache->iterations.push_back(*std::move(iteration));
  }
  if (!cache) return fail(ErrorKind::kUsage, fmt::format("{} is empty", file.string()));
  return *std::move(cache);
}

TrtexecOutcome outcome_of(const TrtexecCache& cache, const TrtexecIteration& iteration) {
  if (iteration.crashed) {
    return {.status = CandidateStatus::kCrash, .reason = iteration.message.empty() ? "trtexec calls it crashed" : iteration.message};
  }
  for (const auto& [output, loss] : iteration.losses) {
    // Written so that NaN is caught: trtexec asks whether the loss is at least the threshold, which NaN never is.
    if (!loss) {
      return {.status = CandidateStatus::kMistrusted,
              .reason = fmt::format("{}: its loss is no number, which trtexec takes for passed", output)};
    }
    if (cache.threshold && !(*loss < *cache.threshold)) {
      return {.status = CandidateStatus::kWrong,
              .reason = fmt::format("{}: {} loss {:.4g}, not below the threshold of {:.4g}", output, cache.metric, *loss, *cache.threshold)};
    }
  }
  if (!iteration.message.empty()) return {.status = CandidateStatus::kMistrusted, .reason = iteration.message};
  if (!iteration.gpu_seconds) return {.status = CandidateStatus::kMistrusted, .reason = "it has no time, and no reason why"};
  if (iteration.losses.empty()) {
    return {.status = CandidateStatus::kUndecided, .reason = "accuracy: its answers were compared with nothing"};
  }
  if (cache.reference_pairs > 1) {
    return {.status = CandidateStatus::kUndecided,
            .reason = fmt::format("accuracy: of {} reference pairs only the last one's loss was kept", cache.reference_pairs)};
  }
  return {.status = CandidateStatus::kUndecided, .reason = "accuracy: one loss on one input says nothing of a task"};
}

}  // namespace fiel
