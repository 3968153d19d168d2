#include "pool/answers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/printable.h"
#include "base/regular_file.h"
#include "protocol/channel.h"
#include "protocol/message.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "latency files are read as they lie");

constexpr std::int64_t kMaxLatencies = 16'000'000;  // ten seconds of 1 us inferences, and some
constexpr int kMaxParallelRequests = 4096;
constexpr std::size_t kMaxKnobs = 1000;
constexpr std::size_t kMaxNameBytes = 255;
constexpr double kMostDeviceBytes = 1e15;  // beyond that nobody has memory
constexpr std::size_t kMaxReadBackBytes = std::size_t{128} << 10;  // of a build or a load: every record of a candidate keeps it

template <class... Args>
std::unexpected<Error> lie(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorKind::kProtocol, fmt::format(text, std::forward<Args>(args)...));
}

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", excerpt(text, 100)); }

Result<double> read_seconds(const Json& answer, std::string_view key) {
  const double seconds = FIEL_TRY(get_number(answer, key));
  if (!(seconds >= 0)) return lie("\"{}\" is {}", key, seconds);
  return seconds;
}

// A list under `key`; a key that is left out is an empty list.
Result<Json> optional_list(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return Json::array();
  if (!found->is_array()) return lie("\"{}\" is no list", key);
  return *found;
}

Result<Json> optional_object(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return Json::object();
  if (!found->is_object()) return lie("\"{}\" is no object", key);
  return *found;
}

Result<std::vector<std::string>> optional_strings(const Json& object, const char* key) {
  if (!object.contains(key)) return std::vector<std::string>{};
  return get_strings(object, key);
}

Result<std::map<std::string, std::string>> optional_settings(const Json& object, const char* key) {
  std::map<std::string, std::string> settings;
  const Json values = FIEL_TRY(optional_object(object, key));
  for (const auto& [name, value] : values.items()) {
    if (!value.is_string())
      return lie("\"{}\" gives {} a value that is no string", key, in_quotes(name));
    settings[name] = value.get<std::string>();
  }
  return settings;
}

Result<std::map<std::string, std::int64_t>> optional_counts(const Json& object, const char* key) {
  std::map<std::string, std::int64_t> counts;
  const Json values = FIEL_TRY(optional_object(object, key));
  for (const auto& item : values.items()) {
    const std::int64_t count = FIEL_TRY(get_int(values, item.key()));
    if (count < 0) return lie("\"{}\" counts {} of {}", key, count, in_quotes(item.key()));
    counts[item.key()] = count;
  }
  return counts;
}

Result<Effective> read_effective(const Json& answer) {
  Effective effective;
  effective.settings = FIEL_TRY(optional_settings(answer, "effective"));
  effective.precisions = FIEL_TRY(optional_counts(answer, "precisions"));
  effective.placement = FIEL_TRY(optional_counts(answer, "placement"));
  effective.ignored = FIEL_TRY(optional_strings(answer, "ignored"));
  if (answer.contains("graph_digest"))
    effective.graph_digest = FIEL_TRY(get_string(answer, "graph_digest"));
  return effective;
}

Result<> check_size(const Json& answer) {
  const std::size_t bytes = dump_json(answer).size();
  if (bytes > kMaxReadBackBytes) return lie("the answer has {} bytes", bytes);
  return {};
}

// Names and values stand in build routes and sweeps, `NAME=[value|value] NAME=value`.
bool fits_route(std::string_view word, std::string_view separators) {
  return word.size() <= kMaxNameBytes && word.find_first_of(separators) == std::string_view::npos;
}
bool is_name(std::string_view word) { return !word.empty() && fits_route(word, " \t\n\r=[]|'\""); }
bool is_value(std::string_view word) { return fits_route(word, " \t\n\r[]|'\""); }

