// fiel-fleet CANDIDATES MACHINES…: whole runs in simulated time on so many machines, as a table in Markdown on standard output.
// A build takes 2 s, a first timing about 1 s (load, probe, and five blocks against the comparator, which is what a real one has),
// and each full judgement 10 s. The code that asks, waits, records and decides is that of real runs; processes, machines and the
// clock are not. Exit 1 where 64 machines bring less than 0.9 of 64 times as much in the search.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "proof/simulated_run.h"

namespace {

constexpr double kBuildSeconds = 2, kInferSeconds = 0.05;
constexpr double kLeastShare = 0.9;
constexpr int kJudgedMachines = 64;

fiel::SimulatedMachine fleet_of(int machines, int candidates) {
  fiel::SimulatedMachine fleet{.seed = 1, .candidates = {}, .build_seconds = kBuildSeconds, .infer_seconds = kInferSeconds, .machines = machines};
  for (int i = 0; i < candidates; ++i) {
    // One in a thousand is faster than the default, the rest slower by up to a third.
    const double gain = i % 1000 == 500 ? 0.1 : -0.3 * (i % 97) / 97;
    fleet.candidates.push_back({.name = fmt::format("c{:06}", i), .log_gain = i == 0 ? 0 : gain});
  }
  return fleet;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: fiel-fleet CANDIDATES MACHINES...\n");
    return 2;
  }
  const int candidates = std::atoi(argv[1]);
  const auto project = fiel::SimulatedProject::create({});
  if (!project) {
    fmt::print(stderr, "{}\n", project.error().message);
    return 5;
  }
  fmt::print("| machines | search, simulated | speed-up | of ideal | own CPU time of the run | verdict |\n|---|---|---|---|---|---|\n");
  double of_one = 0;
  bool holds = true;
  for (int i = 2; i < argc; ++i) {
    const int machines = std::atoi(argv[i]);
    const auto outcome = project->run(fleet_of(machines, candidates));
    if (!outcome) {
      fmt::print(stderr, "{}\n", outcome.error().message);
      return 5;
    }
    if (i == 2) of_one = outcome->search_seconds * machines;
    const double speedup = of_one / outcome->search_seconds;
    fmt::print("| {} | {:.0f} s | {:.1f} | {:.3f} | {:.1f} s | {} |\n", machines, outcome->search_seconds, speedup, speedup / machines,
               outcome->own_cpu_seconds, to_string(outcome->word));
    std::fflush(stdout);
    if (machines == kJudgedMachines) holds = speedup / machines >= kLeastShare;
  }
  return holds ? 0 : 1;
}
