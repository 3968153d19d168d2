#include "worker/engine_trtexec_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "route/trtexec_route.h"
#include "worker/guard.h"

namespace fiel::trtexec {
namespace {

constexpr std::size_t kErrorLines = 4;
constexpr std::size_t kMaxRouteKnobs = 4096;
constexpr std::size_t kMaxRouteValues = 64;  // of one knob: more than that is no list of choices

template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

// What follows `sign` in `line`, up to its end.
std::optional<std::string_view> after(std::string_view line, std::string_view sign) {
  const std::size_t found = line.find(sign);
  if (found == std::string_view::npos) return std::nullopt;
  return line.substr(found + sign.size());
}

// "12.3 sec." -> 12.3
template <class T>
std::optional<T> leading_number(std::string_view text) {
  text = trimmed(text);
  return number_from<T>(text.substr(0, std::min(text.find_first_not_of("+-0123456789.eE"), text.size())));
}

}  // namespace

std::optional<Version> version_in(std::string_view text) {
  constexpr std::string_view kSign = "[TensorRT v";
  const auto rest = after(text, kSign);
  if (!rest) return std::nullopt;
  const std::string_view digits = rest->substr(0, std::min(rest->find(']'), rest->size()));
  const auto number = number_from<int>(digits);
  if (!number || *number < 1000) return std::nullopt;
  // 8601 is 8.6.1, 101300 is 10.13.0.
  if (digits.size() == 4) return Version{.major = *number / 1000, .minor = *number / 100 % 10, .patch = *number % 100};
  return Version{.major = *number / 10000, .minor = *number / 100 % 100, .patch = *number % 100};
}

std::string dotted(const Version& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::set<std::string> options_in(std::string_view help) {
  std::set<std::string> options;
  for_each_line(help, [&](std::string_view line) {
    line = trimmed(line);
    while (line.starts_with("--")) {  // "--versionCompatible, --vc    Mark ..."
      line.remove_prefix(2);
      const std::size_t end = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), line.size());
      if (end > 0) options.emplace(line.substr(0, end));
      line.remove_prefix(end);
      if (!line.starts_with(",")) return;
      line = trimmed(line.substr(1));
    }
  });
  return options;
}

std::optional<Device> device_in(std::string_view text) {
  Device device;
  for_each_line(text, [&](std::string_view line) {
    if (const auto name = after(line, "Selected Device: ")) device.name = trimmed(*name);
    if (const auto capability = after(line, "Compute Capability: ")) device.capability = trimmed(*capability);
  });
  if (device.name.empty()) return std::nullopt;
  return device;
}

std::optional<double> build_seconds_in(std::string_view text) {
  const auto rest = after(text, "Engine built in ");
  return rest ? leading_number<double>(*rest) : std::nullopt;
}

std::optional<std::int64_t> device_memory_bytes_in(std::string_view text) {
  std::optional<std::int64_t> most;
  for_each_line(text, [&](std::string_view line) {
    std::optional<std::string_view> gpu;
    if (line.find("TensorRT-managed allocation") != std::string_view::npos) {
      if (const auto now = after(line, "now: CPU ")) gpu = after(*now, "GPU ");
    } else if (const auto peak = after(line, "Peak memory usage of TRT CPU/GPU memory allocators: CPU ")) {
      gpu = after(*peak, "GPU ");
    }
    if (!gpu) return;
    const auto mebibytes = leading_number<std::int64_t>(*gpu);
    if (mebibytes && *mebibytes >= 0) most = std::max(most.value_or(0), *mebibytes << 20);
  });
  return most;
}

std::vector<Dumped> outputs_dumped_in(std::string_view text) {
  constexpr std::string_view kStart = "Writing file for output binding ", kType = " (with datatype ",
                             kDims = " and dimensions ", kFile = ") to ";
  std::vector<Dumped> all;
  for_each_line(text, [&](std::string_view line) {
    const auto rest = after(line, kStart);
    if (!rest) return;
    // From the right, since a tensor's name may hold anything.
    const std::size_t type = rest->rfind(kType), file = rest->rfind(kFile);
    if (type == std::string_view::npos || file == std::string_view::npos || file < type) return;
    const std::string_view words = rest->substr(type + kType.size(), file - type - kType.size());
    const std::size_t dims = words.find(kDims);
    if (dims == std::string_view::npos) return;
    Dumped one{.name = std::string(rest->substr(0, type)),
               .type = std::string(words.substr(0, dims)),
               .shape = {},
               .file = std::string(trimmed(rest->substr(file + kFile.size())))};
    std::string_view sizes = words.substr(dims + kDims.size());  // "1.10", or nothing for a scalar
    while (!sizes.empty()) {
      const std::size_t end = std::min(sizes.find('.'), sizes.size());
      one.shape.push_back(number_from<std::int64_t>(sizes.substr(0, end)).value_or(-1));
      sizes.remove_prefix(std::min(end + 1, sizes.size()));
    }
    all.push_back(std::move(one));
  });
  return all;
}

