// For tests only: models that the onnx package makes, checks and runs.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "model/test_folder.h"
#include "variant/rewriter.h"

namespace fiel {

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

}  // namespace fiel
