"""Candidates that are fast and broken, each in its own way, beside one that is fast and right: which one wins?

All broken ones are twice as fast, the right one half as much again. Those that can be broken in one run share it, one value
of the knob DEFECT each.
"""

import unittest

from harness import Case, SPEED, knob, script

MIB = 1 << 20
FAST = 0.5

WRONG_OUTPUTS = {
    "wrong_classes": ({"do": "flip"}, "wrong"),
    "some_wrong_classes": ({"do": "flip", "share": 0.25}, "wrong"),
    "nan_everywhere": ({"do": "non_finite", "elements": "all"}, "non_finite"),
    "one_nan_in_one_sample": ({"do": "non_finite", "output": "y", "samples": {"modulo": 96, "is": 77}}, "non_finite"),
    "infinity": ({"do": "non_finite", "value": "-inf", "output": "logits"}, "non_finite"),
    "zeros": ({"do": "zeros"}, "wrong"),
    "missing_output": ({"do": "drop_output", "output": "y"}, "wrong"),
    "extra_output": ({"do": "extra_output"}, "wrong"),
    "wrong_shape": ({"do": "shape", "output": "y"}, "wrong"),
    "wrong_dtype": ({"do": "dtype", "dtype": "float64", "output": "y"}, "wrong"),
    "swapped_outputs": ({"do": "swap"}, "wrong"),
    "shifted_samples": ({"do": "shift"}, "wrong"),
}

# Right when they are judged.
WRONG_WHEN_TIMED = {
    "other_classes_when_timed": ({"do": "flip", "only_timed": True}, "unstable"),
    "nan_when_timed": ({"do": "non_finite", "only_timed": True}, "non_finite"),
    "missing_output_when_timed": ({"do": "drop_output", "only_timed": True}, "wrong"),
    "other_classes_in_later_processes": ({"do": "flip", "processes": [3, 1000]}, "unstable or wrong"),
    "crash_in_the_race": ({"do": "crash", "phase": "measure", "processes": [3, 1000]}, "crash"),
    "crash_in_the_proof": ({"do": "crash", "phase": "load", "processes": [6, 1000]}, "crash"),
}

# Right when each sample is asked once, in the order of the judgement.
FORGETS = {
    "another_answer_when_asked_again": ({"do": "flip", "asked_again": True, "phase": "infer"}, "unstable"),
    "another_answer_in_another_place": ({"do": "flip", "other_place": True, "phase": "infer"}, "unstable"),
}

DIES = {
    "crash_in_build": ({"do": "crash", "phase": "build"}, "crash"),
    "crash_in_load": ({"do": "crash", "phase": "load", "signal": 6}, "crash"),
    "crash_in_infer": ({"do": "crash", "phase": "infer"}, "crash"),
    "crash_in_measure": ({"do": "crash", "phase": "measure"}, "crash"),
    "exit_0_without_bye": ({"do": "exit", "phase": "infer"}, "crash"),
    "killed": ({"do": "crash", "phase": "build", "signal": 9}, "crash"),
    "closes_its_output": ({"do": "close_output", "phase": "build"}, "crash"),
    "does_not_build": ({"do": "error", "phase": "build", "reason": "build_error", "message": "no kernel"}, "build_error"),
    "does_not_take_it": ({"do": "error", "phase": "build", "reason": "unsupported"}, "unsupported"),
    "says_out_of_memory": ({"do": "error", "phase": "infer", "reason": "out_of_memory"}, "out_of_memory"),
    "leaks_a_little": ({"do": "leak", "phase": "load", "bytes": 120 * MIB}, "over_limit"),
    "leaks_without_end": ({"do": "leak", "phase": "infer", "bytes": 2048 * MIB}, "out_of_memory"),
}

