#include "contract/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "contract/set_reader.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

// A model with a float input and an integer one, and the same ten samples in each of the three
// layouts.
constexpr const char* kMake = R"(
import numpy as np, onnx, os
from onnx import helper as h, TensorProto as T, numpy_helper
x = h.make_tensor_value_info('x', T.FLOAT, ['N', 3])
ids = h.make_tensor_value_info('ids', T.INT64, [1, 'L'])
y = h.make_tensor_value_info('y', T.FLOAT, ['N', 3])
n = h.make_tensor_value_info('n', T.INT64, [1, 'L'])
graph = h.make_graph([h.make_node('Relu', ['x'], ['y']), h.make_node('Identity', ['ids'], ['n'])], 'g', [x, ids], [y, n])
onnx.save(h.make_model(graph), 'model.onnx')
def sample(i): return np.full((1, 3), i, dtype=np.float32), np.array([[i, i + 1]], dtype=np.int64)
def write_npz(folder, numbers, labels=None):
    os.makedirs(folder, exist_ok=True)
    for i in numbers: np.savez(f'{folder}/s{i:03}.npz', x=sample(i)[0], ids=sample(i)[1])
    if labels: open(f'{folder}/labels.csv', 'w').write('sample,label,slice\n' + ''.join(
        f's{i:03},{i},{"odd" if i % 2 else "even"}\n' for i in numbers))
write_npz('tuning', range(10), True)
write_npz('holdout', range(20, 40), True)
write_npz('pool', range(100, 200))
os.makedirs('stacked')
np.savez('stacked/inputs.npz', x=np.concatenate([sample(i)[0] for i in range(10)]), ids=np.stack([sample(i)[1] for i in range(10)]))
for i in range(10):
    os.makedirs(f'onnx/test_data_set_{i}')
    for k, array in enumerate(sample(i)):
        open(f'onnx/test_data_set_{i}/input_{k}.pb', 'wb').write(numpy_helper.from_array(array).SerializeToString())
)";

constexpr std::string_view kContract = R"(fiel = 1
[model]
path = "model.onnx"
[data]
tuning = "tuning"
holdout = "holdout"
[[accuracy.task]]
name = "class"
evaluator = "top1"
max_drop = 0.1
)";

class Dataset : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    pristine_ = new TestFolder();
    ASSERT_TRUE(pristine_->python(kMake));
  }
  static void TearDownTestSuite() { delete pristine_; }
  void SetUp() override {
    fs::copy(pristine_->path(), folder_.path(), fs::copy_options::recursive);
    model_ = read_onnx_model(folder_ / "model.onnx").value();
  }

  Contract contract(std::string_view text = kContract) {
    auto read = parse_contract(std::string(text), "c.toml");
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    for (auto* path : {&read->calibration, &read->tuning, &read->holdout, &read->data}) {
      if (!path->empty()) *path = folder_ / path->filename().string();
    }
    return *read;
  }
  /// kContract with `from` replaced.
  Contract changed(std::string_view from, std::string_view to) {
    std::string text(kContract);
    text.replace(text.find(from), from.size(), to);
    return contract(text);
  }
  std::string message_of(const Contract& contract) {
    const auto sets = read_data_sets(contract, model_, folder_ / "run");
    if (sets) return "read";
    EXPECT_EQ(sets.error().kind, ErrorKind::kContract);
    EXPECT_FALSE(sets.error().hint.empty()) << sets.error().message;
    std::string message = sets.error().message;
    const std::string here = folder_.path().string() + "/";
    for (auto at = message.find(here); at != std::string::npos; at = message.find(here))
      message.erase(at, here.size());
    return message;
  }
  SampleSet set_of(const std::string& name) {
    auto set =
        read_sample_set(folder_ / name, model_, contract(), folder_ / "run" / (name + ".pack"));
    EXPECT_TRUE(set) << (set ? "" : set.error().message);
    return *set;
  }
  void overwrite(std::string_view sample, std::string_view arrays) {
    ASSERT_TRUE(folder_.python("import numpy as np\nnp.savez('" + std::string(sample) + "', " +
                               std::string(arrays) + ")"));
  }

  static TestFolder* pristine_;
  TestFolder folder_;
  OnnxModel model_;
};
TestFolder* Dataset::pristine_ = nullptr;

