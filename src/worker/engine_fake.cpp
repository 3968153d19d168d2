#include "worker/engine_fake.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "model/npy.h"
#include "worker/engine_fake_files.h"

namespace fiel::fake {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kFileActions = {
    "missing_file", "link_file", "bad_name", "cut_file", "missing_sample", "extra_sample", "shift"};
const std::set<std::string> kValueActions = {"noise", "flip",        "non_finite",   "zeros",
                                             "round", "drop_output", "extra_output", "shape",
                                             "dtype", "swap"};

// Settings that fiel may send to any engine; they mean nothing to this one unless its script has
// such a knob.
const std::set<std::string> kCommonSettings = {"variant", "batch", "shape"};

Json error(std::string_view reason, std::string_view message) {
  return {{"type", "error"}, {"reason", reason}, {"message", message}};
}

void sleep_seconds(double seconds) {
  ::poll(nullptr, 0, static_cast<int>(std::ceil(seconds * 1000)));
}

Json ports_json(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& port : ports) {
    list.push_back({{"name", port.name}, {"dtype", to_string(port.dtype)}, {"shape", port.shape}});
  }
  return list;
}

}  // namespace

FakeEngine::FakeEngine(const Script& script) : script_(script) {
  for (const FakeKnob& knob : script.knobs) {
    const char* value = knob.kind == "environment" ? std::getenv(knob.name.c_str()) : nullptr;
    settings_[knob.name] = value != nullptr ? value : knob.default_value;
  }
}

void FakeEngine::prepare(const Json& request) {
  const std::string type = request.value("type", "");
  if (type != "build" && type != "load") return;
  if (const auto settings = complete(request)) settings_ = *settings;
  if (type == "load") process_ = count_process(settings_);
}

Json FakeEngine::answer(const Json& request) {
  const std::string type = request.value("type", "");
  Result<Json> result = fail(ErrorKind::kProtocol, "no request that I know: " + type);
  if (type == "hello") result = hello();
  if (type == "build") result = build(request);
  if (type == "load") result = load(request);
  if (type == "infer") result = infer(request);
  if (type == "measure") result = measure(request);
  if (type == "bye") result = Json::object();
  if (!result) {
    const Error& why = result.error();
    return error(why.kind == ErrorKind::kContract ? "unsupported" : "bad_request", why.message);
  }
  (*result)["type"] = "result";
  for (const Fault* fault : faults(request)) {
    if (fault->action == "answer")
      result->merge_patch(parse_json(fault->parameters).value()["merge"]);
  }
  return *std::move(result);
}

std::vector<const Fault*> FakeEngine::faults(const Json& request) const {
  std::vector<const Fault*> found;
  for (const Fault& fault : script_.faults) {
    if (kFileActions.contains(fault.action) || kValueActions.contains(fault.action)) continue;
    if (applies(fault, request.value("type", ""), request.value("batch", std::int64_t{1})))
      found.push_back(&fault);
  }
  return found;
}

bool FakeEngine::applies(const Fault& fault, const std::string& phase, std::int64_t batch) const {
  return fault.phases.contains(phase) && matches(fault.when, settings_) &&
         (!fault.batch || *fault.batch == batch) &&
         (!fault.from_process || process_ >= *fault.from_process) &&
         (!fault.to_process || process_ <= *fault.to_process) &&
         (!fault.only_timed || measured_ || phase == "measure");
}

std::vector<const Fault*> FakeEngine::output_faults(const std::string& phase,
                                                    std::int64_t batch) const {
  std::vector<const Fault*> found;
  for (const Fault& fault : script_.faults) {
    if (!kFileActions.contains(fault.action) && !kValueActions.contains(fault.action)) continue;
    if (applies(fault, phase, batch)) found.push_back(&fault);
  }
  return found;
}

