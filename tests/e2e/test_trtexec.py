"""TensorRT by trtexec: whole runs with a double of that program (tests/trtexec_double.py), since no test has a GPU."""

import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import onnx.reference

from harness import BIN, Case, Project

ROOT = Path(__file__).resolve().parent.parent.parent
DOUBLE = ROOT / "tests/trtexec_double.py"


def route_knob(name, *values, **more):
    return {"option": f"-{name}", "allowed_values": f"-{name}=[{'|'.join(values)}]", "default_value": values[0],
            "help": "For tests.", **more}


# Each inference of trtexec is a process, so that few samples must do: the claim is about these and no others.
SMALL = [("confidence = 0.95\n[[accuracy", 'confidence = 0.95\nclaim = "this_set"\n[[accuracy'),
         ('engines = ["fake"]', 'engines = ["trtexec"]\ndevice = "GPU"'),
         (f'[engines.fake]\nworker    = "{BIN / "fiel-worker-fake"}"\narguments = ["fake.json"]',
          '[engines.trtexec]\nlibrary = "trtexec"\narguments = ["--times", "computed"]')]


class Trtexec(Case):
    def double(self, *knobs, name="project", **more):
        project = Project(self.folder / name, {}, tuning=12, holdout=12, edits=SMALL)
        shutil.copy(DOUBLE, project.folder / "trtexec")
        port = {"type": "fp32", "dims": [-1, 10]}
        (project.folder / "trtexec.json").write_text(json.dumps({
            "version": 110100,
            "inputs": [{"name": "x", **port}],
            "outputs": [{"name": "logits", "rule": "class", **port}, {"name": "y", "rule": "double", **port}],
            "knobs": knobs, **more}))
        return project

    def routes(self, *names):
        """A space of these knobs and no others."""
        return "--routes", " ".join(names)

    def test_a_faster_route_wins_and_the_others_are_out_with_their_reasons(self):
        project = self.double(route_knob("copy_ppg", "on", "off", "never", latency={"off": 0.6, "never": 0.3}, fault={"never": "nan"}),
                              route_knob("match_mha", "on", "off", latency={"off": 0.5}, fault={"off": "crash"}),
                              route_knob("idle", "on", "off", overridden=True))
        run = project.tune(*self.routes("route.copy_ppg=[on|off|never]", "route.match_mha=[on|off]", "route.idle=[on|off]"),
                           "--strategy", "fast")
        self.assert_winner(run, "route.copy_ppg=off")
        self.assertAlmostEqual(run.show()["speedup"]["estimate"], 1.2 / 0.8, delta=0.05)  # of the latency with transfers
        self.assertEqual(run.candidate("route.copy_ppg=never")["kind"], "non_finite")
        told = run.candidate("route.copy_ppg=off")["accelerator"]
        self.assertAlmostEqual(told["p50_us"], 600, delta=60)  # what the GPU computes, without transfers
        self.assertEqual(told["memory_bytes"], 8 << 20)
        crashed = run.candidate("route.match_mha=off")
        self.assertEqual(crashed["kind"], "build_error")
        self.assertIn("signal 11", crashed["reason"])
        self.assertEqual(run.candidate("route.idle=off")["status"], "duplicate")
        self.assert_nothing_left(project, run)
        self.assertEqual(project.fiel("export", run.folder, "--build-route").out, "-copy_ppg=off\n")

    def test_a_version_without_build_routes_is_searched_by_its_classic_options(self):
        project = self.double(version=100900, options={"--builderOptimizationLevel=5": 1.2}, faults={"--fp16": "wrong"})
        run = project.tune(*self.routes("builderOptimizationLevel=[3|5]", "fp16=[0|1]"), "--strategy", "fast")
        self.assert_verdict(run, "not_improved")
        self.assertEqual(run.candidate("fp16=1")["kind"], "wrong")
        self.assertLess(run.candidate("builderOptimizationLevel=5")["screen_ratio"], 0.95)

    def test_a_build_that_hangs_costs_one_candidate(self):
        project = self.double(route_knob("copy_ppg", "on", "off", fault={"off": "hang"}))
        project.edit("[speed]", '[limits]\nbuild_time = "2 s"\n[speed]')
        run = project.tune(*self.routes("route.copy_ppg=[on|off]"))
        self.assert_verdict(run, "not_improved")
        self.assertIn(run.candidate("route.copy_ppg=off")["kind"], ("timeout", "over_limit"))
        self.assert_nothing_left(project, run)

    def test_a_tuning_cache_becomes_a_run_that_claims_nothing(self):
        project = self.double()
        header = {"tuner_version": "2.17.83", "accuracy_algorithm": "l0", "accuracy_parameter": {"atol": 1e-5, "rtol": 1e-5, "epsilon": 0.5},
                  "searching_algorithm": "fast", "command_line": "trtexec --onnx=m.onnx", "default_build_route": "-a=on",
                  "tuning_expr": "-a=[on|off]", "files": {"onnx": "/m.onnx"}, "argv": ["trtexec", "--loadRefOutputs=y:r.bin"]}
        rows = [{"iter": 0, "build_route": "-a=on", "crash": False, "error_message": "", "accuracy_loss": {"y": 0.0}, "gpu_time": 2.0},
                {"iter": 1, "build_route": "-a=off", "crash": False, "error_message": "", "accuracy_loss": {"y": None}, "gpu_time": 1.0}]
        (project.folder / "tune.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [header, *rows]))
        done = project.fiel("import", "trtexec-cache", "tune.jsonl")
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("2 candidates, 1 of which can't be judged", done.out)
        shown = json.loads(project.fiel("show", "tune", "--json").out)
        self.assertEqual((shown["verdict"], shown["ships"]), ("undecided", None))
        self.assertIn("takes for passed", shown["candidates"][1]["reason"])
        page = project.fiel("report", "tune", "-o", "-")
        self.assertEqual(page.status, 0, page.err)
        self.assertIn("<h1>undecided</h1>", page.out)
        self.assertIn("takes for passed", page.out)
        text = project.fiel("show", "tune", "--all")
        self.assertEqual(text.status, 0, text.err)
        self.assertIn("no samples to judge by", " ".join(text.out.split()))


class ScriptForGpus(Case):
    """bench/tensorrt, which people with a GPU run: all its steps, with the double in the place of trtexec."""

    def test_it_runs_through(self):
        loader = SourceFileLoader("tensorrt_bench", str(ROOT / "bench/tensorrt"))
        bench = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(bench)
        model, images = bench.model_and_images()
        answer = onnx.reference.ReferenceEvaluator(model)
        table = {hashlib.sha256(image.tobytes()).hexdigest(): answer.run(None, {"image": image[np.newaxis]})[0].ravel().tolist()
                 for image in images}
        shutil.copy(DOUBLE, self.folder / "trtexec")
        (self.folder / "trtexec.json").write_text(json.dumps({
            "version": 110100, "knobs": [route_knob("copy_ppg", "on", "off", latency={"off": 0.6})],
            "inputs": [{"name": "image", "type": "fp32", "dims": [-1, 3, 32, 32]}],
            "outputs": [{"name": "probabilities", "type": "fp32", "dims": [-1, 10], "rule": "table", "table": table}]}))
        words = ["--trtexec", self.folder / "trtexec", "--build", BIN.parent, "--minutes", "0.25"]
        done = subprocess.run([sys.executable, ROOT / "bench/tensorrt", *words], capture_output=True, text=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        steps = {name: word for word, name in re.findall(r"^(OK|LEFT OUT|FAILED) +(.*?) \(\d+ s\)", done.stdout, re.MULTILINE)}
        self.assertEqual(len(steps), 7, done.stdout)
        for name in ("model and data", "worker: build, answer, time", "median as trtexec has it", "tune, 0.25 minutes", "import of a tuning cache"):
            self.assertEqual(steps[name], "OK", done.stdout)
        self.assertIn("all steps OK", done.stdout)


if __name__ == "__main__":
    unittest.main()
