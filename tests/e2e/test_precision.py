"""Precision, node by node: a model that 8 bits ruin in one place ends in a mixed one that is accurate."""

import json
import sqlite3
import unittest

import numpy as np

from harness import RealEngines

CONTRACT = """
fiel = 1
[model]
path = "spiked.onnx"
[data]
calibration = "calibration"
tuning      = "tuning"
holdout     = "holdout"
[target]
engines = ["ENGINE"]
[accuracy]
claim = "this_set"
[[accuracy.task]]
name      = "agreement"
evaluator = "agreement"
output    = "probabilities"
max_drop  = 0.12
[budget]
wall = "2 min"
"""
WIDTH, SIZE, SPIKE = 64, 16, 4000.0
NODES = ["first", "second", "spiked", "fourth", "last"]


def spiked_model():
    """Four convolutions and a product; what enters the third has one channel that is thousands of times as large as the others and
    weighs as much less: 256 levels over its range leave nothing of the others. It is the cheapest of them, too."""
    from onnx import TensorProto, helper, numpy_helper
    random = np.random.RandomState(11)
    shapes = {"first": (WIDTH, 4, 3, 3), "second": (WIDTH, WIDTH, 3, 3), "spiked": (WIDTH, WIDTH, 1, 1), "fourth": (WIDTH, WIDTH, 3, 3),
              "last": (WIDTH * SIZE * SIZE, 10)}
    weights = {}
    for name, shape in shapes.items():
        inputs = shape[0] if name == "last" else np.prod(shape[1:])
        weights[name] = (random.standard_normal(shape) * np.sqrt(2 / inputs)).astype(np.float32)
    weights["spiked"][:, 0] /= SPIKE
    gains = np.ones((1, WIDTH, 1, 1), np.float32)
    gains[0, 0] = SPIKE
    nodes, x = [], "x"
    for name in NODES[:-1]:
        if name == "spiked":
            nodes.append(helper.make_node("Mul", [x, "gains"], ["large"]))
            x = "large"
        pad = weights[name].shape[2] // 2
        nodes += [helper.make_node("Conv", [x, f"w_{name}"], [f"{name}_out"], name=name, pads=[pad] * 4),
                  helper.make_node("Relu", [f"{name}_out"], [f"{name}_relu"])]
        x = f"{name}_relu"
    nodes += [helper.make_node("Flatten", [x], ["flat"]), helper.make_node("MatMul", ["flat", "w_last"], ["logits"], name="last"),
              helper.make_node("Softmax", ["logits"], ["probabilities"], axis=-1)]
    value = helper.make_tensor_value_info
    constants = [numpy_helper.from_array(w, f"w_{name}") for name, w in weights.items()] + [numpy_helper.from_array(gains, "gains")]
    graph = helper.make_graph(nodes, "spiked", [value("x", TensorProto.FLOAT, ["N", 4, SIZE, SIZE])],
                              [value("probabilities", TensorProto.FLOAT, ["N", 10])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Ladder(RealEngines):
    ENGINE = "openvino"

    @classmethod
    def setUpClass(cls):
        cls.make_home()
        (cls.home / "spiked.onnx").write_bytes(spiked_model().SerializeToString())
        (cls.home / "contract.toml").write_text(CONTRACT.replace("ENGINE", cls.ENGINE))
        random = np.random.RandomState(12)
        for name, count in (("calibration", 60), ("tuning", 300), ("holdout", 300)):
            (cls.home / name).mkdir()
            np.savez(cls.home / name / "inputs.npz", x=random.standard_normal((count, 4, SIZE, SIZE)).astype(np.float32))
        cls.tuned = cls.fiel("tune", "contract.toml", "-o", "run", "--json", "--strategy", "mixed", "--routes",
                             "variant=[float32|int8|int8_but_1|int8_but_2|int8_but_3|int8_but_4] int8_again=[none|1|2]", timeout=240)

    def candidates(self):
        return {c["route"].removeprefix(f"engine={self.ENGINE} "): c for c in self.shown()["candidates"]}

    def record(self, key):
        with sqlite3.connect(self.home / "run/run.db") as db:
            return json.loads(db.execute("select body from event where key = ?", (key,)).fetchone()[0])

    def test_all_in_8_bits_is_wrong_and_all_but_the_spiked_node_is_right(self):
        found = self.candidates()
        self.assertEqual((found["variant=int8"]["status"], found["variant=int8"]["kind"]), ("inadmissible", "wrong"))
        step = found["variant=int8_but_1"]
        self.assertNotIn(step["status"], ("inadmissible", "failed"), step["reason"])
        self.assertTrue({"i8", "u8"} & set(step["effective"]["precisions"]), step["effective"])
        self.assertIn("f32", step["effective"]["precisions"])
        self.assertEqual(self.record("variant/int8_but_1")["in_float32"], ["spiked"])
        losses = self.record("sensitivity")["losses"]
        self.assertEqual(max(losses, key=losses.get), "spiked")

    def test_the_steps_are_nested_and_the_search_leaves_the_ladder(self):
        found = self.candidates()
        self.assertIn("variant=int8_but_2", found)
        self.assertLess(set(self.record("variant/int8_but_1")["in_float32"]), set(self.record("variant/int8_but_2")["in_float32"]))
        self.assertEqual(len(self.record("variant/int8_but_2")["in_float32"]), 2)

    def test_what_ships_is_accurate(self):
        shown = self.shown()
        self.assertNotEqual(shown["verdict"], "infeasible")
        ships = next(c for c in shown["candidates"] if c["id"] == shown["ships"])
        self.assertEqual(ships["status"], "admissible")

    def test_a_node_of_a_step_can_be_in_8_bits_again(self):
        done = self.fiel("check", "contract.toml", "--json", "--route", f"engine={self.ENGINE} variant=int8_but_2 int8_again=1")
        self.assertIn(done.status, (0, 8), done.err)
        candidate = json.loads(done.out)
        self.assertIn(candidate["status"], ("admissible", "wrong"), candidate["reason"])
        done = self.fiel("check", "contract.toml", "--route", f"engine={self.ENGINE} variant=int8_but_2 int8_again=3")
        self.assertEqual(done.status, 2, done.err)
        self.assertIn("leaves 2 nodes in float32", done.err)


class LadderOnOnnxRuntime(Ladder):
    ENGINE = "onnxruntime"


if __name__ == "__main__":
    unittest.main()