Result<Json> FakeEngine::hello() {
  std::vector<std::string> capabilities = script_.capabilities;
  if (script_.computed_time) capabilities.push_back("computed_time");
  return Json{{"protocol", 1},
              {"engine", script_.engine},
              {"version", script_.version},
              {"pid", ::getpid()},
              {"devices", {{{"name", "CPU"}, {"description", "none, all numbers are made up"}}}},
              {"cpu_features", Json::array()},
              {"capabilities", capabilities},
              {"knobs", parse_json(script_.hello_knobs).value()},
              {"float32_settings", script_.float32_settings}};
}

// The request's settings over the defaults and the environment.
Result<Settings> FakeEngine::complete(const Json& request) const {
  Settings all;
  for (const FakeKnob& knob : script_.knobs) {
    all[knob.name] = knob.kind == "environment" ? settings_.at(knob.name) : knob.default_value;
  }
  if (!request.contains("settings") || !request["settings"].is_object()) return all;
  for (const auto& [name, json] : request["settings"].items()) {
    const std::string value = FIEL_TRY(get_string(request["settings"], name));
    const auto knob = std::find_if(script_.knobs.begin(), script_.knobs.end(),
                                   [&](const FakeKnob& k) { return k.name == name; });
    const bool known =
        knob != script_.knobs.end() &&
        std::find(knob->values.begin(), knob->values.end(), value) != knob->values.end();
    if (!known && !kCommonSettings.contains(name)) {
      return fail(ErrorKind::kContract, fmt::format("{}={} is nothing that I know", name, value));
    }
    all[name] = value;
  }
  return all;
}

Settings FakeEngine::effective(const Settings& settings) const {
  Settings result = settings;
  for (const FakeKnob& knob : script_.knobs) {
    if (!knob.has_effect || knob.kind == "environment") {
      result.erase(knob.name);
      continue;
    }
    const auto other = knob.effective.find(result[knob.name]);
    if (other != knob.effective.end()) result[knob.name] = other->second;
  }
  return result;
}

void FakeEngine::describe(const std::string& model_digest, const Settings& settings,
                          Json& answer) const {
  const Settings real = effective(settings);
  answer["effective"] = real;
  std::map<std::string, std::int64_t> precisions = script_.precisions;
  Json ignored = Json::array();
  for (const FakeKnob& knob : script_.knobs) {
    const auto found = knob.precisions.find(settings.at(knob.name));
    if (found != knob.precisions.end()) precisions = found->second;
    if (!knob.has_effect && settings.at(knob.name) != knob.default_value)
      ignored.push_back(knob.name);
  }
  answer["precisions"] = precisions;
  answer["ignored"] = ignored;
  Sha256 digest;
  digest.field(model_digest);
  for (const auto& [name, value] : real) digest.field(name).field(value);
  answer["graph_digest"] = digest.hex();
}

Result<Json> FakeEngine::build(const Json& request) {
  FIEL_TRY(complete(request));  // prepare() took them over, but for settings that are wrong
  const fs::path folder = FIEL_TRY(get_string(request, "artifact_dir"));
  const auto digest = sha256_file(FIEL_TRY(get_string(request, "model")));
  if (!digest) return fail(ErrorKind::kContract, digest.error().message);
  double seconds = script_.build_seconds;
  for (const FakeKnob& knob : script_.knobs) {
    const auto factor = knob.build.find(settings_.at(knob.name));
    if (factor != knob.build.end()) seconds *= factor->second;
  }
  if (script_.sleeps) sleep_seconds(seconds);
  const Json artifact = {{"model", *digest}, {"settings", request.value("settings", Settings{})}};
  FIEL_TRY(write_plain(folder / "fake.json", dump_json(artifact)));
  if (script_.artifact_bytes > 0) {
    FIEL_TRY(write_plain(folder / "weights",
                         std::string(static_cast<std::size_t>(script_.artifact_bytes), 'w')));
  }
  for (const Fault* fault : output_faults("build", 1)) {
    std::error_code ignored;
    if (fault->action == "link_file") fs::create_symlink("/etc/hostname", folder / "link", ignored);
  }
  Json answer = {{"build_seconds", seconds}, {"placement", {{"CPU", 1}}}};
  describe(*digest, settings_, answer);
  return answer;
}

