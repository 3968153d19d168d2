"""Data and models in the formats of others, as they come: ONNX's test_data_set_N folders, OpenVINO IR and TFLite, as a [[variant]] or by themselves."""

import json
import unittest

import flatbuffers
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import RealEngines

CONTRACT = """fiel = 1
[model]
path = "model.onnx"
[data]
tuning  = "tuning"
holdout = "holdout"
[target]
engines = ["openvino"]
[[accuracy.task]]
name      = "agreement"
evaluator = "agreement"
max_drop  = 0.05
[[accuracy.tensor]]
output = "y"
metric = "allclose"
rtol   = 1e-3
[[variant]]
name  = "ir"
model = "ir/model.xml"
[[variant]]
name  = "tflite"
model = "model.tflite"
[[variant]]
name  = "text"
model = "notes.txt"
"""
WIDTH = 10


class Table:
    """A table of a flatbuffer, field by field. `fields` are (slot, kind, value)."""

    @staticmethod
    def write(builder, slots, *fields):
        builder.StartObject(slots)
        for slot, kind, value in fields:
            {"offset": builder.PrependUOffsetTRelativeSlot, "byte": builder.PrependInt8Slot, "int": builder.PrependInt32Slot,
             "uint": builder.PrependUint32Slot}[kind](slot, value, 0)
        return builder.EndObject()

    @staticmethod
    def list_of(builder, values, put):
        builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            put(value)
        return builder.EndVector()


def tflite_doubler():
    """y = x + x by TFLite's schema, version 3: one subgraph of one ADD."""
    b = flatbuffers.Builder(1024)

    def ints(*values):
        return Table.list_of(b, values, b.PrependInt32)

    def tables(*offsets):
        return Table.list_of(b, offsets, b.PrependUOffsetTRelative)

    def tensor(name):
        name, shape = b.CreateString(name), ints(1, WIDTH)
        return Table.write(b, 8, (0, "offset", shape), (1, "byte", 0), (2, "uint", 0), (3, "offset", name))

    tensors = tables(tensor("x"), tensor("y"))
    options = Table.write(b, 2, (0, "byte", 0))
    add = Table.write(b, 9, (0, "uint", 0), (1, "offset", ints(0, 0)), (2, "offset", ints(1)), (3, "byte", 11), (4, "offset", options))
    graph = Table.write(b, 5, (0, "offset", tensors), (1, "offset", ints(0)), (2, "offset", ints(1)), (3, "offset", tables(add)))
    code = Table.write(b, 4, (0, "byte", 0), (2, "int", 1), (3, "int", 0))
    buffer = Table.write(b, 1)
    model = Table.write(b, 8, (0, "uint", 3), (1, "offset", tables(code)), (2, "offset", tables(graph)), (4, "offset", tables(buffer)))
    b.Finish(model, b"TFL3")
    return bytes(b.Output())


class Formats(RealEngines):
    @classmethod
    def setUpClass(cls):
        cls.make_home()
        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH]) for name in "xy")
        graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "doubled", [x], [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), cls.home / "model.onnx")
        import openvino
        (cls.home / "ir").mkdir()
        openvino.save_model(openvino.convert_model(cls.home / "model.onnx"), cls.home / "ir/model.xml")
        (cls.home / "model.tflite").write_bytes(tflite_doubler())
        (cls.home / "notes.txt").write_text("no model\n")
        random = np.random.default_rng(7)
        for name in ("tuning", "holdout"):
            for i in range(80):
                folder = cls.home / name / f"test_data_set_{i}"
                folder.mkdir(parents=True)
                array = random.standard_normal((1, WIDTH)).astype(np.float32)
                (folder / "input_0.pb").write_bytes(numpy_helper.from_array(array, "x").SerializeToString())
        (cls.home / "contract.toml").write_text(CONTRACT)

    def check(self, variant, status):
        done = self.fiel("check", "contract.toml", "--route", f"engine=openvino variant={variant}", "--json")
        self.assertEqual(done.status, status, done.out + done.err)
        return json.loads(done.out)

    def test_an_openvino_ir_and_a_tflite_file_are_judged_like_any_variant(self):
        for variant in ("ir", "tflite"):
            with self.subTest(variant):
                checked = self.check(variant, 0)
                self.assertEqual((checked["status"], checked["gate"]["samples_seen"]), ("admissible", 80))

    def test_they_may_be_the_model_itself(self):
        own = CONTRACT[:CONTRACT.index("[[variant]]")]
        for file, format_name in (("ir/model.xml", "OpenVINO IR"), ("model.tflite", "TFLite")):
            with self.subTest(file):
                (self.home / "own.toml").write_text(own.replace("model.onnx", file))
                dry = self.fiel("tune", "own.toml", "--dry-run")
                self.assertIn(f"{file} ({format_name})\n  input   x: float32 [1, 10]\n  output  y: float32 [1, 10]\n", dry.out, dry.err)
                done = self.fiel("check", "own.toml", "--route", "engine=openvino NUM_STREAMS=1", "--json")
                self.assertEqual(done.status, 0, done.out + done.err)
                self.assertEqual(json.loads(done.out)["gate"]["samples_seen"], 80)
                proposed = self.fiel("init", file)
                self.assertIn('engines  = ["openvino"]', proposed.out, proposed.err)
                self.assertIn('"x": np.zeros(', proposed.err)
                guessed = self.fiel("tune", file, "--data", "tuning", "--dry-run")
                self.assertEqual(guessed.status, 0, guessed.err)
        self.assertIn("no variants of the model by fiel: it is no ONNX model", self.fiel("routes", "own.toml").out)

    def test_what_no_engine_can_read_costs_its_candidate_only(self):
        self.assertIn(self.check("text", 8)["status"], ("unsupported", "build_error"))


if __name__ == "__main__":
    unittest.main()