Result<std::vector<Condition>> read_conditions(const Json& knob) {
  std::vector<Condition> conditions;
  const Json list = FIEL_TRY(optional_list(knob, "only_if"));
  for (const Json& item : list) {
    Condition condition;
    condition.knob = FIEL_TRY(get_string(item, "knob"));
    condition.values = FIEL_TRY(get_strings(item, "values"));
    if (condition.values.empty())
      return lie("\"only_if\" names no values of {}", in_quotes(condition.knob));
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

Result<Knob> read_knob(const Json& item) {
  Knob knob;
  knob.name = FIEL_TRY(get_string(item, "name"));
  if (!is_name(knob.name)) return lie("a knob's name is {}", in_quotes(knob.name));
  const std::string kind = FIEL_TRY(get_string(item, "kind"));
  const auto parsed = parse_knob_kind(kind);
  if (!parsed || *parsed == KnobKind::kVariant)
    return lie("the kind of knob {} is {}", knob.name, in_quotes(kind));
  knob.kind = *parsed;
  knob.values = FIEL_TRY(get_strings(item, "values"));
  knob.default_value = FIEL_TRY(get_string(item, "default"));
  if (item.contains("help")) knob.help = FIEL_TRY(get_string(item, "help"));
  knob.only_if = FIEL_TRY(read_conditions(item));
  std::set<std::string> values;
  for (const std::string& value : knob.values) {
    if (!is_value(value)) return lie("a value of knob {} is {}", knob.name, in_quotes(value));
    if (!values.insert(value).second)
      return lie("knob {} has the value {} twice", knob.name, in_quotes(value));
  }
  if (!values.contains(knob.default_value)) {
    return lie("the default {} of knob {} is none of its values", in_quotes(knob.default_value),
               knob.name);
  }
  return knob;
}

Result<std::vector<Knob>> read_knobs(const Json& answer) {
  std::vector<Knob> knobs;
  std::set<std::string> names;
  const Json list = FIEL_TRY(optional_list(answer, "knobs"));
  if (list.size() > kMaxKnobs) return lie("more than {} knobs", kMaxKnobs);
  for (const Json& item : list) {
    knobs.push_back(FIEL_TRY(read_knob(item)));
    if (!names.insert(knobs.back().name).second)
      return lie("the knob {} comes twice", knobs.back().name);
  }
  return knobs;
}

Result<> check_settings(const std::map<std::string, std::string>& settings,
                        const std::vector<Knob>& knobs) {
  for (const auto& [name, value] : settings) {
    bool known = false;
    for (const Knob& knob : knobs) {
      if (knob.name != name) continue;
      for (const std::string& each : knob.values) known = known || each == value;
    }
    if (!known)
      return lie("\"float32_settings\" has {}={}, which no knob has", excerpt(name, 100),
                 in_quotes(value));
  }
  return {};
}

Result<LoadedPort> read_port(const Json& item) {
  LoadedPort port;
  port.name = FIEL_TRY(get_string(item, "name"));
  if (port.name.empty()) return lie("a tensor without a name");
  const std::string dtype = FIEL_TRY(get_string(item, "dtype"));
  const auto parsed = parse_dtype(dtype);
  if (!parsed) return lie("the dtype of {} is {}", in_quotes(port.name), in_quotes(dtype));
  port.dtype = *parsed;
  if (!item.contains("shape")) return lie("{} has no shape", in_quotes(port.name));
  port.shape = FIEL_TRY(parse_shape(item["shape"], -1));
  return port;
}

Result<std::vector<LoadedPort>> read_ports(const Json& answer, const char* key) {
  std::vector<LoadedPort> ports;
  std::set<std::string> names;
  const auto list = answer.find(key);
  if (list == answer.end() || !list->is_array()) return lie("\"{}\" is no list", key);
  for (const Json& item : *list) {
    auto port = read_port(item);
    if (!port) return std::unexpected(std::move(port).error().with_context(key));
    if (!names.insert(port->name).second)
      return lie("\"{}\" has {} twice", key, in_quotes(port->name));
    ports.push_back(*std::move(port));
  }
  return ports;
}

// A regular file under its own name in `folder`: no way out of it by name or by link. Who opens it looks again (read_outputs),
// since the worker can put something else in its place at any time.
Result<fs::path> read_output_file(const Json& value, const fs::path& folder) {
  if (!value.is_string()) return lie("a file name is no string");
  const std::string name = value.get<std::string>();
  const bool plain = !name.empty() && name != "." && name != ".." && name.size() <= kMaxNameBytes &&
                     name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (!plain) return lie("{} is no plain file name", in_quotes(name));
  struct stat facts{};
  if (::lstat((folder / name).c_str(), &facts) != 0)
    return lie("the file {} is not there", in_quotes(name));
  if (!S_ISREG(facts.st_mode)) return lie("{} is no regular file", in_quotes(name));
  return folder / name;
}

Result<OutputFiles> read_sample_outputs(const Json& item, const fs::path& folder) {
  OutputFiles outputs;
  const std::int64_t index = FIEL_TRY(get_int(item, "index"));
  if (index < 0 || index > INT32_MAX) return lie("a sample has the index {}", index);
  outputs.index = static_cast<int>(index);
  const auto files = item.find("files");
  if (files == item.end() || !files->is_object() || files->empty())
    return lie("sample {} has no \"files\"", index);
  std::set<std::string> seen;
  for (const auto& [output, file] : files->items()) {
    auto path = read_output_file(file, folder);
    if (!path) {
      return std::unexpected(std::move(path).error().with_context(
          fmt::format("output {} of sample {}", in_quotes(output), index)));
    }
    if (!seen.insert(path->string()).second)
      return lie("two outputs of sample {} are one file", index);
    outputs.files[output] = *std::move(path);
  }
  return outputs;
}

// All entries of "outputs"; each of them has the same outputs.
Result<std::vector<OutputFiles>> read_outputs_list(const Json& answer, const fs::path& folder) {
  const auto list = answer.find("outputs");
  if (list == answer.end() || !list->is_array()) return lie("\"outputs\" is no list");
  std::vector<OutputFiles> all;
  for (const Json& item : *list) {
    all.push_back(FIEL_TRY(read_sample_outputs(item, folder)));
    const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto& first = all.front().files;
    const auto& last = all.back().files;
    if (!std::equal(first.begin(), first.end(), last.begin(), last.end(), same_name)) {
      return lie("samples {} and {} have different outputs", all.front().index, all.back().index);
    }
  }
  return all;
}

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

Result<std::vector<double>> read_latencies(const fs::path& path) {
  const auto file = open_regular(path, Links::kRefused);
  if (!file) return lie("the latency file: {}", file.error().message);
  const std::int64_t bytes = file->bytes;
  if (bytes % 8 != 0 || bytes / 8 > kMaxLatencies)
    return lie("the latency file has {} bytes", bytes);
  const std::string text = FIEL_TRY(read_text(*file, path, bytes));
  if (std::ssize(text) != bytes) return lie("the latency file is still being written");
  std::vector<double> latencies(static_cast<std::size_t>(bytes / 8));
  if (bytes > 0) std::memcpy(latencies.data(), text.data(), text.size());
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    if (!is_time(latencies[i])) return lie("latency {} is {}", i, latencies[i]);
  }
  return latencies;
}

// Single stream: a number an inference. Offline: a number a batch, the last of a pass through the
// samples maybe short. Server: a number a request.
Result<> check_count(const MeasureResult& result, const MeasureOrder& order) {
  const std::int64_t numbers = std::ssize(result.latencies_seconds);
  if (result.count < 1) return lie("\"count\" is {}", result.count);
  const std::int64_t most = order.scenario == Scenario::kOffline ? numbers * order.batch : numbers;
  if (result.count < numbers || result.count > most) {
    return lie("\"count\" is {} but the latency file has {} numbers", result.count, numbers);
  }
  if (order.scenario == Scenario::kServer && numbers > std::ssize(order.arrivals_seconds)) {
    return lie("\"count\" is {} but only {} requests arrived", numbers,
               order.arrivals_seconds.size());
  }
  return {};
}

Result<std::vector<double>> read_warmup(const Json& answer, std::int64_t warmup_count) {
  std::vector<double> seconds;
  const Json list = FIEL_TRY(optional_list(answer, "warmup_seconds"));
  if (std::ssize(list) > warmup_count)
    return lie("\"warmup_seconds\" has more numbers than warm-ups were asked for");
  for (const Json& item : list) {
    if (!item.is_number() || !is_time(item.get<double>()))
      return lie("\"warmup_seconds\" has {}", excerpt(dump_json(item), 50));
    seconds.push_back(item.get<double>());
  }
  return seconds;
}

Result<> read_device(const Json& answer, MeasureResult& result) {
  if (answer.contains("device_p50_seconds")) {
    result.device_p50_seconds = FIEL_TRY(read_seconds(answer, "device_p50_seconds"));
    if (!is_time(*result.device_p50_seconds)) return lie("\"device_p50_seconds\" is {}", *result.device_p50_seconds);
  }
  if (!answer.contains("device_memory_bytes")) return {};
  const double bytes = FIEL_TRY(get_number(answer, "device_memory_bytes"));
  if (!(bytes >= 0 && bytes < kMostDeviceBytes)) return lie("\"device_memory_bytes\" is {}", bytes);
  result.device_memory_bytes = static_cast<std::int64_t>(bytes);
  return {};
}

}  // namespace

