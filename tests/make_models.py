"""Writes small ONNX models, always the same bytes, for the tests: make_models.py FOLDER

    tiny_mlp.onnx         x float32 [N,16] -> y float32 [N,4]; microseconds
    tiny_mlp_static.onnx  the same with N = 1
    tiny_mlp_external.onnx  the same as tiny_mlp, weights in tiny_mlp_external.data beside it
    small_cnn.onnx        image float32 [N,3,32,32] -> probabilities float32 [N,10]; some 100 microseconds
    dynamic_image.onnx    image float32 [N,3,H,W] -> features float32 [N,8,H/2,W/2]
    two_outputs.onnx      x float32 [N,8] -> sum float32 [N], index int64 [N] (argmax), renamed float32 [N,8] (x itself)
    all_dtypes.onnx       x_T [N,2] -> y_T [N,2] by Identity for each T of TYPES
    casts.onnx            x float32 [N] -> y_T [N] by Cast for each T of TYPES but float32
    scalar.onnx           x float32 [] -> y float32 []  (y = x + 1)
    empty.onnx            x float32 [N,4] -> y float32 [N,4]  (y = x * 2); made to be run with N = 0
    recurrent.onnx        x float32 [N,4], state_in float32 [N,8] -> y float32 [N,2], state_out float32 [N,8]; one GRU-like step
    fixed_batch.onnx      x float32 [1,6] -> y float32 [2,3] by a Reshape to constants: cannot be batched
    slow_matmul.onnx      x float32 [N,512] -> y float32 [N,512], 8 layers; some milliseconds
    not_a_number.onnx     x float32 [N] -> y float32 [N]  (y = log(x): NaN for x < 0)
    strings.onnx          s string [N] -> t string [N]; no engine here takes it
    unknown_operator.onnx x float32 [N] -> y float32 [N] by an operator of a domain that nobody has
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

TYPES = ["DOUBLE", "FLOAT", "FLOAT16", "BFLOAT16", "INT64", "INT32", "INT16", "INT8",
         "UINT64", "UINT32", "UINT16", "UINT8", "BOOL"]


class Weights:
    """Numbers that are the same everywhere: RandomState's stream is frozen by NumPy."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.initializers = []

    def normal(self, name, shape, fan_in):
        values = (self.random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)
        return self.constant(name, values)

    def constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.asarray(values), name))
        return name


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(name, nodes, inputs, outputs, weights=None, domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, weights.initializers if weights else [])
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(domain, 1) for domain in domains]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="fiel-tests")
    if not domains:
        onnx.checker.check_model(made)
    return made


def tiny_mlp(batch):
    w = Weights(1)
    nodes = [helper.make_node("Gemm", ["x", w.normal("w1", (16, 32), 16), w.normal("b1", (32,), 1)], ["a"]),
             helper.make_node("Relu", ["a"], ["h"]),
             helper.make_node("Gemm", ["h", w.normal("w2", (32, 4), 32), w.normal("b2", (4,), 1)], ["y"])]
    return model("tiny_mlp", nodes, [value("x", T.FLOAT, [batch, 16])], [value("y", T.FLOAT, [batch, 4])], w)


def small_cnn():
    w = Weights(2)
    nodes = [helper.make_node("Conv", ["image", w.normal("k1", (16, 3, 3, 3), 27)], ["c1"], "conv1", pads=[1] * 4, strides=[2, 2]),
             helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("Conv", ["r1", w.normal("k2", (32, 16, 3, 3), 144)], ["c2"], "conv2", pads=[1] * 4),
             helper.make_node("Relu", ["c2"], ["r2"]),
             helper.make_node("GlobalAveragePool", ["r2"], ["p"]),
             helper.make_node("Flatten", ["p"], ["f"]),
             helper.make_node("MatMul", ["f", w.normal("w", (32, 10), 32)], ["logits"]),
             helper.make_node("Softmax", ["logits"], ["probabilities"], axis=-1)]
    return model("small_cnn", nodes, [value("image", T.FLOAT, ["N", 3, 32, 32])],
                 [value("probabilities", T.FLOAT, ["N", 10])], w)


def dynamic_image():
    w = Weights(3)
    nodes = [helper.make_node("Conv", ["image", w.normal("k", (8, 3, 3, 3), 27)], ["c"], pads=[1] * 4, strides=[2, 2]),
             helper.make_node("Relu", ["c"], ["features"])]
    return model("dynamic_image", nodes, [value("image", T.FLOAT, ["N", 3, "H", "W"])],
                 [value("features", T.FLOAT, ["N", 8, "H2", "W2"])], w)


