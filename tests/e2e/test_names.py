"""Names that come from a model or a data set: whatever they are, nothing is written outside the run, and what is not taken is said."""

import json
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper

from harness import CLASSES, SPEED, Case, make_samples, script

LONG = "n" * 255
NAMES = ["../../evil", "/tmp/fiel-evil", "..", LONG, "n" * 5000, "\u540d\u524d \U0001f600", 'quo"te\'s\\ {}%s\n']

# Reads every output as an evaluator does, and says that all are right.
SCORER = """
import json, pathlib, sys
import numpy as np
for file in sorted(pathlib.Path(sys.argv[1]).glob("*.npz")):
    assert np.load(file).files
    print(json.dumps({"sample": file.stem, "score": 1.0}))
"""


def write_named_model(path, x, y):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", CLASSES]) for name in (x, y)]
    made = helper.make_model(helper.make_graph([helper.make_node("Identity", [x], [y])], "named", values[:1], values[1:]),
                             opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(made.SerializeToString())


class Names(Case):
    def named(self, number, x, y):
        engine = script(SPEED)
        engine["inputs"][0]["name"] = x
        engine["outputs"] = [{**engine["outputs"][0], "name": y}]
        evaluator = f'evaluator = ["{sys.executable}", "score.py"]'
        project = self.project(engine, f"inner/p{number}", tuning=40, edits=[('evaluator = "top1"\noutput    = "logits"', evaluator)])
        (project.folder / "score.py").write_text(SCORER)
        write_named_model(project.folder / "model.onnx", x, y)
        for name in ("tuning", "holdout"):
            count, seed = (40, 1) if name == "tuning" else (120, 2)
            np.savez(project.folder / f"data/{name}/inputs.npz", **{x: make_samples(count, seed)[0]})
        return project

    def everything(self):
        """All files but those of a run and its state, where it may write."""
        return {p for p in self.folder.rglob("*") if not {"run", "state"} & set(p.relative_to(self.folder).parts)}

    def test_tensors_may_be_called_anything(self):
        for number, name in enumerate(NAMES):
            with self.subTest(name[:30]):
                project = self.named(number, "x", name)
                before = self.everything()
                done = project.fiel("check", project.contract, "--route", "engine=fake SPEED=fast", "--json")
                self.assertEqual(done.status, 0, done.err)
                self.assertEqual(json.loads(done.out)["status"], "admissible")
                self.assertEqual(self.everything(), before)
        self.assertFalse((self.folder / "evil").exists() or (self.folder.parent / "evil").exists())

    def test_a_run_and_its_bundle_take_them_too(self):
        project = self.named(90, "../in", "../../evil")
        before = self.everything()
        run = project.tune()
        self.assert_status(run, 0)
        self.assertEqual(project.fiel("export", run.folder, "-o", run.folder / "bundle").status, 0)
        self.assertEqual(self.everything(), before)
        self.assert_nothing_left(project, run)

    def test_names_that_are_no_text_are_refused_with_a_word(self):
        for number, bad in enumerate((b"ev\xffl!", b"ev\x00l!", b"ev\xc0\x80!", b"\xed\xa0\x80ab")):
            with self.subTest(bad):
                project = self.named(50 + number, "x", "evil!")
                file = project.folder / "model.onnx"
                file.write_bytes(file.read_bytes().replace(b"evil!", bad))
                for words in (("init", file), ("check", project.contract, "--route", "engine=fake"), ("tune", project.contract, "-o", project.folder / "run")):
                    done = project.fiel(*words)
                    self.assertEqual(done.status, 2, f"{words[0]}: {done.err}")
                    self.assertIn("is no text", done.err)

    def test_samples_with_names_that_lead_out_are_refused(self):
        for number, name in enumerate(("../../evil", "a/b", "..", "n" * 256, "nu\0l")):
            with self.subTest(name[:30]):
                project = self.project(script(SPEED), f"inner/s{number}")
                labels = project.folder / "data/tuning/labels.csv"
                labels.write_text(labels.read_text().replace("s0003,", f"{name},"))
                before = self.everything()
                run = project.tune()
                self.assert_status(run, 2)
                self.assertIn("labels.csv", run.done.err)
                self.assertEqual(self.everything(), before)


if __name__ == "__main__":
    unittest.main()
