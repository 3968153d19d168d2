"""The hold-out: what only it can show, and what it costs to look."""

import unittest

from harness import Case, SPEED, knob, script

RASH = knob("SPEED", "plain", "fast", "rash", latency={"fast": 1 / 1.5, "rash": 0.5})
TUNING = 96
# Right on all tuning samples, wrong on the last fifth of the hold-out, whose numbers no tuning sample has.
WRONG_ON_NEW_DATA = [{"do": "flip", "samples": {"modulo": 100_000, "is": i}, "when": {"SPEED": "rash"}}
                     for i in range(TUNING, 120)]


class Holdout(Case):
    def test_a_nominee_that_fails_on_new_data_only_is_passed_over(self):
        run = self.project(script(RASH, faults=WRONG_ON_NEW_DATA), tuning=TUNING, holdout=120).tune()
        self.assert_winner(run, "SPEED=fast")
        nominees = run.show()["nominees"]
        self.assertEqual([(n["turn"], n["speed"], n["holdout"]) for n in nominees],
                         [(1, "confirmed", "lost"), (2, "confirmed", "confirmed")])
        rash = run.candidate("SPEED=rash")
        self.assertEqual((rash["status"], rash["kind"]), ("inadmissible", "wrong"))
        self.assertEqual(rash["accuracy"]["tuning"]["status"], "admissible")
        openings = [event["body"] for event in run.events("opening")]
        self.assertEqual([o["opening"] for o in openings], [1, 2])
        self.assertAlmostEqual(openings[0]["alpha"], 0.05 / 2)              # nominee 1: alpha / 2
        self.assertAlmostEqual(openings[1]["alpha"], 0.0076, delta=0.0001)  # opening 2: 6 alpha / (4 pi^2)
        self.assertEqual(run.project.openings(), 2)

    def test_when_all_nominees_fail_on_new_data_the_comparator_ships(self):
        rash = knob("SPEED", "plain", "rash", latency={"rash": 0.5})
        run = self.project(script(rash, faults=WRONG_ON_NEW_DATA), tuning=TUNING, holdout=120).tune()
        self.assert_verdict(run, "not_improved")
        self.assert_comparator_ships(run)
        self.assertRegex(run.show()["reason"], "lost")

    def test_each_run_on_the_same_holdout_has_a_smaller_error_to_spend(self):
        project = self.project(script(SPEED), holdout=120)
        alphas = []
        for number in (1, 2):
            run = project.tune(run=f"run{number}")
            self.assert_winner(run, "SPEED=fast")
            alphas.append(run.events("opening")[0]["body"]["alpha"])
        self.assertAlmostEqual(alphas[0], 0.025)
        self.assertAlmostEqual(alphas[1], 0.0076, delta=0.0001)
        self.assertEqual(project.openings(), 2)

    def test_a_holdout_looked_at_too_often_proves_nothing_any_more(self):
        # 80 samples prove 5 % with zero losses at 2.5 % error (73 needed), not at 0.76 % (112 needed).
        project = self.project(script(SPEED), holdout=80)
        self.assert_winner(project.tune(run="run1"), "SPEED=fast")
        again = project.tune(run="run2")
        self.assert_verdict(again, "undecided")
        for word in ("112", "80", "opened 1 time"):
            self.assertIn(word, " ".join(again.done.out.split()))
        self.assertEqual(again.events("candidate"), [], "the search began all the same")
        self.assertEqual(project.openings(), 1)

    def test_samples_under_other_names_are_the_same_holdout(self):
        project = self.project(script(SPEED), holdout=80)
        self.assert_winner(project.tune(run="run1"), "SPEED=fast")
        labels = project.folder / "data/holdout/labels.csv"
        labels.write_text(labels.read_text().replace("\ns0", "\nrenamed"))
        self.assert_verdict(project.tune(run="run2"), "undecided")

    def test_a_loss_too_near_the_margin_is_undecided(self):
        # 3 of 120 wrong: 2.5 % of 5 % allowed, but more may be wrong in the next 120.
        few = [{"do": "flip", "samples": {"modulo": 100_000, "is": i}, "when": {"SPEED": "fast"}} for i in (97, 103, 110)]
        run = self.project(script(SPEED, faults=few), tuning=TUNING, holdout=120).tune()
        self.assert_verdict(run, "undecided")
        self.assert_comparator_ships(run)
        self.assertEqual(run.show()["nominees"][0]["holdout"], "undecided")
        self.assertRegex(" ".join(run.show()["missing"]), "accuracy")

    def test_check_and_bench_never_open_it(self):
        project = self.project(script(SPEED))
        for command in ("check", "bench"):
            done = project.fiel(command, project.contract, "--route", "engine=fake SPEED=fast")
            self.assertEqual(done.status, 0, done.err)
        self.assertEqual(project.openings(), 0)


if __name__ == "__main__":
    unittest.main()
