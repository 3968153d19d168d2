#include "worker/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/npy.h"
#include "protocol/channel.h"
#include "worker/guard.h"
#include "worker/request.h"
#include "worker/self_timed.h"
#include "worker/timed_loop.h"

namespace fiel {
namespace {

template <class Report>
void add_effective(Json& json, const Report& report) {
  json["effective"] = report.effective;
  if (!report.precisions.empty()) json["precisions"] = report.precisions;
  if (!report.placement.empty()) json["placement"] = report.placement;
  if (!report.graph_digest.empty()) json["graph_digest"] = report.graph_digest;
}

Json to_json(const std::vector<EnginePort>& ports) {
  Json list = Json::array();
  for (const EnginePort& port : ports) {
    list.push_back({{"name", port.name}, {"dtype", to_string(port.dtype)}, {"shape", port.shape}});
  }
  return list;
}

/// Each output of each sample as `<place in the answer>.<number>.npy`: output names may hold what file names must not, and
/// the next request's outputs are written over these.
EngineResult<Json> write_outputs(const std::filesystem::path& folder,
                                 const std::vector<EnginePort>& ports,
                                 const std::vector<SampleOutputs>& outputs, std::size_t place = 0) {
  Json list = Json::array();
  for (const SampleOutputs& sample : outputs) {
    Json files = Json::object();
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string name = fmt::format("{}.{}.npy", place, i);
      if (const Result<> written = write_npy(folder / name, sample.tensors[i].view()); !written) {
        return engine_fail("internal", written.error().message);
      }
      files[ports[i].name] = name;
    }
    list.push_back({{"index", sample.index}, {"files", std::move(files)}});
    ++place;
  }
  return list;
}

EngineResult<> write_latencies(const std::filesystem::path& path,
                               const std::vector<double>& seconds) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(seconds.data()),
             static_cast<std::streamsize>(seconds.size() * sizeof(double)));
  file.close();
  if (!file) return engine_fail("internal", fmt::format("cannot write {}", path.string()));
  return {};
}

class Server {
 public:
  explicit Server(Engine& engine) : engine_(engine) {}

  EngineResult<Json> answer(const std::string& type, const Json& request) {
    if (type == "hello") return hello(request);
    if (type == "build") return build(request);
    if (type == "load") return load(request);
    if (type == "infer") return infer(request);
    if (type == "measure") return measure(request);
    if (type == "profile") return profile();
    if (type == "bye") return Json::object();
    return engine_fail("bad_request",
                       fmt::format("\"type\" is \"{}\", which this worker does not know", type));
  }

 private:
  EngineResult<Json> hello(const Json& request);
  EngineResult<Json> build(const Json& request);
  EngineResult<Json> load(const Json& request);
  EngineResult<Json> infer(const Json& request);
  EngineResult<Json> measure(const Json& request);
  EngineResult<Json> profile();
  EngineResult<SelfTimedBlock> time_block(const Feed& feed, const MeasureRequest& measure);

  Engine& engine_;
  std::optional<Loaded> loaded_;
};

EngineResult<Json> Server::hello(const Json& request) {
  const std::int64_t version = FIEL_TRY_REQUEST(get_int(request, "protocol"));
  if (version != kProtocolVersion) {
    return engine_fail("bad_request", fmt::format("\"protocol\" is {}; this worker speaks {}",
                                                  version, kProtocolVersion));
  }
  Json json = FIEL_TRY_ENGINE(engine_.describe());
  json["protocol"] = kProtocolVersion;
  json["pid"] = ::getpid();
  return json;
}

EngineResult<Json> Server::build(const Json& request) {
  const BuildRequest build = FIEL_TRY_REQUEST(parse_build(request));
  const BuildReport report = FIEL_TRY_ENGINE(engine_.build(build));
  Json json = {{"build_seconds", report.build_seconds}};
  add_effective(json, report);
  if (!report.ignored.empty()) json["ignored"] = report.ignored;
  return json;
}

EngineResult<Json> Server::load(const Json& request) {
  const LoadRequest load = FIEL_TRY_REQUEST(parse_load(request));
  Loaded loaded;
  loaded.state = FIEL_TRY_REQUEST(parse_load_state(request));
  loaded.shapes = load.shapes;
  loaded_.reset();
  loaded.report = FIEL_TRY_ENGINE(engine_.load(load));
  const LoadReport& report = loaded.report;
  Json json = {{"load_seconds", report.load_seconds},
               {"inputs", to_json(report.inputs)},
               {"outputs", to_json(report.outputs)},
               {"parallel_requests", report.parallel_requests}};
  add_effective(json, report);
  loaded_ = std::move(loaded);
  return json;
}