Result<Json> FakeEngine::load(const Json& request) {
  FIEL_TRY(complete(request));
  const fs::path folder = FIEL_TRY(get_string(request, "artifact_dir"));
  const Json artifact = FIEL_TRY(parse_json(FIEL_TRY(read_text(folder / "fake.json"))));
  if (artifact.value("settings", Settings{}) != request.value("settings", Settings{})) {
    return fail(ErrorKind::kProtocol, "the artifact was built with other settings");
  }
  scenario_ = request.value("scenario", "single_stream");
  if (request.contains("state")) return fail(ErrorKind::kContract, "I take no recurrent models");
  latencies_ = std::make_unique<LatencyModel>(script_, settings_, process_);
  std::vector<Port> outputs;
  for (const Output& output : script_.outputs) outputs.push_back(output.port);
  Json answer = {{"load_seconds", script_.load_seconds},
                 {"inputs", ports_json(script_.inputs)},
                 {"outputs", ports_json(outputs)},
                 {"parallel_requests", parallel_requests()}};
  describe(artifact.value("model", ""), settings_, answer);
  return answer;
}

std::int64_t FakeEngine::parallel_requests() const {
  std::int64_t requests = 1;
  for (const FakeKnob& knob : script_.knobs) {
    const auto found = knob.parallel.find(settings_.at(knob.name));
    if (found != knob.parallel.end()) requests = found->second;
  }
  return requests;
}

// One file a route, with a byte for each process that loaded it.
std::int64_t FakeEngine::count_process(const Settings& settings) const {
  if (script_.state_folder.empty()) return 0;
  std::string key;
  for (const auto& [name, value] : settings) key += name + "=" + value + "\n";
  (void)ensure_folder(script_.state_folder);
  const fs::path path = script_.state_folder / sha256_hex(key).substr(0, 16);
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  ::flock(file.get(), LOCK_EX);
  if (::write(file.get(), "x", 1) != 1) return 0;
  return static_cast<std::int64_t>(::lseek(file.get(), 0, SEEK_END));
}

Result<Json> FakeEngine::infer(const Json& request) {
  if (!latencies_) return fail(ErrorKind::kProtocol, "nothing is loaded");
  const std::int64_t batch = request.value("batch", std::int64_t{1});
  const auto batches =
      (std::ssize(request["samples"]) + batch - 1) / std::max<std::int64_t>(batch, 1);
  Json answer = {{"seconds", latencies_->typical_seconds(batch) * static_cast<double>(batches)}};
  answer["outputs"] = FIEL_TRY(write_outputs(request["samples"], request, "infer"));
  return answer;
}

