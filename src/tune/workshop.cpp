#include "tune/workshop.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/files.h"
#include "model/model_file.h"

namespace fiel {

namespace {

Result<Ground> ground_of(Contract contract, OnnxModel model, TuningSet tuning, std::optional<SampleSet> calibration, std::span<const std::string> notes,
                         ProgressSink& progress) {
  for (const std::string& note : notes) progress.warn(note);
  for (const std::string& warning : tuning.get().warnings) progress.warn(warning);
  for (VariantFile& file : contract.variants) {
    if (!file.model.empty()) file.digest = FIEL_TRY(digest_model_file(file.model));
  }
  auto shapes = FIEL_TRY(traffic_shapes(contract, model, tuning.get()));
  return Ground{std::move(contract), std::move(model), std::move(tuning), std::move(calibration), std::move(shapes)};
}

}  // namespace

Result<TuneGround> lay_tune_ground(Contract contract, const std::filesystem::path& packs, ProgressSink& progress) {
  OnnxModel model = FIEL_TRY(read_model(contract.model));
  DataSets data = FIEL_TRY(read_data_sets(contract, model, packs));
  Ground ground =
      FIEL_TRY(ground_of(std::move(contract), std::move(model), std::move(data.tuning), std::move(data.calibration),
                         data.notes, progress));
  return TuneGround{std::move(ground), std::move(data.holdout)};
}

Result<Ground> lay_ground(Contract contract, const std::filesystem::path& packs, ProgressSink& progress) {
  OnnxModel model = FIEL_TRY(read_model(contract.model));
  SearchSets data = FIEL_TRY(read_search_sets(contract, model, packs));
  return ground_of(std::move(contract), std::move(model), std::move(data.tuning), std::move(data.calibration), data.notes,
                   progress);
}

World real_world(const Contract& contract, const std::filesystem::path& folder, ProgressSink& progress, int cancel_fd) {
  if (contract.fleet.launcher.empty()) return {.clock = std::make_unique<RealClock>(), .pool = make_process_pool(cancel_fd)};
  std::vector<std::filesystem::path> files = {contract.model};
  for (const EngineTarget& engine : contract.engines) files.push_back(engine.library);
  for (const VariantFile& file : contract.variants) files.push_back(file.model);
  std::erase(files, std::filesystem::path());
  auto fleet = std::make_unique<Fleet>(FleetOptions{.launcher = contract.fleet.launcher,
                                                    .join = contract.fleet.join_words(),
                                                    .cancel = contract.fleet.cancel_words(),
                                                    .wait_seconds = contract.fleet.wait_seconds,
                                                    .patience_seconds = contract.fleet.patience_seconds,
                                                    .node_program = program_folder() / "fiel-node",
                                                    .folder = folder,
                                                    .files = std::move(files),
                                                    .say = [&progress](std::string_view line) { progress.step(line); },
                                                    .cancel_fd = cancel_fd});
  Fleet* const lent = fleet.get();
  World world{.clock = std::make_unique<RealClock>(), .pool = std::move(fleet), .fleet = lent};
  if (contract.fleet.workers == 1) return world;
  world.crew = std::make_unique<Crew>(Crew::Options{.seats = contract.fleet.workers,
                                                    .prepare = [lent](int) { return lent->prepare(); },
                                                    .leave = [lent](int) { lent->leave(); },
                                                    .hurry = [lent](int seat) { lent->hurry(seat); }});
  lent->man(*world.crew);
  return world;
}

Workshop::Workshop(World world, Ground ground, Journal journal, const std::filesystem::path& folder, std::uint64_t seed,
                   ProgressSink& progress, int cancel_fd)
    : world_(std::move(world)),
      ground_(std::move(ground)),
      journal_(std::move(journal)),
      recorder_(journal_, *world_.clock,
                [this](const Event& event) {
                  FIEL_CHECK(standing_.apply(event).has_value());
                  lab_.progress.recorded(standing_);
                }),
      lab_{.contract = ground_.contract,
           .model = ground_.model,
           .shapes = ground_.shapes,
           .tuning = ground_.tuning,
           .calibration = ground_.calibration,
           .pool = *world_.pool,
           .recorder = recorder_,
           .standing = standing_,
           .progress = progress,
           .folder = folder,
           .seed = seed,
           .cancel_fd = cancel_fd,
           .fleet = world_.fleet,
           .crew = world_.crew.get()} {}

Result<std::unique_ptr<Workshop>> Workshop::create_in(World world, Ground ground, Journal journal,
                                                      const std::filesystem::path& folder, std::uint64_t seed,
                                                      ProgressSink& progress, int cancel_fd) {
  FIEL_TRY(remove_tree(folder / "scratch"));
  for (const char* name : {"scratch", "logs", "reference", "artifacts"}) FIEL_TRY(ensure_folder(folder / name));
  std::unique_ptr<Workshop> workshop(
      new Workshop(std::move(world), std::move(ground), std::move(journal), folder, seed, progress, cancel_fd));
  for (const EngineTarget& target : workshop->ground_.contract.engines) {
    workshop->lab_.engines[target.name] = {.target = target, .argv = {}, .hello = {}};
  }
  return workshop;
}

Result<std::unique_ptr<Workshop>> Workshop::create(Ground ground, Journal journal, const std::filesystem::path& folder,
                                                   std::uint64_t seed, ProgressSink& progress, int cancel_fd) {
  World world = real_world(ground.contract, folder, progress, cancel_fd);
  return create(std::move(world), std::move(ground), std::move(journal), folder, seed, progress, cancel_fd);
}

Result<std::unique_ptr<Workshop>> Workshop::create(World world, Ground ground, Journal journal, const std::filesystem::path& folder,
                                                   std::uint64_t seed, ProgressSink& progress, int cancel_fd) {
  auto workshop = FIEL_TRY(create_in(std::move(world), std::move(ground), std::move(journal), folder, seed, progress, cancel_fd));
  for (auto& [name, engine] : workshop->lab_.engines) engine.argv = FIEL_TRY(worker_command(engine.target));
  return workshop;
}

Workshop::~Workshop() { (void)remove_tree(lab_.folder / "scratch"); }

std::filesystem::path program_folder() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
}

namespace {

// A bare program name as the shell would find it; the name itself where it is not found.
std::filesystem::path on_path(const std::filesystem::path& name) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto program = std::filesystem::path(folder) / name;
    if (!folder.empty() && access(program.c_str(), X_OK) == 0) return program;
  }
  return name;
}

}  // namespace

Result<std::vector<std::string>> worker_command(const EngineTarget& engine) {
  auto worker = engine.worker.empty() ? program_folder() / ("fiel-worker-" + engine.name) : engine.worker;
  if (!worker.has_parent_path()) worker = on_path(worker);
  if (access(worker.c_str(), X_OK) != 0) {
    const bool left_out = engine.worker.empty() && engine.name == "onnxruntime";
    return fail(ErrorKind::kEnvironment, fmt::format("engine {}: no worker program {}", engine.name, worker.string()),
                fmt::format("{}`fiel engines` shows what there is; [engines.{}] worker names a program of your own",
                            left_out ? "it is built where ONNX Runtime's headers are: run ./setup, then build again; " : "",
                            engine.name));
  }
  std::vector<std::string> argv = {worker.string()};
  if (!engine.library.empty()) argv.insert(argv.end(), {"--library", engine.library.string()});
  argv.insert(argv.end(), engine.arguments.begin(), engine.arguments.end());
  return argv;
}

}  // namespace fiel