EngineResult<Json> Server::infer(const Json& request) {
  if (!loaded_)
    return engine_fail("bad_request", "nothing is loaded yet: \"load\" comes before \"infer\"");
  const InferRequest infer = FIEL_TRY_REQUEST(parse_infer(request));
  const Feed feed = FIEL_TRY_ENGINE(Feed::create(*loaded_, infer.samples, infer.batch));
  SlotRunner runner(engine_, feed, 0);
  Json outputs = Json::array();
  std::chrono::duration<double> seconds{0};
  for (std::size_t item = 0; item < feed.item_count(); ++item) {
    runner.begin(item);
    while (!runner.done()) {
      FIEL_TRY_ENGINE(runner.prepare());
      const auto start = std::chrono::steady_clock::now();
      FIEL_TRY_ENGINE(engine_.run(0));
      seconds += std::chrono::steady_clock::now() - start;
      FIEL_TRY_ENGINE(runner.advance());
    }
    Finished finished = FIEL_TRY_ENGINE(runner.take_finished());
    const auto samples = FIEL_TRY_ENGINE(feed.take_apart(item, std::move(finished.steps)));
    const Json written =
        FIEL_TRY_ENGINE(write_outputs(infer.output_dir, loaded_->report.outputs, samples, outputs.size()));
    outputs.insert(outputs.end(), written.begin(), written.end());
  }
  return Json{{"seconds", seconds.count()}, {"outputs", std::move(outputs)}};
}

EngineResult<Json> Server::measure(const Json& request) {
  if (!loaded_)
    return engine_fail("bad_request", "nothing is loaded yet: \"load\" comes before \"measure\"");
  const MeasureRequest measure = FIEL_TRY_REQUEST(parse_measure(request));
  const Feed feed =
      FIEL_TRY_ENGINE(Feed::create(*loaded_, measure.infer.samples, measure.infer.batch));
  SelfTimedBlock block = FIEL_TRY_ENGINE(time_block(feed, measure));
  LoopReport& report = block.report;
  FIEL_TRY_ENGINE(write_latencies(measure.latency_file, report.latency_seconds));
  const auto samples =
      FIEL_TRY_ENGINE(feed.take_apart(report.last.item, std::move(report.last.steps)));
  Json outputs =
      FIEL_TRY_ENGINE(write_outputs(measure.infer.output_dir, loaded_->report.outputs, samples));
  Json answer = block.told;
  answer["count"] = report.count;
  answer["seconds"] = report.seconds;
  answer["warmup_seconds"] = report.warmup_seconds;
  answer["outputs"] = std::move(outputs);
  return answer;
}

EngineResult<SelfTimedBlock> Server::time_block(const Feed& feed, const MeasureRequest& measure) {
  if (SelfTimed* timer = engine_.self_timed(); timer != nullptr) {
    return timer->time_block(feed, measure.scenario, measure.limits);
  }
  const int slot_count = loaded_->report.parallel_requests;
  LoopReport report =
      measure.scenario == "offline"
          ? FIEL_TRY_ENGINE(run_offline(engine_, feed, measure.limits, slot_count))
      : measure.scenario == "server"
          ? FIEL_TRY_ENGINE(run_server(engine_, feed, measure.limits,
                                       {.arrivals_seconds = measure.arrivals_seconds,
                                        .slot_count = slot_count}))
          : FIEL_TRY_ENGINE(run_single_stream(engine_, feed, measure.limits));
  return SelfTimedBlock{.report = std::move(report), .told = {}};
}

EngineResult<Json> Server::profile() {
  if (!loaded_)
    return engine_fail("bad_request", "nothing is loaded yet: \"load\" comes before \"profile\"");
  Json nodes = Json::array();
  for (const NodeTime& node : FIEL_TRY_ENGINE(engine_.profile())) {
    nodes.push_back({{"names", node.names}, {"seconds", node.seconds}});
  }
  return Json{{"nodes", std::move(nodes)}};
}

std::string answer_line(std::int64_t id, EngineResult<Json> result) {
  if (result) {
    (*result)["id"] = id;
    (*result)["type"] = "result";
    std::string line = dump_json(*result);
    if (line.size() <= kMaxLineBytes) return line;
    result = engine_fail("internal",
                         fmt::format("the answer has {} bytes, more than a line may have; ask for "
                                     "fewer samples at once",
                                     line.size()));
  }
  constexpr std::size_t kMaxMessageBytes = 64 * 1024;  // engines quote whole models
  return dump_json({{"id", id},
                    {"type", "error"},
                    {"reason", result.error().reason},
                    {"message", result.error().message.substr(0, kMaxMessageBytes)}});
}

int give_up(const Error& error) {
  std::fprintf(stderr, "worker: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int serve_on(Engine& engine, Descriptors descriptors) {
  LineReader reader(descriptors.requests);
  Server server(engine);
  while (true) {
    const Result<std::optional<std::string>> line = reader.next();
    if (!line) return give_up(line.error());
    if (!*line) return 0;
    const Result<Json> request = parse_json(**line);
    if (!request) return give_up(request.error());
    const Result<std::int64_t> id = get_int(*request, "id");
    if (!id) return give_up(id.error());
    const Result<std::string> type = get_string(*request, "type");
    EngineResult<Json> result =
        type ? guarded("internal", [&] { return server.answer(*type, *request); })
             : EngineResult<Json>(engine_fail("bad_request", type.error().message));
    if (const Result<> written =
            write_line(descriptors.answers, answer_line(*id, std::move(result)));
        !written) {
      return give_up(written.error());
    }
    if (type && *type == "bye") return 0;
  }
}

int serve(Engine& engine) {
  std::signal(SIGPIPE,
              SIG_IGN);  // a coordinator that is gone is seen by write(), which can then be said
  const int requests = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (requests < 0 || answers < 0 || nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 ||
      ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    std::perror("worker: cannot keep standard input and output for itself");
    return 1;
  }
  ::close(nothing);
  return serve_on(engine, {.requests = requests, .answers = answers});
}

}  // namespace fiel
