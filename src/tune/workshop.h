// All that one run, check or bench works with, made in the right order and kept alive together: contract, model, data,
// journal, pool, and the Lab that refers to them.
#pragma once

#include <memory>

#include "base/clock.h"
#include "contract/dataset.h"
#include "decide/lab.h"
#include "decide/ledger.h"

namespace fiel {

/// What was read and checked before any work starts. No hold-out: whoever has business with one holds it apart.
struct Ground {
  Contract contract;
  OnnxModel model;
  TuningSet tuning;
  std::optional<SampleSet> calibration;
  std::vector<TrafficShape> shapes;
};

struct TuneGround {
  Ground ground;
  HoldoutSet holdout;
};

/// What is worth a word about the data is told to `progress`.
Result<TuneGround> lay_tune_ground(Contract contract, const std::filesystem::path& packs, ProgressSink& progress);
/// The same without a look at the hold-out, for `check` and `bench`.
Result<Ground> lay_ground(Contract contract, const std::filesystem::path& packs, ProgressSink& progress);

/// Where a run takes place: real processes and real time, or a simulated machine (src/proof).
struct World {
  std::unique_ptr<Clock> clock;
  std::unique_ptr<WorkerPool> pool;
  Fleet* fleet = nullptr;  // the pool, where the contract has a launcher
  std::unique_ptr<Crew> crew = {};  // where it wants several machines; ends before the pool
};
/// `folder` is the run's; nothing is started yet.
World real_world(const Contract& contract, const std::filesystem::path& folder, ProgressSink& progress, int cancel_fd);

class Workshop {
 public:
  /// Clears what a killed process left in `folder`/scratch; engines are named but not started yet.
  static Result<std::unique_ptr<Workshop>> create(Ground ground, Journal journal, const std::filesystem::path& folder,
                                                  std::uint64_t seed, ProgressSink& progress, int cancel_fd);
  static Result<std::unique_ptr<Workshop>> create(World world, Ground ground, Journal journal, const std::filesystem::path& folder,
                                                  std::uint64_t seed, ProgressSink& progress, int cancel_fd);
  /// The same in another world, whose engines need no programs. `world` is destroyed last.
  static Result<std::unique_ptr<Workshop>> create_in(World world, Ground ground, Journal journal,
                                                     const std::filesystem::path& folder, std::uint64_t seed,
                                                     ProgressSink& progress, int cancel_fd);
  ~Workshop();  // the scratch folder goes

  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  Lab& lab() { return lab_; }
  const Ground& ground() const { return ground_; }

 private:
  Workshop(World world, Ground ground, Journal journal, const std::filesystem::path& folder, std::uint64_t seed,
           ProgressSink& progress, int cancel_fd);

  World world_;
  Ground ground_;
  Journal journal_;
  Standing standing_;
  Recorder recorder_;
  Lab lab_;
};

/// Where fiel's own worker programs lie, unless the contract names others: beside the running program.
std::filesystem::path program_folder();

/// The command of an engine's worker; kEnvironment with a hint when it is not there.
Result<std::vector<std::string>> worker_command(const EngineTarget& engine);

}  // namespace fiel
