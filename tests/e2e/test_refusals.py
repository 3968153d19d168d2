"""What is wrong is said before any work: with the file, the line, the key and what to do."""

import os
import shutil
import signal
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from harness import BIN, CLASSES, SPEED, Case, keys_so_far, make_samples, script, wait_for, write_set


class Refusals(Case):
    def refuse(self, project, *patterns, status=2, words=()):
        """`patterns` must all be in what it says; nothing else may have happened."""
        run = project.tune(*words)
        self.assert_status(run, status)
        for pattern in patterns:
            self.assertRegex(run.done.err, pattern)
        self.assertEqual(run.done.out, "")
        self.assertFalse((run.folder / "run.db").exists(), "a run was begun")
        self.assert_nothing_left(project, run)

    def refuse_edit(self, old, new, *patterns, at=None, **more):
        """Refused at the line of `at` (else of what was put in)."""
        project = self.project(script(SPEED), f"p{len(list(self.folder.iterdir()))}", **more)
        project.edit(old, new)
        line = project.line_of(at or new.splitlines()[-1])
        self.refuse(project, rf"contract\.toml:{line}: ", *patterns)

    # --- the contract by itself

    def test_an_unknown_key_names_the_nearest_known_one(self):
        self.refuse_edit("max_drop  = 0.05", "max_dorp  = 0.05", r"accuracy\.task\.max_dorp: unknown key.*'max_drop'")
        self.refuse_edit("[workload]", "[worklaod]", r"worklaod: unknown key.*'workload'")
        self.refuse_edit("min_gain   = 0.01", "min_gian   = 0.01", r"speed\.min_gian: unknown key.*'min_gain'")

    def test_all_mistakes_are_said_at_once(self):
        project = self.project(script(SPEED), edits=[("min_gain   = 0.01", "min_gain   = -1"),
                                                     ("confidence = 0.95", "confidence = 95"),
                                                     ('"single_stream"', '"single_steam"')])
        self.refuse(project, r"speed\.min_gain: ", r"accuracy\.confidence: ", r"workload\.scenario: .*'single_stream'")

    def test_a_wrong_type(self):
        self.refuse_edit("confidence = 0.95", 'confidence = "high"', r"accuracy\.confidence: wants .*found .*high")
        self.refuse_edit("max_drop  = 0.05", "max_drop  = [0.05]", r"accuracy\.task\.max_drop: wants ")
        self.refuse_edit('wall = "10 min"', "wall = 10", r'budget\.wall: wants .*"')
        self.refuse_edit('engines = ["fake"]', 'engines = "fake"', r"target\.engines: wants a list")

    def test_numbers_that_mean_nothing(self):
        self.refuse_edit("max_drop  = 0.05", "max_drop  = nan", r"accuracy\.task\.max_drop: wants ")
        self.refuse_edit("max_drop  = 0.05", "max_drop  = 5", r"accuracy\.task\.max_drop: of 5 lets everything pass")
        self.refuse_edit('wall = "10 min"', 'wall = "0 s"', r"budget\.wall: wants a time above zero")

    def test_no_task_no_margin_no_evaluator(self):
        self.refuse_edit("max_drop  = 0.05\n", "", r"accuracy\.task: has no margin", at="[[accuracy.task]]")
        self.refuse_edit('evaluator = "top1"', 'evaluator = "top_1"', r"accuracy\.task\.evaluator: .*top_1.*'top1'")
        self.refuse_edit('evaluator = "top1"', 'evaluator = ["python3", "score.py"]', r"accuracy\.task\.evaluator: .*score\.py")

    def test_limits_that_contradict_the_workload(self):
        self.refuse_edit('"single_stream"', '"offline"\n[limits]\nlatency_p99 = "8 ms"', r"limits\.latency_p99: contradicts")
        self.refuse_edit('"single_stream"', '"offline"\nobjective = "latency_p50"', r"workload\.objective: .*contradicts")
        self.refuse_edit("max_drop  = 0.05", "max_drop  = 0.05\nmax_drop_relative = 0.05", r"max_drop_relative: contradicts")

    def test_what_is_no_toml(self):
        self.refuse_edit("[speed]", "[speed", at="[speed")

    def test_a_contract_that_is_not_there(self):
        project = self.project(script(SPEED))
        project.contract.unlink()
        self.refuse(project, r"contract\.toml", "fiel init")

    # --- files

    def test_a_missing_model(self):
        self.refuse_edit('"model.onnx"', '"modle.onnx"', r"model\.path: there is no file .*/modle\.onnx")

    def test_a_model_that_is_none(self):
        project = self.project(script(SPEED))
        (project.folder / "model.onnx").write_bytes(b"\x08\x08not a model")
        self.refuse(project, r"model\.onnx")

    def test_missing_data(self):
        self.refuse_edit('"data/holdout"', '"data/hold-out"', r"data\.holdout: there is no folder .*/data/hold-out")

    def test_one_folder_for_two_sets(self):
        self.refuse_edit('"data/holdout"', '"data/tuning/"', r"data\.holdout: .*disjoint")

    # --- data

    def refuse_tuning(self, arrays, *patterns, labels=None):
        project = self.project(script(SPEED), f"p{len(list(self.folder.iterdir()))}")
        folder = project.folder / "data/tuning"
        np.savez(folder / "inputs.npz", **arrays)
        if labels is not None:
            (folder / "labels.csv").write_text(labels)
        self.refuse(project, rf"contract\.toml:{project.line_of('tuning')}: data\.tuning", *patterns)

    def test_sets_that_overlap(self):
        project = self.project(script(SPEED))
        shutil.rmtree(project.folder / "data/tuning")
        x, labels = make_samples(97, seed=1)
        x[96] = make_samples(120, seed=2)[0][5]
        labels[96] = 5
        write_set(project.folder / "data/tuning", x, labels)
        self.refuse(project, rf"contract\.toml:{project.line_of('[data]')}: data: .*share.*'s0096'.*'s0005'")

    def test_an_empty_set(self):
        project = self.project(script(SPEED), "nothing")
        shutil.rmtree(project.folder / "data/tuning")
        (project.folder / "data/tuning").mkdir()
        self.refuse(project, rf"contract\.toml:{project.line_of('tuning')}: data\.tuning: .*no samples", r"\.npz")
        self.refuse_tuning({"x": np.zeros((0, CLASSES), np.float32)}, "no samples", labels="sample,label\n")

    def test_an_input_of_another_name(self):
        x, _ = make_samples(96, seed=1)
        self.refuse_tuning({"X": x}, "'X'", "'x'")
        self.refuse_tuning({"x": x, "z": x}, "'z'")

    def test_an_input_of_another_dtype(self):
        x, _ = make_samples(96, seed=1)
        self.refuse_tuning({"x": x.astype(np.float64)}, "'x' is float64", "float32")

    def test_an_input_of_another_shape(self):
        x, _ = make_samples(96, seed=1)
        self.refuse_tuning({"x": x[:, :9]}, r"'x' has the shape \[1, 9\]", r"\[N, 10\]")

    def test_labels_that_do_not_fit(self):
        x, labels = make_samples(96, seed=1)
        rows = "".join(f"s{i:04},{label},clean\n" for i, label in enumerate(labels))
        arrays = {"x": x}
        self.refuse_tuning(arrays, "95 rows.*96 samples", labels="sample,label,slice\n" + rows[:rows.rindex("s0095")])
        self.refuse_tuning(arrays, "label of sample 's0003' is 'three'", labels="sample,label,slice\n" + rows.replace(",3,", ",three,", 1))
        self.refuse_tuning(arrays, "labels.csv", labels="sample,slice\n" + rows.replace(",3,", ","))

    def test_a_slice_that_no_sample_has(self):
        self.refuse_edit("[budget]", "[accuracy.task.slices]\nharrd = { max_drop = 0.1 }\n\n[budget]",
                         r"harrd", r"'hard'", at="harrd", slice_of=lambda i: "hard" if i % 2 else "clean")

    def test_integers_out_of_range(self):
        project = self.project(script(SPEED), edits=[('"model.onnx"', '"model.onnx"\n[model.input.ids]\nrange = [0, 99]'),
                                                     ('output    = "logits"', 'output    = "same"')])
        port = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N", 3]) for name in ("ids", "same")]
        made = helper.make_model(helper.make_graph([helper.make_node("Identity", ["ids"], ["same"])], "ids", port[:1], port[1:]),
                                 opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(made, project.folder / "model.onnx")
        for name, first in (("tuning", 0), ("holdout", 40)):
            ids = np.arange(first, first + 30).reshape(10, 3)
            if name == "tuning":
                ids[7, 1] = 100
            np.savez(project.folder / "data" / name / "inputs.npz", ids=ids)
            rows = "".join(f"s{i:04},0\n" for i in range(10))
            (project.folder / "data" / name / "labels.csv").write_text("sample,label\n" + rows)
        self.refuse(project, r"data\.tuning", "'s0007'", "100", r"0 to 99", r"\[model\.input\.ids\] range")

    # --- engines, routes, folders

    def test_an_engine_that_nobody_knows(self):
        self.refuse_edit('engines = ["fake"]', 'engines = ["opnvino"]', r"target\.engines: .*'opnvino'.*'openvino'")

    def test_an_engine_whose_program_is_not_there(self):
        project = self.project(script(SPEED), edits=[(f'"{BIN}/fiel-worker-fake"', '"fiel-worker-of-nobody"')])
        self.refuse(project, "engine fake", "fiel-worker-of-nobody", "fiel engines", status=5)

    def test_an_engine_that_does_not_work(self):
        project = self.project(script(SPEED), edits=[(f'"{BIN}/fiel-worker-fake"', '"/bin/false"')])
        run = project.tune()
        self.assert_status(run, 5)
        self.assertRegex(run.done.err, "engine fake does not work here: .*exit status 1")

    def test_routes_that_mean_nothing(self):
        project = self.project(script(SPEED))
        for routes, *patterns in (("SPED=fast", "'SPED'", "'SPEED'"),
                                  ("SPEED=[plain|fats]", "'fats'", "'fast'"),
                                  ("SPEED=[plain|fast", "brackets"),
                                  ("SPEED", "no restriction"),
                                  ("engine=openvino SPEED=fast", "'openvino'")):
            with self.subTest(routes):
                self.refuse(project, *patterns, words=("--routes", routes))

    def test_a_baseline_that_means_nothing(self):
        self.refuse_edit('engines = ["fake"]', 'engines = ["fake"]\nbaseline = "engine=fake SPEED=fats"', "baseline", "'fats'")

    def test_a_command_line_that_means_nothing(self):
        project = self.project(script(SPEED))
        for words in (("--strategy", "luck"), ("--budget", "soon"), ("--candidates", "0"), ("--seed", "x"), ("--data", "data")):
            with self.subTest(words):
                self.refuse(project, words[0].strip("-"), words=words)

    def test_a_folder_that_holds_a_run_already(self):
        project = self.project(script(SPEED))
        first = project.tune()
        second = project.tune()
        self.assert_status(second, 2)
        self.assertRegex(second.done.err, "holds a run already.*\n.*fiel resume")
        self.assertEqual(first.show()["verdict"], "improved")

    def test_a_second_process_on_the_same_run(self):
        hang = {"do": "slow", "seconds": 60, "phase": "build", "when": {"SPEED": "fast"}}
        project = self.project(script(SPEED, faults=[hang]))
        folder = project.folder / "run"
        process = project.start("tune", project.contract, "-o", folder)
        wait_for(lambda: "candidate/2" in keys_so_far(folder), "candidate")
        for words in (("tune", project.contract, "-o", folder), ("resume", folder)):
            refused = project.fiel(*words)
            self.assertIn(refused.status, (2, 5), refused.err)
            self.assertRegex(refused.err, rf"in use by process {process.pid}")
        shown = project.fiel("show", folder)  # but one may look
        self.assertEqual(shown.status, 0, shown.err)
        self.assertIn("no verdict yet", shown.out)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)

    def test_show_resume_and_export_of_what_is_no_run(self):
        project = self.project(script(SPEED))
        for command in ("show", "report", "resume", "export"):
            with self.subTest(command):
                done = project.fiel(command, project.folder / "nowhere")
                self.assertIn(done.status, (2, 5))
                self.assertRegex(done.err, "fiel: error: .*nowhere")
                self.assertFalse((project.folder / "nowhere").exists())


if __name__ == "__main__":
    unittest.main()
