"""The commands around a run, and what each writes where."""

import json
import os
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from harness import BIN, CLASSES, Case, SPEED, knob, script

ROUGH = {"do": "flip", "share": 0.3, "when": {"PRECISION": "bf16"}}
PRECISION = knob("PRECISION", "f32", "bf16", latency={"bf16": 0.5})
ISA = knob("FAKE_ISA", "amx", "avx2", kind="environment", latency={"avx2": 1.2})


def make_doubler(path):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", CLASSES]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "doubler", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class Tune(Case):
    def test_json_is_one_document_on_stdout_and_the_same_that_show_prints(self):
        run = self.project(script(SPEED)).tune("--json")
        self.assert_status(run, 0)
        self.assertEqual(json.loads(run.done.out), run.show())
        self.assertEqual(run.show()["format"], 1)
        self.assertIn("search", run.done.err)

    def test_a_dry_run_shows_the_plan_and_leaves_nothing(self):
        project = self.project(script(SPEED, ISA))
        done = project.fiel("tune", project.contract, "-o", project.folder / "run", "--dry-run")
        self.assertEqual(done.status, 0, done.err)
        for words in ("float32", "tuning 96, hold-out 120", "4 routes", "2.5 %", "10 min"):
            self.assertIn(words, done.out)
        self.assertFalse((project.folder / "run").exists())
        self.assertEqual(project.openings(), 0)

    def test_a_dry_run_says_what_cannot_be_decided(self):
        project = self.project(script(SPEED), holdout=20)
        done = project.fiel("tune", project.contract, "--dry-run")
        self.assertEqual(done.status, 0, done.err)
        for word in ("UNDECIDABLE", "73", "20"):
            self.assertIn(word, done.out)

    def test_without_a_folder_each_run_gets_the_next_free_one(self):
        project = self.project(script(SPEED), holdout=20)  # undecided, so that it is quick
        for name in ("contract.run", "contract.run-2"):
            done = project.fiel("tune", "contract.toml")
            self.assertEqual(done.status, 3, done.err)
            self.assertIn(name, done.err)
            self.assertTrue((project.folder / name / "run.db").exists())

    def test_the_contract_is_frozen_in_the_run_folder(self):
        run = self.project(script(SPEED), holdout=20).tune()
        self.assertEqual((run.folder / "contract.toml").read_bytes(), run.project.contract.read_bytes())

    def test_the_same_seed_decides_the_same(self):
        def decided(name, seed):
            shown = self.project(script(SPEED, PRECISION, faults=[ROUGH]), name).tune("--seed", seed).show()
            return [(c["id"], c["route"], c["status"], c["reason"], c["race_ratios"]) for c in shown["candidates"]], \
                shown["nominees"], shown["speedup"]
        self.assertEqual(decided("first", 7), decided("second", 7))
        self.assertNotEqual(decided("third", 7)[2], decided("fourth", 8)[2])

    def test_routes_restrict_the_space(self):
        speed = knob("SPEED", "plain", "fast", "slow", latency={"fast": 1 / 1.5, "slow": 2})
        run = self.project(script(speed, PRECISION, ISA)).tune("--routes", "SPEED=[plain|fast]")
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual([c["route"] for c in run.show()["candidates"]], ["engine=fake", "engine=fake SPEED=fast"])

    def test_at_most_so_many_candidates_are_built(self):
        names = knob("NAME", *"abcdefgh")
        run = self.project(script(names)).tune("--candidates", 3)
        self.assertEqual(run.show()["budget"]["stop_reason"], "candidates")
        self.assertEqual(len(run.show()["candidates"]), 1 + 3)  # the default is there before the search

    def test_every_strategy_finds_it(self):
        names = knob("NAME", "a", "b")
        for strategy in ("auto", "full", "fast", "mixed", "random"):
            with self.subTest(strategy):
                run = self.project(script(SPEED, names), strategy).tune("--strategy", strategy)
                self.assertIn("SPEED=fast", run.show()["winner"]["route"], str(run))

    def test_a_model_alone_is_told_how_to_make_samples(self):
        project = self.project(script(SPEED))
        done = project.fiel("tune", "model.onnx")
        self.assertEqual(done.status, 2)
        self.assertIn("--data", done.err)
        self.assertIn("np.savez", done.err)

    def test_environment_knobs_are_shown_as_such(self):
        run = self.project(script(ISA)).tune()
        slow = run.candidate("FAKE_ISA=avx2")
        self.assertEqual((slow["environment"], slow["settings"]), ({"FAKE_ISA": "avx2"}, {}))

    def test_show_knows_what_each_candidate_really_ran(self):
        precision = knob("PRECISION", "f32", "bf16", precisions={"bf16": {"bf16": 12}}, latency={"bf16": 0.5})
        run = self.project(script(precision, precisions={"f32": 12})).tune()
        winner = run.candidate("PRECISION=bf16")
        self.assertEqual(winner["effective"]["precisions"], {"bf16": 12})
        self.assertEqual(winner["effective"]["settings"], {"PRECISION": "bf16"})
        self.assertEqual([(p["name"], p["dtype"]) for p in winner["inputs"]], [("x", "float32")])
        self.assertEqual([p["name"] for p in winner["outputs"]], ["logits", "y"])
        self.assertRegex(run.done.out, "bf16")

    def test_the_line_that_reproduces_a_candidate_does(self):
        run = self.project(script(SPEED, PRECISION, faults=[ROUGH])).tune("--strategy", "fast")
        for settings, status in (("SPEED=fast", 0), ("PRECISION=bf16", 8)):
            with self.subTest(settings):
                line = run.candidate(settings)["reproduce"]
                done = subprocess.run(["sh", "-c", line.replace("fiel ", f"{run.project.command()[0]} ", 1)],
                                      env=run.project.environment(), capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, status, line + "\n" + done.stderr)

    def test_break_even_is_counted(self):
        run = self.project(script(SPEED), edits=[('wall = "10 min"', 'wall = "10 min"\nexecutions = 100_000_000')]).tune()
        even = run.show()["break_even"]
        # A third of 10 ms; from the lower end of the interval, so a little less.
        self.assertAlmostEqual(even["saved_seconds_per_execution"], 0.01 / 3, delta=0.0002)
        self.assertAlmostEqual(even["executions"] * even["saved_seconds_per_execution"],
                               run.show()["budget"]["spent_seconds"], delta=0.1)
        self.assertTrue(even["pays"])

    def test_a_closed_pipe_and_a_full_disk_are_no_success(self):
        run = self.project(script(SPEED), holdout=20).tune()
        with open("/dev/full", "w") as full:
            done = subprocess.run(run.project.command("show", run.folder), stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=run.project.environment(), timeout=60)
        self.assertEqual(done.returncode, 5, done.stderr)