TEST_F(Dataset, TheThreeLayoutsGiveTheSameSamples) {
  const SampleSet npz = set_of("tuning");
  const SampleSet stacked = set_of("stacked");
  const SampleSet onnx = set_of("onnx");
  ASSERT_EQ(npz.samples.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(npz.samples[i].digest, stacked.samples.at(i).digest) << i;
    EXPECT_EQ(npz.samples[i].digest, onnx.samples.at(i).digest) << i;
  }
  EXPECT_EQ(npz.samples[3].id, "s003");
  EXPECT_EQ(npz.samples[3].label, "3");
  EXPECT_EQ(npz.samples[3].slice, "odd");
  EXPECT_EQ(stacked.samples[3].id, "000003");
  EXPECT_EQ(onnx.samples[3].id, "test_data_set_3");
  EXPECT_EQ(stacked.digest, onnx.digest);
  EXPECT_NE(npz.digest, onnx.digest);  // labels count
  EXPECT_EQ(folder_.read("run/tuning.pack"), folder_.read("run/stacked.pack"));
}

TEST_F(Dataset, ThePackHoldsTheBytesAlignedAndDescribed) {
  const SampleSet set = set_of("tuning");
  const std::string pack = folder_.read("run/tuning.pack");
  const PackedTensor& x = set.samples[7].inputs.at("x");
  EXPECT_EQ(x.shape, (Shape{1, 3}));
  EXPECT_EQ(x.offset % 64, 0);
  float value = 0;
  std::memcpy(&value, pack.data() + x.offset + 8, sizeof(value));
  EXPECT_EQ(value, 7.0F);
  EXPECT_FALSE(fs::exists(folder_ / "run/tuning.pack.partial"));
}

TEST_F(Dataset, StackedRowsAreNamedByLabels) {
  folder_.write("stacked/labels.csv",
                "sample,label\na,0\nb,1\nc,2\nd,3\ne,4\nf,5\ng,6\nh,7\ni,8\nj,9\n");
  EXPECT_EQ(set_of("stacked").samples[2].id, "c");
  folder_.write("stacked/labels.csv", "sample,label\na,0\n");
  EXPECT_EQ(message_of(changed("\"tuning\"", "\"stacked\"")),
            "c.toml:5: data.tuning: stacked/labels.csv has 1 rows, but stacked/inputs.npz has 10 "
            "samples");
}

