"""What a contract may ask for beyond the usual: evaluator programs, other references, rules, objectives, odd places."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

import numpy as np

from harness import CLASSES, SPEED, Case, Run, keys_so_far, knob, make_samples, script, wait_for

PRECISION = knob("PRECISION", "f32", "bf16", latency={"bf16": 0.5})
FLIP = {"do": "flip", "share": 0.3, "when": {"PRECISION": "bf16"}}
TASK = 'evaluator = "top1"\noutput    = "logits"'

# Scores as top1 does, as a user would write it.
SCORER = """import csv, json, pathlib, sys
import numpy as np
outputs, dataset = map(pathlib.Path, sys.argv[-2:])
labels = {row["sample"]: int(row["label"]) for row in csv.DictReader(open(dataset / "labels.csv"))}
for file in sorted(outputs.glob("*.npz")):
    with np.load(file) as arrays:
        right = int(arrays["logits"].argmax()) == labels[file.stem]
    print(json.dumps({"sample": file.stem, "score": SCORE}))
"""


class Evaluators(Case):
    def scored(self, code, *knobs, faults=(), name="project", more=""):
        project = self.project(script(*knobs, faults=faults), name,
                               edits=[(TASK, f'evaluator = ["{sys.executable}", "score.py"]{more}')])
        (project.folder / "score.py").write_text(code)
        return project

    def test_a_program_decides_as_the_built_in_does(self):
        run = self.scored(SCORER.replace("SCORE", "int(right)"), SPEED, PRECISION, faults=[FLIP]).tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.candidate("PRECISION=bf16")["kind"], "wrong")
        self.assert_nothing_left(run.project, run)

    def test_an_error_rate_is_better_when_it_is_lower(self):
        run = self.scored(SCORER.replace("SCORE", "1 - int(right)"), SPEED, PRECISION, faults=[FLIP],
                          more="\nlower_is_better = true").tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.candidate("PRECISION=bf16")["kind"], "wrong")

    def test_a_program_that_fails_on_all_outputs_ends_the_run_with_its_words(self):
        for name, code, words in (("raises", "raise ValueError('no such column')", "no such column"),
                                  ("mute", "pass", "score"),
                                  ("garbage", "print('accuracy: 99 %')", "accuracy: 99 %"),
                                  ("nan", SCORER.replace("SCORE", "float('nan')"), "(?i)nan"),
                                  ("hangs", "import time; time.sleep(600)", "2 s|deadline|timeout|time")):
            with self.subTest(name):
                run = self.scored(code, SPEED, name=name, more='\ntimeout = "2 s"').tune()
                self.assertIn(run.status, (2, 5), str(run))
                self.assertRegex(run.done.err, words)
                self.assertRegex(run.done.err, "score.py|right")
                self.assert_nothing_left(run.project, run)

    def test_a_program_that_cannot_take_a_candidates_outputs_costs_that_candidate(self):
        code = SCORER.replace("SCORE", "int(right)").replace("right = ", "assert right_shape(arrays['y']); right = ")
        code = code.replace("outputs, dataset", "right_shape = lambda y: y.max() < 100\noutputs, dataset")
        loud = {"do": "noise", "sd": 1000, "output": "y", "when": {"PRECISION": "bf16"}}
        run = self.scored(code, SPEED, PRECISION, faults=[loud]).tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.candidate("PRECISION=bf16")["kind"], "wrong")

    def test_real_valued_scores_are_proven_too(self):
        run = self.scored(SCORER.replace("SCORE", "0.5 + 0.5 * right"), SPEED, PRECISION, faults=[FLIP]).tune()
        self.assert_winner(run, "SPEED=fast")


class References(Case):
    def test_files_may_be_the_reference(self):
        project = self.project(script(SPEED, PRECISION, faults=[FLIP]),
                               edits=[("[accuracy]\n", '[accuracy]\nreference = "files"\nreference_files = "expected"\n'),
                                      ('"top1"', '"agreement"')])
        for name, seed, count in (("tuning", 1, 96), ("holdout", 2, 120)):
            x, labels = make_samples(count, seed)
            folder = project.folder / "expected" / name
            folder.mkdir(parents=True)
            for i, label in enumerate(labels):
                logits = np.zeros((1, CLASSES), np.float32)
                logits[0, label] = 1
                np.savez(folder / f"s{i:04}.npz", logits=logits, y=2 * x[i:i + 1])
        run = project.tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.candidate("PRECISION=bf16")["kind"], "wrong")

    def test_the_baseline_may_be_the_reference(self):
        rough = knob("PRECISION", "bf16", "f32", latency={"f32": 1.3})
        run = self.project(script(SPEED, rough, float32_settings={"PRECISION": "f32"}),
                           edits=[("[accuracy]\n", '[accuracy]\nreference = "baseline"\n'), ('"top1"', '"agreement"')]).tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertIn("reference", run.candidate()["roles"])

    def test_a_reference_that_is_not_finite_is_refused(self):
        nan = {"do": "non_finite", "output": "y", "samples": {"modulo": 96, "is": 5}}
        run = self.project(script(SPEED, faults=[nan])).tune()
        self.assert_status(run, 2)
        self.assertRegex(run.done.err, "reference[\\s\\S]*(finite|nan|NaN)")
        self.assertRegex(run.done.err, "allow_non_finite")

    def test_a_reference_that_crashes_is_named(self):
        run = self.project(script(SPEED, faults=[{"do": "crash", "phase": "infer"}])).tune()
        self.assertIn(run.status, (2, 5))
        self.assertRegex(run.done.err, "reference")
        self.assert_nothing_left(run.project, run)


class Rules(Case):
    def rule(self, text, *knobs, faults=(), name="project"):
        return self.project(script(SPEED, *knobs, faults=faults), name,
                            edits=[("[[accuracy.task]]", f"[[accuracy.tensor]]\n{text}\n[[accuracy.task]]")]).tune()

    def test_a_tensor_rule_rejects_what_the_task_would_let_pass(self):
        noise = {"do": "noise", "sd": 0.2, "output": "y", "when": {"PRECISION": "bf16"}}
        for number, rule in enumerate(('metric = "cosine"\nmin = 0.9999', 'metric = "max_abs"\nmax = 0.01',
                                       'metric = "allclose"\nrtol = 1e-3\natol = 1e-3', 'metric = "sqnr"\nmin = 40')):
            with self.subTest(rule):
                run = self.rule(f'output = "y"\n{rule}', PRECISION, faults=[noise], name=f"p{number}")
                self.assert_winner(run, "SPEED=fast")
                candidate = run.candidate("PRECISION=bf16")
                self.assertEqual(candidate["kind"], "wrong")
                self.assertIn("y", candidate["reason"])

    def test_without_a_rule_an_output_that_no_task_reads_is_not_judged_by_its_values(self):
        noise = {"do": "noise", "sd": 0.2, "output": "y", "when": {"PRECISION": "bf16"}}
        run = self.project(script(SPEED, PRECISION, faults=[noise])).tune()
        self.assert_winner(run, "SPEED=fast", "PRECISION=bf16")


class Workloads(Case):
    def test_every_objective_finds_the_faster_one(self):
        for objective in ("latency_mean", "latency_p50", "latency_p90", "latency_p99", "throughput"):
            with self.subTest(objective):
                run = self.project(script(SPEED), objective, edits=[
                    ('"single_stream"', f'"single_stream"\nobjective = "{objective}"')]).tune()
                self.assert_winner(run, "SPEED=fast")
                self.assertAlmostEqual(run.show()["speedup"]["estimate"], 1.5, delta=0.05)

    def test_parallel_requests_count_offline_only(self):
        streams = knob("STREAMS", "1", "2", latency={"2": 1.3}, parallel_requests={"2": 2})
        for scenario, winner in (("single_stream", None), ("offline", "STREAMS=2")):
            with self.subTest(scenario):
                run = self.project(script(streams), scenario, edits=[('"single_stream"', f'"{scenario}"')]).tune()
                if winner:
                    self.assert_winner(run, winner)
                    self.assertAlmostEqual(run.show()["speedup"]["estimate"], 2 / 1.3, delta=0.1)
                else:
                    self.assert_verdict(run, "not_improved")

    def test_knobs_that_only_help_together_are_found(self):
        knobs = [knob(name, "0", "1") for name in ("A", "B", "C")]
        together = [{"when": {"A": "1", "B": "1"}, "latency": 0.6}]
        run = self.project(script(*knobs, interactions=together)).tune()
        self.assertIn("A=1 B=1", run.show()["winner"]["route"])

    def test_two_engines_are_compared_with_the_baseline(self):
        project = self.project(script(SPEED), edits=[
            ('engines = ["fake"]', 'engines = ["fake", "other"]'),
            ("[workload]", '[engines.other]\nworker = "OTHER"\narguments = ["other.json"]\n\n[workload]')])
        project.edit("OTHER", next(line for line in project.contract.read_text().splitlines() if "worker" in line).split('"')[1])
        (project.folder / "other.json").write_text(json.dumps(script(engine="other", latency_seconds=0.004)))
        run = project.tune()
        self.assert_verdict(run, "improved")
        self.assertEqual(run.show()["winner"]["route"], "engine=other")
        self.assertAlmostEqual(run.show()["speedup"]["estimate"], 2.5, delta=0.05)

    def test_noise_too_large_to_decide_is_said(self):
        some = knob("SPEED", "plain", "fast", latency={"fast": 0.97})
        run = self.project(script(some, noise={"sigma": 0.02, "process_sigma": 0.2})).tune()
        self.assertNotEqual(run.show()["verdict"], "improved", str(run))

    def test_a_race_that_others_disturb_is_held_again_while_there_is_time(self):
        project = self.project(script(SPEED, sleeps=True, computed_time=False))
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
        try:
            run = project.tune("--candidates", 1, "--budget", "60 s")
        finally:
            for process in others:
                process.kill()
                process.wait()
        self.assertIn("noise", run.show()["reason"], str(run))
        self.assertTrue(run.events("race")[3:], str(run))

    def test_drift_does_not_make_a_winner(self):
        names = knob("NAME", "a", "b", "c")
        run = self.project(script(names, noise={"sigma": 0.02, "process_sigma": 0.005, "drift_per_block": 0.02,
                                                "common_sigma": 0.1})).tune()
        self.assert_comparator_ships(run)


class Data(Case):
    def test_a_file_each_or_one_for_all_is_the_same_set(self):
        project = self.project(script(SPEED), holdout=20)
        digests = [project.tune(run="stacked").show()["environment"]["data"]["tuning"]["digest"]]
        folder = project.folder / "data/tuning"
        x, _ = make_samples(96, seed=1)
        (folder / "inputs.npz").unlink()
        for i in range(96):
            np.savez_compressed(folder / f"s{i:04}.npz", x=x[i:i + 1])
        digests.append(project.tune(run="single").show()["environment"]["data"]["tuning"]["digest"])
        self.assertEqual(digests[0], digests[1])

    def test_one_folder_is_split_and_never_shares_a_sample(self):
        project = self.project(script(SPEED), tuning=400, edits=[
            ('tuning  = "data/tuning"\nholdout = "data/holdout"', 'samples = "data/tuning"')])
        run = project.tune()
        self.assert_winner(run, "SPEED=fast")
        sets = run.show()["environment"]["data"]
        self.assertAlmostEqual(sets["holdout"]["n"], 200, delta=40)
        self.assertAlmostEqual(sets["tuning"]["n"], 160, delta=40)

    def test_samples_that_depend_on_each_other_prove_less(self):
        # 120 samples of 12 speakers are 12 units: too few for 5 %.
        project = self.project(script(SPEED))
        for name in ("tuning", "holdout"):
            file = project.folder / "data" / name / "labels.csv"
            lines = file.read_text().splitlines()
            file.write_text("\n".join([lines[0] + ",group"] + [f"{line},{name}{i // 10}" for i, line in enumerate(lines[1:])]) + "\n")
        run = project.tune()
        self.assert_verdict(run, "undecided")
        self.assertEqual(run.show()["nominees"], [], "nothing was to be proven, and yet it searched")

    def test_paths_with_blanks_quotes_and_letters_of_all_kinds(self):
        run = self.project(script(SPEED, PRECISION, faults=[FLIP]), "it's a \"strange\" naïve 名前 folder").tune(run="run; rm -rf x")
        self.assert_winner(run, "SPEED=fast")
        line = run.candidate("SPEED=fast")["reproduce"]
        done = subprocess.run(["sh", "-c", line.replace("fiel ", f"{run.project.command()[0]} ", 1)], text=True,
                              env=run.project.environment(), capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, line + done.stderr)
        self.assertEqual(run.project.fiel("export", run.folder).status, 0)


class Budgets(Case):
    def test_a_search_without_a_single_candidate_is_no_answer(self):
        run = self.project(script(SPEED)).tune("--budget", "2 s")
        if len(run.show()["candidates"]) == 1:
            self.assert_verdict(run, "undecided")
            self.assertRegex(" ".join(run.show()["missing"]), "budget")
        else:
            self.assert_winner(run, "SPEED=fast")

    def test_a_search_that_the_budget_ends_says_so(self):
        names = knob("NAME", *[f"n{i}" for i in range(4000)])
        run = self.project(script(names)).tune("--budget", "6 s", "--strategy", "full")
        self.assertEqual(run.show()["budget"]["stop_reason"], "budget", str(run))
        self.assertLess(run.done.seconds, 12)


class Machine(Case):
    def test_another_version_of_the_engine_does_not_go_on_with_a_run(self):
        slow = {"do": "slow", "seconds": 60, "phase": "build", "when": {"SPEED": "fast"}}
        project = self.project(script(SPEED, faults=[slow]))
        folder = project.folder / "run"
        process = project.start("tune", project.contract, "-o", folder)
        wait_for(lambda: "candidate/2" in keys_so_far(folder), "candidate")
        process.send_signal(signal.SIGTERM)  # which is as good as Ctrl-C
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        self.assertIn("fiel resume run", err)
        project.write_script(script(SPEED, version="2.0"))
        refused = project.fiel("resume", folder)
        self.assertEqual(refused.status, 5, refused.err)
        self.assertRegex(refused.err, "begun with fake 1.0; here is 2.0")
        project.write_script(script(SPEED))
        self.assertEqual(project.fiel("resume", folder).status, 0)

    def test_an_artifact_that_is_gone_or_changed_is_nobodys_result(self):
        for name, spoil in (("gone", shutil.rmtree), ("changed", lambda folder: (folder / "weights").write_text("other"))):
            with self.subTest(name):
                project = self.project(script(SPEED), name)
                folder = project.folder / "run"
                process = project.start("tune", project.contract, "-o", folder)
                wait_for(lambda: "race/1" in keys_so_far(folder), "race")
                process.kill()
                process.communicate()
                artifact = Run(project, folder, None).candidate("SPEED=fast")["artifact"]
                spoil(folder / "artifacts" / artifact)
                done = project.fiel("resume", folder)
                self.assertEqual(done.status, 5, done.out + done.err)
                self.assertIn("artifact", done.err)

    def test_a_state_folder_that_cannot_be_written_is_the_machines_fault(self):
        project = self.project(script(SPEED))
        project.state.write_text("a file where a folder should be")
        run = project.tune()
        self.assert_status(run, 5)
        self.assertRegex(run.done.err, "state")

    def test_a_run_folder_that_cannot_be_made_is_the_machines_fault(self):
        project = self.project(script(SPEED))
        (project.folder / "run").write_text("a file where a folder should be")
        run = project.tune()
        self.assertIn(run.status, (2, 5))
        self.assertRegex(run.done.err, "run")


if __name__ == "__main__":
    unittest.main()
