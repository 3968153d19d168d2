"""Each of the four verdicts, from a contract to the answer."""

import re
import unittest

from harness import Case, SPEED, knob, script

BF16 = knob("PRECISION", "bf16", "f32", latency={"f32": 1.3})  # as some engines do: the default is fast and imprecise
ROUGH = {"do": "flip", "share": 0.3, "when": {"PRECISION": "bf16"}}


class Improved(Case):
    def setUp(self):
        super().setUp()
        self.run = self.project(script(SPEED)).tune()

    def test_a_knob_that_is_faster_and_accurate_wins(self):
        self.assert_winner(self.run, "SPEED=fast")
        shown = self.run.show()
        self.assertTrue(shown["baseline"]["admissible"])
        self.assertEqual(shown["comparator"]["id"], shown["baseline"]["id"])
        speedup = shown["speedup"]
        self.assertLess(speedup["low"], speedup["high"])
        self.assertLess(1.45, speedup["low"])
        self.assertLess(speedup["high"], 1.55)
        self.assertAlmostEqual(speedup["estimate"], 1.5, delta=0.02)
        self.assertGreater(speedup["confidence"], 0.95)
        self.assertGreaterEqual(speedup["sessions_deciding"], 8)  # E needs 40 for the first nominee's 2.5 %
        self.assertEqual(speedup["sessions_estimating"], 10)
        self.assert_nothing_left(self.run.project, self.run)

    def test_the_winner_is_proven_on_the_holdout_and_every_session_was_fresh(self):
        winner = self.run.candidate("SPEED=fast")
        self.assertEqual(winner["status"], "admissible")
        self.assertEqual(winner["accuracy"]["tuning"]["samples_seen"], 96)
        self.assertEqual(winner["accuracy"]["holdout"]["samples_seen"], 120)
        self.assertEqual(self.run.project.openings(), 1)
        deciding = self.run.events("confirm")
        for event in deciding:
            self.assertAlmostEqual(event["body"]["alpha"], 0.05 / 2)
        for event in deciding + self.run.events("estimate"):
            probes = [c["faith"] for c in event["body"]["contenders"]]
            self.assertTrue(all(probes), f"{event['key']} has timings of a process that was not probed")

    def test_the_table_says_what_the_document_says(self):
        shown = self.run.show()
        text = self.run.done.out
        self.assertIn(f"improved: #{shown['winner']['id']}", text)
        for number in ("estimate", "low", "high"):
            self.assertIn(f"{shown['speedup'][number]:.2f}", text)
        self.assertIn("SPEED=fast", text)
        self.assertEqual(self.run.project.fiel("show", self.run.folder).out, text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)


class NotImproved(Case):
    def test_when_no_knob_helps_the_comparator_ships(self):
        slower = knob("SPEED", "plain", "slow", "hardly_faster", latency={"slow": 1.2, "hardly_faster": 0.995})
        run = self.project(script(slower)).tune()
        self.assert_verdict(run, "not_improved")
        self.assert_comparator_ships(run)
        self.assertEqual(run.show()["comparator"]["route"], "engine=fake")
        self.assertIn("not improved", run.done.out)
        self.assertEqual(run.project.openings(), 0, "nobody had a reason to open the hold-out")

    def test_names_without_effect_never_win_however_much_noise_there_is(self):
        names = knob("NAME", "a", "b", "c", "d", "e")
        noise = {"sigma": 0.1, "process_sigma": 0.02, "spike_share": 0.02, "spike_factor": 3}
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                run = self.project(script(names, noise=noise, seed=seed), f"seed{seed}").tune("--seed", seed)
                self.assertIn(run.status, (0, 3), str(run))
                self.assertIn(run.show()["verdict"], ("not_improved", "undecided"))
                self.assert_comparator_ships(run)


