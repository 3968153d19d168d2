#include "decide/lab.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/units.h"
#include "decide/places.h"
#include "model/npy.h"
#include "pool/group_watch.h"

namespace fiel {
namespace {

// Outputs of one chunk lie on disk, then in memory, until they are scored: this bounds both.
constexpr std::int64_t kChunkBytes = std::int64_t{192} << 20;
constexpr std::int64_t kLeastFreeBytes = std::int64_t{1} << 20;  // below that, a failure may well be the disk's
constexpr std::int64_t kLeastMemory = std::int64_t{4} << 30;  // where the kernel does not tell how much there is
constexpr std::int64_t kMemoryShare = 3;  // of it that outputs may take, beside the reference's and the worker itself
constexpr int kMaxChunk = 256;  // keeps a request line below the protocol's 4 MiB

}  // namespace

Deadlines deadlines_for(const Contract& contract) {
  Deadlines deadlines;
  // A build over its limit is refused anyway; a little more than the limit shows by how much it is over.
  if (contract.limits.build_time_seconds) deadlines.build = std::max(10.0, 1.5 * *contract.limits.build_time_seconds);
  return deadlines;
}

double seconds_for_building(const Lab& lab, double deadline) {
  if (!lab.builds_end_at_seconds) return deadline;
  constexpr double kLeast = 0.05;  // a deadline of nothing would be no deadline
  return std::clamp(*lab.builds_end_at_seconds - lab.recorder.live_seconds(), kLeast, deadline);
}

std::optional<Confinement> confinement_of(const EngineTarget& target) {
  if (!target.confine) return std::nullopt;
  return Confinement{.writable = target.writable, .network = target.network ? Network::kOpen : Network::kNone};
}

Outcome<std::unique_ptr<Worker>> start_worker(Lab& lab, const EngineHere& engine, const BuildRoute& route,
                                              const std::string& log_name, const std::filesystem::path& output) {
  WorkerSpec spec{.argv = engine.argv,
                  .environment = {},
                  .scratch = lab.folder / "scratch" / fmt::format("w{}-{}", getpid(), ++lab.workers_started),
                  .log = lab.folder / "logs" / (log_name + ".log"),
                  // Well above the limit, so that a candidate that only just misses it is measured and named.
                  .memory_limit_bytes = {},
                  .cores = lab.contract.cores,
                  .confinement = confinement_of(engine.target)};
  if (spec.confinement && !output.empty()) spec.confinement->writable.push_back(output);
  if (lab.contract.limits.peak_memory_bytes) spec.memory_limit_bytes = 4 * *lab.contract.limits.peak_memory_bytes;
  if (lab.space) {
    for (const auto& [name, value] : route.settings) {
      const Knob* knob = lab.space->find_knob(route.engine, name);
      if (knob != nullptr && knob->kind == KnobKind::kEnvironment) spec.environment[name] = value;
    }
  }
  auto started = lab.pool.start(spec);
  return lab.fleet == nullptr ? std::move(started) : settled(lab, engine, std::move(started));
}

std::map<std::string, std::string> request_settings(const Lab& lab, const BuildRoute& route) {
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : route.settings) {
    const Knob* knob = lab.space->find_knob(route.engine, name);
    const bool is_elsewhere =
        knob != nullptr && (knob->kind == KnobKind::kEnvironment || knob->kind == KnobKind::kVariant);
    if (!is_elsewhere) settings[name] = value;
  }
  return settings;
}

std::int64_t batch_of(const BuildRoute& route) {
  const auto found = route.settings.find("batch");
  return found == route.settings.end() ? 1 : std::max<std::int64_t>(1, std::atoll(found->second.c_str()));
}

std::filesystem::path artifact_folder(const Lab& lab, const std::string& digest) {
  return lab.folder / "artifacts" / digest;
}

Outcome<Live> start_live(Lab& lab, int id) {
  const CandidateState& state = lab.standing.at(id);
  return start_live(lab, id, state.route, state.artifact);
}