std::optional<DType> dtype_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, DType>, 8> kTypes = {{{"fp32", DType::kFloat32},
                                                                         {"fp16", DType::kFloat16},
                                                                         {"bf16", DType::kBFloat16},
                                                                         {"int64", DType::kInt64},
                                                                         {"int32", DType::kInt32},
                                                                         {"int8", DType::kInt8},
                                                                         {"uint8", DType::kUInt8},
                                                                         {"bool", DType::kBool}}};
  const auto* const found = std::ranges::find(kTypes, type, &std::pair<std::string_view, DType>::first);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

EngineError error_of(const ExitState& exit, std::string_view text) {
  const auto says = [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; };
  std::string message = fmt::format("trtexec: {}", to_string(exit));
  std::size_t lines = 0;
  for_each_line(text, [&](std::string_view line) {
    const bool error = line.find("[E] ") != std::string_view::npos || line.find("[F] ") != std::string_view::npos ||
                       line.find("Cannot find any available devices") != std::string_view::npos;
    if (error && lines++ < kErrorLines) message += fmt::format("; {}", trimmed(line));
  });
  std::string reason = "build_error";
  if (says("out of memory") || says("OutOfMemory") || says("cudaErrorMemoryAllocation") || says("bad_alloc")) {
    reason = "out_of_memory";
  } else if (says("UNSUPPORTED_NODE") || says("UNSUPPORTED_GRAPH") || says("Unsupported data type") || says("Unknown option: ") ||
             says("Cannot find any available devices") || says("getPluginCreator could not find plugin")) {
    reason = "unsupported";
  }
  return {.reason = std::move(reason), .message = std::move(message)};
}

namespace {

// "-copy_ppg=[on|off]" -> on, off; nothing where the set is open ("=int32_t", "[0|...|9]").
std::vector<std::string> closed_values(std::string_view allowed) {
  const std::size_t start = allowed.find('['), end = allowed.find(']');
  if (start == std::string_view::npos || end == std::string_view::npos || end < start) return {};
  std::string_view list = allowed.substr(start + 1, end - start - 1);
  if (list.find("...") != std::string_view::npos) return {};
  std::vector<std::string> values;
  while (!list.empty()) {
    const std::size_t bar = std::min(list.find('|'), list.size());
    const std::string value(trimmed(list.substr(0, bar)));
    if (!value.empty() && std::ranges::find(values, value) == values.end()) values.push_back(value);
    list.remove_prefix(std::min(bar + 1, list.size()));
  }
  return values;
}

// Routes are cut at blanks, and so are trtexec's.
bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isgraph(c) != 0 && c != '[' && c != ']'; });
}

std::string why_not(std::string_view option, const Knob& knob) {
  if (!option.starts_with('-') || !is_word(option) || option.find('=') != std::string_view::npos) return "its name is no option of one word";
  if (knob.values.empty()) return "its values are no closed list";
  if (knob.values.size() > kMaxRouteValues) return fmt::format("it has {} values", knob.values.size());
  if (!std::ranges::all_of(knob.values, is_word)) return "one of its values is no word";
  if (std::ranges::find(knob.values, knob.default_value) == knob.values.end()) {
    return fmt::format("its default \"{}\" is none of its values", knob.default_value);
  }
  if (knob.values.size() == 1) return "it has one value only";
  return {};
}

std::string text_in(const Json& item, const char* key) {
  const auto found = item.find(key);
  return found != item.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

// The database is printed after a banner, so that what counts is from the first brace to the last.
Result<RouteKnobs> read_route_knobs(std::string_view text) {
  const std::size_t start = text.find('{'), end = text.rfind('}');
  if (start == std::string_view::npos || end == std::string_view::npos || end < start) {
    return fail(ErrorKind::kProtocol, "trtexec --helpBuildRoute printed no JSON object");
  }
  const Json database = FIEL_TRY(parse_json(text.substr(start, end - start + 1)));
  const auto options = database.find("tuner_options");
  if (options == database.end() || !options->is_array()) {
    return fail(ErrorKind::kProtocol, "the knob database of trtexec --helpBuildRoute has no list \"tuner_options\"");
  }
  RouteKnobs found{.tuner_version = text_in(database, "tuner_version"), .knobs = {}, .left_out = {}};
  for (const Json& item : *options) {
    if (!item.is_object() || found.knobs.size() >= kMaxRouteKnobs) continue;
    const std::string option = text_in(item, "option");
    Knob knob{.name = std::string(kTrtexecRoutePrefix) + option.substr(option.starts_with('-') ? 1 : 0),
              .kind = KnobKind::kProperty,
              .values = closed_values(text_in(item, "allowed_values")),
              .default_value = text_in(item, "default_value"),
              .help = text_in(item, "help"),
              .only_if = {}};
    if (knob.help.empty()) knob.help = "A knob of TensorRT's compiler.";
    std::string why = why_not(option, knob);
    if (why.empty() && std::ranges::find(found.knobs, knob.name, &Knob::name) != found.knobs.end()) why = "it is there twice";
    if (why.empty()) {
      found.knobs.push_back(std::move(knob));
    } else {
      found.left_out.push_back({.name = knob.name, .why = std::move(why)});
    }
  }
  return found;
}

}  // namespace fiel::trtexec
