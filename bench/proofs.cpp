// fiel-proofs [--long] [--recorded FILE] [--only TEXT]: the tables of docs/statistics.md on standard output, a line on standard
// error for each proof done. FILE holds one series of timings a line; TEXT is a part of a proof's title. Exit 1 if a promise
// does not hold.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

#include "proof/proofs.h"

namespace {

fiel::RecordedTimings read_series(const std::string& path) {
  fiel::RecordedTimings all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<double> series;
    for (double seconds = 0; words >> seconds;) series.push_back(seconds);
    if (!series.empty()) all.push_back(std::move(series));
  }
  return all;
}

int prove(const fiel::StatisticalProof& proof, int runs) {
  const auto start = std::chrono::steady_clock::now();
  const fiel::Findings findings = proof.find(runs);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("\n### {} {}\n\n| what | measured | promised | |\n|---|---|---|---|\n", proof.id, proof.title);
  int broken = 0;
  for (const fiel::Finding& finding : findings) {
    fmt::print("| {} | {} | {} | {} |\n", finding.what, finding.measured, finding.limit, finding.holds ? "holds" : "**BROKEN**");
    broken += finding.holds ? 0 : 1;
  }
  std::fflush(stdout);
  fmt::print(stderr, "{} {}: {} of {} hold, {:.1f} s\n", proof.id, proof.title, static_cast<int>(findings.size()) - broken,
             findings.size(), took.count());
  return broken;
}

}  // namespace

int main(int argc, char** argv) {
  bool is_long = false;
  std::string only;
  fiel::RecordedTimings recorded;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--long") {
      is_long = true;
    } else if (word == "--recorded" && i + 1 < argc) {
      recorded = read_series(argv[++i]);
    } else if (word == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      fmt::print(stderr, "usage: fiel-proofs [--long] [--recorded FILE] [--only TEXT]\n");
      return 2;
    }
  }
  int broken = 0;
  for (const auto& proofs : {fiel::speed_proofs(), fiel::accuracy_proofs(), fiel::poison_proofs(), fiel::whole_run_proofs(recorded)}) {
    for (const fiel::StatisticalProof& proof : proofs) {
      const int runs = is_long ? proof.long_runs : proof.short_runs;
      if (runs > 0 && proof.title.find(only) != std::string_view::npos) broken += prove(proof, runs);
    }
  }
  return broken == 0 ? 0 : 1;
}