LIES = {
    "garbage": ({"do": "garbage", "phase": "infer"}, "mistrusted"),
    "garbage_after_an_answer": ({"do": "garbage", "phase": "load", "after_answer": True}, "mistrusted"),
    "invalid_utf8": ({"do": "invalid_utf8", "phase": "build"}, "mistrusted"),
    "flood": ({"do": "flood", "phase": "build"}, "mistrusted"),
    "endless_line": ({"do": "long_line", "phase": "build"}, "mistrusted"),
    "wrong_id": ({"do": "wrong_id", "phase": "infer"}, "mistrusted"),
    "unknown_type": ({"do": "unknown_type", "phase": "infer"}, "mistrusted"),
    "answers_twice": ({"do": "twice", "phase": "infer"}, "mistrusted"),
    "half_an_answer": ({"do": "half_line", "phase": "infer", "status": 0}, "crash"),
    "negative_count": ({"do": "answer", "phase": "measure", "merge": {"count": -1}}, "mistrusted"),
    "no_time_at_all": ({"do": "answer", "phase": "measure", "merge": {"seconds": 0}}, "mistrusted"),
    "negative_build_time": ({"do": "answer", "phase": "build", "merge": {"build_seconds": -1}}, "mistrusted"),
    "nan_latency": ({"do": "latencies", "phase": "measure", "values": "nan"}, "mistrusted"),
    "negative_latency": ({"do": "latencies", "phase": "measure", "values": "negative"}, "mistrusted"),
    "no_latencies": ({"do": "latencies", "phase": "measure", "values": "missing"}, "mistrusted"),
    "fewer_latencies": ({"do": "latencies", "phase": "measure", "values": "short"}, "mistrusted"),
    "latencies_elsewhere": ({"do": "latencies", "phase": "measure", "values": "link"}, "mistrusted"),
    "missing_sample": ({"do": "missing_sample", "samples": {"modulo": 96, "is": 3}}, "mistrusted"),
    "extra_sample": ({"do": "extra_sample", "samples": {"modulo": 96, "is": 3}}, "mistrusted"),
    "missing_file": ({"do": "missing_file"}, "mistrusted"),
    "output_outside_its_folder": ({"do": "bad_name"}, "mistrusted"),
    "output_by_a_link": ({"do": "link_file"}, "mistrusted"),
    "cut_output": ({"do": "cut_file"}, "mistrusted"),
    "link_in_its_artifact": ({"do": "link_file", "phase": "build"}, "mistrusted"),
    "results_without_an_end": ({"do": "answer", "phase": "load", "merge": {"outputs": "x" * 1000}}, "mistrusted"),
    "a_name_with_a_path": ({"do": "answer", "phase": "load", "merge": {"outputs": [
        {"name": "../../../logits", "dtype": "float32", "shape": [1]}]}}, "mistrusted or wrong"),
    "runs_another_graph_than_it_built": ({"do": "answer", "phase": "load", "merge": {"graph_digest": "0"}}, "mistrusted"),
    "runs_elsewhere": ({"do": "answer", "phase": "load", "merge": {"placement": {"CPU": 9, "GPU": 3}}}, "fell_back"),
}


