// Does a route come out the same each time that it is built? Compilers that time their own kernels while they build, or race
// threads, give another engine for the same command. So a rebuilt artifact is a candidate of its own: judged in full, and timed
// against the first one in fresh processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decide/lab.h"

namespace fiel {

struct Rebuilt {
  int id = 0;
  bool same_bytes = false;  // as the first one
  bool same_graph = false;  // by what the engine says; true where it says nothing
  bool admissible = false;
  std::string status = {}, reason = {};
  std::optional<double> log_ratio = {};  // of a session against the first: above 0 is faster
};

/// Builds the route of candidate `first`, which must be admissible, so many times more.
Result<std::vector<Rebuilt>> rebuild(Lab& lab, int first, int times);

/// A few lines to read.
std::string describe(const std::vector<Rebuilt>& builds);
Json to_json(const std::vector<Rebuilt>& builds);

}  // namespace fiel