Outcome<Live> start_live(Lab& lab, int id, const BuildRoute& route, const std::string& artifact) {
  const EngineHere& engine = lab.engines.at(route.engine);
  if (lab.checked_artifacts.insert(artifact).second) {
    if (auto checked = check_artifact(lab, artifact); !checked) {
      lab.broken = checked.error();
      return Failure{.kind = FailureKind::kEnvironment, .message = checked.error().message, .phase = "load",
                     .log_tail = {}, .exit_status = {}, .signal = {}};
    }
  }
  auto started = start_worker(lab, engine, route, fmt::format("candidate-{}", id));
  if (auto* failure = std::get_if<Failure>(&started)) return std::move(*failure);
  Live live{.id = id, .worker = std::get<std::unique_ptr<Worker>>(std::move(started)), .loaded = {},
            .batch = batch_of(route), .engine = route.engine};
  const LoadOrder order{.artifact_dir = artifact_folder(lab, artifact),
                        .device = lab.contract.device,
                        .settings = request_settings(lab, route),
                        .shapes = lab.shapes,
                        .scenario = lab.contract.scenario,
                        .state = lab.contract.state};
  auto loaded = request_load(*live.worker, order, deadlines_for(lab.contract).load);
  if (auto* failure = std::get_if<Failure>(&loaded)) return std::move(*failure);
  live.loaded = std::get<LoadResult>(std::move(loaded));
  return live;
}

Result<std::vector<SampleOutputs>> read_outputs(std::span<const OutputFiles> files) {
  std::vector<SampleOutputs> outputs;
  outputs.reserve(files.size());
  // A file may be said to be larger than any disk without taking room on one: it is memory that it would take.
  std::int64_t left = memory_of_nearly_all().value_or(kLeastMemory) / kMemoryShare;
  for (const OutputFiles& sample : files) {
    SampleOutputs read{.index = sample.index, .tensors = {}};
    for (const auto& [name, path] : sample.files) {
      std::error_code code;
      left -= static_cast<std::int64_t>(std::filesystem::file_size(path, code));
      if (!code && left < 0) return fail(ErrorKind::kProtocol, "the outputs of one request take more memory than there is");
      auto tensor = read_npy(path, Links::kRefused);
      if (!tensor) return std::unexpected(std::move(tensor).error().with_context("output " + name));
      read.tensors.emplace(name, std::move(*tensor));
    }
    outputs.push_back(std::move(read));
  }
  return outputs;
}

