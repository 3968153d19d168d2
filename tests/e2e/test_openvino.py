"""The same with a real engine and a real (if small) model: one run, and the bundle's own programs."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

from harness import BIN, RealEngines, processes_of
from pages import snippets_of

CONTRACT = """
fiel = 1
[model]
path = "model.onnx"
[data]
samples = "samples"
[target]
engines = ["openvino"]
[[accuracy.task]]
name      = "agreement"
evaluator = "agreement"
output    = "probabilities"
max_drop  = 0.01
"""


class OpenVino(RealEngines):
    @classmethod
    def setUpClass(cls):
        cls.make_classifier()
        (cls.home / "contract.toml").write_text(CONTRACT)
        cls.tuned = cls.fiel("tune", "contract.toml", "-o", "run", "--budget", "80 s", "--json",
                             "--routes", "INFERENCE_NUM_THREADS=[0|1] CPU_DENORMALS_OPTIMIZATION=[NO|YES]", timeout=240)

    def test_there_is_a_verdict(self):
        shown = self.shown()
        self.assertIn(shown["verdict"], ("improved", "not_improved", "undecided"))
        self.assertIsNotNone(shown["ships"], self.tuned.err)
        self.assertTrue(shown["comparator"]["admissible"])
        sets = shown["environment"]["data"]
        self.assertLess(abs(sets["holdout"]["n"] - self.SAMPLES / 2), 60)
        self.assertLess(abs(sets["tuning"]["n"] - 0.4 * self.SAMPLES), 60)
        self.assertEqual(processes_of(self.home), [])
        self.assertFalse((self.home / "run/scratch").exists())

    def test_the_reference_pins_float32_and_each_candidate_says_what_it_ran(self):
        candidates = self.shown()["candidates"]
        reference = next(c for c in candidates if "reference" in c["roles"])
        self.assertEqual(reference["settings"].get("INFERENCE_PRECISION_HINT",
                                                   reference["effective"]["settings"]["INFERENCE_PRECISION_HINT"]), "f32")
        self.assertFalse({"bf16", "f16"} & set(reference["effective"]["precisions"]))
        for candidate in candidates:
            if candidate["artifact"]:
                self.assertTrue(candidate["effective"]["precisions"], candidate["route"])
                self.assertGreater(candidate["artifact_bytes"], 0)

    def test_one_route_can_be_checked(self):
        done = self.fiel("check", "contract.toml", "--route", "engine=openvino INFERENCE_NUM_THREADS=1")
        self.assertEqual(done.status, 0, done.err)

    def test_a_variant_in_8_bits_is_made_built_and_judged(self):
        done = self.fiel("check", "contract.toml", "--route", "engine=openvino variant=int8", "--json")
        self.assertIn(done.status, (0, 8), done.err)  # whether it is accurate enough is its own matter
        candidate = json.loads(done.out)
        self.assertIn(candidate["status"], ("admissible", "wrong", "wrong_slice"), candidate["reason"])
        self.assertTrue({"i8", "u8"} & set(candidate["effective"]["precisions"]), candidate["effective"])
        self.assertIn("observing the ranges", done.err)

    def test_engines_and_routes_tell_what_works_here(self):
        done = self.fiel("engines", "--json")
        self.assertEqual(done.status, 0, done.err)
        engines = {e["engine"]: e for e in json.loads(done.out)}
        self.assertTrue(engines["openvino"]["works"], done.out)
        self.assertRegex(engines["openvino"]["version"], r"^20\d\d\.\d")
        routes = self.fiel("routes", "contract.toml")
        self.assertEqual(routes.status, 0, routes.err)
        for name in ("variant", "INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS", "PERFORMANCE_HINT"):
            self.assertIn(name, routes.out)

    def export(self):
        self.shown()
        folder = self.home / "bundle"
        done = self.fiel("export", "run", "-o", folder)
        self.assertEqual(done.status, 0, done.err)
        return folder

    def expected(self):
        import openvino as ov  # the engine by itself, in strict float32
        model = ov.Core().compile_model(str(self.home / "model.onnx"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        return model([self.image])[0]

    def test_the_bundles_python_program_runs_the_artifact(self):
        bundle = self.export()
        self.run_bundle(bundle, self.expected(), tolerance=0.01)

    def test_what_the_tutorial_does_in_production_runs(self):
        np.save(self.home / "image.npy", self.image)
        self.export()
        wanted = [snippet for snippet in snippets_of("docs/tutorial.md") if snippet.what == "openvino"]
        self.assertEqual(len(wanted), 2)
        for snippet in wanted:
            snippet.run(self.home, {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})

    def test_the_bundles_programs_refuse_a_broken_seal(self):
        broken = self.home / "broken"
        shutil.copytree(self.export(), broken)
        largest = max((broken / "artifact").rglob("*"), key=lambda file: file.stat().st_size)
        largest.chmod(0o644)
        largest.write_bytes(largest.read_bytes()[:-1] + b"?")
        done = subprocess.run([sys.executable, broken / "load.py"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("seal is broken", done.stderr)

    def test_the_bundles_cpp_program_compiles_and_runs_the_artifact(self):
        bundle = self.export()
        import openvino
        cmake = Path(openvino.__path__[0]) / "cmake"
        built = self.home / "load-build"
        for command in (["cmake", "-S", bundle, "-B", built, f"-DOpenVINO_DIR={cmake}"], ["cmake", "--build", built]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run([built / "load"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"output probabilities f32 \[1, 10\]\nlatency \d")


RECURRENT = """fiel = 1
[model]
path = "recurrent.onnx"
[[model.state]]
output = "state_out"
input  = "state_in"
[data]
calibration = "calibration"
tuning      = "tuning"
holdout     = "holdout"
[target]
engines = ["openvino"]
[accuracy]
claim = "this_set"
[[accuracy.task]]
name      = "error"
evaluator = "absolute_error"
output    = "y"
max_drop  = 0.001
[budget]
wall = "120 s"
"""


class Recurrent(RealEngines):
    """A model with state: the samples are sequences, and the state of one step is the next one's input."""

    STEPS = 6

    @classmethod
    def setUpClass(cls):
        cls.make_home()
        random = np.random.RandomState(3)
        cls.w, cls.u, cls.v = (random.standard_normal(shape).astype(np.float32) for shape in ((4, 8), (8, 8), (8, 2)))
        (cls.home / "recurrent.onnx").write_bytes(cls.model().SerializeToString())
        (cls.home / "contract.toml").write_text(RECURRENT)
        for name, count in (("calibration", 20), ("tuning", 40), ("holdout", 60)):
            x = random.standard_normal((count, cls.STEPS, 1, 4)).astype(np.float32)
            (cls.home / name).mkdir()
            np.savez(cls.home / name / "inputs.npz", x=x)
            rows = [f"s{i:03},{' '.join(f'{value:.7g}' for value in cls.expected(sequence).ravel())}\n" for i, sequence in enumerate(x)]
            (cls.home / name / "labels.csv").write_text("sample,label\n" + "".join(rows))

    @classmethod
    def model(cls):
        from onnx import TensorProto, helper, numpy_helper
        value = helper.make_tensor_value_info
        nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("MatMul", ["state_in", "u"], ["su"]),
                 helper.make_node("Add", ["xw", "su"], ["sum"]), helper.make_node("Tanh", ["sum"], ["state_out"]),
                 helper.make_node("MatMul", ["state_out", "v"], ["y"])]
        graph = helper.make_graph(nodes, "recurrent",
                                  [value("x", TensorProto.FLOAT, [1, 4]), value("state_in", TensorProto.FLOAT, [1, 8])],
                                  [value("y", TensorProto.FLOAT, [1, 2]), value("state_out", TensorProto.FLOAT, [1, 8])],
                                  [numpy_helper.from_array(array, name) for array, name in
                                   ((cls.w, "w"), (cls.u, "u"), (cls.v, "v"))])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    @classmethod
    def expected(cls, sequence):
        state, outputs = np.zeros((1, 8), np.float32), []
        for x in sequence:
            state = np.tanh(x @ cls.w + state @ cls.u)
            outputs.append(state @ cls.v)
        return np.stack(outputs)

    def test_the_state_is_carried_from_step_to_step(self):
        done = self.fiel("tune", "contract.toml", "-o", "run", "--json", "--routes", "INFERENCE_NUM_THREADS=[0|1]",
                         timeout=240)
        shown = self.shown(done)
        reference = next(c for c in shown["candidates"] if "reference" in c["roles"])
        task = next(t for t in reference["accuracy"]["tuning"]["tasks"] if not t.get("slice"))
        self.assertLess(task["reference_score"], 1e-4)  # what NumPy computes, carrying the state
        self.assertEqual(reference["status"], "admissible")
        self.assertGreater(len(shown["candidates"]), 1)

    def test_ranges_are_observed_over_all_steps(self):
        # A state begins at zero: only who carries it sees a range of products with it other than [0, 0].
        contract = RECURRENT.replace("max_drop  = 0.001", "max_drop  = 0.1")
        (self.home / "loose.toml").write_text(contract)
        for variant in ("int8", "int8_but_1", "int8_mse"):
            done = self.fiel("check", "loose.toml", "--json", "--route", f"engine=openvino variant={variant}")
            self.assertEqual(done.status, 0, done.err)
            candidate = json.loads(done.out)
            self.assertEqual(candidate["status"], "admissible", candidate["reason"])
            self.assertTrue({"i8", "u8"} & set(candidate["effective"]["precisions"]), candidate["effective"])