// Computes, spoils and writes the outputs of `samples`; returns the "outputs" of the answer.
Result<Json> FakeEngine::write_outputs(const Json& samples, const Json& request,
                                       const std::string& phase) {
  const fs::path folder = FIEL_TRY(get_string(request, "output_dir"));
  const auto faults = output_faults(phase, request.value("batch", std::int64_t{1}));
  const auto index_of = [](const Json& sample) { return sample.value("index", std::int64_t{0}); };
  std::int64_t previous = -1;
  const auto acts = [&](const Fault* fault, const Json& sample, std::string_view action) {
    const auto known = before_.find(index_of(sample));
    if (fault->asked_again && known == before_.end()) return false;
    if (fault->other_place && (known == before_.end() || known->second == previous)) return false;
    return fault->action == action && inferences_ >= fault->from_inference &&
           index_of(sample) % fault->sample_modulo == fault->sample_is;
  };
  Json list = Json::array();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Json& sample = samples[i];
    std::size_t from = i;
    for (const Fault* fault : faults) {
      if (acts(fault, sample, "shift")) from = (i + 1) % samples.size();
    }
    const Tensors inputs = FIEL_TRY(read_inputs(samples[from]));
    Tensors outputs = FIEL_TRY(compute_outputs(script_, inputs));
    bool missing = false, extra = false;
    for (const Fault* fault : faults) {
      if (acts(fault, sample, fault->action)) spoil_outputs(*fault, hash_inputs(inputs), outputs);
      missing = missing || acts(fault, sample, "missing_sample");
      extra = extra || acts(fault, sample, "extra_sample");
    }
    Json files = Json::object();
    for (const auto& [name, tensor] : outputs) {
      std::string file = fmt::format("{}.{}.npy", sample.value("index", 0), files.size());
      FIEL_TRY(write_npy(folder / file, tensor.view()));
      std::error_code ignored;
      for (const Fault* fault : faults) {
        if (acts(fault, sample, "missing_file")) fs::remove(folder / file, ignored);
        if (acts(fault, sample, "cut_file")) fs::resize_file(folder / file, 20, ignored);
        if (acts(fault, sample, "bad_name")) file = "../out/" + file;
        if (acts(fault, sample, "link_file")) {
          fs::rename(folder / file, folder / (file + ".real"), ignored);
          fs::create_symlink(folder / (file + ".real"), folder / file, ignored);
        }
      }
      files[name] = file;
    }
    ++inferences_;
    if (phase == "infer") before_.emplace(index_of(sample), previous);
    previous = index_of(sample);
    const Json entry = {{"index", sample["index"]}, {"files", files}};
    if (!missing) list.push_back(entry);
    if (extra) list.push_back(entry);
  }
  return list;
}

Result<Json> FakeEngine::measure(const Json& request) {
  if (!latencies_) return fail(ErrorKind::kProtocol, "nothing is loaded");
  const Json& samples = request["samples"];
  if (!samples.is_array() || samples.empty()) return fail(ErrorKind::kProtocol, "no samples");
  const bool offline = request.value("scenario", "") == "offline";
  const bool server = request.value("scenario", "") == "server";
  std::vector<double> arrivals;
  if (server) arrivals = FIEL_TRY(read_arrivals(FIEL_TRY(get_string(request, "arrivals_file"))));
  const std::int64_t batch = request.value("batch", std::int64_t{1});
  Block block = latencies_->measure({.seed = request.value("seed", std::uint64_t{0}),
                                     .batch = batch,
                                     .parallel = offline || server ? parallel_requests() : 1,
                                     .warmup_count = request.value("warmup_count", std::int64_t{0}),
                                     .min_count = request.value("min_count", std::int64_t{1}),
                                     .min_seconds = request.value("min_seconds", 0.0),
                                     .max_seconds = request.value("max_seconds", 0.0),
                                     .arrivals_seconds = std::move(arrivals)});
  if (script_.sleeps) sleep_seconds(block.seconds);
  const std::int64_t inferences = std::ssize(block.latencies_seconds);
  const std::int64_t all = std::ssize(block.warmup_seconds) + inferences;
  inferences_ += all;
  // The samples of the last batch: the order goes round and round.
  Json last = Json::array();
  const std::int64_t width = std::min<std::int64_t>(batch, std::ssize(samples));
  for (std::int64_t i = 0; i < width; ++i) {
    last.push_back(
        samples[static_cast<std::size_t>(((all - 1) * batch + i) % std::ssize(samples))]);
  }
  Json answer = {{"count", offline ? inferences * batch : inferences},
                 {"seconds", block.seconds},
                 {"warmup_seconds", block.warmup_seconds}};
  answer["outputs"] = FIEL_TRY(write_outputs(last, request, "measure"));
  measured_ = true;
  std::string how;
  for (const Fault* fault : faults(request)) {
    if (fault->action == "latencies")
      how = parse_json(fault->parameters).value().value("values", "nan");
  }
  const fs::path file = FIEL_TRY(get_string(request, "latency_file"));
  FIEL_TRY(write_latencies(file, std::move(block.latencies_seconds), how));
  return answer;
}

}  // namespace fiel::fake
