// Models that are broken, hostile or merely odd: a clear word, or a variant that leaves alone what it can't read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "variant/test_models.h"

namespace fiel {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OddModels : public Rewriting {
 protected:
  // Saved without a look by the checker.
  void save(const std::string& body) {
    ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
def save(nodes, inputs, outputs, initialisers=(), opset=17, more=()):
    graph = h.make_graph(nodes, 'net', inputs, outputs, initialisers)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', opset), *more], ir_version=8), 'net.onnx')
)" + body));
  }

  void expect_all_kinds_written() {
    const Rewriter rewriter = open("net.onnx");
    Ranges ranges;
    Int8Choice choice;
    for (const Region& region : rewriter.regions()) {
      ranges[region.activation] = {-1, 1};
      choice.regions.insert(region.name);
    }
    EXPECT_TRUE(rewriter.write_int8(folder_ / "int8.onnx", ranges, choice));
    EXPECT_TRUE(rewriter.write_dynamic_int8(folder_ / "dynamic.onnx", 8));
    EXPECT_TRUE(rewriter.write_weight_int8(folder_ / "light.onnx"));
    const auto half = rewriter.write_half(folder_ / "half.onnx", HalfType::kFloat16);
    const std::string word = half ? "none of its nodes takes halves" : half.error().message;
    EXPECT_THAT(word, HasSubstr("none of its nodes takes halves"));
  }
};

TEST_F(OddModels, AHundredThousandNodesAreRewrittenInSeconds) {
  save(R"(
nodes = []
for i in range(50000):
    nodes += [node('MatMul', [f'x{i}', 'w'], [f'm{i}']), node('Relu', [f'm{i}'], [f'x{i + 1}'])]
save(nodes, [value('x0', T.FLOAT, [1, 4])], [value('x50000', T.FLOAT, [1, 4])], [nh.from_array(f(4, 4), 'w')])
)");
  expect_all_kinds_written();
}

TEST_F(OddModels, StringsSequencesAndCustomOperatorsStayAsTheyAre) {
  save(R"(
save([node('Odd', ['words', 'x'], ['a'], domain='mine', name='odd'), node('MatMul', ['a', 'w'], ['b'], name='product'),
      node('SplitToSequence', ['b'], ['parts']), node('ConcatFromSequence', ['parts'], ['y'], axis=0)],
     [value('words', T.STRING, ['N']), value('x', T.FLOAT, ['N', 4])], [value('y', T.FLOAT, ['N', 4])], [nh.from_array(f(4, 4), 'w')],
     more=[h.make_opsetid('mine', 1)])
)");
  expect_all_kinds_written();
  EXPECT_TRUE(folder_.python(R"(
import onnx
for name in ('int8', 'dynamic', 'light'):
    model = onnx.load(name + '.onnx')
    assert [n.op_type for n in model.graph.node].count('Odd') == 1 and model.graph.input[0].name == 'words', name
)"));
}

TEST_F(OddModels, WeightsWithAnAbsurdShapeAreLeftOutWithoutAskingForMemory) {
  save(R"(
w = nh.from_array(f(4, 4), 'w'); w.dims[0] = 1 << 40
v = nh.from_array(f(4, 4), 'v'); v.dims[0] = -4
u = nh.from_array(f(4, 4), 'u'); u.raw_data = u.raw_data[:-3]
z = nh.from_array(f(4, 4), 'z'); z.dims[0] = 0
save([node('MatMul', ['x', 'w'], ['a'], name='huge'), node('MatMul', ['x', 'v'], ['b'], name='negative'),
      node('MatMul', ['x', 'u'], ['c'], name='cut'), node('MatMul', ['x', 'z'], ['y'], name='empty')],
     [value('x', T.FLOAT, [1, 4])], [value('y', T.FLOAT, [1, 4])], [w, v, u, z])
)");
  const Rewriter rewriter = open("net.onnx");
  EXPECT_THAT(rewriter.regions(), IsEmpty());
  ASSERT_EQ(rewriter.left_out().size(), 4U);
  for (const LeftOut& one : rewriter.left_out()) EXPECT_THAT(one.why, HasSubstr("its weights are not as many as their shape says"));
}

TEST_F(OddModels, AbsurdAttributesAndMissingInputsChangeNothing) {
  save(R"(
save([node('Gemm', ['x', 'w'], ['a'], transB=-7, transA=1 << 60, name='gemm'), node('MatMul', ['x'], ['b'], name='bare'),
      node('Softmax', ['a'], ['y'], axis=-(1 << 62), name='soft'), node('Cast', ['y'], ['z'], to=1 << 40), node('Nothing', [], []), node('Softmax', [], [])],
     [value('x', T.FLOAT, [4, 4])], [value('y', T.FLOAT, [4, 4])], [nh.from_array(f(4, 4), 'w')], opset=12)
)");
  expect_all_kinds_written();
}

TEST_F(OddModels, AGraphThatRunsInACircleIsWrittenAsItIsNotFollowed) {
  save(R"(
save([node('MatMul', ['b', 'w'], ['a'], name='one'), node('Add', ['a', 'x'], ['b']), node('Relu', ['b'], ['y'])],
     [value('x', T.FLOAT, [4, 4])], [value('y', T.FLOAT, [4, 4])], [nh.from_array(f(4, 4), 'w')])
)");
  expect_all_kinds_written();  // that it is no model says read_onnx_model()
}

TEST_F(OddModels, EveryTruncationOfAFileIsRefusedOrRead) {
  make_net();
  const std::string whole = folder_.read("net.onnx");
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    folder_.write("cut.onnx", whole.substr(0, size));
    const auto opened = Rewriter::open(folder_ / "cut.onnx");
    if (!opened) {
      EXPECT_EQ(opened.error().kind, ErrorKind::kContract) << size;
    }
  }
}

}  // namespace
}  // namespace fiel
