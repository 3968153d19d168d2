#include "variant/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/npy.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Models are made and checked by the onnx package.
class Rewriting : public ::testing::Test {
 protected:
  static constexpr const char* kMake = R"(
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh
random = np.random.default_rng(3)
f = lambda *shape: random.standard_normal(shape).astype(np.float32)
node, value = h.make_node, h.make_tensor_value_info
)";
  static constexpr const char* kUse = R"(
import numpy as np, onnx, onnxruntime
def run(name, x):  # OpenVINO and the onnx package give Softmax of opset 11 and 12 the meaning of opset 13
    onnx.checker.check_model(onnx.load(name), full_check=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(name, options).run(None, {'x': x})
x = np.random.default_rng(4).standard_normal((2, 3, 8, 8)).astype(np.float32)
)";

  // Opset 12, weights in a Constant node and in initialisers, operators that opset 13 changed, a Gemm with and one without
  // transB, a bias, one weight that is used twice.
  void make_net() {
    ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
nodes = [node('Constant', [], ['w0'], value=nh.from_array(f(4, 3, 3, 3))),
         node('Conv', ['x', 'w0', 'b0'], ['c'], name='conv', pads=[1, 1, 1, 1]),
         node('Relu', ['c'], ['r']),
         node('Softmax', ['r'], ['s'], axis=1),
         node('Add', ['r', 's'], ['a']),
         node('GlobalAveragePool', ['a'], ['p']),
         node('Squeeze', ['p'], ['q'], axes=[2, 3]),
         node('MatMul', ['q', 'w1'], ['m'], name='matmul'),
         node('Split', ['m'], ['h0', 'h1'], axis=1, split=[4, 2]),
         node('Gemm', ['h0', 'w2'], ['g'], name='gemm', transB=1),
         node('MatMul', ['g', 'w1'], ['n'], name='again'),
         node('Softmax', ['n'], ['y'], name='last', axis=1)]
graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, ['N', 3, 8, 8])], [value('y', T.FLOAT, ['N', 6]), value('h1', T.FLOAT, ['N', 2])],
                     [nh.from_array(a, n) for n, a in (('b0', f(4)), ('w1', f(4, 6)), ('w2', f(4, 4)))])
model = h.make_model(graph, opset_imports=[h.make_opsetid('', 12)], ir_version=7)
model.metadata_props.add(key='author', value='us')
onnx.save(model, 'net.onnx')
)"));
  }

  Rewriter open(const char* name) {
    auto opened = Rewriter::open(folder_ / name);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }

  TestFolder folder_;
};

std::vector<std::string> names(const Rewriter& rewriter) {
  std::vector<std::string> all;
  for (const Region& region : rewriter.regions()) all.push_back(region.name);
  return all;
}

TEST_F(Rewriting, RegionsAreNodesWithConstantFloatWeights) {
  make_net();
  const Rewriter rewriter = open("net.onnx");
  EXPECT_THAT(names(rewriter), ElementsAre("conv", "matmul", "gemm", "again"));
  EXPECT_EQ(rewriter.regions()[1].activation, "q");
  EXPECT_THAT(rewriter.left_out(), IsEmpty());
}

TEST_F(Rewriting, TheObserverTellsTheRangeOfEachActivation) {
  make_net();
  ASSERT_TRUE(open("net.onnx").write_observer(folder_ / "observer.onnx"));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
outputs = run('observer.onnx', x)
assert len(outputs) == 12 and all(o.shape == () for o in outputs)
assert np.isclose(outputs[0], x.min()) and np.isclose(outputs[1], x.max()), outputs
names = [o.name for o in onnx.load('observer.onnx').graph.output]
assert np.isclose(outputs[2], (x * x).mean(), rtol=1e-5), outputs
assert names[:4] == ['fiel/low/0', 'fiel/high/0', 'fiel/power/0', 'fiel/low/1'], names
)"));
}

TEST_F(Rewriting, TheInt8ModelIsValidKeepsItsFaceAndStaysNear) {
  make_net();
  const Rewriter rewriter = open("net.onnx");
  const Ranges ranges = {{"x", {-5, 5}}, {"q", {0, 5}}, {"h0", {-20, 20}}, {"g", {-60, 60}}};
  ASSERT_TRUE(rewriter.write_int8(folder_ / "all.onnx", ranges, {.regions = {"conv", "matmul", "gemm", "again"}}));
  ASSERT_TRUE(rewriter.write_int8(folder_ / "none.onnx", ranges, {}));
  ASSERT_TRUE(rewriter.write_int8(folder_ / "some.onnx", ranges, {.regions = {"gemm"}, .weight_bits = 7}));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
y, h1 = run('net.onnx', x)
same, also = run('none.onnx', x)
assert np.allclose(same, y, atol=1e-6) and np.allclose(also, h1, atol=1e-6)   # lifting the opset changes nothing
near, near1 = run('all.onnx', x)
assert 0 < np.abs(near1 - h1).max() < 0.05 * np.abs(h1).max(), np.abs(near1 - h1).max()
model = onnx.load('all.onnx')
count = lambda op: sum(n.op_type == op for n in model.graph.node)
# One pair for each of four activations; three weights, of which one is used twice.
assert count('QuantizeLinear') == 4 and count('DequantizeLinear') == 7, (count('QuantizeLinear'), count('DequantizeLinear'))
assert [o.name for o in model.graph.output] == ['y', 'h1'] and model.metadata_props[0].value == 'us'
assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == 'N'
assert not {'w1', 'w2'} & {i.name for i in model.graph.initializer}   # the float weights are gone
some = onnx.load('some.onnx')
assert sum(n.op_type == 'QuantizeLinear' for n in some.graph.node) == 1
weights = next(onnx.numpy_helper.to_array(i) for i in some.graph.initializer if i.name.endswith('int8'))
assert np.abs(weights).max() == 63, np.abs(weights).max()
run('some.onnx', x)
)"));
}

