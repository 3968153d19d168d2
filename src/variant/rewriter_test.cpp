#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "variant/test_models.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
seen = dict(zip([o.name for o in onnx.load('observer.onnx').graph.output], outputs))
assert len(seen) == 4 * 8 + 3 * 2 and all(seen[f'fiel/{what}/{i}'].shape == () for what in ('low', 'high', 'power') for i in range(4)), seen
assert list(seen['fiel/shape/0']) == [2, 3, 8, 8] and list(seen['fiel/output_shape/0']) == [2, 4, 8, 8], seen
assert np.isclose(seen['fiel/low/0'], x.min()) and np.isclose(seen['fiel/high/0'], x.max()), seen
assert np.isclose(seen['fiel/power/0'], (x * x).mean(), rtol=1e-5), seen
assert np.allclose(seen['fiel/means/0'], x.mean((0, 2, 3)), atol=1e-6) and np.allclose(seen['fiel/lows/0'], x.min((0, 2, 3))), seen
(_, h1), results = run('net.onnx', x), [n for n in seen if 'result' in n]   # what no region reads: the ends of conv, matmul and again
assert {n[-1] for n in results} == {'0', '1', '3'} and seen['fiel/result_low/0'] == 0, results
assert seen['fiel/result_low/1'] <= h1.min() and seen['fiel/result_high/1'] >= h1.max(), seen
assert seen['fiel/means/1'].shape == (4,) and seen['fiel/highs/2'].shape == (4,), seen
)"));
}

TEST_F(Rewriting, WorkIsTheNumberOfProducts) {
  make_net();
  const Rewriter rewriter = open("net.onnx");  // conv 3 -> 4 channels of 3 x 3, matmul 4 -> 6, gemm 4 -> 4
  EXPECT_EQ(rewriter.products(0, 4 * 8 * 8), 4 * 8 * 8 * 27);
  EXPECT_EQ(rewriter.products(1, 6), 24);
  EXPECT_EQ(rewriter.products(2, 4), 16);
  EXPECT_EQ(rewriter.input_channels(0), 3);
  EXPECT_EQ(rewriter.input_channels(1), 4);
}

TEST_F(Rewriting, AnotherObserverGivesActivationsThemselves) {
  make_net();
  const std::vector<std::string> asked = {"x", "g"};
  ASSERT_TRUE(open("net.onnx").write_values_observer(folder_ / "values.onnx", asked));
  EXPECT_THAT(open("net.onnx").activations(), ElementsAre("x", "q", "h0", "g"));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
values = run('values.onnx', x)
assert np.array_equal(values[0], x.ravel()) and values[1].shape == (8,), values[1].shape
)"));
}

TEST_F(Rewriting, SymmetricActivationsAreInt8AroundZero) {
  make_net();
  const Ranges ranges = {{"x", {-5, 4}}, {"q", {0, 5}}, {"h0", {-20, 20}}, {"g", {-60, 60}}};
  ASSERT_TRUE(open("net.onnx").write_int8(folder_ / "even.onnx", ranges,
                                          {.regions = {"conv", "gemm"}, .activations = Activations::kInt8Symmetric}));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
near, near1 = run('even.onnx', x)
y, h1 = run('net.onnx', x)
assert 0 < np.abs(near1 - h1).max() < 0.05 * np.abs(h1).max()
constants = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load('even.onnx').graph.initializer}
assert constants['fiel/x/zero'].dtype == np.int8 and constants['fiel/x/zero'] == 0
assert np.isclose(constants['fiel/x/scale'], 5 / 127), constants['fiel/x/scale']
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

// ONNX Runtime has a kernel in integers only where a QuantizeLinear follows.
TEST_F(Rewriting, RoundedResultsMakeWholeIntegerKernels) {
  make_net();
  const Rewriter rewriter = open("net.onnx");
  EXPECT_EQ(rewriter.regions()[0].result, "r");  // behind its Relu
  EXPECT_EQ(rewriter.regions()[2].result, "g");
  const Ranges ranges = {{"x", {-5, 5}}, {"q", {0, 5}}, {"h0", {-20, 20}}, {"g", {-60, 60}}, {"r", {0, 12}}, {"m", {-20, 20}}, {"n", {-90, 90}}};
  Int8Choice choice{.regions = {"conv", "matmul", "gemm", "again"}};
  ASSERT_TRUE(rewriter.write_int8(folder_ / "int8.onnx", ranges, choice));
  choice.results = Results::kRounded;
  ASSERT_TRUE(rewriter.write_int8(folder_ / "whole.onnx", ranges, choice));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
y, h1 = run('net.onnx', x)
near, near1 = run('whole.onnx', x)
assert 0 < np.abs(near1 - h1).max() < 0.05 * np.abs(h1).max() + 40 / 255, np.abs(near1 - h1).max()
model = onnx.load('whole.onnx')
count = lambda op: sum(n.op_type == op for n in model.graph.node)
assert count('QuantizeLinear') == 7 and count('DequantizeLinear') == 10, (count('QuantizeLinear'), count('DequantizeLinear'))
assert [o.name for o in model.graph.output] == ['y', 'h1']
own = {n.name for n in onnx.load('net.onnx').graph.node}  # which may be called as what they give
assert all(n.name in own or n.name.startswith('fiel/') for n in model.graph.node), [n.name for n in model.graph.node]
def kernels(name):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = 'optimised.onnx'
    onnxruntime.InferenceSession(name, options)
    return [n.op_type for n in onnx.load('optimised.onnx').graph.node]
assert 'QLinearConv' not in kernels('int8.onnx') and 'QLinearConv' in kernels('whole.onnx'), kernels('whole.onnx')
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
def save(name, nodes, opset, initialisers=(), sparse=()):
    graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, [2])], [value('y', T.FLOAT, [2])], initialisers, sparse_initializer=sparse)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', opset)], ir_version=8), name)
relu = [node('Relu', ['x'], ['y'])]
save('old.onnx', relu, 10)
branch = h.make_graph([node('Relu', ['x'], ['z'])], 'b', [], [value('z', T.FLOAT, [2])])
save('flow.onnx', [node('If', ['c'], ['y'], name='either', then_branch=branch, else_branch=branch)], 17, [nh.from_array(np.array(True), 'c')])
values, indices = h.make_tensor('w', T.FLOAT, [1], [1.0]), h.make_tensor('i', T.INT64, [1], [0])
save('sparse.onnx', [node('Add', ['x', 'w'], ['y'])], 17, sparse=[h.make_sparse_tensor(values, indices, [2])])
model = onnx.load('old.onnx')
model.opset_import[0].version = 17
model.functions.append(h.make_function('mine', 'Fine', ['x'], ['y'], [node('Relu', ['x'], ['y'])], [h.make_opsetid('', 17)]))
onnx.save(model, 'functions.onnx')
open('cut.onnx', 'wb').write(b'\x0a\xff\xff')
)"));
  const auto message = [&](const char* name) {
    const auto opened = Rewriter::open(folder_ / name);
    return opened ? std::string("opened") : opened.error().message;
  };
  EXPECT_THAT(message("old.onnx"), HasSubstr("opset 10"));
  EXPECT_THAT(message("flow.onnx"), HasSubstr("If node either"));
  EXPECT_THAT(message("sparse.onnx"), HasSubstr("initialiser w is sparse"));
  EXPECT_THAT(message("functions.onnx"), HasSubstr("functions of its own (Fine)"));
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

}  // namespace
}  // namespace fiel
