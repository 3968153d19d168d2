#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "variant/external.h"
#include "variant/graph.h"
#include "variant/test_models.h"

namespace fiel {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using DynamicInt8 = Rewriting;
using WeightInt8 = Rewriting;
using HalfModel = Rewriting;
using ExternalWeights = Rewriting;

TEST_F(DynamicInt8, ProductsAreTakenInIntegersAndStayNear) {
  make_net();
  const auto left = open("net.onnx").write_dynamic_int8(folder_ / "dynamic.onnx", 7);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_THAT(*left, ElementsAre(Field(&LeftOut::name, "conv")));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
y, h1 = run('net.onnx', x)
near, near1 = run('dynamic.onnx', x)
assert 0 < np.abs(near1 - h1).max() < 0.05 * np.abs(h1).max(), np.abs(near1 - h1).max()
assert np.abs(near - y).max() < 0.2, np.abs(near - y).max()
model = onnx.load('dynamic.onnx')
count = lambda op: sum(n.op_type == op for n in model.graph.node)
assert (count('MatMulInteger'), count('DynamicQuantizeLinear'), count('MatMul'), count('Gemm')) == (3, 3, 0, 0)
assert model.metadata_props[0].value == 'us' and [o.name for o in model.graph.output] == ['y', 'h1']
)"));
}

TEST_F(DynamicInt8, AGemmKeepsItsBiasAndOneWithFactorsStays) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
nodes = [node('Gemm', ['x', 'w', 'c'], ['a'], name='plain'), node('Gemm', ['a', 'w', 'c'], ['y'], name='scaled', alpha=0.5)]
graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, ['N', 16])], [value('y', T.FLOAT, ['N', 16])],
                     [nh.from_array(f(16, 16), 'w'), nh.from_array(10 * f(16), 'c')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  const auto left = open("net.onnx").write_dynamic_int8(folder_ / "dynamic.onnx", 7);
  ASSERT_TRUE(left) << left.error().message;
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().name, "scaled");
  EXPECT_THAT(left->front().why, HasSubstr("alpha"));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
x = np.random.default_rng(4).standard_normal((5, 16)).astype(np.float32)
y, = run('net.onnx', x)
near, = run('dynamic.onnx', x)
assert 0 < np.abs(near - y).max() < 0.05 * np.abs(y).max()
)"));
}

TEST_F(WeightInt8, WeightsAloneHave8Bits) {
  make_net();
  ASSERT_TRUE(open("net.onnx").write_weight_int8(folder_ / "light.onnx"));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
y, h1 = run('net.onnx', x)
near, near1 = run('light.onnx', x)
assert 0 < np.abs(near1 - h1).max() < 0.05 * np.abs(h1).max(), np.abs(near1 - h1).max()
ops = [n.op_type for n in onnx.load('light.onnx').graph.node]
assert (ops.count('DequantizeLinear'), ops.count('QuantizeLinear')) == (3, 0), ops
)"));
}

TEST_F(HalfModel, RunsInFloat16BetweenFloat32Ports) {
  make_net();
  const auto left = open("net.onnx").write_half(folder_ / "half.onnx", HalfType::kFloat16);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_THAT(*left, IsEmpty());
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
y, h1 = run('net.onnx', x)
near, near1 = run('half.onnx', x)
assert near.dtype == np.float32 and 0 < np.abs(near1 - h1).max() < 0.01 * np.abs(h1).max(), np.abs(near1 - h1).max()
model = onnx.load('half.onnx')
floats = [i.name for i in model.graph.initializer if i.data_type == onnx.TensorProto.FLOAT]
assert not floats, floats
assert [n.op_type for n in model.graph.node].count('Cast') == 3   # one input, two outputs
assert model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == 'N' and model.metadata_props[0].value == 'us'
)"));
}

TEST_F(HalfModel, WhatMustStayInFloat32DoesAndIsTold) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
nodes = [node('Conv', ['x', 'w'], ['c'], name='conv'),
         node('Resize', ['c', '', 'twice'], ['u'], name='resize'),
         node('Shape', ['u'], ['s']),
         node('Mul', ['u', 'large'], ['m'], name='mul'),
         node('Reshape', ['m', 's'], ['y'], name='reshape'),
         node('Odd', ['c'], ['o'], name='odd', domain='mine'),
         node('Relu', ['o'], ['z'], name='after'),
         node('TopK', ['c', 'k'], ['top', 'where'], name='top')]
graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, ['N', 3, 8, 8])],
                     [value('y', T.FLOAT, list('abcd')), value('z', T.FLOAT, ['e']), value('where', T.INT64, list('ijkl'))],
                     [nh.from_array(f(4, 3, 3, 3), 'w'), nh.from_array(np.array([1, 1, 2, 2], np.float32), 'twice'),
                      nh.from_array(np.array(1e9, np.float32), 'large'), nh.from_array(np.array([2], np.int64), 'k')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17), h.make_opsetid('mine', 1)], ir_version=8), 'net.onnx')
)"));
  const auto left = open("net.onnx").write_half(folder_ / "half.onnx", HalfType::kFloat16);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_THAT(*left, ElementsAre(Field(&LeftOut::name, "resize"), Field(&LeftOut::name, "odd")));
  EXPECT_THAT((*left)[0].why, HasSubstr("Resize does not take float16"));
  EXPECT_TRUE(folder_.python(R"(
import numpy as np, onnx
model = onnx.load('half.onnx')
onnx.checker.check_model(model)
nodes = {n.name: n for n in model.graph.node}
own = {n.name for n in onnx.load('net.onnx').graph.node}
assert all(name in own or name.startswith('fiel/') for name in nodes), nodes.keys()
assert nodes['resize'].input[0] == 'c' and nodes['odd'].input[0] == 'c' and nodes['conv'].output[0] == 'fiel/half/c'
assert list(nodes['top'].output) == ['fiel/half/top', 'where']
assert nodes['after'].input[0] == 'o'   # what comes out of an unknown operator has an unknown type
large = next(onnx.numpy_helper.to_array(i) for i in model.graph.initializer if i.name == 'fiel/half/large')
assert large == 65504, large
assert {'twice'} == {i.name for i in model.graph.initializer if i.data_type == onnx.TensorProto.FLOAT}
import onnxruntime
model.graph.node.remove(nodes['odd']); model.graph.node.remove(nodes['after']); del model.graph.output[1]
onnxruntime.InferenceSession(model.SerializeToString()).run(None, {'x': np.ones((1, 3, 8, 8), np.float32)})
)"));
}