class Single(Case):
    def setUp(self):
        super().setUp()
        self.made = self.project(script(SPEED, PRECISION, faults=[ROUGH]))

    def fiel(self, command, route, *words):
        return self.made.fiel(command, self.made.contract, "--route", route, *words)

    def test_check_says_whether_a_route_is_accurate(self):
        good = self.fiel("check", "engine=fake SPEED=fast")
        self.assertEqual(good.status, 0, good.err)
        self.assertIn("admissible", good.out)
        bad = self.fiel("check", "engine=fake PRECISION=bf16", "--json")
        self.assertEqual(bad.status, 8, bad.err)
        self.assertEqual(json.loads(bad.out)["status"], "wrong")

    def test_bench_says_whether_a_route_is_faster(self):
        fast = self.fiel("bench", "engine=fake SPEED=fast", "--json")
        self.assertEqual(fast.status, 0, fast.err)
        self.assertAlmostEqual(json.loads(fast.out)["ratio"], 1.5, delta=0.03)
        self.assertIs(json.loads(fast.out)["faster"], True)

    def test_bench_says_its_figure_with_interval_sessions_and_baseline(self):
        fast = self.fiel("bench", "engine=fake SPEED=fast")
        self.assertRegex(fast.out, r"1\.\d+ times as fast as the baseline \(engine=fake; median of \d+ sessions of fresh process pairs, "
                                   r"\d\d\.\d % interval \[1\.\d+, 1\.\d+\]\)")
        few = self.fiel("bench", "engine=fake SPEED=fast", "--sessions", 3)
        self.assertEqual(few.status, 9)
        self.assertIn("3 sessions could prove nothing even if all were won, it takes 7", few.out)

    def test_bench_of_a_slower_route_exits_9(self):
        self.made.edit('engines = ["fake"]', 'engines = ["fake"]\nbaseline = "engine=fake SPEED=fast"')
        slow = self.fiel("bench", "engine=fake SPEED=plain")
        self.assertEqual(slow.status, 9, slow.err)
        self.assertIn("not proven faster", slow.out)

    def test_bench_does_not_time_what_is_wrong(self):
        bad = self.fiel("bench", "engine=fake PRECISION=bf16")
        self.assertEqual(bad.status, 8, bad.err)
        self.assertIn("not timed", bad.out)

    def test_a_hold_out_that_nobody_could_read_is_nothing_to_them(self):
        for file in (self.made.folder / "data/holdout").iterdir():
            file.write_bytes(b"not to be read")
        for command in ("check", "bench"):
            with self.subTest(command):
                done = self.fiel(command, "engine=fake SPEED=fast")
                self.assertEqual(done.status, 0, done.err)
        self.assertEqual(self.made.fiel("tune", self.made.contract, "--dry-run").status, 2)  # so it would have been seen

    def test_a_route_that_means_nothing_is_refused(self):
        for route, word in (("engine=fake SPEED=fats", "'fast'"), ("SPED=fast", "SPED"), ("engine=openvino", "openvino")):
            with self.subTest(route):
                done = self.fiel("check", route)
                self.assertEqual(done.status, 2, done.err)
                self.assertIn(word, done.err)
                self.assertEqual(done.out, "")

    def test_nothing_is_left_behind(self):
        before = set(os.listdir("/tmp"))
        self.fiel("check", "engine=fake SPEED=fast")
        left = [name for name in set(os.listdir("/tmp")) - before if name.startswith("fiel-") and "e2e" not in name]
        self.assertEqual(left, [])
        self.assert_nothing_left(self.made)


