#include "tune/engines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "model/model_file.h"
#include "tune/workshop.h"

namespace fiel {
namespace {

// Of kind `runtime`: several inferences at once, which one stream of requests has no use for.
constexpr std::string_view kParallelRequests = "parallel_requests";

std::string say(const Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint);
}

}  // namespace

std::vector<EngineTarget> known_engines() {
  return {{.name = "openvino", .worker = {}, .library = {}, .arguments = {}},
          {.name = "onnxruntime", .worker = {}, .library = {}, .arguments = {}},
          {.name = "trtexec", .worker = {}, .library = {}, .arguments = {}}};
}

std::vector<std::string> engines_here(int cancel_fd) {
  std::vector<std::string> names;
  for (const EngineTarget& target : known_engines()) {
    const EngineFound found = find_engine(target, cancel_fd);
    // Whoever names no engine is asked for no GPU: not one of those that have nothing else.
    if (found.hello && std::ranges::any_of(found.hello->devices, [](const std::string& device) { return device.starts_with("CPU"); })) {
      names.push_back(target.name);
    }
  }
  if (names.empty()) names.push_back(known_engines().front().name);
  return names;
}

std::vector<std::string> engines_for(const OnnxModel& model, int cancel_fd) {
  return is_onnx(model) ? engines_here(cancel_fd) : std::vector<std::string>{"openvino"};
}

Outcome<HelloResult> ask_hello(Outcome<std::unique_ptr<Worker>> started, double deadline_seconds) {
  if (auto* failure = std::get_if<Failure>(&started)) return std::move(*failure);
  Worker& worker = *std::get<std::unique_ptr<Worker>>(started);
  auto answer = request_hello(worker, deadline_seconds);
  if (std::holds_alternative<HelloResult>(answer)) say_bye(worker);
  return answer;
}

EngineFound find_engine(const EngineTarget& target, int cancel_fd) {
  auto folder = TempFolder::create({}, "fiel-hello-");
  if (!folder) return {.target = target, .hello = {}, .problem = say(folder.error())};
  return find_engine(target, *make_process_pool(cancel_fd), folder->path());
}

EngineFound find_engine(const EngineTarget& target, WorkerPool& pool, const std::filesystem::path& folder) {
  EngineFound found{.target = target, .hello = {}, .problem = {}};
  auto command = worker_command(target);
  if (!command) {
    found.problem = say(command.error());
    return found;
  }
  if (const auto made = ensure_folder(folder / "logs"); !made) {
    found.problem = say(made.error());
    return found;
  }
  auto answer = ask_hello(pool.start({.argv = *command, .environment = {}, .scratch = folder / "scratch" / "hello",
                                      .log = folder / "logs" / ("hello-" + target.name + ".log"), .memory_limit_bytes = {}, .cores = {},
                                      .confinement = confinement_of(target)}),
                          Deadlines().hello);
  if (const auto* failure = std::get_if<Failure>(&answer)) {
    found.problem = failure->message + (failure->log_tail.empty() ? "" : "; its last words: " + failure->log_tail);
  } else {
    found.hello = std::get<HelloResult>(std::move(answer));
  }
  return found;
}

EngineSpace space_of(const HelloResult& hello, const std::string& name, const Contract& contract, std::size_t shapes,
                     const VariantKnob& variants) {
  EngineSpace space{.engine = name, .knobs = {}, .forbidden = variants.forbidden};
  if (variants.knob) space.knobs.push_back(*variants.knob);  // first, since nothing else pays as much
  if (variants.again) space.knobs.push_back(*variants.again);
  for (const Knob& knob : hello.knobs) {
    if (knob.kind == KnobKind::kBatch && contract.scenario != Scenario::kOffline) continue;
    if (knob.kind == KnobKind::kShape && shapes > 1) continue;
    if (knob.name == kParallelRequests && contract.scenario == Scenario::kSingleStream) continue;
    space.knobs.push_back(knob);
  }
  return space;
}

}  // namespace fiel
