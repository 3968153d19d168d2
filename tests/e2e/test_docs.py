"""The documentation is true: its snippets run, the commands and options it names exist, and its figures are the bench's.

The pages speak of OpenVINO; here the scripted engine stands in its place, by a table that is added to the page's contract, so that
seconds suffice. What needs the real engine is run by test_openvino.py."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import unittest
from functools import cache
from pathlib import Path

import fastjsonschema
import numpy as np

from harness import BIN, CLASSES, Case, SPEED, script
from pages import FENCE, ROOT, snippets_of

sys.path.insert(0, str(ROOT / "tests"))
import make_models  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SAMPLES = 800  # half of them are the hold-out, a quarter of that the slice, and four runs look at it


class Snippets(Case):
    def setUp(self):
        super().setUp()
        self.page_folder = self.folder / "page"
        self.page_folder.mkdir()
        (self.page_folder / "model.onnx").write_bytes(make_models.small_cnn().SerializeToString())
        engine = script(SPEED, engine="openvino", inputs=[{"name": "image", "dtype": "float32", "shape": [-1, 3, 32, 32]}],
                        outputs=[{"name": "probabilities", "dtype": "float32", "shape": [-1, CLASSES], "rule": "class", "margin": 4}])
        (self.page_folder / "fake.json").write_text(json.dumps(engine))
        classes = np.arange(SAMPLES) % CLASSES
        images = np.random.default_rng(3).random((SAMPLES, 3, 32, 32), dtype=np.float32)
        images[:, 0, 0, 0] = classes + 0.5  # whose whole part is what the scripted engine answers
        for name, array in (("images", images), ("classes", classes), ("at_night", np.arange(SAMPLES) % 4 == 0), ("image", images[:1])):
            np.save(self.page_folder / f"{name}.npy", array)

    def environment(self):
        places = f"{BIN}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {**os.environ, "PATH": places, "PYTHONPATH": str(ROOT / "python"), "FIEL_BIN": str(BIN),
                "FIEL_STATE_DIR": str(self.folder / "state"), "NO_COLOR": "1"}

    def run_page(self, page, wanted=("yes", "file")):
        done = 0
        for snippet in snippets_of(page):
            if snippet.what.split("=")[0] in wanted:
                snippet.run(self.page_folder, self.environment())
                done += 1
                if snippet.what == "file=contract.toml":
                    self.replace_engine()
        return done

    def replace_engine(self):
        with open(self.page_folder / "contract.toml", "a") as file:
            file.write(f'\n[engines.openvino]\nworker = "{BIN / "fiel-worker-fake"}"\narguments = ["fake.json"]\n')

    def test_the_tutorial_leads_to_a_bundle_and_the_recipes_look_after_it(self):
        self.assertEqual(self.run_page("docs/tutorial.md"), 8)
        self.assertIn("improved", (self.page_folder / "run.md").read_text())
        self.assertIn("SPEED=fast", (self.page_folder / "run.csv").read_text())
        self.assertEqual(self.run_page("docs/ci.md"), 3)
        self.assertEqual(json.loads((self.page_folder / "verify.json").read_text())["exit_status"], 0)
        self.recipe_of_ci()
        shutil.rmtree(self.folder / "state")  # the same hold-out a fourth time: another reader's machine
        self.assertEqual(self.run_page("docs/python.md"), 3)
        self.scorer_of_ten_lines()

    def scorer_of_ten_lines(self):
        outputs, data = self.page_folder / "outputs", self.page_folder / "lines"
        outputs.mkdir()
        data.mkdir()
        answer = np.eye(128, dtype=np.float32)[[[ord(letter) for letter in "fiel"]]]
        for name in ("a", "b"):
            np.savez(outputs / f"{name}.npz", characters=answer)
        (data / "labels.csv").write_text("sample,label\na,fiel\nb,feil\n")
        done = subprocess.run([sys.executable, "score.py", outputs, data], cwd=self.page_folder, env=self.environment(),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual([json.loads(line)["score"] for line in done.stdout.splitlines()], [1.0, 0.0], done.stderr)

    def recipe_of_ci(self):
        """The lines of the workflow: the first job's own check, and fiel's as the page has run it already."""
        recipe = next(s.text for s in snippets_of("docs/ci.md") if s.language == "yaml")
        lines = re.findall(r"- run: (.*)", recipe)
        own = next(line for line in lines if line.startswith("python3 -c"))
        shipped = self.page_folder / "bundle/README.md"

        def status():
            return subprocess.run(["bash", "-c", own], cwd=self.page_folder, env=self.environment(), timeout=60).returncode

        self.assertEqual(status(), 0)
        shipped.chmod(0o644)
        shipped.write_bytes(shipped.read_bytes() + b" ")
        self.assertEqual(status(), 1)
        ran = "".join(s.text for s in snippets_of("docs/ci.md") if s.what == "yes")
        for line in lines:
            if "fiel verify" in line:
                self.assertIn(line[line.index("fiel verify"):], ran)


class WhatPagesName(unittest.TestCase):
    @staticmethod
    @cache
    def options_of(command):
        done = subprocess.run([BIN / "fiel", *command, "--help"], capture_output=True, text=True, timeout=60)
        return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", done.stdout)) if done.returncode == 0 else None

    def commands_on(self, page):
        text = page.read_text()
        code = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", FENCE.sub("", text))]
        code += [line for fence in FENCE.finditer(text) if fence["language"] in ("", "sh") for line in fence["text"].splitlines()]
        for line in code:
            for found in re.finditer(r"(?:^|[\s(|;&/])fiel ([a-z]+)\b([^|;>#]*)", line):
                yield found[0].strip(), found[1], re.findall(r"(?<!\S)--[a-z][\w-]*", found[2])

    def test_every_command_and_option_that_a_page_names_exists(self):
        seen = 0
        for page in PAGES:
            for line, command, options in self.commands_on(page):
                with self.subTest(page=page.name, line=line):
                    known = self.options_of((command,))
                    self.assertIsNotNone(known, f"fiel has no command {command}")
                    self.assertEqual([option for option in options if option not in known], [])
                    seen += 1
        self.assertGreater(seen, 50)

    def test_parts_of_contracts_have_keys_and_values_that_fiel_knows(self):
        check = fastjsonschema.compile(json.loads((ROOT / "docs/schema/contract.schema.json").read_text()))
        seen = 0
        for page in PAGES:
            for snippet in snippets_of(page.relative_to(ROOT)):
                if snippet.language != "toml" or "[[knob]]" in snippet.text:  # those are read by knob_catalogue_test.cpp
                    continue
                with self.subTest(page=page.name, line=snippet.line):
                    part = tomllib.loads(snippet.text)
                    whole = {"fiel": 1, "model": {"path": "m.onnx"}, "data": {"samples": "s"},
                             "accuracy": {"task": [{"name": "right", "evaluator": "top1", "max_drop": 0.01}]}, **part}
                    check(whole)
                    seen += 1
        self.assertGreaterEqual(seen, 6)

    def test_the_comparison_has_the_figures_of_the_bench(self):
        names = {"auto": "auto", "particle swarm": "kt_pso", "genetic algorithm": "kt_genetic_algorithm",
                 "simulated annealing": "kt_simulated_annealing", "TPE": "optuna_tpe", "multi-start local search": "kt_mls",
                 "greedy iterated local search": "kt_greedy_ils", "Bayesian optimisation": "kt_bayes_opt", "differential evolution": "kt_diff_evo",
                 "dual annealing": "kt_dual_annealing", "SMAC": "smac", "discrete": "nevergrad_discrete", "NGOpt": "nevergrad_ngopt"}
        measured = (ROOT / "docs/search.md").read_text()
        tables = {title: dict(re.findall(r"^\| (\w+) \| (-?\d+\.\d+) \|", part, re.MULTILINE))
                  for title, part in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## )", measured, re.MULTILINE | re.DOTALL)}
        rows = re.findall(r"^\| (.*?) \| (-?\d+\.\d+) \| (-?\d+\.\d+) \|$", (ROOT / "docs/comparison.md").read_text(), re.MULTILINE)
        self.assertEqual(len(rows), len(names))
        for title, everywhere, unseen in rows:
            name = names[title.removeprefix("fiel ").removeprefix("Kernel Tuner, ").removeprefix("Optuna, ").removeprefix("Nevergrad, ").strip("`")]
            self.assertEqual((everywhere, unseen), (tables["All"][name], tables["Spaces that no setting was chosen on"][name]), title)


if __name__ == "__main__":
    unittest.main()