TEST_F(Dataset, PacksAreUsedAgainAndChangedDataAreRefused) {
  const std::string first = set_of("tuning").digest;
  const auto written = fs::last_write_time(folder_ / "run/tuning.pack");
  EXPECT_EQ(set_of("tuning").digest, first);
  EXPECT_EQ(fs::last_write_time(folder_ / "run/tuning.pack"), written);
  // Touched, but the same: read again, and no error.
  fs::last_write_time(folder_ / "tuning/s003.npz", fs::file_time_type::clock::now());
  EXPECT_EQ(set_of("tuning").digest, first);
  fs::copy_file(folder_ / "pool/s100.npz", folder_ / "tuning/s003.npz",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(
      message_of(contract()),
      "c.toml:5: data.tuning: the data of tuning changed since the run began (changed: s003.npz)");
  EXPECT_TRUE(read_data_sets(contract(), model_, folder_ / "run2"));
}

TEST_F(Dataset, ADamagedPackIsMadeAgain) {
  set_of("tuning");
  const std::string pack = folder_.read("run/tuning.pack");
  folder_.write("run/tuning.pack", pack.substr(1));
  set_of("tuning");
  EXPECT_EQ(folder_.read("run/tuning.pack"), pack);
  folder_.write("run/tuning.pack.json", "{\"format\":1}");
  set_of("tuning");
  EXPECT_EQ(folder_.read("run/tuning.pack"), pack);
}

TEST_F(Dataset, SharedSamplesAreFoundByContent) {
  for (int i = 0; i < 7; ++i) {
    const std::string name = "s" + std::string(i < 10 ? "00" : "0") + std::to_string(i);
    fs::copy_file(folder_ / ("tuning/" + name + ".npz"),
                  folder_ / ("holdout/copy" + std::to_string(i) + ".npz"));
  }
  fs::remove(folder_ / "holdout/labels.csv");
  EXPECT_EQ(message_of(changed("top1", "agreement")),
            "c.toml:4: data: the sets share samples of the same content: tuning 's000' = holdout "
            "'copy0', tuning 's001' = "
            "holdout 'copy1', tuning 's002' = holdout 'copy2', tuning 's003' = holdout 'copy3', "
            "tuning 's004' = holdout 'copy4' "
            "and 2 more");
}

TEST_F(Dataset, RepeatsWithinASetAreCounted) {
  fs::copy_file(folder_ / "pool/s100.npz", folder_ / "pool/again.npz");
  const SampleSet set = set_of("pool");
  ASSERT_EQ(set.warnings.size(), 1U);
  EXPECT_NE(set.warnings[0].find("1 of the 101 samples of pool"), std::string::npos);
}

TEST_F(Dataset, InputsThatDoNotFitTheModelAreRefusedByName) {
  const auto says = [this](std::string_view arrays, std::string_view message) {
    overwrite("tuning/s004.npz", arrays);
    EXPECT_EQ(message_of(contract()),
              "c.toml:5: data.tuning: sample 's004' (tuning/s004.npz): " + std::string(message));
  };
  const std::string x = "x=np.zeros((1,3),dtype='f4')";
  const std::string ids = "ids=np.zeros((1,2),dtype='i8')";
  says(ids, "it lacks the model's input x: float32 [N, 3]");
  says(x + ",idz=np.zeros((1,2),dtype='i8')",
       "it has an array 'idz', but the model has no such input");
  says(ids + ",x=np.zeros((1,3))", "input 'x' is float64, but the model takes x: float32 [N, 3]");
  says(ids + ",x=np.zeros((1,4),dtype='f4')",
       "input 'x' has the shape [1, 4], but the model takes x: float32 [N, 3]");
  says(ids + ",x=np.zeros(3,dtype='f4')",
       "input 'x' has the shape [3], but the model takes x: float32 [N, 3]");
  overwrite("tuning/s004.npz", x + ",ids=np.array([[1,99]])");
  EXPECT_EQ(message_of(changed("[data]", "[model.input.ids]\nrange = [0, 50]\n[data]")),
            "c.toml:7: data.tuning: sample 's004' (tuning/s004.npz): input 'ids' has the value 99 "
            "at element 1, outside its declared "
            "range 0 to 50");
  folder_.write("tuning/s004.npz", "no zip");
  EXPECT_NE(message_of(contract()).find("s004.npz: not an .npz file"), std::string::npos);
}

TEST_F(Dataset, TheTrafficsShapesMustHaveSamplesAndSamplesAShape) {
  EXPECT_EQ(message_of(changed("[data]",
                               "[[model.shape]]\nids = [1, 2]\nx = [1, 3]\n[[model.shape]]\nids = "
                               "[1, 7]\nx = [1, 3]\n[data]")),
            "c.toml:8: model.shape.ids: no tuning sample has this shape");
  EXPECT_EQ(message_of(changed("[data]", "[[model.shape]]\nids = [1, 7]\n[data]")),
            "c.toml:7: data.tuning: sample 's000' (tuning/s000.npz): its shapes (ids = [1, 2]) are "
            "none of the contract's "
            "[[model.shape]] tables");
  EXPECT_EQ(
      message_of(changed("[data]", "[[model.shape]]\nidx = [1, 7]\nx = [1, 4]\n[data]")),
      "c.toml:5: model.shape.idx: the model has no input 'idx': did you mean 'ids'?\n"
      "c.toml:6: model.shape.x: the shape [1, 4] does not fit the model's input x: float32 [N, 3]");
}

TEST_F(Dataset, FoldersWithoutOrWithTwoLayoutsAreRefused) {
  folder_.write("empty/a.png", "");
  EXPECT_EQ(message_of(changed("\"tuning\"", "\"empty\"")),
            "c.toml:5: data.tuning: empty has no samples (found only 'a.png')");
  fs::copy_file(folder_ / "stacked/inputs.npz", folder_ / "tuning/inputs.npz");
  EXPECT_EQ(message_of(contract()),
            "c.toml:5: data.tuning: tuning mixes layouts: 10 .npz files beside inputs.npz, 0 "
            "test_data_set folders");
  EXPECT_NE(message_of(changed("\"tuning\"", "\"absent\""))
                .find("data.tuning: cannot read the folder absent"),
            std::string::npos);
}

TEST_F(Dataset, LabelsMustMatchTheSamplesAndTheEvaluator) {
  const std::string labels = folder_.read("tuning/labels.csv");
  folder_.write("tuning/labels.csv", labels + "s999,1,odd\n");
  EXPECT_EQ(message_of(contract()),
            "c.toml:5: data.tuning: tuning/labels.csv:12: there is no sample 's999'");
  folder_.write("tuning/labels.csv", labels.substr(0, labels.rfind("s009")));
  EXPECT_EQ(message_of(contract()),
            "c.toml:5: data.tuning: tuning/labels.csv has no row for sample 's009'");
  folder_.write("tuning/labels.csv", labels.substr(0, labels.rfind("s009")) + "s009,cat,odd\n");
  EXPECT_EQ(message_of(contract()), "c.toml:5: data.tuning: the label of sample 's009' is 'cat'");
  fs::remove(folder_ / "tuning/labels.csv");
  EXPECT_EQ(message_of(contract()),
            "c.toml:9: accuracy.task.evaluator: top1 needs labels, but tuning has no labels.csv "
            "with a column 'label'");
}

TEST_F(Dataset, ASliceWithALimitMustHaveSamples) {
  const std::string text =
      std::string(kContract) +
      "[accuracy.task.slices]\neven = { max_drop = 0.2 }\nod = { max_drop = 0.2 }\n";
  EXPECT_EQ(message_of(contract(text)),
            "c.toml:13: accuracy.task.slices.od: no sample of tuning is in slice 'od'");
}

TEST_F(Dataset, WhatTheContractNamesMustBeInTheModel) {
  const std::string text =
      std::string(kContract) +
      "output = \"z\"\n[[accuracy.tensor]]\noutput = \"Y\"\nmetric = \"l2\"\nmax = 1\n"
      "[model.input.x]\nrange = [0, 1]\n[[model.state]]\noutput = \"n\"\ninput = \"x\"\n";
  EXPECT_EQ(message_of(contract(text)),
            "c.toml:11: accuracy.task.output: the model has no output 'z': known are: y, n\n"
            "c.toml:13: accuracy.tensor.output: the model has no output 'Y': did you mean 'y'?\n"
            "c.toml:17: model.input.x.range: a range is for integer inputs, and x is float32: "
            "leave it out\n"
            "c.toml:20: model.state.input: n: int64 [1, L] cannot feed x: float32 [N, 3]: their "
            "types differ");
}

constexpr std::string_view kSplit = R"(fiel = 1
[model]
path = "model.onnx"
[data]
samples = "pool"
[[accuracy.task]]
name = "a"
evaluator = "agreement"
max_drop = 0.1
)";

