#include "contract/init.h"

#include <gtest/gtest.h>

#include "contract/contract.h"
#include "contract/dataset.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

constexpr const char* kMakeSamples = R"(
import numpy as np, onnx, os
from onnx import helper as h, TensorProto as T
v = h.make_tensor_value_info
graph = h.make_graph([h.make_node('Relu', ['x'], ['y']), h.make_node('Identity', ['in/ids:0'], ['n'])], 'g',
                     [v('x', T.FLOAT, ['N', 3]), v('in/ids:0', T.INT64, [1, 'L'])], [v('y', T.FLOAT, None), v('n', T.INT64, None)])
onnx.save(h.make_model(graph), 'model.onnx')
for folder in ('labelled', 'plain'):
    os.makedirs(folder)
    for i in range(60):
        np.savez(f'{folder}/{i}.npz', **{'x': np.full((1, 3), i, dtype='f4'), 'in/ids:0': np.zeros((1, 2 if i < 40 else 5), dtype='i8')})
open('labelled/labels.csv', 'w').write('sample,label\n' + ''.join(f'{i},{i % 3}\n' for i in range(60)))
)";

TEST(Init, TheProposedContractIsReadableAndAsksWhatOnlyTheUserKnows) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(kMakeSamples));
  const OnnxModel model = read_onnx_model(folder / "model.onnx").value();
  const std::string text = propose_contract(model, {"openvino", "onnxruntime"});
  const auto contract = parse_contract(text, folder / "contract.toml");
  ASSERT_TRUE(contract) << contract.error().message;
  EXPECT_EQ(contract->model, folder / "model.onnx");
  EXPECT_EQ(contract->accuracy.tasks.at(0).output, "y");
  for (const char* line :
       {"#   input   x: float32 [N, 3]\n", "# x = [1, 3]   # dynamic: axis 0 (N)\n",
        "# \"in/ids:0\" = [1, 1]   # dynamic: axis 1 (L)\n", "# [model.input.\"in/ids:0\"]\n",
        "peak_memory = \"2.0 GiB\"\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(Init, TheProposalStaysReadableWhenItsQuestionsAreAnswered) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(kMakeSamples));
  std::string text = propose_contract(read_onnx_model(folder / "model.onnx").value(), {"openvino"});
  for (const char* start : {"# [", "# weight", "# x =", "# \"in", "# range", "# output", "# metric",
                            "# min ", "# small", "# cores", "# latency"}) {
    for (auto at = text.find(std::string("\n") + start); at != std::string::npos;
         at = text.find(std::string("\n") + start, at)) {
      text.erase(at + 1, 2);
    }
  }
  const auto contract = parse_contract(text, folder / "contract.toml");
  ASSERT_TRUE(contract) << contract.error().message << "\n" << text;
  EXPECT_EQ(contract->shapes.at(0).inputs.size(), 2U);
  EXPECT_EQ(contract->input_ranges.size(), 1U);
  EXPECT_EQ(contract->accuracy.tensors.size(), 1U);
  EXPECT_EQ(contract->accuracy.tasks.at(0).slices.size(), 1U);
}

TEST(Init, TheScriptWritesSamplesThatFit) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(kMakeSamples));
  const OnnxModel model = read_onnx_model(folder / "model.onnx").value();
  ASSERT_TRUE(folder.python(sample_script(model)));
  const auto set =
      read_sample_set(folder / "data/tuning", model, Contract{}, folder / "tuning.pack");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->samples.size(), 100U);
}

TEST(Init, AModelWithDataNeedsNoContractOfTheUsers) {
  const TestFolder folder;
  ASSERT_TRUE(folder.python(kMakeSamples));
  for (const auto& [data, evaluator] :
       {std::pair{"labelled", BuiltinEvaluator::kTop1}, {"plain", BuiltinEvaluator::kAgreement}}) {
    const auto text = default_contract_text(folder / "model.onnx", folder / data, {"openvino"});
    ASSERT_TRUE(text) << text.error().message;
    const auto contract = parse_contract(*text, folder / "contract.toml");
    ASSERT_TRUE(contract) << contract.error().message;
    EXPECT_EQ(contract->data, folder / data);
    EXPECT_EQ(contract->accuracy.tasks.at(0).builtin, evaluator);
    ASSERT_EQ(contract->shapes.size(), 2U);
    EXPECT_EQ(contract->shapes[0].weight, 40);
    const OnnxModel model = read_onnx_model(contract->model).value();
    const auto sets = read_data_sets(*contract, model, folder / (std::string("run_") + data));
    ASSERT_TRUE(sets) << sets.error().message;
    EXPECT_TRUE(traffic_shapes(*contract, model, sets->tuning.get()));
  }
  EXPECT_NE(default_contract_text(folder / "model.onnx", folder / "absent", {"openvino"})
                .error()
                .message.find("no folder"),
            std::string::npos);
}

}  // namespace
}  // namespace fiel