TEST_F(HalfModel, RoundsToNearestEvenAndKeepsWhatIsNotZero) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
w = np.concatenate([random.standard_normal(50000), np.exp(random.uniform(-20, 12, 50000)), [0, -0.0, 1e-30, np.inf, 6.1e-5, 65519]])
graph = h.make_graph([node('Mul', ['x', 'w'], ['y'])], 'net', [value('x', T.FLOAT, [1])], [value('y', T.FLOAT, [len(w)])],
                     [nh.from_array(w.astype(np.float32), 'w')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  const Rewriter rewriter = open("net.onnx");
  ASSERT_TRUE(rewriter.write_half(folder_ / "half.onnx", HalfType::kFloat16));
  ASSERT_TRUE(rewriter.write_half(folder_ / "brain.onnx", HalfType::kBFloat16));
  EXPECT_TRUE(folder_.python(R"(
import numpy as np, onnx
np.seterr(all='ignore')
read = lambda name: onnx.numpy_helper.to_array(onnx.load(name).graph.initializer[0])
w, half, brain = read('net.onnx'), read('half.onnx'), read('brain.onnx').astype(np.float32)
expected = w.astype(np.float16)
fits = (np.abs(w) < 65504) & (expected != 0)
assert np.array_equal(half[fits], expected[fits])
assert np.isfinite(half[np.isfinite(w)]).all() and (half[w != 0] != 0).all() and np.isinf(half[np.isinf(w)]).all()
assert np.abs(brain - w)[np.isfinite(w)].max() <= np.abs(w[np.isfinite(w)]).max() / 256 and (brain[w != 0] != 0).all()
assert np.array_equal(brain.view(np.uint32) & 0xffff, np.zeros_like(brain, np.uint32))
)"));
}

TEST_F(HalfModel, BFloat16IsUsedWhereTheOpsetHasIt) {
  make_net();
  const auto left = open("net.onnx").write_half(folder_ / "brain.onnx", HalfType::kBFloat16);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_THAT(*left, Contains(Field(&LeftOut::why, HasSubstr("Conv does not take bfloat16 at opset 13"))));
  EXPECT_TRUE(folder_.python(R"(
import onnx
model = onnx.load('brain.onnx')
onnx.checker.check_model(model, full_check=True)
assert next(i for i in model.graph.initializer if i.name == 'fiel/half/w1').data_type == onnx.TensorProto.BFLOAT16
)"));
}

TEST_F(ExternalWeights, AreFetchedForEveryKind) {
  make_net();
  ASSERT_TRUE(folder_.python(R"(
import onnx
onnx.save(onnx.load('net.onnx'), 'far.onnx', save_as_external_data=True, location='far.bin', size_threshold=0)
)"));
  const Rewriter rewriter = open("far.onnx");
  EXPECT_EQ(rewriter.regions().size(), 4U);
  ASSERT_TRUE(rewriter.write_weight_int8(folder_ / "light.onnx"));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
y, h1 = run('net.onnx', x)
near, near1 = run('light.onnx', x)
assert np.abs(near1 - h1).max() < 0.05 * np.abs(h1).max()
)"));
  std::filesystem::resize_file(folder_ / "far.bin", 100);
  const auto cut = Rewriter::open(folder_ / "far.onnx");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("far.bin"));
}

TEST_F(ExternalWeights, LargeModelsAreWrittenWithAFileOfTheirOwn) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
graph = h.make_graph([node('MatMul', ['x', 'w'], ['y'])], 'net', [value('x', T.FLOAT, [1, 64])], [value('y', T.FLOAT, [1, 64])],
                     [nh.from_array(f(64, 64), 'w')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(folder_.read("net.onnx")));
  ASSERT_TRUE(graph::move_weights_out(model, folder_ / "out.onnx.data"));
  folder_.write("out.onnx", model.SerializeAsString());
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
assert len(open('out.onnx', 'rb').read()) < 1000
x = np.ones((1, 64), np.float32)
assert np.array_equal(run('out.onnx', x)[0], run('net.onnx', x)[0])
)"));
  ASSERT_TRUE(graph::fetch_weights(model, folder_.path()));
  EXPECT_EQ(model.graph().initializer(0).raw_data().size(), 64U * 64 * 4);
}

// A table of 2.1 GiB, all zeros but for its last row: the file of the test is sparse, the one that is written is not.
TEST_F(ExternalWeights, MayHaveMoreThan2GiB) {
  constexpr std::int64_t kRows = 9 << 17, kWidth = 480;
  constexpr double kDisk = 3e9, kMemory = 7e9;
  std::ifstream memory("/proc/meminfo");
  double available = 0;
  for (std::string word; memory >> word;) {
    if (word == "MemAvailable:" && memory >> available) break;
  }
  if (const auto disk = std::filesystem::space(folder_.path()); static_cast<double>(disk.available) < kDisk) GTEST_SKIP() << "needs 3 GB of disk";
  if (available * 1024 < kMemory) GTEST_SKIP() << "needs 7 GB of memory";
  folder_.write("table.bin", "");
  std::filesystem::resize_file(folder_ / "table.bin", static_cast<std::uintmax_t>(kRows * kWidth) * 4);
  const std::string sizes = "rows, width = " + std::to_string(kRows) + ", " + std::to_string(kWidth) + "\n";
  ASSERT_TRUE(folder_.python(sizes + kMake + R"(
with open('table.bin', 'r+b') as file:
    file.seek(-4 * width, 2)
    file.write(np.arange(width, dtype=np.float32).tobytes())
table = onnx.TensorProto(name='table', data_type=T.FLOAT, dims=[rows, width], data_location=onnx.TensorProto.EXTERNAL)
for key, text in (('location', 'table.bin'), ('length', str(4 * rows * width))):
    table.external_data.add(key=key, value=text)
graph = h.make_graph([node('Gather', ['table', 'i'], ['e']), node('MatMul', ['e', 'w'], ['y'], name='product')], 'net',
                     [value('i', T.INT64, [1])], [value('y', T.FLOAT, [1, 8])], [table, nh.from_array(f(width, 8), 'w')])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  {
    const Rewriter rewriter = open("net.onnx");
    ASSERT_TRUE(rewriter.write_int8(folder_ / "large.onnx", {{"e", {0, 480}}}, {.regions = {"product"}}));
  }
  EXPECT_TRUE(folder_.python(sizes + R"(
import numpy as np, onnx, os
assert os.path.getsize('large.onnx') < 100_000 and os.path.getsize('large.onnx.data') >= 4 * rows * width
onnx.checker.check_model('large.onnx')
model = onnx.load('large.onnx', load_external_data=False)
table = next(i for i in model.graph.initializer if i.name == 'table')
place = {e.key: e.value for e in table.external_data}
assert place['location'] == 'large.onnx.data' and int(place['length']) == 4 * rows * width, place
with open('large.onnx.data', 'rb') as file:
    file.seek(int(place['offset']) + 4 * (rows - 1) * width)
    assert np.array_equal(np.frombuffer(file.read(4 * width), np.float32), np.arange(width))
assert [n.op_type for n in model.graph.node].count('DequantizeLinear') == 2
)"));
}

}  // namespace
}  // namespace fiel
