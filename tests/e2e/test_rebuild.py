"""Builds that come out otherwise, calibration that changes, and limits that nobody knows: `fiel check` says what is what."""

import json
import sys
import tomllib
import unittest

from harness import SPEED, Case, knob, make_samples, script, write_set
from test_hostile import hostile

MAKER = """
import pathlib, sys
model, calibration, folder = map(pathlib.Path, sys.argv[1:])
(folder / "model.onnx").write_bytes(model.read_bytes())
"""


class Rebuild(Case):
    def check(self, project, route, *words, status=0):
        done = project.fiel("check", project.contract, "--route", f"engine=fake {route}", "--json", *words)
        self.assertEqual(done.status, status, done.err)
        return json.loads(done.out)

    def test_a_build_with_other_bytes_is_a_candidate_of_its_own_and_judged_again(self):
        defect = knob("DEFECT", "none", "builds_differ")
        project = hostile(self.project(script(SPEED, defect)))
        same = self.check(project, "SPEED=fast", "--rebuilds", "2")
        self.assertEqual([(b["same_bytes"], b["admissible"]) for b in same["rebuilds"]], [(True, True)] * 2)
        other = self.check(project, "DEFECT=builds_differ", "--rebuilds", "2")
        self.assertEqual([(b["same_bytes"], b["same_graph"], b["admissible"]) for b in other["rebuilds"]], [(False, True, True)] * 2)
        for built in same["rebuilds"] + other["rebuilds"]:
            self.assertAlmostEqual(built["ratio"], 1, delta=0.05)
        self.assertEqual(len({built["id"] for built in other["rebuilds"]}), 2)

    def test_a_rebuilt_one_that_is_wrong_is_out(self):
        # Its first process is right: the one that the first build is judged by.
        wrong = {"do": "flip", "when": {"SPEED": "fast"}, "processes": [2, 1000]}
        project = self.project(script(SPEED, faults=[wrong], state_folder=str(self.folder / "processes")))
        found = self.check(project, "SPEED=fast", "--rebuilds", "1", status=8)
        self.assertEqual(found["status"], "admissible")
        self.assertEqual([(b["admissible"], b["status"]) for b in found["rebuilds"]], [(False, "wrong")])

    def test_another_calibration_set_makes_other_candidates_of_what_it_calibrates(self):
        variant = f'\n[[variant]]\nname = "theirs"\nprogram = ["{sys.executable}", "maker.py"]\n'
        project = self.project(script(SPEED), extra=variant, edits=[("[data]\n", '[data]\ncalibration = "data/calibration"\n')])
        (project.folder / "maker.py").write_text(MAKER)
        digests = {}
        for seed in (9, 10):
            write_set(project.folder / "data/calibration", *make_samples(20, seed=seed))
            for route in ("variant=theirs", "SPEED=fast"):
                digests[seed, route] = self.check(project, route)["digest"]
            (project.folder / "data/calibration").rename(project.folder / f"data/calibration{seed}")
        self.assertNotEqual(digests[9, "variant=theirs"], digests[10, "variant=theirs"])
        self.assertEqual(digests[9, "SPEED=fast"], digests[10, "SPEED=fast"])

    def test_limits_come_from_what_right_answers_differ_by(self):
        noise = {"do": "noise", "sd": 0.001, "output": "y", "processes": [2, 1000]}  # the reference itself is the first process
        project = self.project(script(SPEED, faults=[noise], state_folder=str(self.folder / "processes")))
        done = project.fiel("check", project.contract, "--propose-limits")
        self.assertEqual(done.status, 0, done.err)
        rules = {rule["output"]: rule for rule in tomllib.loads(done.out)["accuracy"]["tensor"]}
        self.assertEqual(rules["logits"]["max"], 1e-5)
        self.assertTrue(1e-3 < rules["y"]["max"] < 5e-2, done.out)
        project.contract.write_text(project.contract.read_text() + done.out)
        self.assertEqual(self.check(project, "SPEED=fast")["status"], "admissible")
        self.assertEqual(project.fiel("check", project.contract).status, 2, "neither a route nor limits are asked for")


if __name__ == "__main__":
    unittest.main()