namespace {

InferOrder order_of(const Live& live, const SampleSet& set, std::span<const int> indices) {
  return {.samples = {.set = set, .indices = {indices.begin(), indices.end()}}, .batch = live.batch};
}

double infer_deadline(const Deadlines& deadlines, std::size_t samples) {
  return deadlines.infer_base + deadlines.infer_per_sample * static_cast<double>(samples);
}

Outcome<std::vector<SampleOutputs>> read_chunk(const InferResult& result) {
  auto outputs = read_outputs(result.outputs);
  if (outputs) return std::move(*outputs);
  return Failure{.kind = FailureKind::kProtocol, .message = outputs.error().message, .phase = "infer",
                 .log_tail = {}, .exit_status = {}, .signal = {}};
}

// 0: files can be opened. Which, when it can't, is no fault of a candidate's.
int error_of_opening_a_file() {
  const Fd any(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return any.is_open() ? 0 : errno;
}

// Pieces of `order` of at most `step`, which end at `stops` too.
std::vector<std::span<const int>> cut(std::span<const int> order, std::size_t step, std::span<const std::size_t> stops) {
  std::vector<std::span<const int>> chunks;
  for (std::size_t done = 0; done < order.size();) {
    std::size_t end = std::min(done + step, order.size());
    for (const std::size_t stop : stops) {
      if (done < stop && stop < end) end = stop;
    }
    chunks.push_back(order.subspan(done, end - done));
    done = end;
  }
  return chunks;
}

}  // namespace

Outcome<std::vector<SampleOutputs>> infer_chunk(Live& live, const SampleSet& set, std::span<const int> indices,
                                                const Deadlines& deadlines) {
  auto answer = request_infer(*live.worker, order_of(live, set, indices), infer_deadline(deadlines, indices.size()));
  if (auto* failure = std::get_if<Failure>(&answer)) return std::move(*failure);
  return read_chunk(std::get<InferResult>(answer));
}

// One chunk is taken while the next one runs.
Result<std::optional<Failure>> infer_set(Lab& lab, Live& live, const SampleSet& set, std::span<const int> order,
                                         std::span<const std::size_t> stops, const TakeChunk& take) {
  const auto chunks = cut(order, static_cast<std::size_t>(chunk_size(lab)), stops);
  const WhileWaiting watch([&live] { live.worker->look(); });
  std::optional<Outcome<BegunInfer>> begun;
  const auto begin = [&](std::span<const int> chunk, const std::filesystem::path& still_read) {
    const double deadline = infer_deadline(deadlines_for(lab.contract), chunk.size());
    begun.emplace(begin_infer(*live.worker, order_of(live, set, chunk), deadline, still_read));
  };
  if (!chunks.empty()) begin(chunks.front(), {});
  for (std::size_t i = 0, done = 0; i < chunks.size(); ++i) {
    if (auto* failure = std::get_if<Failure>(&*begun)) return std::optional(std::move(*failure));
    auto answer = finish_infer(*live.worker, std::get<BegunInfer>(*begun));
    if (auto* failure = std::get_if<Failure>(&answer)) return std::optional(std::move(*failure));
    const std::filesystem::path folder = std::get<BegunInfer>(*begun).folder;
    if (i + 1 < chunks.size()) begin(chunks[i + 1], folder);
    auto outputs = read_chunk(std::get<InferResult>(answer));
    if (auto* failure = std::get_if<Failure>(&outputs)) return std::optional(std::move(*failure));
    done += chunks[i].size();
    lab.progress.status(fmt::format("candidate {}: {}/{} samples", live.id, done, order.size()));
    const Last last = done == order.size() ? Last::kYes : Last::kNo;
    if (!FIEL_TRY(take(std::get<std::vector<SampleOutputs>>(outputs), last))) break;
  }
  return std::optional<Failure>();
}

Result<> check_artifact(const Lab& lab, const std::string& digest) {
  const auto found = sha256_folder(artifact_folder(lab, digest));
  if (found && *found == digest) return {};
  return fail(ErrorKind::kCorrupt,
              fmt::format("artifact {} is {}", artifact_folder(lab, digest).string(),
                          found ? "not what was built" : "gone"),
              "its records speak of other bytes: restore the run folder from a copy, or start a new run");
}

Result<> stop_if_not_its_fault(const Lab& lab, const Failure& failure) {
  if (failure.kind == FailureKind::kCancelled) return fail(ErrorKind::kCancelled, "interrupted");
  if (lab.broken) return std::unexpected(*lab.broken);
  // A candidate's process that could not even be started: no memory for it, too many processes, the program is gone.
  if (failure.kind == FailureKind::kEnvironment && failure.phase == "start") {
    return fail(ErrorKind::kEnvironment, failure.message, "nothing was recorded of it");
  }
  if (const int lacks = error_of_opening_a_file(); lacks != 0) return std::unexpected(file_error("open", "any file", lacks));
  const auto left = free_bytes(lab.folder);
  if (left && *left < kLeastFreeBytes) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("the disk that holds {} is full ({} left)", lab.folder.string(), format_bytes(*left)),
                "free some space; nothing was recorded of what failed for it");
  }
  return {};
}

