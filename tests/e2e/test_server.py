"""The server scenario: requests that come at random, queues, and what becomes of those that can't keep up."""

import unittest

from harness import Case, SPEED, knob, script

SERVER = ('scenario  = "single_stream"', 'scenario  = "server"\nobjective = "latency_p90"\ntarget_qps = 70')


class Server(Case):
    def test_requests_that_come_at_random_are_served_faster_and_the_queue_multiplies_the_gain(self):
        run = self.project(script(SPEED), edits=[SERVER]).tune()  # 10 ms at 70 a second: busy for 0.7 of the time
        self.assert_winner(run, "SPEED=fast")
        shown = run.show()
        self.assertGreater(shown["speedup"]["estimate"], 1.7)  # 1.5 times as fast, and a shorter queue
        latency = run.candidate()["latency_us"]
        self.assertGreater(latency["mean"], 12_000)  # 10 ms and the wait
        self.assertAlmostEqual(run.candidate("SPEED=fast")["throughput_per_second"], 70, delta=10)

    def test_a_candidate_whose_queue_grows_is_overloaded_however_it_looks(self):
        speed = knob("SPEED", "plain", "fast", "slow", latency={"fast": 1 / 1.5, "slow": 2.5})
        run = self.project(script(speed), edits=[SERVER]).tune()
        self.assert_winner(run, "SPEED=fast")
        slow = run.candidate("SPEED=slow")
        self.assertEqual((slow["status"], slow["kind"]), ("inadmissible", "overloaded"))
        self.assertRegex(slow["reason"], r"\d+ of \d+ requests were unfinished .* finished a second while")

    def test_a_baseline_that_cannot_keep_up_is_out_and_one_that_can_wins(self):
        run = self.project(script(SPEED, latency_seconds=0.02), edits=[SERVER]).tune()  # fast: 13.3 ms, busy for 0.93
        self.assert_winner(run, "SPEED=fast")
        baseline = run.candidate()
        self.assertEqual(baseline["kind"], "overloaded")
        self.assertFalse(run.show()["baseline"]["admissible"])

    def test_where_nobody_keeps_up_nothing_ships(self):
        slower = knob("SPEED", "plain", "slow", latency={"slow": 1.2})
        run = self.project(script(slower, latency_seconds=0.04), edits=[SERVER]).tune()
        self.assert_verdict(run, "infeasible")


if __name__ == "__main__":
    unittest.main()
