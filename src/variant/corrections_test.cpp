#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "variant/bias.h"
#include "variant/smoothing.h"
#include "variant/test_models.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

using BiasCorrection = Rewriting;
using SmoothedProducts = Rewriting;

TEST(Smoothing, TheFactorIsTheSquareRootOfWhatXHasMoreThanW) {
  EXPECT_THAT(smoothing_factors({100, 1, 0, 1}, {1, 4, 1, 0}), ElementsAre(FloatEq(10), FloatEq(0.5), FloatEq(1), FloatEq(1)));
}

// A constant input shows the mean error and nothing else: corrected, the outputs are right but for the activation's rounding.
TEST_F(BiasCorrection, TakesAwayWhatRoundingTheWeightsAddsOnAverage) {
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
nodes = [node('Conv', ['x', 'k', 'kb'], ['a'], name='grouped', group=2), node('Conv', ['x', 'k1'], ['b'], name='bare'),
         node('Flatten', ['x'], ['q']), node('MatMul', ['q', 'm'], ['p'], name='product'), node('Add', ['mb', 'p'], ['c']),
         node('Gemm', ['q', 'g', 'gb'], ['d'], name='gemm', transB=1), node('MatMul', ['q', 'm'], ['e'], name='without')]
outputs = [value('a', T.FLOAT, ['N', 4, 1, 1]), value('b', T.FLOAT, ['N', 5, 1, 1])] + [value(o, T.FLOAT, ['N', 6]) for o in 'cde']
constants = {'k': f(4, 1, 3, 3), 'kb': f(4), 'k1': f(5, 2, 3, 3), 'm': f(18, 6), 'mb': f(6), 'g': f(6, 18), 'gb': f(6)}
graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, ['N', 2, 3, 3])], outputs, [nh.from_array(a, n) for n, a in constants.items()])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  const Rewriter rewriter = open("net.onnx");
  Channels image{.means = {1.0, 2.0}, .lows = {1, 2}, .highs = {1, 2}}, flat;
  for (int i = 0; i < 18; ++i) flat.means.push_back(i < 9 ? 1.0 : 2.0);
  flat.lows = flat.highs = flat.means;
  Int8Choice choice{.regions = {"grouped", "bare", "product", "gemm", "without"}, .weight_bits = 5, .bias = Bias::kCorrected,
                    .channels = {{"grouped", image}, {"bare", image}, {"product", flat}, {"gemm", flat}, {"without", flat}}};
  const Ranges ranges = {{"x", {0, 2.55}}, {"q", {0, 2.55}}};  // 1 and 2 are rounded to themselves
  ASSERT_TRUE(rewriter.write_int8(folder_ / "corrected.onnx", ranges, choice));
  choice.bias = Bias::kAsItIs;
  ASSERT_TRUE(rewriter.write_int8(folder_ / "plain.onnx", ranges, choice));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
x = np.ones((3, 2, 3, 3), np.float32); x[:, 1] = 2
right, plain, corrected = run('net.onnx', x), run('plain.onnx', x), run('corrected.onnx', x)
for r, p, c in list(zip(right, plain, corrected))[:4]:
    assert np.abs(p - r).max() > 0.05 and np.abs(c - r).max() < 1e-4, (np.abs(p - r).max(), np.abs(c - r).max())
assert np.array_equal(plain[4], corrected[4])   # a product without a bias
)"));
}

TEST_F(SmoothedProducts, OneLargeChannelNoLongerRoundsAwayTheOthers) {
  // A LayerNormalization for two products alone (free), an older export's Mul and Add, and an activation that others read too.
  ASSERT_TRUE(folder_.python(std::string(kMake) + R"(
large = np.ones(16, np.float32); large[3] = 500
nodes = [node('LayerNormalization', ['x', 'large', 'beta'], ['n'], name='norm'), node('MatMul', ['n', 'w1'], ['a'], name='one'),
         node('MatMul', ['n', 'w2'], ['b'], name='two'), node('Add', ['a', 'b'], ['ab']), node('Relu', ['ab'], ['r']),
         node('Mul', ['r', 'large'], ['s']), node('Add', ['s', 'beta'], ['t']), node('Gemm', ['t', 'w3', 'c'], ['u'], name='three', transB=1),
         node('Mul', ['u', 'large'], ['v']), node('MatMul', ['v', 'w4'], ['z'], name='four'), node('Add', ['z', 'v'], ['y'])]
def w():
    made = f(16, 16); made[3] /= 500
    return made
constants = {'large': large, 'beta': f(16), 'w1': w(), 'w2': w(), 'w3': np.ascontiguousarray(w().T), 'w4': w(), 'c': f(16)}
graph = h.make_graph(nodes, 'net', [value('x', T.FLOAT, ['N', 16])], [value('y', T.FLOAT, ['N', 16]), value('u', T.FLOAT, ['N', 16])],
                     [nh.from_array(a, n) for n, a in constants.items()])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid('', 17)], ir_version=8), 'net.onnx')
)"));
  const Rewriter rewriter = open("net.onnx");
  ASSERT_TRUE(rewriter.write_observer(folder_ / "observer.onnx"));
  const auto channel = [](double size) {  // of all but the large one
    Channels all{.means = std::vector<double>(16, 0), .lows = std::vector<double>(16, -size), .highs = std::vector<double>(16, size)};
    all.lows[3] *= 500;
    all.highs[3] *= 500;
    return all;
  };
  const Int8Choice choice{.regions = {"one", "two", "three", "four"}, .smoothing = Smoothing::kHalf,
                          .channels = {{"one", channel(4)}, {"two", channel(4)}, {"three", channel(30)}, {"four", channel(150)}}};
  const Ranges ranges = {{"n", {-2000, 2000}}, {"t", {-15000, 15000}}, {"v", {-75000, 75000}}};
  ASSERT_TRUE(rewriter.write_int8(folder_ / "smooth.onnx", ranges, choice));
  ASSERT_TRUE(rewriter.write_int8(folder_ / "plain.onnx", ranges, {.regions = choice.regions}));
  EXPECT_TRUE(folder_.python(std::string(kUse) + R"(
x = np.random.default_rng(4).standard_normal((40, 16)).astype(np.float32)
error = lambda name: np.linalg.norm(run(name, x)[1] - right) / np.linalg.norm(right)
right = run('net.onnx', x)[1]
assert error('smooth.onnx') < 0.2 * error('plain.onnx'), (error('smooth.onnx'), error('plain.onnx'))
muls = [n.name for n in onnx.load('smooth.onnx').graph.node if n.op_type == 'Mul' and n.name.startswith('fiel/')]
assert muls == ['fiel/v/smooth'], muls   # elsewhere it is in constants that were there
)"));
}

}  // namespace
}  // namespace fiel