TEST_F(Dataset, OneFolderIsSplitByContentTheSameEachTime) {
  const auto sets = read_data_sets(contract(kSplit), model_, folder_ / "run");
  ASSERT_TRUE(sets) << sets.error().message;
  ASSERT_TRUE(sets->calibration);
  const auto sizes =
      std::vector{sets->calibration->samples.size(), sets->tuning.get().samples.size(),
                  static_cast<std::size_t>(sets->holdout.size())};
  EXPECT_EQ(sizes[0] + sizes[1] + sizes[2], 100U);
  EXPECT_NEAR(static_cast<double>(sizes[0]), 10, 9);
  EXPECT_NEAR(static_cast<double>(sizes[1]), 40, 15);
  ASSERT_EQ(sets->notes.size(), 1U);
  EXPECT_NE(sets->notes[0].find(std::to_string(sizes[2]) + " for the hold-out"), std::string::npos);
  // Evaluators get a folder with that set's rows.
  EXPECT_EQ(sets->tuning.get().source, folder_ / "run/tuning");
  const std::string labels = folder_.read("run/tuning/labels.csv");
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(labels, '\n')), sizes[1] + 1);
  // Other names, same content: the same split.
  fs::rename(folder_ / "pool/s150.npz", folder_ / "pool/another_name.npz");
  const auto again = read_data_sets(contract(kSplit), model_, folder_ / "run2");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->tuning.get().digest, sets->tuning.get().digest);
  EXPECT_EQ(again->holdout.digest(), sets->holdout.digest());
}

TEST_F(Dataset, ASplitKeepsGroupsTogether) {
  std::string labels = "sample,label,speaker\n";
  for (int i = 100; i < 200; ++i)
    labels += "s" + std::to_string(i) + ",0,p" + std::to_string(i % 20) + "\n";
  folder_.write("pool/labels.csv", labels);
  const auto sets = read_data_sets(contract(std::string(kSplit) + "group = \"speaker\"\n"), model_,
                                   folder_ / "run");
  ASSERT_TRUE(sets) << sets.error().message;
  std::set<std::string> in_tuning;
  for (const Sample& sample : sets->tuning.get().samples) in_tuning.insert(sample.group);
  EXPECT_EQ(sets->tuning.get().samples.size(), in_tuning.size() * 5);
  EXPECT_EQ(sets->notes.size(), 1U);  // no word about groups in two sets
}

