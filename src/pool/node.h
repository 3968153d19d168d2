// The first thing that fiel runs on a machine that a launcher found: `fiel-node`. It speaks the worker protocol, is told
// what to be by its first request, and then is it:
//
//   start   becomes a worker: checks that the node has what the worker needs, enters its folder, takes its environment and
//           cores, answers, and executes it. The worker goes on over the same descriptors.
//   keep    stays as the one who holds the node, and does for fiel what fiel does for itself where workers run beside it:
//           looks at processes and the machine, stops and continues process groups, ends them
//
// It takes no arguments, so that what stands before it may be a shell on another machine (ssh).
#pragma once

#include <cstdint>
#include <string>

#include "base/confine.h"
#include "base/json.h"

namespace fiel {

struct NodeFacts {
  std::string node;  // Slurm's name of it where there is one, else its host name
  std::string job;   // Slurm's number, else empty
  std::string cpu;   // the kernel's name for the model
  std::int64_t cpu_count = 0;
  std::string kernel;
  std::int64_t memory_bytes = 0;
  KernelGuards guards;  // what confines workers there
};
/// Of the machine that this process runs on.
NodeFacts node_facts();
Json to_json(const NodeFacts& facts);
Result<NodeFacts> read_node_facts(const Json& answer);

/// The program: requests on descriptor 0, answers on 1. Returns an exit status, or as another program never.
int serve_node();

}  // namespace fiel
