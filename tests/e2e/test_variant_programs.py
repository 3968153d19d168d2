"""[[variant]] program: somebody else's quantiser makes a variant, once a run, and what it leaves is judged like the rest."""

import json
import re
import sys
import unittest
from pathlib import Path

from harness import SPEED, Case, RealEngines, make_samples, read_events, script, write_set

MAKER = """
import pathlib, shutil, sys, time
how, model, calibration, folder = sys.argv[1:]
if how == "steals":
    pathlib.Path(__file__).with_name("stolen").write_text("what it should not")
assert pathlib.Path(calibration, "inputs.npz").exists()
if how == "fails":
    sys.exit("no such operator: Frobnicate")
if how == "hangs":
    time.sleep(60)
if how == "makes":
    pathlib.Path(folder, "model.onnx").write_bytes(pathlib.Path(model).read_bytes() + b"\\x12\\x06theirs")
"""


class Programs(Case):
    def make(self, *ways, edits=True):
        entries = "".join(f'\n[[variant]]\nname = "{how}"\nprogram = ["{sys.executable}", "maker.py", "{how}"]\ntimeout = "3 s"\n' for how in ways)
        project = self.project(script(SPEED), extra=entries,
                               edits=[("[data]\n", '[data]\ncalibration = "data/calibration"\n')] if edits else ())
        (project.folder / "maker.py").write_text(MAKER)
        write_set(project.folder / "data/calibration", *make_samples(20, seed=9))
        return project

    def test_it_runs_once_and_one_that_fails_costs_its_candidates_only(self):
        ways = ("makes", "fails", "hangs", "leaves_nothing", "steals")
        project = self.make(*ways)
        run = project.tune("--routes", f"variant=[float32|{'|'.join(ways)}] SPEED=[plain|fast]")
        self.assertIn("SPEED=fast", run.show()["winner"]["route"])
        self.assertIn(run.candidate("variant=makes")["status"], ("admissible", "pruned"))
        for how, kind, words in (("fails", "build_error", "exit status 1"), ("hangs", "timeout", "3"), ("leaves_nothing", "build_error", "left no model")):
            candidate = run.candidate(f"variant={how}")
            self.assertEqual((candidate["status"], candidate["kind"]), ("failed", kind), candidate)
            self.assertIn(words, candidate["reason"])
        self.assertIn("Frobnicate", run.candidate("variant=fails")["log_tail"])
        asked = re.findall(r"variant (\w+): `", run.done.err)
        self.assertEqual(sorted(asked), sorted(ways))
        if "files" in run.events("run")[0]["body"]["confinement"]["enforced"]:
            self.assertFalse((project.folder / "stolen").exists(), "a program wrote outside its folder")
        made = next(e for e in read_events(run.folder) if e["key"] == "variant/makes")
        self.assertRegex(made["body"]["digest"], "^[0-9a-f]{64}$")

    def test_without_a_calibration_set_it_says_what_is_missing(self):
        project = self.make("makes", edits=False)
        done = project.fiel("check", project.contract, "--json", "--route", "engine=fake variant=makes")
        self.assertIn("calibration", json.loads(done.out)["reason"])


def has(*modules):
    import importlib.util
    return all(importlib.util.find_spec(module) for module in modules)


@unittest.skipUnless(has("onnxruntime", "onnx"), "onnxruntime's quantiser is not in this environment")
class OnnxRuntimesQuantiser(RealEngines):
    def test_what_it_leaves_is_built_and_judged(self):
        plugin = Path(__file__).resolve().parents[2] / "variants/onnxruntime_static.py"
        self.make_sets(0.3, f'name = "ort"\nprogram = ["{sys.executable}", "{plugin}", "--reduce-range"]\n')
        done = self.fiel("check", "contract.toml", "--json", "--route", "engine=openvino variant=ort")
        candidate = json.loads(done.out)
        self.assertIn(candidate["status"], ("admissible", "wrong"), candidate["reason"] + done.err)
        self.assertTrue({"i8", "u8"} & set(candidate["effective"]["precisions"]), candidate["effective"])


if __name__ == "__main__":
    unittest.main()
