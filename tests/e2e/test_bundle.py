"""What ships: the exact artifact that was measured, sealed."""

import hashlib
import json
import shutil
import unittest
from pathlib import Path

from harness import Case, SPEED, knob, script

DEFECT = knob("DEFECT", "none", "wrong", "crash", latency={"wrong": 0.5})
FAULTS = [{"do": "flip", "when": {"DEFECT": "wrong"}}, {"do": "crash", "phase": "build", "when": {"DEFECT": "crash"}}]
ISA = knob("FAKE_ISA", "amx", "avx2", kind="environment", latency={"avx2": 0.8})


def digests(folder):
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(Path(folder).rglob("*")) if file.is_file()}


class Bundle(Case):
    def export(self, run, *words, status=0):
        done = run.project.fiel("export", run.folder, *words)
        self.assertEqual(done.status, status, done.err)
        return done

    def test_the_winner_is_exported_with_the_digests_of_all_its_files(self):
        run = self.project(script(SPEED, ISA)).tune()
        self.assert_winner(run, "SPEED=fast", "FAKE_ISA=avx2")
        folder = self.folder / "bundle"
        self.assertEqual(self.export(run, "-o", folder).out, f"{folder}\n")
        bundle = json.loads((folder / "bundle.json").read_text())
        found = digests(folder)
        del found["bundle.json"]
        self.assertEqual({name: file["sha256"] for name, file in bundle["files"].items()}, found)
        winner = run.candidate("SPEED=fast", "FAKE_ISA=avx2")
        self.assertEqual(bundle["settings"], {"SPEED": "fast"})
        self.assertEqual(bundle["environment"], {"FAKE_ISA": "avx2"})
        self.assertEqual(bundle["digests"]["artifact"], winner["artifact"])
        self.assertEqual(bundle["digests"]["model"],
                         hashlib.sha256((run.project.folder / "model.onnx").read_bytes()).hexdigest())
        self.assertEqual(digests(folder / "artifact"), digests(run.folder / "artifacts" / winner["artifact"]),
                         "what ships is not what was measured")
        self.assertEqual((folder / "contract.toml").read_bytes(), run.project.contract.read_bytes())
        shown = run.show()
        self.assertEqual(bundle["evidence"]["speedup"]["estimate"], shown["speedup"]["estimate"])
        self.assertEqual(json.loads((folder / "evidence.json").read_text()), shown)

    def test_by_default_it_lies_in_the_run_folder_and_can_be_made_anew(self):
        run = self.project(script(SPEED)).tune()
        self.export(run)
        first = digests(run.folder / "bundle")
        self.export(run)
        self.assertEqual(digests(run.folder / "bundle"), first)

    def test_the_comparator_ships_where_nothing_is_better(self):
        run = self.project(script(knob("SPEED", "plain", "slow", latency={"slow": 2}))).tune()
        self.assert_verdict(run, "not_improved")
        self.export(run)
        bundle = json.loads((run.folder / "bundle/bundle.json").read_text())
        self.assertEqual(bundle["digests"]["artifact"], run.candidate()["artifact"])
        self.assertEqual((bundle["settings"], bundle["evidence"]["speedup"]), ({}, None))

    def test_nothing_is_exported_that_does_not_meet_the_contract(self):
        run = self.project(script(SPEED, DEFECT, faults=FAULTS)).tune("--strategy", "fast")
        for settings in ("DEFECT=wrong", "DEFECT=crash"):
            with self.subTest(settings):
                done = self.export(run, "--candidate", run.candidate(settings)["id"], status=2)
                self.assertIn("candidate", done.err)
        self.export(run, "--candidate", 999, status=2)
        self.assertFalse((run.folder / "bundle").exists())

    def test_by_force_it_is_exported_with_a_warning_in_it(self):
        run = self.project(script(SPEED, DEFECT, faults=FAULTS)).tune("--strategy", "fast")
        wrong = run.candidate("DEFECT=wrong")["id"]
        self.assertIn("--force", self.export(run, "--candidate", wrong, status=2).err)
        self.export(run, "--candidate", wrong, "--force")
        bundle = json.loads((run.folder / "bundle/bundle.json").read_text())
        self.assertEqual((bundle["candidate"]["id"], bundle["evidence"]["worth"]), (wrong, "inadmissible"))
        self.assertIn("WARNING", (run.folder / "bundle/README.md").read_text())
        self.export(run, "--candidate", run.candidate("DEFECT=crash")["id"], "--force", status=2)  # has no artifact

    def test_nothing_is_exported_where_nothing_ships(self):
        run = self.project(script(SPEED), holdout=20).tune()
        self.assert_verdict(run, "undecided")
        self.export(run, status=2)

    def test_a_folder_with_somebodys_work_is_left_alone(self):
        run = self.project(script(SPEED)).tune()
        place = self.folder / "work"
        place.mkdir()
        (place / "thesis.txt").write_text("years of work")
        self.export(run, "-o", place, status=2)
        self.assertEqual([file.name for file in place.iterdir()], ["thesis.txt"])

    def test_an_artifact_that_changed_since_is_not_shipped(self):
        run = self.project(script(SPEED)).tune()
        artifact = run.folder / "artifacts" / run.candidate("SPEED=fast")["artifact"]
        weights = artifact / "weights"
        weights.chmod(0o644)
        weights.write_bytes(b"x" + weights.read_bytes()[1:])
        done = self.export(run, status=5)
        self.assertIn("not what was measured", done.err)
        self.assertFalse((run.folder / "bundle").exists())
        shutil.rmtree(artifact)
        self.export(run, status=5)


if __name__ == "__main__":
    unittest.main()
