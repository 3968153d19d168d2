// The scripted engine: answers requests as a good engine would, at no cost of time, but for the
// faults its script names. Speaks docs/protocol.md itself, not through serve(), since half of its
// faults are things that serve() never does.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "worker/engine_fake_latency.h"
#include "worker/engine_fake_outputs.h"
#include "worker/engine_fake_script.h"

namespace fiel::fake {

class FakeEngine {
 public:
  explicit FakeEngine(const Script& script);

  /// Takes the settings of a build or load over, so that faults() and answer() are about them.
  void prepare(const Json& request);
  /// The answer to a request: a result or an error, without id. Output and latency faults are in it
  /// already.
  Json answer(const Json& request);
  /// Faults of other kinds that apply to this request, in the script's order. "start" is a phase
  /// before any request.
  std::vector<const Fault*> faults(const Json& request) const;

 private:
  struct Batch;
  Result<Json> hello();
  Result<Json> build(const Json& request);
  Result<Json> load(const Json& request);
  Result<Json> infer(const Json& request);
  Result<Json> measure(const Json& request);

  Result<Settings> complete(const Json& request) const;
  Settings effective(const Settings& settings) const;
  void describe(const std::string& model_digest, const Settings& settings, Json& answer) const;
  bool applies(const Fault& fault, const std::string& phase, std::int64_t batch) const;
  std::vector<const Fault*> output_faults(const std::string& phase, std::int64_t batch) const;
  Result<Json> write_outputs(const Json& samples, const Json& request, const std::string& phase);
  std::int64_t count_process(const Settings& settings) const;
  std::int64_t parallel_requests() const;

  const Script& script_;
  Settings settings_;  // of the last build or load, complete; the environment's and the defaults
                       // until then
  std::int64_t process_ =
      0;  // how many processes have loaded this route, this one included; 0 without a state folder
  std::int64_t inferences_ = 0;
  bool measured_ = false;
  std::map<std::int64_t, std::int64_t> before_;  // sample that infer had -> the one before it then, -1: none
  std::string scenario_;
  std::unique_ptr<LatencyModel> latencies_;
};

}  // namespace fiel::fake
