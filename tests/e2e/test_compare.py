"""May two runs be compared, and what changed?"""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import unittest

from harness import Case, SPEED, keys_so_far, script, wait_for


class Compare(Case):
    def compare(self, first, second, *words, status):
        done = first.project.fiel("compare", first.folder, second.folder, *words)
        self.assertEqual(done.status, status, done.out + done.err)
        return done.out if "--json" in words else " ".join(done.out.split())  # the text is wrapped to the width

    def test_two_runs_of_one_contract_may_be_compared_and_differ_by_their_seeds(self):
        project = self.project(script(SPEED))
        first, second = project.tune(run="first"), project.tune("--seed", 2, "--budget", "5 min", run="second")
        text = self.compare(first, second, status=0)
        self.assertRegex(text, r"^comparable")
        self.assertRegex(text, r"changed seed: 1 -> 2 ")
        for word in ("wall_seconds: 600.0 -> 300.0", "times as fast as the baseline (#1) [", "10 sessions)", "n 120", "number 1",
                     "number 2"):
            self.assertIn(word, text)
        found = json.loads(self.compare(first, second, "--json", status=0))
        self.assertTrue(found["comparable"])
        self.assertEqual({d["what"] for d in found["differences"]}, {"seed", "wall_seconds"})
        self.assertEqual([run["openings"][0]["opening"] for run in found["runs"]], [1, 2])

    def test_another_engine_and_another_contract_may_not(self):
        project = self.project(script(SPEED), holdout=20)  # undecided, so that it is quick
        first = project.tune(run="first")
        project.write_script(script(SPEED, version="2.0"))
        project.edit("max_drop  = 0.05", "max_drop  = 0.04")
        second = project.tune("--strategy", "fast", run="second")
        text = self.compare(first, second, status=3)
        self.assertIn("NOT comparable", text)
        self.assertRegex(text, r"! differs accuracy\.task right: top1 of logits, drop at most 0\.05 -> top1 of logits, drop at most 0\.04")
        blocking = {d["what"] for d in json.loads(self.compare(first, second, "--json", status=3))["differences"] if d["blocks"]}
        self.assertIn("accuracy.task right", blocking)

    def test_a_run_that_is_going_on_is_shown_as_far_as_it_is(self):
        hang = {"do": "hang", "phase": "infer", "when": {"SPEED": "fast"}}
        project = self.project(script(SPEED))
        whole = project.tune(run="whole")
        project.write_script(script(SPEED, faults=[hang]))
        folder = project.folder / "going"
        process = project.start("tune", project.contract, "-o", folder)
        wait_for(lambda: "comparator" in keys_so_far(folder), "comparator")
        try:
            done = project.fiel("compare", whole.folder, folder)
            self.assertEqual(done.status, 0, done.out + done.err)
            self.assertIn("B: none yet; last:", done.out)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=30)
        done = project.fiel("compare", folder, whole.folder)
        self.assertEqual(done.status, 0, done.out + done.err)
        self.assertEqual(project.fiel("compare", project.folder, whole.folder).status, 2)


class StatusLine(Case):
    def test_on_a_terminal_it_shows_the_best_so_far_and_the_time_left(self):
        project = self.project(script(SPEED))
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = {**project.environment(), "TERM": "xterm"}
        del environment["NO_COLOR"]
        process = subprocess.Popen(project.command("tune", project.contract, "-o", project.folder / "run"), env=environment,
                                   cwd=project.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        said = b""
        try:
            while block := os.read(master, 1 << 16):
                said += block
        except OSError:
            pass  # the other end is closed
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0, said)
        text = said.decode()
        self.assertRegex(text, r"search; .{1,20} of 10 min left; best #2: 1\.\d\dx #1 at first sight, 1 session")
        self.assertRegex(text, r"confirm; .{1,20} of 10 min left; best #2: 1\.\d\dx #1 \[1\.\d\d, 1\.\d\d\], \d+ sessions")

    def test_elsewhere_there_are_plain_lines_only(self):
        run = self.project(script(SPEED)).tune()
        self.assertNotIn("\x1b", run.done.err)
        self.assertNotIn("best #", run.done.err)
        self.assertIn("times as fast as the comparator at first sight (1 session)", run.done.err)


if __name__ == "__main__":
    unittest.main()