class Faults(Case):
    def tune_beside(self, defects, *, kind="property", name="project", extra="", **more):
        """Runs all of them beside the good one."""
        broken = knob("DEFECT", "none", *defects, latency={name: FAST for name in defects}, kind=kind)
        faults = [{**fault, "when": {"DEFECT": name}} for name, (fault, _) in defects.items()]
        project = self.project(script(SPEED, broken, faults=faults, state_folder=str(self.folder / "processes"), **more),
                               name, extra=extra)
        return project.tune("--strategy", "fast")

    def check_all(self, run, defects):
        self.assert_winner(run, "SPEED=fast")
        for name, (_, kind) in defects.items():
            with self.subTest(name):
                candidate = run.candidate(f"DEFECT={name}")
                self.assertIn(candidate["kind"], kind.split(" or "), candidate["reason"])
                self.assertIn(candidate["status"], ("failed", "inadmissible"))
                self.assertTrue(candidate["reason"], "no reason is given")
        self.assert_nothing_left(run.project, run)

    def test_wrong_outputs_never_win(self):
        self.check_all(self.tune_beside(WRONG_OUTPUTS), WRONG_OUTPUTS)

    def test_right_when_judged_and_wrong_when_timed_never_wins(self):
        self.check_all(self.tune_beside(WRONG_WHEN_TIMED), WRONG_WHEN_TIMED)

    def test_an_answer_that_depends_on_what_was_asked_before_never_wins(self):
        run = self.tune_beside(FORGETS)
        self.check_all(run, FORGETS)
        self.assertIn("asked again", run.candidate("DEFECT=another_answer_when_asked_again")["reason"])
        self.assertIn("in another place", run.candidate("DEFECT=another_answer_in_another_place")["reason"])

    def test_a_worker_that_dies_costs_its_candidate_only(self):
        run = self.tune_beside(DIES, extra='\n[limits]\npeak_memory = "64 MiB"\n')
        self.check_all(run, DIES)
        failure = run.candidate("DEFECT=crash_in_load")["failure"]
        self.assertEqual((failure["kind"], failure["phase"], failure["signal"]), ("crash", "load", 6))
        self.assertIn("no kernel", run.candidate("DEFECT=does_not_build")["reason"])

    def test_a_worker_that_breaks_the_protocol_or_lies_is_not_believed(self):
        self.check_all(self.tune_beside(LIES), LIES)

    def test_a_worker_that_dies_before_it_speaks_costs_its_candidate_only(self):
        # Only what is in the environment is known so early.
        defects = {"crash_at_start": ({"do": "crash", "phase": "start"}, "crash"),
                   "exit_at_start": ({"do": "exit", "phase": "start", "status": 3}, "crash"),
                   "talks_at_start": ({"do": "garbage", "phase": "start", "text": "OpenVINO says hello"}, "mistrusted")}
        run = self.tune_beside(defects, kind="environment")
        self.check_all(run, defects)

    def test_what_a_worker_said_last_is_kept(self):
        defects = {"last_words": ({"do": "print", "phase": "build", "text": "cannot allocate tile registers\n"}, "crash")}
        broken = knob("DEFECT", "none", "last_words")
        faults = [{**defects["last_words"][0], "when": {"DEFECT": "last_words"}},
                  {"do": "crash", "phase": "build", "when": {"DEFECT": "last_words"}}]
        run = self.project(script(SPEED, broken, faults=faults)).tune("--strategy", "fast")
        self.check_all(run, defects)
        self.assertIn("cannot allocate tile registers", run.candidate("DEFECT=last_words")["log_tail"])

    def test_a_build_that_hangs_and_holds_on_ends_at_its_deadline(self):
        hang = {"do": "hang", "phase": "build", "ignore_sigterm": True, "grandchild": True, "escape": True}
        defects = {"hang": (hang, "timeout")}
        run = self.tune_beside(defects, extra='\n[limits]\nbuild_time = "1 s"\n')
        self.check_all(run, defects)
        self.assertLess(run.done.seconds, 60)

    def test_limits_reject_however_fast(self):
        build = knob("BUILD", "quick", "slow", latency={"slow": FAST}, build={"slow": 100})
        run = self.project(script(SPEED, build, build_seconds=0.1),
                           extra='\n[limits]\nbuild_time = "1 s"\n').tune("--strategy", "fast")
        self.assert_winner(run, "SPEED=fast")
        slow = run.candidate("BUILD=slow")
        self.assertEqual((slow["status"], slow["kind"]), ("inadmissible", "over_limit"))
        self.assertRegex(slow["reason"], r"10\.0 s.*1\.00 s")

    def test_a_limit_on_the_tail_binds_the_baseline_too(self):
        speed = knob("SPEED", "plain", "medium", "fast", latency={"medium": 0.95, "fast": 1 / 1.5})
        run = self.project(script(speed), extra='\n[limits]\nlatency_p99 = "9 ms"\n').tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertFalse(run.show()["baseline"]["admissible"])
        for settings in ([], ["SPEED=medium"]):
            candidate = run.candidate(*settings)
            self.assertEqual(candidate["kind"], "over_limit", candidate["route"])
            self.assertIn("p99", candidate["reason"])

    def test_a_limit_on_memory_binds_the_baseline_too(self):
        precision = knob("PRECISION", "bf16", "f32")
        leak = {"do": "leak", "phase": "load", "bytes": 120 * MIB, "when": {"PRECISION": "bf16"}}
        run = self.project(script(SPEED, precision, faults=[leak], float32_settings={"PRECISION": "f32"}),
                           extra='\n[limits]\npeak_memory = "64 MiB"\n').tune()
        self.assert_winner(run, "PRECISION=f32", "SPEED=fast")
        self.assertFalse(run.show()["baseline"]["admissible"])
        self.assertEqual(run.candidate()["kind"], "over_limit")

    def test_the_reference_judges_even_where_it_is_above_a_limit(self):
        precision = knob("PRECISION", "bf16", "f32", build={"f32": 100})
        run = self.project(script(SPEED, precision, build_seconds=0.1, float32_settings={"PRECISION": "f32"}),
                           extra='\n[limits]\nbuild_time = "1 s"\n').tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.candidate("PRECISION=f32")["kind"], "over_limit")

    def test_when_all_are_above_a_limit_nothing_ships(self):
        run = self.project(script(SPEED, artifact_bytes=4 * MIB), extra='\n[limits]\nartifact_size = "1 MiB"\n').tune()
        self.assert_verdict(run, "infeasible")
        self.assertIsNone(run.show()["ships"])
        self.assertEqual(run.candidate("SPEED=fast")["kind"], "over_limit")

    def test_wrong_in_one_slice_only_never_wins(self):
        # One sample in 24: 4 % of all, but 17 % of the hard ones.
        wrong = {"do": "flip", "samples": {"modulo": 24, "is": 1}, "when": {"DEFECT": "hard"}}
        hard = "[accuracy.task.slices]\nhard = { max_drop = 0.1 }\n\n[budget]"
        run = self.project(script(SPEED, knob("DEFECT", "none", "hard", latency={"hard": FAST}), faults=[wrong]),
                           holdout=200, slice_of=lambda i: "hard" if i % 4 == 1 else "clean",
                           edits=[("[budget]", hard)]).tune("--strategy", "fast")
        self.assert_winner(run, "SPEED=fast")
        candidate = run.candidate("DEFECT=hard")
        self.assertEqual(candidate["kind"], "wrong_slice")
        self.assertIn("hard", candidate["reason"])

    def test_wrong_only_in_batches_never_wins_offline(self):
        batch = knob("batch", "1", "2", kind="batch")
        wrong = {"do": "flip", "batch": 2}
        project = self.project(script(SPEED, batch, faults=[wrong], batch_cost=0.2),
                               edits=[('scenario  = "single_stream"', 'scenario  = "offline"')])
        run = project.tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.candidate("batch=2")["kind"], "wrong")

    def test_right_batches_win_offline(self):
        batch = knob("batch", "1", "2", kind="batch")
        run = self.project(script(batch, batch_cost=0.2), edits=[('scenario  = "single_stream"', 'scenario  = "offline"')]).tune()
        self.assert_winner(run, "batch=2")
        self.assertAlmostEqual(run.show()["speedup"]["estimate"], 2 / 1.2, delta=0.05)

    def test_two_names_of_one_thing_are_built_and_timed_once(self):
        pages = knob("PAGES", "small", "huge", effective={"huge": "small"})
        run = self.project(script(SPEED, pages)).tune("--strategy", "mixed")  # which asks for the shorter names first
        self.assert_winner(run, "SPEED=fast")
        twin = run.candidate("PAGES=huge")
        self.assertEqual((twin["status"], twin["same_as"]), ("duplicate", 1))

    def test_outputs_that_are_wrong_by_less_than_the_margin_may_win(self):
        # Else a gate that rejects everything would pass all the tests above.
        slightly = {"do": "flip", "samples": {"modulo": 64, "is": 5}, "when": {"DEFECT": "slight"}}
        run = self.project(script(knob("DEFECT", "none", "slight", latency={"slight": FAST}), faults=[slightly]),
                           holdout=400).tune()
        self.assert_winner(run, "DEFECT=slight")


if __name__ == "__main__":
    unittest.main()