TEST_F(Rewriting, WhatCannotBeQuantisedIsSaidWithTheNode) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
nodes = [node('MatMul', ['x', 'x'], ['a'], name='computed'), node('MatMul', ['a', 'v'], ['b'], name='vector'),
         node('MatMul', ['a', 'bad'], ['c'], name='infinite')]
bad = f(8, 8); bad[0, 0] = np.inf
graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, [8, 8])], [value('b', T.FLOAT, [8]), value('c', T.FLOAT, [8, 8])],
                     [nh.from_array(f(8), 'v'), nh.from_array(bad, 'bad')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  const Rewriter rewriter = open("net.onnx");
  EXPECT_THAT(rewriter.regions(), IsEmpty());
  ASSERT_EQ(rewriter.left_out().size(), 3U);
  EXPECT_EQ(rewriter.left_out()[0].name, "computed");
  EXPECT_THAT(rewriter.left_out()[0].why, HasSubstr("computed"));
  EXPECT_THAT(rewriter.left_out()[1].why, HasSubstr("vector"));
  EXPECT_THAT(rewriter.left_out()[2].why, HasSubstr("not finite"));
}

TEST_F(Rewriting, ModelsThatCannotBeRewrittenAreRefusedWithTheReason) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
def save(name, nodes, opset, initialisers=(), **more):
    graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, [2])], [value('y', T.FLOAT, [2])], initialisers)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', opset)], ir_version=8), name, **more)
relu = [node('Relu', ['x'], ['y'])]
save('old.onnx', relu, 10)
branch = h.make_graph([node('Relu', ['x'], ['z'])], 'b', [], [value('z', T.FLOAT, [2])])
save('flow.onnx', [node('If', ['c'], ['y'], name='either', then_branch=branch, else_branch=branch)], 17, [nh.from_array(np.array(True), 'c')])
save('far.onnx', [node('Add', ['x', 'w'], ['y'])], 17, [nh.from_array(f(2), 'w')], save_as_external_data=True, location='w.bin', size_threshold=0)
open('cut.onnx', 'wb').write(b'\x0a\xff\xff')
)"));
  const auto message = [&](const char* name) {
    const auto opened = Rewriter::open(folder_ / name);
    return opened ? std::string("opened") : opened.error().message;
  };
  EXPECT_THAT(message("old.onnx"), HasSubstr("opset 10"));
  EXPECT_THAT(message("flow.onnx"), HasSubstr("If node either"));
  EXPECT_THAT(message("far.onnx"), HasSubstr("weights w lie in another file"));
  EXPECT_THAT(message("cut.onnx"), HasSubstr("no ONNX file"));
}

TEST_F(Rewriting, RoundingNoiseIsAShareOfThePower) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
w = np.array([[100, 0.4], [0, 100]], np.float32)   # steps of 100/127: 0.4 rounds to 1 step in column 1
graph = h.make_graph([node('MatMul', ['x', 'w'], ['y'])], 'net', [value('x', T.FLOAT, [2])], [value('y', T.FLOAT, [2])], [nh.from_array(w, 'w')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  const double step = 100.0 / 127;
  EXPECT_NEAR(open("net.onnx").weight_noise(0, 8), (step - 0.4) * (step - 0.4) / (2 * 100 * 100 + 0.16), 1e-9);
  EXPECT_NEAR(Rewriter::activation_noise({0, 255}, 4), 1.0 / 12 / 4, 1e-9);
  EXPECT_EQ(Rewriter::activation_noise({0, 0}, 0), 0);
}

TEST(UInt8Scale, HoldsZeroAndBothEnds) {
  const UInt8Scale both = uint8_scale({-1, 3});
  EXPECT_FLOAT_EQ(both.scale, 4.0F / 255);
  EXPECT_EQ(both.zero_point, 64);
  EXPECT_EQ(uint8_scale({2, 3}).zero_point, 0);  // reaches down to zero
  EXPECT_EQ(uint8_scale({-3, -2}).zero_point, 255);
  EXPECT_FLOAT_EQ(uint8_scale({5, 5}).scale, 5.0F / 255);
  EXPECT_EQ(uint8_scale({0, 0}).scale, 1.0F);
  EXPECT_EQ(uint8_scale({0, 1e-45}).scale, 1.0F);  // no normal number
}

}  // namespace
}  // namespace fiel