Result<HelloResult> read_hello(const Json& answer) {
  const std::int64_t protocol = FIEL_TRY(get_int(answer, "protocol"));
  if (protocol != kProtocolVersion)
    return lie("it speaks version {} of the protocol, we speak {}", protocol, kProtocolVersion);
  HelloResult hello;
  hello.engine = FIEL_TRY(get_string(answer, "engine"));
  if (!is_name(hello.engine)) return lie("\"engine\" is {}", in_quotes(hello.engine));
  hello.version = FIEL_TRY(get_string(answer, "version"));
  const Json devices = FIEL_TRY(optional_list(answer, "devices"));
  for (const Json& device : devices) {
    const std::string name = FIEL_TRY(get_string(device, "name"));
    const std::string description = device.contains("description")
                                        ? FIEL_TRY(get_string(device, "description"))
                                        : std::string();
    hello.devices.push_back(description.empty() ? name : name + ": " + description);
  }
  hello.cpu_features = FIEL_TRY(optional_strings(answer, "cpu_features"));
  hello.capabilities = FIEL_TRY(optional_strings(answer, "capabilities"));
  hello.knobs = FIEL_TRY(read_knobs(answer));
  hello.float32_settings = FIEL_TRY(optional_settings(answer, "float32_settings"));
  FIEL_TRY(check_settings(hello.float32_settings, hello.knobs));
  Json kept = answer;
  kept.erase("id");
  kept.erase("type");
  hello.json = dump_json(kept);
  return hello;
}

