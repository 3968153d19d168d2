#include "proof/simulated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/rng.h"
#include "model/npy.h"
#include "onnx-ml.pb.h"
#include "stats/quantiles.h"
#include "tune/tune.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr int kReferenceWrongOneIn = 10;
constexpr std::int64_t kRoomyBytes = 256 << 20;

// A journal waits for the disk at every event; in memory it need not.
fs::path place_for_many_small_files() {
  const fs::path memory = "/dev/shm";
  const auto left = free_bytes(memory);
  return left && *left > kRoomyBytes ? memory : fs::path();
}

void add_port(onnx::ValueInfoProto& port, const char* name, std::int64_t width) {
  port.set_name(name);
  auto& tensor = *port.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_value(1);
  tensor.mutable_shape()->add_dim()->set_dim_value(width);
}

// Nobody computes it; it says what goes in and what comes out.
Result<> write_model(const fs::path& path) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("simulated");
  add_port(*graph.add_input(), "x", 4);
  add_port(*graph.add_output(), "y", 2);
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Simulated");
  node.set_domain("fiel.proof");
  node.add_input("x");
  node.add_output("y");
  model.add_opset_import()->set_domain("fiel.proof");
  model.mutable_opset_import(1)->set_version(1);
  return write_atomic(path, model.SerializeAsString());
}

Result<> write_set(const fs::path& folder, int n, int first_number, int slices) {
  FIEL_TRY(ensure_folder(folder));
  std::vector<float> x;
  std::string labels = "sample,label,slice\n";
  for (int i = 0; i < n; ++i) {
    const int label = i % 2, slice = (i / kReferenceWrongOneIn) % slices;
    const bool reference_is_right = i % kReferenceWrongOneIn != kReferenceWrongOneIn - 1;
    x.insert(x.end(), {static_cast<float>(label), static_cast<float>(first_number + i), reference_is_right ? 1.0F : 0.0F,
                       static_cast<float>(slice)});
    labels += fmt::format("s{:06},{},slice{}\n", i, label, slice);
  }
  const Shape shape{n, 4};
  FIEL_TRY(write_npz(folder / "inputs.npz", {{"x", TensorView{DType::kFloat32, shape, std::as_bytes(std::span(x))}}}));
  return write_atomic(folder / "labels.csv", labels);
}

std::string contract_text(const SimulatedData& data) {
  std::string slices = data.slices > 1 ? "[accuracy.task.slices]\n" : "";
  for (int i = 0; data.slices > 1 && i < data.slices; ++i) {
    slices += fmt::format("slice{} = {{ max_drop = {} }}\n", i, data.max_drop);
  }
  return fmt::format(R"(fiel = 1
[model]
path = "model.onnx"
[data]
tuning = "tuning"
holdout = "holdout"
[target]
engines = ["{}"]
[engines.{}]
worker = "/bin/false"
[speed]
min_gain = {}
confidence = {}
[accuracy]
confidence = {}
[[accuracy.task]]
name = "right"
evaluator = "top1"
max_drop = {}
{})",
                     kSimulatedEngine, kSimulatedEngine, data.min_gain, data.confidence, data.confidence, data.max_drop,
                     slices);
}

// The reference is the default, and it is wrong where its samples say so: its own chances do not count.
SimulatedMachine with_true_reference(SimulatedMachine machine) {
  machine.candidates.front().chance_of_loss = 0;
  machine.candidates.front().chance_of_win = 0;
  return machine;
}

double true_log_gain(const SimulatedMachine& machine, const BuildRoute& route) {
  const auto setting = route.settings.find(std::string(kSimulatedKnob));
  for (const SimulatedCandidate& one : machine.candidates) {
    if (setting != route.settings.end() && one.name == setting->second) return one.log_gain;
  }
  return machine.candidates.front().log_gain;
}

