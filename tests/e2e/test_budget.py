"""What a run may spend, and when it ends by itself."""

import time
import unittest

from harness import Case, Run, SPEED, knob, script

WALL = 'wall = "10 min"'


def budget(*lines):
    return [(WALL, "\n".join([WALL, *lines]))]


class Stops(Case):
    def test_a_plan_too_small_to_pay_for_a_trial_ends_the_search_before_it_begins(self):
        run = self.project(script(SPEED), edits=budget("executions = 1")).tune()
        shown = run.show()
        self.assertEqual(shown["budget"]["stop_reason"], "break_even", str(run))
        self.assertEqual([c["route"] for c in shown["candidates"]], ["engine=fake"])
        self.assertIn("save what trying it costs", " ".join(run.done.out.split()))

    def test_a_large_plan_goes_through_to_a_winner_and_says_when_it_pays(self):
        run = self.project(script(SPEED), edits=budget("executions = 1_000_000_000")).tune()
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.show()["budget"]["stop_reason"], "exhausted")
        self.assertTrue(run.show()["break_even"]["pays"])

    def test_without_a_plan_a_plateau_ends_the_search_and_resume_repeats_that(self):
        names = [knob(f"K{i}", "a", "b", "c", latency={"c": 1.05}) for i in range(4)]
        project = self.project(script(SPEED, *names, noise={"sigma": 0.001, "process_sigma": 0.0001}))
        run = project.tune()
        self.assert_verdict(run, "improved")
        shown = run.show()
        self.assertEqual(shown["budget"]["stop_reason"], "plateau", str(run))
        self.assertLess(len(shown["candidates"]), 100)
        self.assertIsNone(shown["break_even"]["planned_executions"])
        self.assertGreater(shown["break_even"]["executions"], 0)
        self.assertIsNone(shown["break_even"]["pays"])


class Limits(Case):
    def test_disk_and_a_phase_of_its_own_end_the_search_and_say_so(self):
        names = knob("NAME", *[f"n{i}" for i in range(300)])
        for lines, reason in ((('disk = "2 kB"',), "disk"), (("[budget.phases]", 'search = "1 s"'), "phase_limit")):
            with self.subTest(reason):
                run = self.project(script(names), reason, edits=budget(*lines)).tune("--strategy", "full")
                self.assertEqual(run.show()["budget"]["stop_reason"], reason, str(run))
                self.assertIn(run.status, (0, 3))

    def test_what_can_pay_no_proof_is_refused_with_what_it_would_take(self):
        for number, (lines, words) in enumerate(((('disk = "300 B"',), "[budget] disk of at least"),
                                                 (("[budget.phases]", 'proof = "10 ms"'), "[budget.phases] proof of at least"))):
            with self.subTest(words):
                run = self.project(script(SPEED), f"project{number}", edits=budget(*lines)).tune()
                self.assert_verdict(run, "undecided")
                self.assertIn(words, " ".join(run.show()["missing"]), str(run))
                self.assertEqual(len(run.show()["candidates"]), 1, "something was built that could not be paid")

    def test_a_build_that_takes_too_long_ends_with_the_search_and_the_proof_is_made_in_time(self):
        slow = {"do": "slow", "seconds": 500, "phase": "build", "when": {"NAME": "slow"}}
        engine = script(SPEED, knob("NAME", "plain", "slow"), faults=[slow])
        run = self.project(engine).tune("--budget", "7 s", "--strategy", "fast")
        self.assert_winner(run, "SPEED=fast")
        self.assertLess(run.show()["budget"]["spent_seconds"], 7)
        cut = run.candidate("NAME=slow")
        self.assertEqual(cut["kind"], "timeout", str(run))
        self.assertIn("what the search had left of its time", cut["reason"])


class Time(Case):
    def test_every_second_is_booked(self):
        project = self.project(script(SPEED))
        started = time.monotonic()
        run = project.tune()
        wall = time.monotonic() - started
        spent = run.show()["budget"]
        self.assertAlmostEqual(sum(spent["seconds_by_phase"].values()), spent["spent_seconds"], places=6)
        self.assertNotIn("other", spent["seconds_by_phase"])
        self.assertLess(spent["spent_seconds"], wall)
        self.assertLess(wall - spent["spent_seconds"], 2, "seconds that no phase has")
        self.assertGreater(spent["seconds_by_phase"]["set_up"], 0.2, "the machine was looked at for as long, before there was a journal")


class LastWinner(Case):
    """The winner of a run is tried first by the next one, where it fits."""

    def first_tried(self, run):
        return next(e["body"]["route"]["text"] for e in run.events("candidate") if not e["body"]["roles"])

    def test_where_the_last_winner_fits_it_is_tried_first_and_else_said_why_not(self):
        names = [knob(f"K{i}", "a", "b") for i in range(6)]
        project = self.project(script(*names, SPEED), holdout=400)  # enough to be opened three times
        words = ("--candidates", 3)
        self.assert_winner(project.tune("--routes", "SPEED=[plain|fast]", run="first"), "SPEED=fast")
        again = project.tune("--start-from", project.folder / "first", *words, run="again")
        self.assertEqual(self.first_tried(again), "engine=fake SPEED=fast", str(again))
        self.assertTrue(again.events("last_winner")[0]["body"]["fits"])

        project.write_script(script(*names, SPEED, version="2"))
        other = project.tune("--start-from", project.folder / "first", *words, run="other")
        self.assertEqual(other.events("last_winner")[0]["body"]["why_not"], "not the same as then: engine's version", str(other))

    def test_by_itself_only_from_runs_of_the_same_name_beside_it(self):
        project = self.project(script(SPEED))
        for name in ("contract.run", "contract.run-2"):
            self.assertEqual(project.fiel("tune", project.contract).status, 0, name)
        second = Run(project, project.folder / "contract.run-2", None)
        self.assertTrue(second.events("last_winner")[0]["body"]["fits"])
        self.assertEqual(Run(project, project.folder / "contract.run", None).events("last_winner"), [])

    def test_a_run_without_a_winner_is_no_start(self):
        project = self.project(script(SPEED))
        done = project.fiel("tune", project.contract, "--start-from", "nowhere", "-o", "run")
        self.assertEqual(done.status, 2, done.err)
        self.assertRegex(done.err, "--start-from: .*nowhere holds no run")


if __name__ == "__main__":
    unittest.main()
