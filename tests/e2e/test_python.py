"""The Python package (python/fiel): the same programs, called and read from Python."""

import contextlib
import dataclasses
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import unittest
import unittest.mock
from pathlib import Path

import numpy as np

from harness import BIN, CLASSES, Case, SPEED, make_samples, script

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "python"
sys.path.insert(0, str(PACKAGE))
fiel = importlib.import_module("fiel")

SCORE = '''from fiel import evaluator


def right(sample):
    return sample.output.argmax() == int(sample.label)


def sure(sample):
    return float(np.ptp(sample.output))


import numpy as np
evaluator.main(right, sure)
'''


def has_event_lines():
    return "--json-lines" in subprocess.run([BIN / "fiel", "tune", "--help"], capture_output=True, text=True, check=True).stdout


class PythonCase(Case):
    def setUp(self):
        super().setUp()
        surroundings = unittest.mock.patch.dict(os.environ, FIEL_BIN=str(BIN), FIEL_STATE_DIR=str(self.folder / "state"),
                                                PYTHONPATH=str(PACKAGE), NO_COLOR="1")
        surroundings.start()
        self.addCleanup(surroundings.stop)

    def quietly(self, call, *words, **more):
        """What it returns, and what was written to sys.stderr meanwhile."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            return call(*words, **more), said.getvalue()


class Runs(PythonCase):
    def test_a_run_is_made_read_and_exported(self):
        project = self.project(script(SPEED))
        run, said = self.quietly(fiel.tune, project.contract, output=self.folder / "run", strategy="fast", seed=3)
        self.assertIn("search", said)
        self.assertEqual(run.verdict, "improved", said)
        self.assertEqual(run.winner.settings, {"SPEED": "fast"})
        self.assertEqual((run.ships, run.comparator.settings), (run.winner, {}))
        self.assertAlmostEqual(run.speedup["estimate"], 1.5, delta=0.03)
        self.assertEqual(run.result, project_shown := json.loads(project.fiel("show", run.folder, "--json").out))
        self.assertRegex(str(run), r"^improved: #\d+ is 1\.\d+ times as fast")
        self.assertTrue(run.markdown().startswith("**improved**"))
        self.assertEqual(len(run.candidates), len(project_shown["candidates"]))
        for candidate, shown in zip(run.candidates, project_shown["candidates"], strict=True):
            record = dataclasses.asdict(candidate)
            self.assertEqual(record["details"], shown)
            if shown["latency_us"]:
                self.assertEqual(record["latency_p50_us"], shown["latency_us"]["p50"])
            self.assertIs(run.candidate(candidate.id), candidate)
        bundle = run.export(self.folder / "bundle")
        self.assertEqual(bundle, self.folder / "bundle")
        self.assertTrue((bundle / "bundle.json").is_file())

    def test_an_undecided_run_is_an_answer_and_its_folder_is_found(self):
        project = self.project(script(SPEED), holdout=20)
        with contextlib.chdir(project.folder):
            for name in ("contract.run", "contract.run-2"):
                run, _ = self.quietly(fiel.tune, "contract.toml")
                self.assertEqual((run.verdict, run.folder.name), ("undecided", name))
                self.assertTrue(run.result["missing"])
                self.assertIsNone(run.winner)

    def test_what_fiel_refuses_is_raised_with_its_words(self):
        project = self.project(script(SPEED), edits=[("max_drop  = 0.05", "max_drip  = 0.05")])
        with self.assertRaises(fiel.Failed) as caught:
            self.quietly(fiel.tune, project.contract)
        self.assertEqual(caught.exception.status, 2)
        self.assertIn("did you mean 'max_drop'?", str(caught.exception))
        with self.assertRaises(fiel.Failed):
            fiel.Run(self.folder / "nothing").result

    @unittest.skipUnless(has_event_lines(), "this fiel has no --json-lines")
    def test_progress_gets_events_and_may_stop_a_run_that_is_gone_on_with(self):
        project = self.project(script(SPEED))

        def stop(event):
            if event["event"] == "candidate":
                raise StopIteration

        with self.assertRaises(StopIteration):
            fiel.tune(project.contract, output=self.folder / "run", progress=stop)
        self.assert_nothing_left(project)
        events = []
        run = fiel.resume(self.folder / "run", progress=events.append)
        self.assertEqual(run.verdict, "improved")
        self.assertEqual((events[0]["event"], events[-1]["event"], events[-1]["verdict"]), ("run", "end", "improved"))

    def test_the_command_becomes_the_program(self):
        words = [sys.executable, "-c", "from fiel._programs import main; main()"]
        done = subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, f"fiel {fiel.version()}\n")
        self.assertEqual(subprocess.run([*words, "tuen"], capture_output=True, timeout=60).returncode, 2)
        with unittest.mock.patch.dict(os.environ, FIEL_BIN=str(self.folder)):
            lost = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertIn("FIEL_BIN", lost.stderr)


class Evaluator(PythonCase):
    def test_a_scorer_of_ten_lines_judges_a_data_set_written_from_arrays(self):
        project = self.project(script(SPEED), edits=[
            ('evaluator = "top1"\noutput    = "logits"', f'evaluator = ["{sys.executable}", "score.py"]')])
        (project.folder / "score.py").write_text(SCORE.replace("sample.output.", 'sample.outputs["logits"].'))
        x, labels = make_samples(96, seed=5)
        fiel.dataset.write(project.folder / "data/mine", {"x": x}, labels=labels, slices=["even", "odd"] * 48)
        project.edit('tuning  = "data/tuning"', 'tuning  = "data/mine"')
        done = project.fiel("check", project.contract, "--route", "engine=fake SPEED=fast", "--json")
        self.assertEqual(done.status, 0, done.err)
        judged = json.loads(done.out)["gate"]
        self.assertEqual(judged["samples_seen"], 96)
        self.assertEqual(judged["tasks"][0]["candidate_score"], 1.0)

    def score(self, *words, text=SCORE):
        outputs, data = self.folder / "outputs", self.folder / "data"
        if not outputs.exists():
            outputs.mkdir()
            for name, best in (("a", 2), ("b", 0)):
                np.savez(outputs / f"{name}.npz", logits=np.eye(3, dtype=np.float32)[[best]])
            fiel.dataset.write_samples(data, [{"x": np.zeros((1, 2))}, {"x": np.ones((1, 3))}], names=["a", "b"], labels=[2, 1])
        (self.folder / "score.py").write_text(text)
        return subprocess.run([sys.executable, self.folder / "score.py", *words, outputs, data], capture_output=True, text=True,
                              timeout=60)

    def test_it_prints_a_line_for_each_sample_of_the_metric_asked_for(self):
        lines = [json.loads(line) for line in self.score().stdout.splitlines()]
        self.assertEqual(lines, [{"sample": "a", "score": 1.0}, {"sample": "b", "score": 0.0}])
        self.assertEqual(json.loads(self.score("--metric", "sure").stdout.splitlines()[0])["score"], 1.0)
        self.assertEqual(self.score("--metric", "sane").returncode, 2)

    def test_what_is_no_number_or_not_there_ends_it(self):
        for wrong, words in (("float('nan')", "score of sample a is nan"), ("sample.row['speaker']", "speaker"),
                             ("sample.inputs['x'].shape[1] + sample.inputs['y']", "'y'")):
            done = self.score(text=SCORE.replace("sample.output.argmax() == int(sample.label)", wrong))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


class DataSet(PythonCase):
    def test_samples_of_other_shapes_and_names_are_read_by_fiel(self):
        project = self.project(script(SPEED), holdout=20)
        x, labels = make_samples(40, seed=9)
        names = [f"line {i}, 'x'" for i in range(40)]
        folder = fiel.dataset.write_samples(project.folder / "data/mine", [{"x": row[np.newaxis]} for row in x], labels=labels,
                                            names=names, groups=[i // 2 for i in range(40)])
        self.assertEqual(len(list(folder.glob("*.npz"))), 40)
        project.edit('tuning  = "data/tuning"', 'tuning  = "data/mine"')
        dry = project.fiel("tune", project.contract, "--dry-run")
        self.assertEqual(dry.status, 0, dry.err)
        self.assertIn("tuning 40", dry.out)

    def test_images_are_scaled_normalised_and_laid_out(self):
        from PIL import Image
        Image.new("L", (8, 6), 255).save(self.folder / "white.png")
        Image.new("RGB", (4, 4), (255, 0, 0)).save(self.folder / "red.png")
        files = [self.folder / "white.png", self.folder / "red.png"]
        folder = fiel.dataset.write_images(self.folder / "images", files, size=(5, 4), mean=(0.5, 0.5, 0.5),
                                           deviation=(0.25, 0.5, 0.5), labels=["white", "red"])
        with np.load(folder / "000001.npz") as arrays:
            red = arrays["x"]
        self.assertEqual((red.dtype, red.shape), (np.float32, (1, 3, 4, 5)))
        np.testing.assert_allclose(red[0, :, 0, 0], [2, -1, -1], atol=1e-6)
        self.assertEqual((folder / "labels.csv").read_text(), "sample,label\n000000,white\n000001,red\n")

    def test_what_would_mix_or_miss_samples_is_refused(self):
        x = np.zeros((3, CLASSES), np.float32)
        write = fiel.dataset.write
        write(self.folder / "set", {"x": x})
        for error, more in ((FileExistsError, {"folder": "set"}), (ValueError, {"inputs": {"x": x, "y": x[:2]}}),
                            (ValueError, {"labels": [1, 2]}), (ValueError, {"names": ["a", "b", "a"]}),
                            (ValueError, {"names": ["a", "b", "../c"]}), (ValueError, {"inputs": {}})):
            with self.subTest(more), self.assertRaises(error):
                write(self.folder / more.pop("folder", f"new{len(str(more))}"), more.pop("inputs", {"x": x}), **more)


class Pins(unittest.TestCase):
    def test_the_wheel_is_built_with_what_the_project_is_built_with(self):
        pinned = dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())
        needed = project["build-system"]["requires"] + project["project"]["dependencies"]
        exact = [tuple(need.split("==")) for need in needed if "==" in need]
        self.assertEqual({name for name, _ in exact}, {"openvino", "onnx"})
        for name, version in exact:
            self.assertEqual(version, pinned[name])


if __name__ == "__main__":
    unittest.main()
