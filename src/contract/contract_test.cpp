#include "contract/contract.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "contract/full_contract.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

constexpr std::string_view kGood = kFullContract;

TEST(Contract, WorkersAreConfinedUnlessItSaysOtherwise) {
  const auto read = [](std::string_view more) {
    std::string text(kGood);
    const std::string_view key = "arguments = [\"--fast\"]";
    return parse_contract(text.replace(text.find(key), key.size(), more), "/here/contract.toml").value().engines[1];
  };
  EXPECT_TRUE(read("").confine);
  EXPECT_FALSE(read("").network);
  EXPECT_FALSE(read("confine = false").confine);
  const EngineTarget open = read("network = true\nwritable = [\"cache\", \"/dev/shm\"]");
  EXPECT_TRUE(open.confine && open.network);
  EXPECT_EQ(open.writable, (std::vector<std::filesystem::path>{"/here/cache", "/dev/shm"}));
}

TEST(Contract, EveryKeyArrivesWhereItBelongs) {
  const auto read = parse_contract(std::string(kGood), "/here/contract.toml");
  ASSERT_TRUE(read) << read.error().message;
  const Contract& c = *read;
  EXPECT_EQ(c.file, "/here/contract.toml");
  EXPECT_EQ(c.text, kGood);
  EXPECT_EQ(c.model, "/here/model.onnx");
  ASSERT_EQ(c.shapes.size(), 1U);
  EXPECT_EQ(c.shapes[0].weight, 2.5);
  EXPECT_EQ(c.shapes[0].inputs.at("x"), (Shape{1, 3, 48, 320}));
  EXPECT_EQ(c.input_ranges.at("ids").high, 30521);
  EXPECT_EQ(c.state.at(0).output, "state_out");
  EXPECT_EQ(c.holdout, "/here/data/holdout");
  ASSERT_EQ(c.engines.size(), 2U);
  EXPECT_EQ(c.engines[1].worker, "/here/bin/worker");
  EXPECT_EQ(c.engines[1].arguments, std::vector<std::string>{"--fast"});
  EXPECT_EQ(c.cores, (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(c.baseline, "engine=openvino");
  EXPECT_EQ(c.fleet.launcher, (std::vector<std::string>{"srun", "--exclusive", "--nodes=1"}));
  EXPECT_EQ(c.fleet.join_words(), (std::vector<std::string>{"srun", "--jobid={job}", "--nodelist={node}", "--overlap"}));
  EXPECT_EQ(c.fleet.wait_seconds, 7200);
  EXPECT_EQ(c.fleet.patience_seconds, 20);
  EXPECT_EQ(c.fleet.workers, 3);
  EXPECT_EQ(c.fleet.targets.at("epyc").launcher, (std::vector<std::string>{"srun", "--constraint=epyc"}));
  EXPECT_EQ(c.objective, Objective::kLatencyP90);
  EXPECT_EQ(c.limits.peak_memory_bytes, std::int64_t{400} << 20);
  EXPECT_EQ(c.limits.latency_p99_seconds, 0.008);
  EXPECT_EQ(c.limits.build_time_seconds, 120.0);
  EXPECT_EQ(c.limits.artifact_bytes, 1'000'000'000);
  EXPECT_EQ(c.min_gain, 0.02);
  EXPECT_EQ(c.speed_confidence, 0.9);
  EXPECT_EQ(c.accuracy.confidence, 0.99);
  EXPECT_EQ(c.accuracy.claim, Claim::kThisSet);
  EXPECT_EQ(c.accuracy.tensors.at(0).min, 0.99);
  EXPECT_EQ(c.accuracy.tensors[0].non_finite, NonFinite::kWhereReferenceIs);
  const TaskRule& task = c.accuracy.tasks.at(0);
  EXPECT_EQ(task.program, (std::vector<std::string>{"python3", "score.py"}));
  EXPECT_EQ(task.margin.max_drop, 0.01);
  EXPECT_EQ(task.margin.min_score, 0.5);
  EXPECT_EQ(task.slices.at("small_text").max_drop, 0.03);
  EXPECT_EQ(task.timeout_seconds, 30);
  EXPECT_EQ(task.group, "speaker");
  EXPECT_EQ(c.accuracy.tasks.at(1).builtin, BuiltinEvaluator::kAgreement);
  EXPECT_EQ(c.budget.wall_seconds, 1200);
  EXPECT_EQ(c.budget.candidates, 40);
  EXPECT_EQ(c.budget.executions, 5'000'000);
  EXPECT_EQ(c.budget.tuning_cost_per_hour, 1.0);
  EXPECT_EQ(c.budget.disk_bytes, 20'000'000'000);
  EXPECT_EQ(c.budget.phases.search_seconds, 480.0);
  EXPECT_EQ(c.budget.phases.proof_seconds, 300.0);
  EXPECT_EQ(c.place("accuracy.task[1].evaluator"),
            "/here/contract.toml:55: accuracy.task.evaluator");
}

constexpr std::string_view kShort = R"(fiel = 1
[model]
path = "m.onnx"
[data]
samples = "samples/"
[[accuracy.task]]
name = "a"
evaluator = "absolute_error"
min_score = 2
)";

TEST(Contract, WhatIsLeftOutHasItsDefault) {
  const auto read = parse_contract(std::string(kShort), "c.toml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->data.filename(), "samples");
  EXPECT_TRUE(read->tuning.empty());
  ASSERT_EQ(read->engines.size(), 1U);
  EXPECT_EQ(read->engines[0].name, "openvino");
  EXPECT_EQ(read->objective, Objective::kLatencyP50);
  EXPECT_EQ(read->min_gain, 0.01);
  EXPECT_TRUE(read->accuracy.tasks[0].lower_is_better);
  EXPECT_EQ(read->accuracy.claim, Claim::kFutureData);
}

/// One change to kGood and what is said about it, word for word.
struct Bad {
  std::string_view from;
  std::string_view to;
  std::string_view message;
};

const Bad kBad[] = {
    {"fiel = 1", "fiel = 2",
     "c.toml:1: fiel: wants 1, the only format that this fiel reads; found the number 2"},
    {"fiel = 1", "",
     "c.toml:1: fiel: is missing: write fiel = 1 at the top, the format of this contract"},
    {"[model]", "[modle]",
     "c.toml:2: modle: unknown key: did you mean 'model'?\n"
     "c.toml:4: model.path: is missing: path = \"model.onnx\""},
    {"[data]", "[date]",
     "c.toml:1: data: is missing: [data] with tuning and holdout, or with samples = \"folder\"\n"
     "c.toml:12: date: unknown key: did you mean 'data'?"},
    {"path = \"model.onnx\"", "path = 3", "c.toml:3: model.path: wants a text, found the number 3"},
    {"path = \"model.onnx\"", "", "c.toml:2: model.path: is missing: path = \"model.onnx\""},
    {"weight = 2.5", "weight = nan",
     "c.toml:5: model.shape.weight: wants a number above zero, found the number nan"},
    {"weight = 2.5", "weight = 0",
     "c.toml:5: model.shape.weight: wants a number above zero, found the number 0"},
    {"x = [1, 3, 48, 320]", "",
     "c.toml:4: model.shape: names no input: write INPUT = [1, 3, 224, 224]"},
    {"x = [1, 3, 48, 320]", "x = [1, 0]",
     "c.toml:6: model.shape.x: wants whole numbers of at least 1, found the number 0 in it"},
    {"x = [1, 3, 48, 320]", "x = [1, 2.5]",
     "c.toml:6: model.shape.x: wants whole numbers of at least 1, found the number 2.5 in it"},
    {"x = [1, 3, 48, 320]", "x = 1",
     "c.toml:6: model.shape.x: wants a list of whole numbers, found the number 1"},
    {"x = [1, 3, 48, 320]", "x = [1]\n[[model.shape]]\nx = [1]",
     "c.toml:7: model.shape: is there twice: add the two weights up in one"},
    {"x = [1, 3, 48, 320]", "x = [1]\n[[model.shape]]\ny = [1]",
     "c.toml:7: model.shape: does not give 'x', but the first [[model.shape]] does: give it in all "
     "or none\n"
     "c.toml:8: model.shape.y: is not in the first [[model.shape]]: give it in all or none"},
    {"range = [0, 30521]", "range = [5, 0]",
     "c.toml:8: model.input.ids.range: wants two whole numbers, the smallest and the largest "
     "value, in this order"},
    {"input = \"state_in\"", "inptu = \"state_in\"",
     "c.toml:9: model.state.input: is missing: the input that it feeds\n"
     "c.toml:11: model.state.inptu: unknown key: did you mean 'input'?"},
    {"holdout = \"data/holdout\"", "",
     "c.toml:12: data.holdout: is missing: the samples that prove the winner, kept apart from "
     "tuning"},
    {"holdout = \"data/holdout\"", "holdout = \"./data/tuning/\"",
     "c.toml:15: data.holdout: is the folder of data.tuning too: the sets must be disjoint"},
    {"calibration = \"data/calibration\"", "samples = \"data\"",
     "c.toml:14: data.tuning: contradicts data.samples: give one folder that fiel splits, or the "
     "sets, not both\n"
     "c.toml:15: data.holdout: contradicts data.samples: give one folder that fiel splits, or the "
     "sets, not both"},
    {"engines = [\"openvino\", \"mine\"]", "engines = \"openvino\"",
     "c.toml:17: target.engines: wants a list of texts such as [\"a\", \"b\"], found the text "
     "\"openvino\"\n"
     "c.toml:21: engines.mine: target.engines does not have 'mine': known are: openvino"},
    {"\"mine\"]", "\"mine\", \"mine\"]", "c.toml:17: target.engines: names 'mine' twice"},
    {"\"openvino\", \"mine\"", "\"openvin\", \"mine\"",
     "c.toml:17: target.engines: fiel has no engine 'openvin': did you mean 'openvino'? (or give "
     "[engines.openvin] a worker)"},
    {"cores = \"0-1,4\"", "cores = \"0-3,2\"",
     "c.toml:19: target.cores: wants cores such as \"0-1,4\", each once, found \"0-3,2\""},
    {"arguments = [\"--fast\"]", "arguments = [1]",
     "c.toml:23: engines.mine.arguments: wants a list of texts such as [\"a\", \"b\"], found the "
     "number 1 in it"},
    {"arguments = [\"--fast\"]", "confine = false\nnetwork = true",
     "c.toml:24: engines.mine.network: opens a confined worker, and confine = false opens this one for everything: leave one out"},
    {"scenario = \"single_stream\"", "scenario = \"singel_stream\"",
     "c.toml:25: workload.scenario: wants one of single_stream, offline, server, found the text "
     "\"singel_stream\": did you mean 'single_stream'?"},
    {"scenario = \"single_stream\"", "scenario = \"server\"",
     "c.toml:25: workload.scenario: \"server\" needs target_qps, the rate at which your requests "
     "arrive (a second)\n"
     "c.toml:25: workload.scenario: \"server\" does not go with [[model.state]], whose steps wait "
     "for each other: use single_stream"},
    {"scenario = \"single_stream\"\nobjective = \"latency_p90\"",
     "scenario = \"server\"\ntarget_qps = 0\nobjective = \"throughput\"",
     "c.toml:25: workload.scenario: \"server\" does not go with [[model.state]], whose steps wait "
     "for each other: use single_stream\n"
     "c.toml:26: workload.target_qps: wants a number above zero, found the number 0\n"
     "c.toml:27: workload.objective: throughput contradicts scenario \"server\", where requests "
     "arrive at target_qps whatever the engine does: use a latency, or scenario offline"},
    {"scenario = \"single_stream\"", "scenario = \"offline\"",
     "c.toml:26: workload.objective: latency_p90 contradicts scenario \"offline\", where single "
     "requests have no latency: use throughput, or scenario single_stream\n"
     "c.toml:29: limits.latency_p99: contradicts scenario \"offline\", where single requests have "
     "no latency: leave it out, or use scenario single_stream"},
    {"objective = \"latency_p90\"", "target_qps = 100",
     "c.toml:26: workload.target_qps: belongs to scenario \"server\", not to single_stream: leave "
     "it out"},
    {"\"400 MiB\"", "400",
     "c.toml:28: limits.peak_memory: wants a size above zero such as \"400 MiB\", found the number "
     "400"},
    {"\"400 MiB\"", "\"400 Mib\"",
     "c.toml:28: limits.peak_memory: wants a size above zero such as \"400 MiB\", found the text "
     "\"400 Mib\": it has the unknown unit 'Mib'"},
    {"\"8 ms\"", "\"0 ms\"",
     "c.toml:29: limits.latency_p99: wants a time above zero such as \"8 ms\" or \"2 min\", found "
     "the text \"0 ms\""},
    {"min_gain = 0.02", "min_gain = 1",
     "c.toml:33: speed.min_gain: wants a fraction of at least 0 and below 1 (0.01 is 1 %), found "
     "the number 1"},
    {"min_gain = 0.02", "min_gain = -0.1",
     "c.toml:33: speed.min_gain: wants a fraction of at least 0 and below 1 (0.01 is 1 %), found "
     "the number -0.1"},
    {"confidence = 0.9\n", "confidence = 0.5\n",
     "c.toml:34: speed.confidence: wants a confidence above 0.5 and below 1, found the number 0.5"},
    {"confidence = 0.99", "confidence = inf",
     "c.toml:37: accuracy.confidence: wants a confidence above 0.5 and below 1, found the number "
     "inf"},
    {"reference = \"float32\"", "reference = \"files\"",
     "c.toml:35: accuracy.reference_files: is missing: the folder of reference outputs, laid out "
     "like a data set"},
    {"claim = \"this_set\"", "claim = true",
     "c.toml:38: accuracy.claim: wants one of future_data, this_set, found true"},
    {"metric = \"cosine\"", "metric = \"cosin\"",
     "c.toml:41: accuracy.tensor.metric: wants one of max_abs, max_rel, allclose, l2, cosine, "
     "sqnr, argmax_agreement, found the text \"cosin\": did you mean 'cosine'?"},
    {"min = 0.99", "max = 0.99",
     "c.toml:39: accuracy.tensor: cosine needs a bound: write min = 0.99\n"
     "c.toml:42: accuracy.tensor.max: does not bound cosine: write min = 0.99"},
    {"min = 0.99", "min = 1.5",
     "c.toml:42: accuracy.tensor.min: wants a number from -1 to 1, found the number 1.5"},
    {"metric = \"cosine\"", "metric = \"max_abs\"",
     "c.toml:39: accuracy.tensor: max_abs needs a bound: write max = 0.01\n"
     "c.toml:42: accuracy.tensor.min: does not bound max_abs: write max = 0.01"},
    {"metric = \"cosine\"\nmin = 0.99", "metric = \"allclose\"",
     "c.toml:39: accuracy.tensor: allclose needs a bound: write rtol = 1e-3 and atol = 1e-5"},
    {"metric = \"cosine\"\nmin = 0.99", "metric = \"allclose\"\nrtol = nan",
     "c.toml:42: accuracy.tensor.rtol: wants a finite number of at least 0, found the number nan"},
    {"\"where_reference_is\"", "\"always\"",
     "c.toml:43: accuracy.tensor.allow_non_finite: wants one of never, where_reference_is, found "
     "the text \"always\""},
    {"name = \"agree\"", "name = \"exact_match\"",
     "c.toml:54: accuracy.task.name: 'exact_match' is the name of another task too: rename one"},
    {"max_drop = 0.01\nmin_score = 0.5", "",
     "c.toml:44: accuracy.task: has no margin, so nothing could fail it: give max_drop, "
     "max_drop_relative or min_score"},
    {"max_drop = 0.01", "max_drop = -0.01",
     "c.toml:47: accuracy.task.max_drop: wants a finite number of at least 0, in units of the "
     "score, found the number -0.01"},
    {"max_drop = 0.01", "max_drop = 0.01\nmax_drop_relative = 0.01",
     "c.toml:48: accuracy.task.max_drop_relative: contradicts max_drop: give the drop in units of "
     "the score or as a share, not both"},
    {"max_drop = 0.01", "max_dorp = 0.01",
     "c.toml:47: accuracy.task.max_dorp: unknown key: did you mean 'max_drop'?"},
    {"{ max_drop = 0.03 }", "{}",
     "c.toml:52: accuracy.task.slices.small_text: has no margin, so nothing could fail it: give "
     "max_drop, max_drop_relative or min_score"},
    {"{ max_drop = 0.03 }", "0.03",
     "c.toml:52: accuracy.task.slices.small_text: wants a table, written "
     "[accuracy.task.slices.small_text], found the number 0.03"},
    {"[\"python3\", \"score.py\"]", "\"python3 score.py\"",
     "c.toml:46: accuracy.task.evaluator: \"python3 score.py\" is no built-in: write a program as "
     "a list, [\"python3\", \"score.py\"]"},
    {"evaluator = \"agreement\"", "evaluator = \"agreemnt\"",
     "c.toml:55: accuracy.task.evaluator: there is no built-in evaluator \"agreemnt\": did you "
     "mean 'agreement'?"},
    {"evaluator = \"agreement\"", "evaluator = []",
     "c.toml:55: accuracy.task.evaluator: is empty: write [\"python3\", \"score.py\"]"},
    {"evaluator = \"agreement\"", "evaluator = \"agreement\"\nlower_is_better = true",
     "c.toml:56: accuracy.task.lower_is_better: contradicts agreement, whose better direction is "
     "known: leave it out"},
    {"max_drop_relative = 0.02", "max_drop = 1",
     "c.toml:56: accuracy.task.max_drop: of 1 lets everything pass: agreement lies between 0 and "
     "1"},
    {"max_drop_relative = 0.02", "min_score = 99",
     "c.toml:56: accuracy.task.min_score: of 99 lets nothing pass: agreement is at most 1"},
    {"wall = \"20 min\"", "wall = 20",
     "c.toml:58: budget.wall: wants a time above zero such as \"8 ms\" or \"2 min\", found the "
     "number 20"},
    {"candidates = 40", "candidates = 0",
     "c.toml:59: budget.candidates: wants a whole number of at least 1, found the number 0"},
    {"tuning_cost_per_hour = 1", "",
     "c.toml:61: budget.serving_cost_per_hour: has no counterpart: break-even needs both "
     "serving_cost_per_hour and tuning_cost_per_hour"},
    {"search = \"8 min\"", "serch = \"8 min\"", "c.toml:65: budget.phases.serch: unknown key: did you mean 'search'?"},
    {"[budget]", "[budgt]", "c.toml:57: budgt: unknown key: did you mean 'budget'?"},
    {"fiel = 1", "fiel = 1\nfiel = 1",
     "c.toml:2: not TOML: Error while parsing key-value pair: cannot redefine existing integer "
     "'fiel'"},
    {"[budget]", "[\n", "c.toml: not TOML: something is cut off in it"},
};

TEST(Contract, EveryMistakeIsSaidWithFileLineKeyAndWhatToDo) {
  for (const Bad& bad : kBad) {
    std::string text(kGood);
    const auto at = text.find(bad.from);
    ASSERT_NE(at, std::string::npos) << bad.from;
    text.replace(at, bad.from.size(), bad.to);
    const auto read = parse_contract(text, "c.toml");
    ASSERT_FALSE(read) << bad.to;
    EXPECT_EQ(read.error().message, bad.message) << bad.from << " -> " << bad.to;
    EXPECT_EQ(read.error().kind, ErrorKind::kContract);
  }
}

TEST(Contract, TheExampleOfTheReferencePageIsAContract) {
  std::ostringstream page;
  page << std::ifstream(FIEL_SOURCE_DIR "/docs/contract.md").rdbuf();
  const std::string text = page.str();
  const auto begin = text.find("```toml\n") + 8;
  const auto end = text.find("```", begin);
  ASSERT_NE(end, std::string::npos);
  const auto contract = parse_contract(text.substr(begin, end - begin), "docs/contract.md");
  ASSERT_TRUE(contract) << contract.error().message;
  // What the parser found is also explained: each key has its place in the table of keys.
  const std::string table = text.substr(text.find("## Keys"));
  for (const auto& [path, line] : contract->lines) {
    const std::string key = path.substr(path.rfind('.') + 1);
    if (path.starts_with("model.shape[") || path.starts_with("accuracy.task[0].slices.") ||
        path.find("mine") != std::string::npos || path.starts_with("model.input") ||
        path.find('.') == std::string::npos || path == "model.state" || path == "model.shape" ||
        path == "budget.phases" || path.starts_with("fleet.targets") || path == "accuracy.task" || path == "accuracy.tensor" || key == "slices") {
      continue;
    }
    EXPECT_NE(table.find("`" + key + "`"), std::string::npos) << path;
  }
}

TEST(Contract, ReadyVariantsHaveNamesOfTheirOwn) {
  const std::string good(kGood);
  const auto read = parse_contract(good + "[[variant]]\nname = \"nncf\"\nmodel = \"q/nncf.xml\"\n", "/a/c.toml");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->variants.size(), 1U);
  EXPECT_EQ(read->variants[0].name, "nncf");
  EXPECT_EQ(read->variants[0].model, "/a/q/nncf.xml");
  const auto line = std::ranges::count(good, '\n') + 1;
  const auto said = [&](const std::string& text) {
    const auto bad = parse_contract(good + text, "c.toml");
    return bad ? std::string() : bad.error().message;
  };
  const auto made = parse_contract(good + "[[variant]]\nname = \"ort\"\nprogram = [\"python3\", \"-u\"]\ntimeout = \"2 min\"\n", "/a/c.toml");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->variants[0].program, (std::vector<std::string>{"python3", "-u"}));
  EXPECT_EQ(made->variants[0].timeout_seconds, 120);
  EXPECT_TRUE(made->variants[0].confine);
  EXPECT_EQ(said("[[variant]]\nname = \"a\"\nmodel = \"m.onnx\"\nprogram = [\"python3\"]\n"),
            fmt::format("c.toml:{}: variant.program: is there beside a model: a variant is a ready file, or what a program makes", line + 3));
  EXPECT_EQ(said("[[variant]]\nname = \"int8_mine\"\nmodel = \"m.onnx\"\n"),
            fmt::format("c.toml:{}: variant.name: 'int8_mine' is a name of fiel's own variants: take another", line + 1));
  EXPECT_EQ(said("[[variant]]\nname = \"a b\"\nmodel = \"m.onnx\"\n"),
            fmt::format("c.toml:{}: variant.name: 'a b' is no value of a knob: letters, digits, _ - and, not in front, .", line + 1));
  EXPECT_EQ(said("[[variant]]\nname = \"..\"\nprogram = [\"python3\"]\n"),
            fmt::format("c.toml:{}: variant.name: '..' is no value of a knob: letters, digits, _ - and, not in front, .", line + 1));
  EXPECT_EQ(said("[[variant]]\nname = \"a\"\n"),
            fmt::format("c.toml:{}: variant.model: is missing: model = \"nncf.onnx\", a file that an engine can read", line));
  EXPECT_EQ(said("[[variant]]\nname = \"a\"\nmodel = \"m.onnx\"\n[[variant]]\nname = \"a\"\nmodel = \"n.onnx\"\n"),
            fmt::format("c.toml:{}: variant.name: 'a' is there twice", line + 4));
}

TEST(Contract, HostileTextsAreErrorsNotCrashes) {
  for (const std::string& text :
       {std::string(), std::string("\xff\xfe"), std::string("fiel = 1\n\0", 10),
        std::string(2 << 20, '#'), "a = " + std::string(10'000, '['),
        std::string("[\"a\\nb\"]\nx = 1"), std::string("fiel = 1\nmodel = 1\ndata = []")}) {
    const auto read = parse_contract(text, "c.toml");
    ASSERT_FALSE(read);
    EXPECT_FALSE(read.error().message.empty());
  }
}

TEST(Contract, WhatItNamesMustExistWhenAFileIsRead) {
  const TestFolder folder;
  folder.write("c.toml", kGood);
  const auto read = read_contract(folder / "c.toml");
  ASSERT_FALSE(read);
  const std::string file = (folder / "c.toml").string();
  for (const std::string& line :
       {fmt::format("{}:3: model.path: there is no file {}", file,
                    (folder / "model.onnx").string()),
        fmt::format("{}:14: data.tuning: there is no folder {}", file,
                    (folder / "data/tuning").string()),
        fmt::format("{}:22: engines.mine.worker: there is no program", file),
        fmt::format("{}:46: accuracy.task.evaluator: there is no script {}", file,
                    (folder / "score.py").string())}) {
    EXPECT_NE(read.error().message.find(line), std::string::npos) << line << "\n"
                                                                  << read.error().message;
  }
  for (const char* name : {"model.onnx", "data/calibration/a", "data/tuning/a", "data/holdout/a",
                           "bin/worker", "score.py"}) {
    folder.write(name, "");
  }
  const auto again = read_contract(folder / "c.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->accuracy.tasks[0].program,
            (std::vector<std::string>{"python3", (folder / "score.py").string()}));
  EXPECT_NE(read_contract(folder / "none.toml").error().hint.find("fiel init"), std::string::npos);
}

}  // namespace
}  // namespace fiel
