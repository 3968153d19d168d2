"""Writes the three models of bench/overhead, always the same bytes: make_models.py FOLDER

    tiny.onnx    x float32 [1,64]: two small layers; tens of microseconds
    middle.onnx  x float32 [1,3,96,96]: some convolutions; about a millisecond
    large.onnx   x float32 [1,3,288,288]: many convolutions; tens of milliseconds
"""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def weights(random, name, shape):
    fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
    values = random.standard_normal(shape) * np.sqrt(2 / fan_in)
    return numpy_helper.from_array(values.astype(np.float32), name)


def finish(name, nodes, constants, shape, output_shape):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, output_shape)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def perceptron(name, widths):
    random = np.random.RandomState(1)
    nodes, constants, last = [], [], "x"
    for i, (rows, columns) in enumerate(zip(widths, widths[1:])):
        constants.append(weights(random, f"w{i}", (rows, columns)))
        nodes.append(helper.make_node("MatMul", [last, f"w{i}"], [f"m{i}"]))
        last = "y" if i == len(widths) - 2 else f"r{i}"
        nodes.append(helper.make_node("Relu", [f"m{i}"], [last]))
    return finish(name, nodes, constants, [1, widths[0]], [1, widths[-1]])


def convolutions(name, size, channels):
    random = np.random.RandomState(2)
    nodes, constants, last, side = [], [], "x", size
    for i, (inputs, outputs) in enumerate(zip((3, *channels), channels)):
        constants.append(weights(random, f"k{i}", (outputs, inputs, 3, 3)))
        stride = 2 if outputs != inputs else 1
        side = (side + stride - 1) // stride
        nodes.append(helper.make_node("Conv", [last, f"k{i}"], [f"c{i}"], pads=[1] * 4, strides=[stride] * 2))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"]))
        last = f"r{i}"
    nodes.append(helper.make_node("GlobalAveragePool", [last], ["y"]))
    return finish(name, nodes, constants, [1, 3, size, size], [1, channels[-1], 1, 1])


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for model in (perceptron("tiny", (64, 256, 256, 16)),
                  convolutions("middle", 96, (32, 32, 64, 64, 128)),
                  convolutions("large", 288, (32, 64, 64, 64, 128, 128, 128, 256, 256, 256, 512, 512))):
        (folder / f"{model.graph.name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
