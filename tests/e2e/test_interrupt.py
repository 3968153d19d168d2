"""Ctrl-C: quick, without leftovers, and it says how to go on."""

import os
import signal
import time
import unittest

from harness import SPEED, Case, Run, keys_so_far, processes_of, script, wait_for


class Interrupt(Case):
    def interrupt(self, fault, key, signals=1, signum=signal.SIGINT):
        """Presses Ctrl-C while the fault holds the run up, after the event `key`."""
        project = self.project(script(SPEED, faults=[{**fault, "when": {"SPEED": "fast"}}]))
        folder = project.folder / "run"
        process = project.start("tune", project.contract, "-o", folder)
        wait_for(lambda: key in keys_so_far(folder), f"event {key}")
        time.sleep(0.2)  # into the fault
        self.assertIsNone(process.poll(), "the run ended before it could be interrupted")
        started = time.monotonic()
        for _ in range(signals):
            os.killpg(process.pid, signum)
        out, err = process.communicate(timeout=30)
        wait_for(lambda: not processes_of(project.folder), "end of all processes", seconds=2)
        self.assertLess(time.monotonic() - started, 2)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(out, "")
        return project, folder, err

    def check_go_on(self, project, folder, err):
        self.assertIn("fiel resume run", err)
        self.assertFalse((folder / "scratch").exists())
        project.write_script(script(SPEED))
        run = Run(project, folder, project.fiel("resume", folder))
        self.assert_winner(run, "SPEED=fast")
        self.assert_nothing_left(project, run)

    def test_in_a_long_build(self):
        self.check_go_on(*self.interrupt({"do": "slow", "seconds": 60, "phase": "build"}, "candidate/2"))

    def test_in_a_long_inference(self):
        self.check_go_on(*self.interrupt({"do": "slow", "seconds": 60, "phase": "infer"}, "candidate/2/build"))

    def test_while_a_worker_is_timed(self):
        self.check_go_on(*self.interrupt({"do": "slow", "seconds": 60, "phase": "measure"}, "candidate/2/build"))

    def test_a_worker_that_ignores_signals_holds_nobody_up(self):
        hang = {"do": "hang", "phase": "build", "ignore_sigterm": True, "grandchild": True, "escape": True}
        self.check_go_on(*self.interrupt(hang, "candidate/2"))

    def test_pressed_twice_it_ends_all_the_same(self):
        hang = {"do": "hang", "phase": "build", "ignore_sigterm": True, "grandchild": True}
        project, folder, _ = self.interrupt(hang, "candidate/2", signals=2)
        project.write_script(script(SPEED))
        self.assert_winner(Run(project, folder, project.fiel("resume", folder)), "SPEED=fast")

    def test_a_closed_terminal_is_an_interrupt(self):
        self.check_go_on(*self.interrupt({"do": "slow", "seconds": 60, "phase": "build"}, "candidate/2", signum=signal.SIGHUP))

    def test_a_run_with_a_variant_of_somebody_else_goes_on_while_its_file_is_the_same(self):
        slow = {"do": "slow", "seconds": 60, "phase": "build", "when": {"SPEED": "fast"}}
        project = self.project(script(SPEED, faults=[slow]), extra='\n[[variant]]\nname = "theirs"\nmodel = "theirs.onnx"\n')
        model = (project.folder / "model.onnx").read_bytes()
        theirs = project.folder / "theirs.onnx"
        theirs.write_bytes(model + b"\x12\x06theirs")  # a producer's name
        folder = project.folder / "run"
        process = project.start("tune", project.contract, "-o", folder, "--strategy", "fast", "--routes",
                                "variant=[float32|theirs] SPEED=[plain|fast]")
        wait_for(lambda: "candidate/3" in keys_so_far(folder), "event candidate/3")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        project.write_script(script(SPEED))
        same = theirs.read_bytes()
        theirs.write_bytes(model)
        refused = project.fiel("resume", folder)
        self.assertNotEqual(refused.status, 0)
        self.assertIn("theirs.onnx", refused.err)
        theirs.write_bytes(same)
        run = Run(project, folder, project.fiel("resume", folder))
        self.assert_winner(run, "SPEED=fast")
        self.assertIn(run.candidate("variant=theirs")["status"], ("admissible", "pruned"))

    def test_check_and_bench_end_as_quickly(self):
        for command in ("check", "bench"):
            with self.subTest(command):
                slow = {"do": "slow", "seconds": 60, "phase": "build", "when": {"SPEED": "fast"}}
                project = self.project(script(SPEED, faults=[slow]), command)
                process = project.start(command, project.contract, "--route", "engine=fake SPEED=fast")
                wait_for(lambda: len(processes_of(project.folder)) > 2, "worker, beside fiel and its survivor")
                time.sleep(1)
                started = time.monotonic()
                os.killpg(process.pid, signal.SIGINT)
                _, err = process.communicate(timeout=30)
                self.assertLess(time.monotonic() - started, 2)
                self.assertEqual(process.returncode, 130, err)
                self.assertEqual(processes_of(project.folder), [])


if __name__ == "__main__":
    unittest.main()