class VariantsWithSetsOfTheirOwn(RealEngines):
    """Fiel's own variants and somebody else's file, from the contract to a bundle that is verified without calibration data."""

    @classmethod
    def setUpClass(cls):
        import openvino as ov
        cls.make_sets(0.1, 'name  = "ir"\nmodel = "ir/model.xml"\n')
        (cls.home / "ir").mkdir()
        ov.save_model(ov.convert_model(str(cls.home / "model.onnx")), cls.home / "ir/model.xml", compress_to_fp16=False)
        cls.tuned = cls.fiel("tune", "contract.toml", "-o", "run", "--budget", "180 s", "--json",
                             "--routes", "variant=[float32|int8|int8_mse|weight_int8|fp16|ir]", timeout=300)

    def candidate(self, variant):
        return next(c for c in self.shown()["candidates"] if c["settings"].get("variant") == variant)

    def test_each_was_made_and_built(self):
        for variant in ("int8", "int8_mse", "weight_int8", "fp16", "ir"):
            with self.subTest(variant):
                self.assertTrue(self.candidate(variant)["artifact"], self.candidate(variant))
        self.assertIn("counting the values", self.tuned.err)

    def export(self, variant):
        bundle = self.home / f"bundle-{variant}"
        done = self.fiel("export", "run", "-o", bundle, "--candidate", self.candidate(variant)["id"], "--force")
        self.assertEqual(done.status, 0, done.err)  # --force: a short run on a busy machine may have raced another one
        return bundle

    def test_a_bundle_of_8_bits_is_verified_and_calibrates_nothing(self):
        bundle = self.export("int8")
        shutil.move(self.home / "calibration", self.home / "gone")
        self.addCleanup(shutil.move, self.home / "gone", self.home / "calibration")
        done = self.fiel("verify", bundle, "--json", timeout=200)
        self.assertIn(done.status, (0, 8, 9), done.err)  # how accurate and fast it is is this machine's matter
        checks = json.loads(done.out)["checks"]
        self.assertEqual((checks["seal"]["result"], checks["environment"]["result"]), ("passed", "passed"), done.err)
        self.assertIn(checks["accuracy"]["result"], ("passed", "failed"))

    def test_a_file_of_somebody_else_is_sealed_with_its_digest(self):
        digests = json.loads((self.export("ir") / "bundle.json").read_text())["digests"]
        self.assertRegex(digests["variant"], "^[0-9a-f]{64}$")
        self.assertNotEqual(digests["variant"], digests["model"])

    def test_an_engine_that_cannot_read_the_file_says_so_and_the_other_races_on(self):
        if not (BIN / "fiel-worker-onnxruntime").exists():
            self.skipTest("built without ONNX Runtime's headers")
        self.addCleanup((self.home / "ort.toml").unlink)
        (self.home / "ort.toml").write_text((self.home / "contract.toml").read_text().replace('["openvino"]', '["onnxruntime"]'))
        done = self.fiel("check", "ort.toml", "--json", "--route", "engine=onnxruntime variant=ir")
        candidate = json.loads(done.out)
        self.assertEqual(candidate["status"], "unsupported", candidate["reason"])
        self.assertTrue(candidate["reason"], done.err)

    def test_a_file_that_is_no_such_model_is_refused_with_its_place(self):
        self.addCleanup((self.home / "bad.toml").unlink)
        (self.home / "bad.toml").write_text((self.home / "contract.toml").read_text().replace("ir/model.xml", "other.onnx"))
        done = self.fiel("routes", "bad.toml")
        self.assertEqual(done.status, 2)
        self.assertIn("bad.toml:18: variant.model: there is no file", done.err)


if __name__ == "__main__":
    unittest.main()