SimulatedOutcome outcome_of(const Verdict& verdict, const Standing& standing, const SimulatedMachine& machine) {
  SimulatedOutcome outcome;
  outcome.word = verdict.word;
  outcome.reason = verdict.reason;
  outcome.estimates = standing.estimate_log_ratios;
  const double base = machine.candidates.front().log_gain;
  if (verdict.winner) {
    outcome.winner_log_gain = true_log_gain(machine, standing.candidates.at(*verdict.winner).route) - base;
  }
  for (const auto& [id, nominee] : standing.nominees) {
    outcome.speed_confirmed = outcome.speed_confirmed || nominee.speed == "confirmed";
  }
  if (standing.nominees_in_order.empty()) return outcome;
  const int first = standing.nominees_in_order.front();
  const CandidateState& state = standing.candidates.at(first);
  outcome.nominee_log_gain = true_log_gain(machine, state.route) - base;
  if (!state.race_log_ratios.empty()) outcome.race_log_ratio = stats::median(state.race_log_ratios);
  if (const auto nominee = standing.nominees.find(first); nominee != standing.nominees.end()) {
    outcome.deciding_sessions = static_cast<int>(nominee->second.sessions.size());
    outcome.first_confirmed = nominee->second.speed == "confirmed";
    for (const PairSession& session : nominee->second.sessions) outcome.deciding_log_ratios.push_back(session.log_ratio);
  }
  return outcome;
}

// How long the stages took that may fan out.
void take_stages(const Journal& journal, SimulatedOutcome& outcome) {
  double anchors = 0, search = 0, gate = 0;
  for (const Event& event : journal.events()) {
    if (event.key == "anchors") anchors = event.spent_seconds;
    if (event.key == "search/end") search = gate = event.spent_seconds;
    if (event.type != "gate" || search == 0) continue;
    gate = event.spent_seconds;
    ++outcome.judged;
  }
  outcome.search_seconds = search - anchors;
  outcome.gate_seconds = gate - search;
}

}  // namespace

Result<SimulatedProject> SimulatedProject::create(const SimulatedData& data) {
  auto folder = FIEL_TRY(TempFolder::create(place_for_many_small_files(), "fiel-proof-"));
  const fs::path root = folder.path();
  FIEL_TRY(write_model(root / "model.onnx"));
  FIEL_TRY(write_set(root / "tuning", data.tuning, 0, data.slices));
  FIEL_TRY(write_set(root / "holdout", data.holdout, data.tuning, data.slices));
  Contract contract = FIEL_TRY(parse_contract(contract_text(data), root / "contract.toml"));
  return SimulatedProject(std::move(folder), std::move(contract));
}

Result<SimulatedOutcome> SimulatedProject::run(const SimulatedMachine& described, double wall_seconds) const {
  const SimulatedMachine machine = with_true_reference(described);
  const auto folder = FIEL_TRY(TempFolder::create(folder_.path(), "run-"));
  SilentProgress progress;
  TuneGround all = FIEL_TRY(lay_tune_ground(contract_, folder_.path() / "packs", progress));
  Ledger ledger = FIEL_TRY(Ledger::open(folder.path() / "state"));
  const std::uint64_t seed = sub_seed(machine.seed, "run");
  const auto workshop = FIEL_TRY(Workshop::create_in(simulated_world(machine), std::move(all.ground),
                                                     FIEL_TRY(Journal::create(folder.path() / "run.db")), folder.path(),
                                                     seed, progress, -1));
  TuneInput input{.lab = workshop->lab(),
                  .holdout = all.holdout,
                  .ledger = ledger,
                  .run_id = "simulated",
                  .strategy = "full",
                  .routes = {},
                  .candidates = {},
                  .wall_seconds = wall_seconds};
  const double own_before = own_cpu_seconds();
  const Verdict verdict = FIEL_TRY(tune(input));
  SimulatedOutcome outcome = outcome_of(verdict, workshop->lab().standing, machine);
  outcome.own_cpu_seconds = own_cpu_seconds() - own_before;
  take_stages(workshop->lab().recorder.journal(), outcome);
  return outcome;
}

}  // namespace fiel
