"""Two real engines race in one run, without a contract: a model and a folder of samples. And what ONNX Runtime ships."""

import json
import unittest

from harness import BIN, RealEngines, processes_of

ENGINES = ("openvino", "onnxruntime")


@unittest.skipUnless((BIN / "fiel-worker-onnxruntime").exists(), "built without ONNX Runtime's headers: run ./setup, then build")
class OnnxRuntime(RealEngines):
    @classmethod
    def setUpClass(cls):
        cls.make_classifier()
        cls.tuned = cls.fiel("tune", "model.onnx", "--data", "samples", "-o", "run", "--budget", "80 s", "--candidates", "12",
                             "--json", timeout=240)

    def test_both_engines_race_to_one_verdict(self):
        shown = self.shown()
        self.assertIn(shown["verdict"], ("improved", "not_improved", "undecided"))
        self.assertIsNotNone(shown["ships"], self.tuned.err)
        for engine in ENGINES:
            default = next(c for c in shown["candidates"] if c["route"] == f"engine={engine}")
            self.assertIn("default", default["roles"])
            self.assertEqual(default["status"], "admissible", default)
            if shown["verdict"] != "undecided":  # on a busy machine no timing may count
                self.assertGreater(default["latency_us"]["p50"], 0)
        reference = next(c for c in shown["candidates"] if "reference" in c["roles"])
        self.assertEqual(reference["engine"], "openvino")
        self.assertEqual(processes_of(self.home), [])

    def test_the_contract_that_it_wrote_names_both_and_can_be_used_again(self):
        self.shown()
        contract = (self.home / "run/contract.toml").read_text()
        for words in ("samples = ", "agreement", 'engines  = ["openvino", "onnxruntime"]', "float32"):
            self.assertIn(words, contract)
        done = self.fiel("check", "run/contract.toml", "--route", "engine=onnxruntime intra_op_num_threads=1 shape=static")
        self.assertEqual(done.status, 0, done.err)

    def test_candidates_say_what_they_ran(self):
        done = [c for c in self.shown()["candidates"] if c["engine"] == "onnxruntime" and c["artifact"]]
        self.assertGreater(len(done), 0)
        for candidate in done:
            self.assertIn("f32", candidate["effective"]["precisions"], candidate["route"])
            self.assertEqual(set(candidate["effective"]["placement"]), {"CPU"})

    def test_engines_and_routes_tell_what_works_here(self):
        engines = {e["engine"]: e for e in json.loads(self.fiel("engines", "--json").out)}
        self.assertTrue(engines["onnxruntime"]["works"], engines)
        routes = self.fiel("routes", "run/contract.toml", "--engine", "onnxruntime")
        self.assertEqual(routes.status, 0, routes.err)
        self.assertIn("graph_optimization_level", routes.out)
        self.assertNotIn("parallel_requests", routes.out)  # one stream has no use for it

    def test_a_library_that_is_none_is_said_plainly(self):
        self.shown()
        text = (self.home / "run/contract.toml").read_text()
        (self.home / "broken.so").write_text("this is no library")
        (self.home / "broken.toml").write_text(text.replace(
            "[workload]", '[engines.onnxruntime]\nlibrary = "broken.so"\n\n[workload]'))
        done = self.fiel("routes", "broken.toml", "--engine", "onnxruntime")
        self.assertEqual(done.status, 5, done.err)
        self.assertRegex(done.err, r"cannot load .*broken\.so")

    def test_the_bundle_runs_by_itself(self):
        shown = self.shown()
        candidate = next(c["id"] for c in shown["candidates"] if c["route"] == "engine=onnxruntime")
        bundle = self.home / "bundle"
        done = self.fiel("export", "run", "-o", bundle, "--candidate", candidate)
        self.assertEqual(done.status, 0, done.err)
        import onnxruntime as ort  # the engine by itself, on the model and not on the artifact
        session = ort.InferenceSession(str(self.home / "model.onnx"), providers=["CPUExecutionProvider"])
        self.run_bundle(bundle, session.run(None, {"image": self.image})[0], tolerance=1e-5)


if __name__ == "__main__":
    unittest.main()
