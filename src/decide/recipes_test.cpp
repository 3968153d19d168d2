#include "decide/recipes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decide/variants.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Variants : public ::testing::Test {
 protected:
  // One Conv of 108 weights and a MatMul of 4 rows; `columns` decide what the model mostly is.
  OnnxModel make(int columns, const char* tail = "") {
    EXPECT_TRUE(folder_.python("columns = " + std::to_string(columns) + R"(
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh
nodes = [h.make_node('Conv', ['x', 'w'], ['c'], name='conv'), h.make_node('GlobalAveragePool', ['c'], ['p']),
         h.make_node('Flatten', ['p'], ['q']), h.make_node('MatMul', ['q', 'v'], ['y'], name='product')]
graph = h.make_graph(nodes, 'net', [h.make_tensor_value_info('x', T.FLOAT, ['N', 3, 8, 8])],
                     [h.make_tensor_value_info('y', T.FLOAT, ['N', columns])],
                     [nh.from_array(np.ones((4, 3, 3, 3), np.float32), 'w'), nh.from_array(np.ones((4, columns), np.float32), 'v')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)" + tail));
    auto model = read_onnx_model(folder_ / "net.onnx");
    EXPECT_TRUE(model) << model.error().message;
    return *model;
  }

  Contract contract() {
    Contract contract;
    contract.calibration = folder_ / "calibration";
    return contract;
  }

  TestFolder folder_;
};

TEST_F(Variants, WhatNeedsRangesIsOfferedOnlyWithACalibrationSet) {
  const OnnxModel model = make(100);
  const VariantKnob with = variant_knob(model, contract());
  ASSERT_TRUE(with.knob);
  EXPECT_THAT(with.knob->values,
              ElementsAre("float32", "int8", "int8_whole", "int8_but_1", "int8_whole_but_1", "int8_corrected", "int8_smooth", "int8_average", "int8_conv", "int8_matmul", "dynamic_int8",
                          "weight_int8", "int8_symmetric", "int8_mse", "int8_p9999", "int8_p999", "int8_entropy", "fp16", "bf16"));
  EXPECT_EQ(with.knob->stand_ins.at("int8_mse"), "int8");
  EXPECT_EQ(with.knob->stand_ins.at("int8_but_1"), "int8");
  EXPECT_EQ(with.knob->stand_ins.at("int8_whole_but_1"), "int8_whole");
  EXPECT_THAT(with.knob->ladders, ElementsAre(ElementsAre("int8", "int8_but_1"), ElementsAre("int8_whole", "int8_whole_but_1")));
  EXPECT_FALSE(with.again);  // the only one of two nodes that stays in float32
  EXPECT_EQ(with.note, "");
  const VariantKnob without = variant_knob(model, Contract{});
  ASSERT_TRUE(without.knob);
  EXPECT_THAT(without.knob->values, ElementsAre("float32", "dynamic_int8", "weight_int8", "fp16", "bf16"));
  EXPECT_THAT(without.note, HasSubstr("calibration"));
}

TEST_F(Variants, OffTheLadderSingleNodesOfAStepAreIn8BitsAgain) {
  const VariantKnob many = variant_knob(make(100, R"(
model = onnx.load('net.onnx')
for i in range(4):
    model.graph.node.insert(i, h.make_node('Conv', ['x' if i == 0 else f't{i}', 'square'], [f't{i + 1}']))
model.graph.node[4].input[0] = 't4'
model.graph.initializer.append(nh.from_array(np.ones((3, 3, 1, 1), np.float32), 'square'))
onnx.save(model, 'net.onnx')
)"), contract());
  ASSERT_TRUE(many.again);
  EXPECT_THAT(many.again->values, ElementsAre("none", "1", "2", "3", "4"));
  ASSERT_EQ(many.again->only_if.size(), 1U);
  EXPECT_THAT(many.again->only_if[0].values, ElementsAre("int8_but_2", "int8_but_3", "int8_but_4", "int8_but_5", "int8_whole_but_2",
                                                         "int8_whole_but_3", "int8_whole_but_4", "int8_whole_but_5"));
  ASSERT_EQ(many.forbidden.size(), 6U);  // of each kind the third and fourth of two, the fourth of three
  EXPECT_EQ(many.forbidden[0].settings.at("int8_again"), "3");
  EXPECT_EQ(many.forbidden[0].settings.at("variant"), "int8_but_2");
}

TEST_F(Variants, AllAreNamedForWhoReadsRoutesOfAnotherTime) {
  const VariantKnob named = variant_knob(make(100), Contract{}, VariantUse::kNamed);
  ASSERT_TRUE(named.knob);
  EXPECT_EQ(named.knob->values, variant_knob(make(100), contract()).knob->values);
}

TEST_F(Variants, AModelOfConvolutionsHasNoDynamicKindAndOneWithStateHasRangesToo) {
  EXPECT_THAT(variant_knob(make(2), contract()).knob->values, Not(Contains("dynamic_int8")));
  Contract contract = this->contract();
  contract.state.push_back({.output = "y", .input = "h"});
  EXPECT_EQ(variant_knob(make(2), contract).knob->values, variant_knob(make(2), this->contract()).knob->values);
}

TEST_F(Variants, ReadyFilesRaceEvenWhereTheModelCannotBeRewritten) {
  const OnnxModel model = make(2, R"(
model = onnx.load('net.onnx')
model.opset_import[0].version = 9
onnx.save(model, 'net.onnx')
)");
  Contract contract = this->contract();
  EXPECT_FALSE(variant_knob(model, contract).knob);
  EXPECT_THAT(variant_knob(model, contract).note, HasSubstr("opset 9"));
  contract.variants.push_back({.name = "nncf", .model = folder_ / "nncf.onnx"});
  EXPECT_THAT(variant_knob(model, contract).knob->values, ElementsAre("float32", "nncf"));
}

}  // namespace
}  // namespace fiel