TEST_F(Dataset, TheSearchDoesNotTouchTheHoldout) {
  fs::remove_all(folder_ / "holdout");
  const auto sets = read_search_sets(contract(), model_, folder_ / "run");
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_EQ(sets->tuning.get().samples.size(), 10U);
  ASSERT_TRUE(read_search_sets(contract(kSplit), model_, folder_ / "run2"));
  EXPECT_FALSE(fs::exists(folder_ / "run2/holdout.pack"));
}

TEST_F(Dataset, TheTrafficIsAskedForOrTheOnlyShapeThereIs) {
  const SampleSet tuning = set_of("tuning");
  const auto only = traffic_shapes(contract(), model_, tuning);
  ASSERT_TRUE(only) << only.error().message;
  ASSERT_EQ(only->size(), 1U);
  EXPECT_EQ(only->at(0).inputs.at("ids"), (Shape{1, 2}));
  const auto given = traffic_shapes(
      changed("[data]", "[[model.shape]]\nweight = 3\nids = [1, 2]\n[data]"), model_, tuning);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->at(0).weight, 3);
  EXPECT_EQ(given->at(0).inputs.at("x"), (Shape{1, 3}));
  overwrite("pool/s100.npz", "x=np.zeros((1,3),dtype='f4'),ids=np.zeros((1,9),dtype='i8')");
  const auto several = traffic_shapes(contract(), model_, set_of("pool"));
  ASSERT_FALSE(several);
  EXPECT_NE(several.error().message.find(
                "ids: int64 [1, L] has a dynamic axis, and the tuning samples have 2 shapes"),
            std::string::npos);
}

TEST_F(Dataset, ASequenceHasStepsAndItsStateNone) {
  ASSERT_TRUE(folder_.python(R"(
import numpy as np, onnx, os
from onnx import helper as h, TensorProto as T
v = h.make_tensor_value_info
graph = h.make_graph([h.make_node('Add', ['x', 's'], ['t'])], 'g', [v('x', T.FLOAT, [1, 3]), v('s', T.FLOAT, [1, 3])], [v('t', T.FLOAT, [1, 3])])
onnx.save(h.make_model(graph), 'rnn.onnx')
f = np.float32
def save(name, **arrays):
    os.makedirs(os.path.dirname(name), exist_ok=True); np.savez(name, **arrays)
save('good/a.npz', x=np.zeros((5, 1, 3), f)); save('good/b.npz', x=np.zeros((2, 1, 3), f), s=np.ones((1, 3), f))
save('stack/inputs.npz', x=np.zeros((4, 5, 1, 3), f), s=np.ones((4, 1, 3), f))
save('flat/a.npz', x=np.zeros((1, 3), f))
)"));
  const OnnxModel model = read_onnx_model(folder_ / "rnn.onnx").value();
  const Contract recurrent =
      changed("[data]", "[[model.state]]\noutput = \"t\"\ninput = \"s\"\n[data]");
  const auto read = [&](const char* name) {
    return read_sample_set(folder_ / name, model, recurrent, folder_ / "run/tuning.pack");
  };
  const auto good = read("good");
  ASSERT_TRUE(good) << good.error().message;
  const auto shapes = traffic_shapes(recurrent, model, *good);
  EXPECT_EQ(shapes->at(0).inputs.at("x"), (Shape{1, 3}));
  EXPECT_TRUE(is_of_shape(recurrent, good->samples[0], shapes->at(0)));
  EXPECT_FALSE(is_of_shape(contract(), good->samples[0], shapes->at(0)));
  fs::remove_all(folder_ / "run");
  const auto stack = read("stack");
  ASSERT_TRUE(stack) << stack.error().message;
  EXPECT_EQ(stack->samples[0].inputs.at("x").shape, (Shape{5, 1, 3}));
  EXPECT_EQ(stack->samples[0].inputs.at("s").shape, (Shape{1, 3}));
  fs::remove_all(folder_ / "run");
  const auto flat = read("flat");
  ASSERT_FALSE(flat);
  EXPECT_NE(flat.error().message.find("behind its axis of steps the model takes"),
            std::string::npos)
      << flat.error().message;
}

}  // namespace
}  // namespace fiel