Result<BuildResult> read_build(const Json& answer) {
  BuildResult result;
  FIEL_TRY(check_size(answer));
  result.build_seconds = FIEL_TRY(read_seconds(answer, "build_seconds"));
  result.effective = FIEL_TRY(read_effective(answer));
  return result;
}

Result<LoadResult> read_load(const Json& answer) {
  LoadResult result;
  FIEL_TRY(check_size(answer));
  result.load_seconds = FIEL_TRY(read_seconds(answer, "load_seconds"));
  result.effective = FIEL_TRY(read_effective(answer));
  result.inputs = FIEL_TRY(read_ports(answer, "inputs"));
  result.outputs = FIEL_TRY(read_ports(answer, "outputs"));
  if (result.outputs.empty()) return lie("\"outputs\" is empty");
  if (!answer.contains("parallel_requests")) return result;
  const std::int64_t requests = FIEL_TRY(get_int(answer, "parallel_requests"));
  if (requests < 1 || requests > kMaxParallelRequests)
    return lie("\"parallel_requests\" is {}", requests);
  result.parallel_requests = static_cast<int>(requests);
  return result;
}

Result<std::vector<NodeSeconds>> read_profile(const Json& answer) {
  const auto list = answer.find("nodes");
  if (list == answer.end() || !list->is_array()) return lie("\"nodes\" is no list");
  std::vector<NodeSeconds> nodes;
  for (const Json& item : *list) {
    nodes.push_back({.names = FIEL_TRY(get_strings(item, "names")), .seconds = FIEL_TRY(read_seconds(item, "seconds"))});
  }
  return nodes;
}

Result<InferResult> read_infer(const Json& answer, const InferOrder& order,
                               const fs::path& output_dir) {
  InferResult result;
  result.seconds = FIEL_TRY(read_seconds(answer, "seconds"));
  std::map<int, OutputFiles> by_index;
  for (OutputFiles& outputs : FIEL_TRY(read_outputs_list(answer, output_dir))) {
    const int index = outputs.index;
    if (!by_index.emplace(index, std::move(outputs)).second)
      return lie("sample {} comes twice", index);
  }
  std::set<fs::path> files;
  for (const int index : order.samples.indices) {
    const auto found = by_index.find(index);
    if (found == by_index.end()) return lie("sample {} is missing", index);
    for (const auto& [output, file] : found->second.files) {
      if (!files.insert(file).second)
        return lie("the file {} stands for two outputs", in_quotes(file.filename().string()));
    }
    result.outputs.push_back(std::move(found->second));
    by_index.erase(found);
  }
  if (!by_index.empty()) return lie("sample {} was not asked for", by_index.begin()->first);
  return result;
}

Result<MeasureResult> read_measure(const Json& answer, const MeasureOrder& order,
                                   const MeasurePlaces& places) {
  MeasureResult result;
  result.count = FIEL_TRY(get_int(answer, "count"));
  result.seconds = FIEL_TRY(read_seconds(answer, "seconds"));
  if (!is_time(result.seconds)) return lie("\"seconds\" is {}", result.seconds);
  result.warmup_seconds = FIEL_TRY(read_warmup(answer, order.warmup_count));
  FIEL_TRY(read_device(answer, result));
  result.latencies_seconds = FIEL_TRY(read_latencies(places.latency_file));
  FIEL_TRY(check_count(result, order));
  result.outputs = FIEL_TRY(read_outputs_list(answer, places.output_dir));
  if (result.outputs.empty()) return lie("the outputs of the last inference are missing");
  if (std::ssize(result.outputs) > std::max<std::int64_t>(order.batch, 1))
    return lie("more outputs than a batch has");
  for (const OutputFiles& outputs : result.outputs) {
    const auto& asked = order.samples.indices;
    if (std::find(asked.begin(), asked.end(), outputs.index) == asked.end()) {
      return lie("sample {} was not asked for", outputs.index);
    }
  }
  return result;
}

}  // namespace fiel
