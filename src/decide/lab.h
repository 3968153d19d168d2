// Everything that building, judging and timing candidates needs at hand, and the few acts that all stages share: a
// candidate's process started and loaded, its outputs read. Decides nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract.h"
#include "contract/dataset.h"
#include "decide/progress.h"
#include "decide/standing.h"
#include "gate/gate.h"
#include "gate/reference.h"
#include "journal/record.h"
#include "journal/recorder.h"
#include "model/onnx_model.h"
#include "pool/fleet.h"
#include "pool/requests.h"
#include "pool/worker.h"
#include "route/space.h"
#include "variant/rewriter.h"

namespace fiel {

/// An engine that answered hello.
struct EngineHere {
  EngineTarget target;
  std::vector<std::string> argv;
  HelloResult hello;

  /// One of hello's capabilities (docs/protocol.md).
  bool can(std::string_view capability) const {
    return std::ranges::find(hello.capabilities, capability) != hello.capabilities.end();
  }
};

/// What the full tuning gate saw of a candidate, so that later processes can be held against it.
struct GateRecord {
  Scores scores;
  std::map<int, std::string> output_bits;  // by tuning sample; see name_of_bits
};

/// Outputs of timed processes that did not have the gate's bits, pooled over all processes of a candidate.
struct FaithTally {
  std::int64_t probed = 0;
  std::int64_t changed = 0;
  std::map<std::string, double> score_lost;  // by task, against the gate's own scores
  std::map<std::string, std::int64_t> losses;
};

struct Lab {
  const Contract& contract;
  const OnnxModel& model;
  const std::vector<TrafficShape>& shapes;
  const TuningSet& tuning;
  const std::optional<SampleSet>& calibration;
  WorkerPool& pool;
  Recorder& recorder;
  Standing& standing;
  ProgressSink& progress;
  std::filesystem::path folder;  // of the run
  std::uint64_t seed = 0;
  int cancel_fd = -1;
  Fleet* fleet = nullptr;  // the pool, where its workers run on machines that somebody hands out
  Crew* crew = nullptr;    // where those are several at a time

  std::map<std::string, EngineHere> engines = {};
  std::optional<Space> space = {};
  std::optional<ReferenceStore> reference = {};
  std::map<int, GateRecord> gate_records = {};
  std::map<int, FaithTally> faith = {};
  std::map<std::string, int> identities = {};  // effective identity -> first candidate that had it
  std::map<std::string, int> by_route = {};    // route text -> candidate
  std::set<std::string> checked_artifacts = {};  // by this process
  std::set<std::string> made_variants = {};      // by this process
  std::map<std::string, Failure> failed_variants = {};  // of programs: they are not run again for the next route
  std::shared_ptr<const Rewriter> rewriter = {};  // makes variants of the model
  std::string variants_note = {};                // which kinds of variants there are none of, and why
  std::optional<Error> broken = {};              // what makes going on senseless; found where only a Failure can be told
  std::map<std::string, Result<Record>> made_ahead = {};  // by event key: done by others of the crew, and not yet walked
  int machines_refused = 0;
  std::set<std::pair<int, std::string>> greeted = {};  // machines of the fleet, and engines there
  std::int64_t workers_started = 0;
  std::optional<double> builds_end_at_seconds = {};  // of the run: where the stage's time is up. None: builds may take their deadline
};

/// A process with a candidate's artifact loaded.
struct Live {
  int id = 0;
  std::unique_ptr<Worker> worker;
  LoadResult loaded;
  std::int64_t batch = 1;
  std::string engine = {};
};

/// Seconds that a phase may take before its process is ended.
struct Deadlines {
  double hello = 60;
  double build = 600;
  double load = 300;
  double infer_base = 60;         // plus infer_per_sample for each sample
  double infer_per_sample = 10;
  double measure = 120;
};
Deadlines deadlines_for(const Contract& contract);
/// What a build that may take `deadline` by itself has left of its stage's time.
double seconds_for_building(const Lab& lab, double deadline);

/// What the contract lets an engine's workers do; none: all that the user may.
std::optional<Confinement> confinement_of(const EngineTarget& target);

/// Starts a process of `engine` for the settings of `route` that live in the environment. It may write to its scratch folder,
/// to `output` where there is one, and to what the contract says.
Outcome<std::unique_ptr<Worker>> start_worker(Lab& lab, const EngineHere& engine, const BuildRoute& route,
                                              const std::string& log_name, const std::filesystem::path& output = {});

/// Settings of a route that go into requests (all but those of kind environment and variant).
std::map<std::string, std::string> request_settings(const Lab& lab, const BuildRoute& route);
std::int64_t batch_of(const BuildRoute& route);
std::filesystem::path artifact_folder(const Lab& lab, const std::string& digest);

/// Is a chunk the last one?
enum class Last { kNo, kYes };

/// Starts a fresh process and loads the candidate's artifact.
Outcome<Live> start_live(Lab& lab, int id);
/// The same where nothing is recorded of the candidate yet.
Outcome<Live> start_live(Lab& lab, int id, const BuildRoute& route, const std::string& artifact);

/// Runs samples through a live process and reads what came out, chunk by chunk.
Outcome<std::vector<SampleOutputs>> infer_chunk(Live& live, const SampleSet& set, std::span<const int> indices,
                                                const Deadlines& deadlines);

/// Takes a chunk's outputs; `last`: the set is through. False: enough.
using TakeChunk = std::function<Result<bool>(std::span<const SampleOutputs> outputs, Last last)>;
/// Runs `order` of `set` in chunks, which end at the given numbers of samples too.
Result<std::optional<Failure>> infer_set(Lab& lab, Live& live, const SampleSet& set, std::span<const int> order,
                                         std::span<const std::size_t> stops, const TakeChunk& take);

Result<std::vector<SampleOutputs>> read_outputs(std::span<const OutputFiles> files);

/// Cancellation, a full disk, no more processes or open files, and an artifact that is not what was built stop the run with an
/// Error and leave no record; every other failure is the candidate's own.
Result<> stop_if_not_its_fault(const Lab& lab, const Failure& failure);
/// The artifact still has the bytes that its digest names; kCorrupt if not.
Result<> check_artifact(const Lab& lab, const std::string& digest);
CandidateStatus status_of(const Failure& failure);
CandidateStatus status_of(const GateResult& gate);
/// Says in a record what became of a candidate, and of a failure also the evidence.
void set_outcome(Json& body, CandidateStatus status, const std::string& reason);
void set_outcome(Json& body, const Failure& failure);
Json failure_json(const Failure& failure);
Json effective_json(const Effective& effective);
Json ports_json(const std::vector<LoadedPort>& ports);

/// Of a plain file, or of all below a folder together; what is not there or can't be read counts nothing.
std::int64_t bytes_on_disk(const std::filesystem::path& path);

/// What [limits] says of a process's peak memory, in words; empty: within.
std::string memory_over_limit(const Lab& lab, std::int64_t peak_bytes);

/// How many samples one infer request takes: bounded by the bytes of their outputs.
int chunk_size(const Lab& lab);

}  // namespace fiel
