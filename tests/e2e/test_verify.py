"""Is a bundle still what was measured? Each way in which it may not be has an exit status of its own."""

import json
import shutil
import unittest

from harness import Case, SPEED, knob, script

ISA = knob("FAKE_ISA", "amx", "avx2", kind="environment", latency={"avx2": 1.2})


class Verify(Case):
    def setUp(self):
        super().setUp()
        self.made = self.project(self.engine())
        self.run_ = self.made.tune("--strategy", "fast")
        self.assert_winner(self.run_, "SPEED=fast")
        self.bundle = self.folder / "elsewhere/bundle"
        self.bundle.parent.mkdir()
        self.assertEqual(self.made.fiel("export", self.run_.folder).status, 0)
        shutil.move(self.run_.folder / "bundle", self.bundle)

    def engine(self, latency_of_fast=1 / 1.5, faults=(), **more):
        return script(knob("SPEED", "plain", "fast", latency={"fast": latency_of_fast}), faults=faults, **more)

    def verify(self, *words, status):
        done = self.made.fiel("verify", self.bundle, *words)
        self.assertEqual(done.status, status, done.out + done.err)
        return done

    def results(self, *words, status):
        document = json.loads(self.verify("--json", *words, status=status).out)
        self.assertEqual(document["exit_status"], status)
        self.assertEqual(document["kind"], "regression check, not a proof")
        return document["checks"], {name: check["result"] for name, check in document["checks"].items()}

    def change(self, name, old, new):
        file = self.bundle / name
        file.chmod(0o644)
        text = file.read_bytes()
        self.assertIn(old, text)
        file.write_bytes(text.replace(old, new))

    def test_all_is_well_in_another_folder_and_the_ledger_is_not_charged(self):
        openings = self.made.openings()
        said = self.verify(status=0)
        self.assertIn("regression check, not a proof", said.out)
        self.assertRegex(said.out, r"now +1\.[45]\d\d times as fast as the baseline \(engine=fake\) \[1\.\d+, 1\.\d+\] "
                                   r"\(93\.0 % interval\), 8 sessions")
        self.assertRegex(said.out, r"hold-out +right +overall +\d\.\d+ .*n = 120")
        checks, results = self.results(status=0)
        self.assertEqual(set(results.values()), {"passed"})
        self.assertEqual(checks["accuracy"]["holdout"]["tasks"][0]["n"], 120)
        self.assertAlmostEqual(checks["speed"]["ratio"], 1.5, delta=0.03)
        self.assertEqual((len(checks["speed"]["session_log_ratios"]), checks["speed"]["sealed"]["over"]), (8, "engine=fake"))
        self.assertEqual(self.made.openings(), openings)
        self.assert_nothing_left(self.made)

    def test_a_byte_of_the_artifact_that_changed_breaks_the_seal_and_is_not_run(self):
        weights = self.bundle / "artifact/weights"
        weights.chmod(0o644)
        weights.write_bytes(b"x" + weights.read_bytes()[1:])
        checks, results = self.results(status=6)
        self.assertEqual(results, {"seal": "failed", "environment": "passed", "accuracy": "not_checked", "speed": "not_checked"})
        self.assertEqual(checks["seal"]["details"], ["changed: artifact/weights"])

    def test_a_changed_readme_breaks_the_seal_but_the_rest_is_told(self):
        self.change("README.md", b"Candidate", b"Candidote")
        _, results = self.results(status=6)
        self.assertEqual(results, {"seal": "failed", "environment": "passed", "accuracy": "passed", "speed": "passed"})

    def test_a_changed_contract_or_list_is_nothing_to_go_by(self):
        for name, old, new in (("contract.toml", b"0.05", b"0.95"), ("bundle.json", b'"fast"', b'"last"')):
            with self.subTest(name):
                before = (self.bundle / name).read_bytes()
                self.change(name, old, new)
                _, results = self.results(status=6)
                self.assertEqual(set(results.values()), {"failed", "not_checked"})
                (self.bundle / name).write_bytes(before)

    def test_another_version_of_the_engine_is_another_environment(self):
        self.made.write_script(self.engine(version="2.0"))
        checks, results = self.results(status=7)
        self.assertEqual(results["environment"], "failed")
        self.assertIn("measured with 1.0, here is 2.0", checks["environment"]["details"][0])
        quick = self.verify("--quick", status=7)
        self.assertIn("here is 2.0", quick.out)

    def test_cpu_features_and_a_missing_engine_are_another_environment(self):
        self.made.write_script(self.engine(faults=[{"do": "answer", "phase": "hello", "merge": {"cpu_features": ["amx_new"]}}]))
        self.assertIn("amx_new", self.verify("--quick", status=7).out)
        (self.made.folder / "fake.json").unlink()
        self.assertIn("does not work here", self.verify(status=7).out)

    def test_an_engine_that_acts_otherwise_than_it_did_is_another_environment(self):
        acts = {"do": "answer", "phase": "load", "when": {"SPEED": "fast"}, "merge": {"effective": {"SPEED": "slow"}}}
        self.made.write_script(self.engine(faults=[acts]))
        checks, _ = self.results(status=7)
        self.assertIn("SPEED was fast in effect, here it is slow", checks["environment"]["details"])

    def test_other_answers_are_inaccurate_and_not_timed(self):
        self.made.write_script(self.engine(faults=[{"do": "flip", "share": 0.3, "when": {"SPEED": "fast"}}]))
        checks, results = self.results(status=8)
        self.assertEqual(results, {"seal": "passed", "environment": "passed", "accuracy": "failed", "speed": "not_checked"})
        self.assertIn("tuning", checks["accuracy"]["message"])

    def test_answers_that_change_only_in_timed_processes_are_inaccurate(self):
        flip = {"do": "flip", "share": 0.5, "when": {"SPEED": "fast"}, "only_timed": True}
        self.made.write_script(self.engine(faults=[flip]))
        checks, results = self.results(status=8)
        self.assertIn("timed process", checks["accuracy"]["message"])
        self.assertNotEqual(results["speed"], "passed")

    def test_an_artifact_that_does_not_run_any_more_is_inaccurate(self):
        self.made.write_script(self.engine(faults=[{"do": "crash", "phase": "infer", "when": {"SPEED": "fast"}}]))
        self.assertIn("signal", self.results(status=8)[0]["accuracy"]["message"])

    def test_what_is_slower_now_is_told_with_both_figures(self):
        self.made.write_script(self.engine(latency_of_fast=1.02))
        checks, results = self.results(status=9)
        self.assertEqual(results, {"seal": "passed", "environment": "passed", "accuracy": "passed", "speed": "failed"})
        self.assertLess(checks["speed"]["ratio"], 1)
        self.assertAlmostEqual(checks["speed"]["sealed"]["estimate"], 1.5, delta=0.03)
        self.assertEqual(checks["speed"]["sessions_won"], 0)

    def test_data_that_is_not_there_is_a_usage_error_that_names_the_option(self):
        data = self.made.folder / "data"
        moved = self.folder / "moved"
        shutil.move(data, moved)
        done = self.verify(status=2)
        self.assertIn(str(data / "tuning"), done.err)
        self.assertRegex(done.out, r"seal +ok")
        self.verify("--data", moved, status=0)

    def test_a_contract_that_was_moved_with_all_it_names_is_found_by_name(self):
        here = self.folder / "new place"
        shutil.move(self.made.folder, here)
        self.made.folder = here
        self.verify(status=7)  # its engine's script is gone
        self.verify("--contract", here / "contract.toml", status=0)

    def test_other_data_is_another_question(self):
        file = self.made.folder / "data/holdout/labels.csv"
        file.write_text(file.read_text().replace("s0003,3", "s0003,4"))
        self.assertIn("hold-out", self.verify(status=2).err)

    def test_without_a_proven_speed_up_there_is_none_to_lose(self):
        done = self.made.fiel("export", self.run_.folder, "--candidate", self.run_.candidate()["id"], "-o", self.bundle)
        self.assertEqual(done.status, 0, done.err)
        checks, results = self.results(status=0)
        self.assertEqual((results["accuracy"], results["speed"]), ("passed", "not_checked"))

    def test_quick_needs_neither_data_nor_model(self):
        shutil.rmtree(self.made.folder / "data")
        (self.made.folder / "model.onnx").unlink()
        _, results = self.results("--quick", status=0)
        self.assertEqual(results, {"seal": "passed", "environment": "passed", "accuracy": "not_checked", "speed": "not_checked"})

    def test_a_folder_that_is_no_bundle_is_refused(self):
        self.assertEqual(self.made.fiel("verify", self.run_.folder).status, 2)
        self.assertIn("verify", self.made.fiel("verify", "-h").out)


if __name__ == "__main__":
    unittest.main()