class Undecided(Case):
    def test_a_holdout_that_could_prove_nothing_is_said_before_the_search(self):
        run = self.project(script(SPEED), holdout=20).tune()
        self.assert_verdict(run, "undecided")
        for word in ("73", "20", "right", "this_set"):  # z(0.975)^2 0.95 / 0.05 = 72.99
            self.assertIn(word, run.done.out)
        self.assertEqual([e["type"] for e in run.events()], ["run", "decidable", "verdict"])
        self.assertEqual(run.project.openings(), 0)

    def test_a_slice_that_could_prove_nothing_is_named(self):
        hard = "[accuracy.task.slices]\nhard = { max_drop = 0.05 }\n\n[budget]"
        run = self.project(script(SPEED), slice_of=lambda i: "hard" if i % 4 == 1 else "clean",
                           edits=[("[budget]", hard)]).tune()
        self.assert_verdict(run, "undecided")
        words = " ".join(run.done.out.split())
        for word in ("hard", "73", "30"):
            self.assertIn(word, words)

    def test_a_claim_about_this_set_decides_and_says_what_it_is_worth(self):
        run = self.project(script(SPEED), holdout=20, edits=[("[accuracy]\n", '[accuracy]\nclaim = "this_set"\n')]).tune()
        self.assert_winner(run, "SPEED=fast")
        words = " ".join(run.done.out.split())
        self.assertRegex(words, r"these 20 hold-out samples.*this_set")
        self.assertNotIn("proven on", words)

    def test_a_budget_that_cannot_pay_a_proof_is_said(self):
        run = self.project(script(SPEED)).tune("--budget", "100 ms")
        self.assert_verdict(run, "undecided")
        self.assertRegex(" ".join(run.done.out.split()), "a budget of at least")


class WithoutTheBaseline(Case):
    def test_an_inadmissible_baseline_is_flagged_and_another_comparator_is_beaten(self):
        run = self.project(script(SPEED, BF16, faults=[ROUGH], float32_settings={"PRECISION": "f32"})).tune()
        self.assert_winner(run, "PRECISION=f32", "SPEED=fast")
        shown = run.show()
        self.assertFalse(shown["baseline"]["admissible"])
        self.assertEqual(shown["baseline"]["route"], "engine=fake")
        self.assertEqual(shown["comparator"]["route"], "engine=fake PRECISION=f32")
        self.assertAlmostEqual(shown["speedup"]["estimate"], 1.5, delta=0.03)
        self.assertRegex(" ".join(run.done.out.split()), r"warning: the baseline .* does not meet the contract")
        self.assertEqual(run.candidate("SPEED=fast")["kind"], "wrong")

    def test_when_nothing_meets_the_contract_the_nearest_misses_are_listed(self):
        # A floor of its own that even float32 misses: a third of the labels say something else than the engine.
        project = self.project(script(SPEED, BF16, faults=[ROUGH], float32_settings={"PRECISION": "f32"}),
                               edits=[("max_drop  = 0.05", "max_drop  = 0.05\nmin_score = 0.9")])
        for name in ("tuning", "holdout"):
            labels = project.folder / "data" / name / "labels.csv"
            labels.write_text(re.sub(r"^(s\d*[147]),(\d),", lambda m: f"{m[1]},{(int(m[2]) + 1) % 10},", labels.read_text(),
                                     flags=re.M))
        run = project.tune()
        self.assert_verdict(run, "infeasible")
        shown = run.show()
        self.assertIsNone(shown["ships"])
        self.assertIsNone(shown["winner"])
        misses = shown["nearest_misses"]
        self.assertEqual(misses[0]["route"], "engine=fake PRECISION=f32")
        for miss in misses:
            self.assertLess(miss["margin_left"], 0)
            self.assertTrue(miss["reason"])
        self.assertEqual(misses, sorted(misses, key=lambda m: -m["margin_left"]))
        self.assertIn(misses[0]["route"], " ".join(run.done.out.split()))

    def test_labels_that_have_nothing_to_do_with_the_answers_are_infeasible(self):
        project = self.project(script(SPEED), edits=[("max_drop  = 0.05", "max_drop  = 0.05\nmin_score = 0.9")])
        for name in ("tuning", "holdout"):
            labels = project.folder / "data" / name / "labels.csv"
            labels.write_text(re.sub(r",(\d),", lambda m: f",{(int(m[1]) + 1) % 10},", labels.read_text()))
        self.assert_verdict(project.tune(), "infeasible")


if __name__ == "__main__":
    unittest.main()
