// For tests and fuzzing only: a contract that uses nearly every key.
#pragma once

#include <string_view>

namespace fiel {

inline constexpr std::string_view kFullContract = R"(fiel = 1
[model]
path = "model.onnx"
[[model.shape]]
weight = 2.5
x = [1, 3, 48, 320]
[model.input.ids]
range = [0, 30521]
[[model.state]]
output = "state_out"
input = "state_in"
[data]
calibration = "data/calibration"
tuning = "data/tuning"
holdout = "data/holdout"
[target]
engines = ["openvino", "mine"]
device = "CPU"
cores = "0-1,4"
baseline = "engine=openvino"
[engines.mine]
worker = "bin/worker"
arguments = ["--fast"]
[workload]
scenario = "single_stream"
objective = "latency_p90"
[limits]
peak_memory = "400 MiB"
latency_p99 = "8 ms"
build_time = "2 min"
artifact_size = "1 GB"
[speed]
min_gain = 0.02
confidence = 0.9
[accuracy]
reference = "float32"
confidence = 0.99
claim = "this_set"
[[accuracy.tensor]]
output = "logits"
metric = "cosine"
min = 0.99
allow_non_finite = "where_reference_is"
[[accuracy.task]]
name = "exact_match"
evaluator = ["python3", "score.py"]
max_drop = 0.01
min_score = 0.5
timeout = "30 s"
group = "speaker"
[accuracy.task.slices]
small_text = { max_drop = 0.03 }
[[accuracy.task]]
name = "agree"
evaluator = "agreement"
max_drop_relative = 0.02
[budget]
wall = "20 min"
candidates = 40
executions = 5_000_000
serving_cost_per_hour = 0.40
tuning_cost_per_hour = 1
disk = "20 GB"
[budget.phases]
search = "8 min"
gate = "3 min"
race = "2 min"
proof = "5 min"
[fleet]
launcher = "srun --exclusive --nodes=1"
join = "srun --jobid={job} --nodelist={node} --overlap"
wait = "2 h"
patience = "20 s"
workers = 3
[fleet.targets.epyc]
launcher = "srun --constraint=epyc"
)";

}  // namespace fiel