def two_outputs():
    w = Weights(4)
    nodes = [helper.make_node("ReduceSum", ["x", w.constant("axes", np.array([1], np.int64))], ["sum"], keepdims=0),
             helper.make_node("ArgMax", ["x"], ["index"], axis=1, keepdims=0),
             helper.make_node("Identity", ["x"], ["renamed"])]
    return model("two_outputs", nodes, [value("x", T.FLOAT, ["N", 8])],
                 [value("sum", T.FLOAT, ["N"]), value("index", T.INT64, ["N"]), value("renamed", T.FLOAT, ["N", 8])], w)


def all_dtypes():
    return model("all_dtypes", [helper.make_node("Identity", ["x_" + t], ["y_" + t]) for t in TYPES],
                 [value("x_" + t, getattr(T, t), ["N", 2]) for t in TYPES],
                 [value("y_" + t, getattr(T, t), ["N", 2]) for t in TYPES])


def casts():
    types = [t for t in TYPES if t != "FLOAT"]
    return model("casts", [helper.make_node("Cast", ["x"], ["y_" + t], to=getattr(T, t)) for t in types],
                 [value("x", T.FLOAT, ["N"])], [value("y_" + t, getattr(T, t), ["N"]) for t in types])


def scalar():
    w = Weights(5)
    return model("scalar", [helper.make_node("Add", ["x", w.constant("one", np.float32(1))], ["y"])],
                 [value("x", T.FLOAT, [])], [value("y", T.FLOAT, [])], w)


def empty():
    w = Weights(6)
    return model("empty", [helper.make_node("Mul", ["x", w.constant("two", np.float32(2))], ["y"])],
                 [value("x", T.FLOAT, ["N", 4])], [value("y", T.FLOAT, ["N", 4])], w)


def recurrent():
    w = Weights(7)
    nodes = [helper.make_node("Concat", ["x", "state_in"], ["both"], axis=1),
             helper.make_node("Gemm", ["both", w.normal("wz", (12, 8), 12), w.normal("bz", (8,), 1)], ["zl"]),
             helper.make_node("Sigmoid", ["zl"], ["z"]),
             helper.make_node("Gemm", ["both", w.normal("wh", (12, 8), 12), w.normal("bh", (8,), 1)], ["hl"]),
             helper.make_node("Tanh", ["hl"], ["h"]),
             helper.make_node("Sub", ["h", "state_in"], ["d"]),
             helper.make_node("Mul", ["z", "d"], ["zd"]),
             helper.make_node("Add", ["state_in", "zd"], ["state_out"]),
             helper.make_node("MatMul", ["state_out", w.normal("wy", (8, 2), 8)], ["y"])]
    return model("recurrent", nodes, [value("x", T.FLOAT, ["N", 4]), value("state_in", T.FLOAT, ["N", 8])],
                 [value("y", T.FLOAT, ["N", 2]), value("state_out", T.FLOAT, ["N", 8])], w)


def fixed_batch():
    w = Weights(8)
    return model("fixed_batch", [helper.make_node("Reshape", ["x", w.constant("to", np.array([2, 3], np.int64))], ["y"])],
                 [value("x", T.FLOAT, [1, 6])], [value("y", T.FLOAT, [2, 3])], w)


def slow_matmul():
    w = Weights(9)
    nodes, last = [], "x"
    for i in range(8):
        nodes.append(helper.make_node("MatMul", [last, w.normal(f"w{i}", (512, 512), 512)], [f"m{i}"]))
        last = "y" if i == 7 else f"t{i}"
        nodes.append(helper.make_node("Tanh", [f"m{i}"], [last]))
    return model("slow_matmul", nodes, [value("x", T.FLOAT, ["N", 512])], [value("y", T.FLOAT, ["N", 512])], w)


def not_a_number():
    return model("not_a_number", [helper.make_node("Log", ["x"], ["y"])],
                 [value("x", T.FLOAT, ["N"])], [value("y", T.FLOAT, ["N"])])


def strings():
    return model("strings", [helper.make_node("Identity", ["s"], ["t"])],
                 [value("s", T.STRING, ["N"])], [value("t", T.STRING, ["N"])])


def unknown_operator():
    return model("unknown_operator", [helper.make_node("Frobnicate", ["x"], ["y"], domain="nobody.has.this")],
                 [value("x", T.FLOAT, ["N"])], [value("y", T.FLOAT, ["N"])], domains=["nobody.has.this"])


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    models = {"tiny_mlp": tiny_mlp("N"), "tiny_mlp_static": tiny_mlp(1)}
    for make in (small_cnn, dynamic_image, two_outputs, all_dtypes, casts, scalar, empty, recurrent, fixed_batch,
                 slow_matmul, not_a_number, strings, unknown_operator):
        models[make.__name__] = make()
    for name, made in models.items():
        (folder / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))
    (folder / "tiny_mlp_external.data").unlink(missing_ok=True)  # onnx appends to what is there
    onnx.save_model(tiny_mlp("N"), folder / "tiny_mlp_external.onnx", save_as_external_data=True,
                    all_tensors_to_one_file=True, location="tiny_mlp_external.data", size_threshold=0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