class OtherLanguage(Case):
    def test_a_worker_in_python_is_an_engine_like_any_other(self):
        worker = Path(__file__).resolve().parent.parent / "python_worker.py"
        project = self.project(script(), edits=[
            ('engines = ["fake"]', 'engines = ["doubler"]'), ("[engines.fake]", "[engines.doubler]"),
            (f'"{BIN}/fiel-worker-fake"', f'"{sys.executable}"'), ('["fake.json"]', f'["{worker}"]'),
            ('"top1"', '"agreement"'), ('output    = "logits"', 'output    = "y"')])
        make_doubler(project.folder / "model.onnx")
        done = project.fiel("check", project.contract, "--route", "engine=doubler THREADS=2", "--json")
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(json.loads(done.out)["gate"]["samples_seen"], 96)
        self.assertEqual(json.loads(done.out)["effective"]["ignored"], ["THREADS"])

    def test_a_worker_by_its_name_alone_is_found_on_the_path(self):
        project = self.project(script(SPEED), edits=[(f'"{BIN}/fiel-worker-fake"', '"fiel-worker-fake"')])
        with unittest.mock.patch.dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}"):
            done = project.fiel("routes", project.contract)
        self.assertEqual(done.status, 0, done.err)


class Space(Case):
    def test_routes_lists_knobs_values_defaults_and_the_size(self):
        project = self.project(script(SPEED, PRECISION, ISA))
        text = project.fiel("routes", project.contract)
        self.assertEqual(text.status, 0, text.err)
        self.assertRegex(text.out, r"SPEED +property +plain\* \| fast")
        self.assertIn("8 routes", text.out)
        found = json.loads(project.fiel("routes", project.contract, "--json").out)
        self.assertEqual(found["routes"], 8)
        self.assertEqual([k["name"] for k in found["engines"][0]["knobs"]], ["SPEED", "PRECISION", "FAKE_ISA"])
        self.assertEqual(project.fiel("routes", project.contract, "--engine", "other").status, 2)

    def test_init_writes_a_contract_that_fiel_reads(self):
        project = self.project(script(SPEED))
        project.contract.unlink()
        done = project.fiel("init", "model.onnx", "-o", "contract.toml")
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(project.fiel("init", "model.onnx").out, project.contract.read_text())
        self.assertEqual(project.fiel("init", "model.onnx", "-o", "contract.toml").status, 2, "it overwrote a contract")
        (project.folder / "data/calibration").mkdir(exist_ok=True)
        dry = project.fiel("tune", "contract.toml", "--dry-run")
        self.assertNotRegex(dry.err, r"contract\.toml:\d+: (?!data)", "the proposal itself is refused")

    def test_the_script_of_init_writes_samples_that_fiel_reads(self):
        project = self.project(script(SPEED))
        made = project.fiel("init", "model.onnx", "--script")
        self.assertEqual(made.status, 0, made.err)
        (project.folder / "make.py").write_text(made.out)
        subprocess.run([sys.executable, "make.py", "samples"], cwd=project.folder, check=True, timeout=60)
        self.assertEqual(len(list((project.folder / "samples").glob("*.npz"))), 100)

    def test_help_and_version_need_nothing(self):
        project = self.project(script(SPEED))
        self.assertEqual(project.fiel("--help").status, 0)
        self.assertRegex(project.fiel("--version").out, r"^fiel \d+\.\d+")
        self.assertEqual(project.fiel().status, 2)
        self.assertEqual(project.fiel("tuen").status, 2)