CandidateStatus status_of(const Failure& failure) {
  switch (failure.kind) {
    case FailureKind::kUnsupported: return CandidateStatus::kUnsupported;
    case FailureKind::kBuildError: return CandidateStatus::kBuildError;
    case FailureKind::kOutOfMemory: return CandidateStatus::kOutOfMemory;
    case FailureKind::kCrash:
    case FailureKind::kEnvironment:
    case FailureKind::kCancelled: return CandidateStatus::kCrash;
    case FailureKind::kTimeout: return CandidateStatus::kTimeout;
    case FailureKind::kProtocol: return CandidateStatus::kMistrusted;
  }
  return CandidateStatus::kMistrusted;
}

CandidateStatus status_of(const GateResult& gate) {
  if (gate.status == GateStatus::kAdmissible) return CandidateStatus::kAdmissible;
  if (gate.status == GateStatus::kUndecided) return CandidateStatus::kUndecided;
  switch (gate.reason) {
    case GateReason::kNonFinite: return CandidateStatus::kNonFinite;
    case GateReason::kSlice: return CandidateStatus::kWrongSlice;
    case GateReason::kNone:
    case GateReason::kWrongOutput:
    case GateReason::kTensorRule:
    case GateReason::kTask:
    case GateReason::kFloor:
    case GateReason::kUndecided: return CandidateStatus::kWrong;
  }
  return CandidateStatus::kWrong;
}

Json failure_json(const Failure& failure) {
  Json json = {{"kind", to_string(failure.kind)},
               {"message", failure.message},
               {"phase", failure.phase},
               {"log_tail", failure.log_tail}};
  if (failure.exit_status) json["exit_status"] = *failure.exit_status;
  if (failure.signal) json["signal"] = *failure.signal;
  return json;
}

void set_outcome(Json& body, CandidateStatus status, const std::string& reason) {
  body["status"] = to_string(status);
  body["reason"] = reason;
}

void set_outcome(Json& body, const Failure& failure) {
  body["failure"] = failure_json(failure);
  set_outcome(body, status_of(failure), failure.message);
}

Json effective_json(const Effective& effective) {
  return {{"settings", effective.settings},
          {"precisions", effective.precisions},
          {"placement", effective.placement},
          {"graph_digest", effective.graph_digest},
          {"ignored", effective.ignored}};
}

std::int64_t bytes_on_disk(const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::is_regular_file(path, code)) return static_cast<std::int64_t>(std::filesystem::file_size(path, code));
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, code)) {
    if (entry.is_regular_file(code)) bytes += static_cast<std::int64_t>(entry.file_size(code));
  }
  return bytes;
}

std::string memory_over_limit(const Lab& lab, std::int64_t peak_bytes) {
  const auto& limit = lab.contract.limits.peak_memory_bytes;
  if (!limit || peak_bytes <= *limit) return {};
  return fmt::format("peak memory {}, limit {}", format_bytes(peak_bytes), format_bytes(*limit));
}

Json ports_json(const std::vector<LoadedPort>& ports) {
  Json json = Json::array();
  for (const LoadedPort& port : ports) {
    json.push_back({{"name", port.name}, {"dtype", to_string(port.dtype)}, {"shape", port.shape}});
  }
  return json;
}

int chunk_size(const Lab& lab) {
  // The outputs' sizes are known for sure only once one was seen; ports with dynamic axes count as 1 MiB.
  std::int64_t bytes = 0;
  for (const ModelPort& port : lab.model.outputs) {
    std::int64_t count = 1;
    for (const Dimension& dim : port.dims.value_or(std::vector<Dimension>{})) {
      count *= dim.size > 0 ? dim.size : 1;
    }
    const auto size = static_cast<std::int64_t>(element_size(port.dtype.value_or(DType::kFloat32)));
    const bool dynamic = !port.dims || std::ranges::any_of(*port.dims, [](const Dimension& d) { return d.size < 0; });
    bytes += dynamic ? std::max(count * size, std::int64_t{1} << 20) : count * size;
  }
  return static_cast<int>(std::clamp<std::int64_t>(kChunkBytes / std::max<std::int64_t>(bytes, 1), 1, kMaxChunk));
}

}  // namespace fiel
