// fiel-record CONTRACT [--count 300] [--processes 3] [--blocks 5] [--seed 1] [--routes EXPRESSION] [--t4 FILE] [--csv FILE]: a fresh recorded space.
// Routes: the baseline, each engine's default and float32 route, then uniform draws, out of what --routes leaves of the space. Each is built and judged in full on the
// tuning set, the wrong ones too; then, a process of each in turn, timed in blocks beside the baseline, in an order drawn anew
// for each turn. Never opens the hold-out. The files are written anew after each turn of processes.
//
// A block's cost is the candidate's, times (the baseline's median over all) / (the baseline's in the same round): what drifts
// over hours goes out, what differs from process to process stays in.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/files.h"
#include "base/numbers.h"
#include "decide/judge_full.h"
#include "decide/rounds.h"
#include "decide/trial.h"
#include "report/run_recording.h"
#include "search/strategy.h"
#include "stats/quantiles.h"
#include "tune/anchors.h"
#include "tune/one_off.h"
#include "tune/single.h"

namespace fiel {
namespace {

struct Plan {
  std::string contract, routes, t4, csv;
  int count = 300, processes = 3, blocks = 5;
  std::uint64_t seed = 1;
};

class Lines : public SilentProgress {
 public:
  void stage(std::string_view name, std::string_view detail) override { fmt::print(stderr, "{} {}\n", name, detail); }
  void warn(std::string_view text) override { fmt::print(stderr, "warning: {}\n", text); }
};

struct Pair {
  double base, own;  // seconds
};

struct Entry {
  int id = 0;
  double build_seconds = 0, judge_seconds = 0, timing_seconds = 0;
  std::vector<Pair> blocks;
  std::string failed;  // in a timed process
};

Result<std::vector<Entry>> choose(Lab& lab, const Plan& plan) {
  std::vector<BuildRoute> routes = {FIEL_TRY(baseline_route(lab))};
  for (const auto& [name, engine] : lab.engines) {
    routes.push_back(lab.space->canonical({.engine = name, .settings = {}}));
    routes.push_back(float32_route(lab, name));
  }
  const Space space = plan.routes.empty() ? *lab.space : FIEL_TRY(restrict_space(*lab.space, plan.routes));
  const auto random = FIEL_TRY(make_strategy("random", space, routes.front(), sub_seed(plan.seed, "routes")));
  std::vector<Entry> entries;
  for (std::size_t i = 0; std::ssize(entries) < plan.count; ++i) {
    const auto route = i < routes.size() ? std::optional(routes[i]) : random->ask();
    if (!route) break;
    // A role, so that one that is like another is judged and timed all the same.
    const int id = FIEL_TRY(register_candidate(lab, *route, {"asked"}));
    if (std::ranges::find(entries, id, &Entry::id) == entries.end()) entries.push_back({.id = id, .blocks = {}, .failed = {}});
  }
  return entries;
}

Result<> build_and_judge_all(Lab& lab, std::vector<Entry>& entries) {
  for (Entry& entry : entries) {
    const double began = lab.recorder.live_seconds();
    FIEL_TRY(build_candidate(lab, entry.id));
    const double built = lab.recorder.live_seconds();
    if (in_the_race(lab.standing.at(entry.id).status)) FIEL_TRY(judge_on_tuning(lab, entry.id));
    entry.build_seconds = built - began;
    entry.judge_seconds = lab.recorder.live_seconds() - built;
    const CandidateState& state = lab.standing.at(entry.id);
    fmt::print(stderr, "#{} {}: {}\n", entry.id, to_string(state.route), to_string(state.status));
  }
  return {};
}

// A fresh process of a candidate, timed in blocks beside one of the baseline.
Result<> time_process(Lab& lab, Entry& entry, int baseline, int process, int blocks) {
  const double began = lab.recorder.live_seconds();
  std::vector<Live> live;
  for (const int id : {baseline, entry.id}) {
    auto started = start_live(lab, id);
    if (const auto* failure = std::get_if<Failure>(&started)) {
      FIEL_TRY(stop_if_not_its_fault(lab, *failure));
      if (id == baseline) return fail(ErrorKind::kDied, "the baseline does not start: " + failure->message);
      entry.failed = failure->message;
      return {};
    }
    live.push_back(std::get<Live>(std::move(started)));
    live.back().worker->pause();
  }
  RoundsPlan plan = rounds_plan(lab, fmt::format("record/{}/{}", entry.id, process));
  plan.rounds = blocks;
  plan.spare_rounds = blocks;
  const std::vector<Contender> contenders = {{.live = &live[0], .name = "baseline"}, {.live = &live[1], .name = "candidate"}};
  const RoundsResult rounds = FIEL_TRY(time_rounds(lab, contenders, plan));
  if (rounds.times[0].failure) return fail(ErrorKind::kDied, "the baseline failed while it was timed: " + rounds.times[0].failure->message);
  if (rounds.times[1].failure) {
    entry.failed = rounds.times[1].failure->message;
    return {};
  }
  for (std::size_t i = 0; i < rounds.times[0].costs_seconds.size(); ++i) {
    const auto base = rounds.times[0].costs_seconds[i], own = rounds.times[1].costs_seconds[i];
    if (base && own) entry.blocks.push_back({*base, *own});
  }
  for (Live& one : live) say_bye(*one.worker);
  entry.timing_seconds += lab.recorder.live_seconds() - began;
  return {};
}

Result<> write_files(Lab& lab, const std::vector<Entry>& entries, const Plan& plan) {
  std::vector<double> bases;
  for (const Entry& entry : entries) {
    for (const Pair& block : entry.blocks) bases.push_back(block.base);
  }
  const double base = bases.empty() ? 0.0 : stats::median(bases);
  std::vector<Written> records;
  for (const Entry& entry : entries) {
    const CandidateState& state = lab.standing.at(entry.id);
    Written record{.engine = state.route.engine, .settings = {state.route.settings.begin(), state.route.settings.end()}};
    record.invalidity = entry.failed.empty() ? invalidity_of(state.status) : "runtime";
    record.compile_seconds = entry.build_seconds;
    record.validate_seconds = entry.judge_seconds;
    for (const Pair& block : entry.blocks) record.timings_ms.push_back(1e3 * base * block.own / block.base);
    double timed = 0;
    for (const double timing : record.timings_ms) timed += 1e-3 * timing;
    record.other_seconds = std::max(0.0, entry.timing_seconds - timed);
    if (!record.timings_ms.empty()) record.measurements.push_back({"time_per_execution", stats::median(record.timings_ms), "ms"});
    if (record.measurements.empty() && record.invalidity == "correct") record.invalidity = "runtime";  // every round was rejected
    if (state.accuracy_margin_left) record.measurements.push_back({"accuracy_margin_left", *state.accuracy_margin_left, ""});
    if (state.peak_memory_bytes > 0) record.measurements.push_back({"peak_memory", static_cast<double>(state.peak_memory_bytes), "bytes"});
    records.push_back(std::move(record));
  }
  if (!plan.t4.empty()) FIEL_TRY(write_atomic(plan.t4, t4_text(records)));
  if (!plan.csv.empty()) FIEL_TRY(write_atomic(plan.csv, csv_text(records)));
  return {};
}

Result<> record(const Plan& plan, int cancel_fd) {
  Lines progress;
  OneOff one = FIEL_TRY(OneOff::create(FIEL_TRY(read_contract(std::filesystem::absolute(plan.contract))),
                                       {.seed = plan.seed, .progress = progress, .cancel_fd = cancel_fd}));
  Lab& lab = one.lab();
  FIEL_TRY(meet_engines(lab));
  FIEL_TRY(prepare_reference(lab, FIEL_TRY(reference_route(lab))));
  std::vector<Entry> entries = FIEL_TRY(choose(lab, plan));
  FIEL_TRY(build_and_judge_all(lab, entries));
  const int baseline = entries.front().id;
  if (lab.standing.at(baseline).artifact.empty()) return fail(ErrorKind::kDied, "the baseline can't be built, and others are timed beside it");
  Rng rng(sub_seed(plan.seed, "order"));
  for (int process = 1; process <= plan.processes; ++process) {
    std::vector<std::size_t> order(entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    rng.shuffle(std::span(order));
    progress.stage("timing", fmt::format("process {} of {}", process, plan.processes));
    for (const std::size_t i : order) {
      const bool is_finite = lab.standing.at(entries[i].id).status != CandidateStatus::kNonFinite;
      if (lab.standing.at(entries[i].id).artifact.empty() || !entries[i].failed.empty() || !is_finite) continue;
      FIEL_TRY(time_process(lab, entries[i], baseline, process, plan.blocks));
    }
    FIEL_TRY(write_files(lab, entries, plan));
  }
  return {};
}

std::optional<Plan> plan_of(std::span<char*> words) {
  Plan plan;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) {
      plan.contract = word;
      continue;
    }
    if (++i == words.size()) return std::nullopt;
    const auto number = number_from<int>(words[i]);
    if (word == "--routes") plan.routes = words[i];
    else if (word == "--t4") plan.t4 = words[i];
    else if (word == "--csv") plan.csv = words[i];
    else if (!number || *number < 1) return std::nullopt;
    else if (word == "--count") plan.count = *number;
    else if (word == "--processes") plan.processes = *number;
    else if (word == "--blocks") plan.blocks = *number;
    else if (word == "--seed") plan.seed = static_cast<std::uint64_t>(*number);
    else return std::nullopt;
  }
  return plan.contract.empty() || (plan.t4.empty() && plan.csv.empty()) ? std::nullopt : std::optional(plan);
}

}  // namespace
}  // namespace fiel

int main(int argc, char** argv) {
  const auto plan = fiel::plan_of(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (!plan) {
    fmt::print(stderr, "usage: fiel-record CONTRACT [--count N] [--processes N] [--blocks N] [--seed N] [--routes EXPRESSION] --t4 FILE [--csv FILE]\n");
    return 2;
  }
  const auto done = fiel::record(*plan, -1);
  if (done) return 0;
  fmt::print(stderr, "fiel-record: {}{}{}\n", done.error().message, done.error().hint.empty() ? "" : "; ", done.error().hint);
  return 1;
}