class Doctor(Case):
    def doctor(self, noise, *words):
        engine = script(SPEED, noise=noise, noise_by_process=True, state_folder=str(self.folder / "count"))
        project = self.project(engine)
        return project.fiel("doctor", project.contract, "--json", *words)

    def test_a_quiet_machine_is_trusted_and_told_what_it_could_prove(self):
        done = self.doctor({"sigma": 0.02, "process_sigma": 0.003}, "--time", "2s")
        self.assertEqual(done.status, 0, done.out + done.err)
        found = json.loads(done.out)["a_a"]
        self.assertTrue(found["trusted"])
        self.assertGreaterEqual(found["sessions"], 3)
        self.assertEqual(len(found["session_log_ratios"]), found["sessions"])
        self.assertLess(found["session_deviation"], 0.02)
        self.assertEqual([gain["proof_seconds"] for gain in found["smallest_provable_gain"]], [60, 300, 1200])
        for gain in found["smallest_provable_gain"]:
            self.assertGreater(gain["gain"], 0.01)
            self.assertLess(gain["gain"], 0.05)

    def test_processes_that_differ_widely_are_not_trusted(self):
        done = self.doctor({"sigma": 0.02, "process_sigma": 0.3}, "--time", "2s")
        self.assertEqual(done.status, 3, done.out + done.err)
        found = json.loads(done.out)["a_a"]
        self.assertFalse(found["trusted"])
        self.assertIn("vary by", " ".join(found["distrust"]))

    def test_without_a_model_a_loop_is_timed_for_real(self):
        project = self.project(script())
        done = project.fiel("doctor", "--time", "1s", "--json")
        self.assertIn(done.status, (0, 3), done.out + done.err)  # what this machine is like now is not ours to say
        found = json.loads(done.out)["a_a"]
        self.assertEqual(found["route"], "engine=loop")
        self.assertGreaterEqual(found["sessions"], 3)
        self.assertEqual(found["trusted"], done.status == 0)
        self.assert_nothing_left(project)

    def test_the_machine_alone_is_looked_at_in_a_second(self):
        project = self.project(script())
        done = project.fiel("doctor", "--time", "0s")
        self.assertEqual(done.status, 0, done.err)
        for word in ("cores usable", "clock source", "used by other programs"):
            self.assertIn(word, done.out)
        self.assertNotIn("A/A:", done.out)

    def test_a_baseline_outside_the_contract_is_not_timed(self):
        project = self.project(script(PRECISION, faults=[ROUGH], float32_settings={"PRECISION": "f32"}),
                               edits=[('engines = ["fake"]', 'engines = ["fake"]\nbaseline = "engine=fake PRECISION=bf16"')])
        done = project.fiel("doctor", project.contract, "--time", "1s")
        self.assertEqual(done.status, 8, done.out + done.err)
        self.assertIn("outside the contract", done.out)

    def test_tune_records_what_the_machine_says(self):
        run = self.project(script(SPEED), holdout=20).tune()
        facts = run.events("run")[0]["body"]["machine"]["facts"]
        self.assertIn("load", [fact["key"] for fact in facts])


class Replay(Case):
    def test_a_strategy_is_scored_on_a_recording_without_any_engine(self):
        project = self.project(script(SPEED))
        rows = [f"{a},{b},{c},{1 + a * (3 - b) + 0.1 * c}" for a in range(4) for b in range(4) for c in range(4)]
        (project.folder / "space.csv").write_text("a,b,c,cost\n" + "\n".join(rows) + "\n")
        done = project.fiel("replay", "space.csv", "--strategy", "random", "--repeats", "5", "--json")
        self.assertEqual(done.status, 0, done.err)
        result = json.loads(done.out)
        self.assertEqual((result["configurations"], len(result["scores"])), (64, 5))
        self.assertEqual(result["regrets"][-1]["regret"]["mean"], 0)  # all were tried
        again = project.fiel("replay", "space.csv", "--strategy", "random", "--repeats", "5", "--json")
        self.assertEqual(json.loads(again.out)["scores"], result["scores"])
        self.assertIn("score", project.fiel("replay", "space.csv", "--repeats", "2").out)
        self.assertEqual(len(json.loads(project.fiel("replay", "space.csv", "--dump").out)["records"]), 64)

    def test_what_cannot_be_read_is_named(self):
        project = self.project(script(SPEED))
        (project.folder / "space.csv").write_text("a,cost\n0,1\n1,slow\n")
        done = project.fiel("replay", "space.csv")
        self.assertEqual(done.status, 2)
        self.assertIn("space.csv: line 3: the cost 'slow' is not a number", done.err)


if __name__ == "__main__":
    unittest.main()
