"""Killed at any moment, a run goes on as if nothing had happened: the same verdict by the same evidence.

bench/kills does the same at every place there is; here is a sample of it.
"""

import json
import os
import random
import signal
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import breaking
from breaking import ENGINE, LEDGER, SEAM, WHERE, decisions, go_on, run_until, tune_words, words_to_go_on
from harness import SPEED, Case, Run, processes_of, script, wait_for
from test_contracts import SCORER, TASK


OTHER_DRIVER = {"do": "answer", "phase": "hello", "merge": {"devices": [{"name": "CPU", "description": "driver 2.0"}]}}
OTHER_CPU = {"do": "answer", "phase": "hello", "merge": {"cpu_features": ["amx"]}}


@unittest.skipUnless(SEAM.exists(), f"{SEAM} is not built (it does not go with sanitizers)")
class Kill(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.unbroken = None

    def setUp(self):
        super().setUp()
        if Kill.unbroken is None:
            run = self.project(ENGINE, "unbroken").tune("--strategy", "fast")
            self.assert_winner(run, "SPEED=fast")
            Kill.unbroken = decisions(run)
            self.assertEqual(Kill.unbroken["openings"], 2)

    def assert_same(self, run):
        self.maxDiff = None
        self.assertEqual(decisions(run), self.unbroken, str(run))
        self.assert_nothing_left(run.project, run)
        self.assertEqual(breaking.leftovers(run.project), [])

    def test_killed_before_inside_and_after_event_upon_event_it_decides_as_an_unbroken_run(self):
        project = self.project(ENGINE, "killed")
        chance = random.Random(7)
        words, before, kills = tune_words(project), [], 0
        while True:
            done, killed = run_until(project, words, (chance.randint(1, 6), WHERE[kills % len(WHERE)]))
            now = breaking.rows(project)
            self.assertEqual(now[:len(before)], before, "recorded events changed")
            if not killed:
                break
            kills += 1
            words = words_to_go_on(project)
            before = now if words[0] == "resume" else []
        self.assertGreater(kills, 20)
        self.assert_same(Run(project, project.folder / "run", done))

    def test_killed_while_it_counts_an_opening_it_counts_it_once(self):
        def broken(place):
            project = self.project(ENGINE, f"ledger-{place[0]}-{place[1]}")
            _, killed = run_until(project, tune_words(project), place, file=LEDGER)
            self.assertTrue(killed, place)
            return go_on(project)

        with ThreadPoolExecutor(2) as pool:
            for run in pool.map(broken, [(3, "torn"), (4, "after")]):
                self.assert_same(run)

    def test_when_the_power_fails_no_recorded_event_and_nothing_it_names_is_lost(self):
        def broken(place):
            project = self.project(ENGINE, f"power-{place[0]}-{place[1]}")
            disk = self.folder / f"disk-{place[0]}-{place[1]}"
            disk.mkdir()
            _, killed = run_until(project, tune_words(project), place, disk=disk)
            self.assertTrue(killed, place)
            lost = len(breaking.rows(project))
            breaking.lose_power(project, disk)
            left = len(breaking.rows(project))
            self.assertEqual(left, lost if place[1] == "after" else lost - 1, "which events are on the disk")
            return go_on(project)

        with ThreadPoolExecutor(2) as pool:
            for run in pool.map(broken, [(12, "after"), (40, "written")]):
                self.assert_same(run)

    def start_with_a_child_of_its_worker(self, name):
        hang = {"do": "hang", "phase": "build", "grandchild": True, "ignore_sigterm": True, "when": {"SPEED": "fast"}}
        project = self.project(script(SPEED, faults=[hang]), name)
        process = project.start(*tune_words(project))
        wait_for(lambda: len(processes_of(project.folder)) > 3, "fiel, its survivor, its worker and the worker's child")
        return project, process

    def test_what_a_worker_started_ends_when_the_run_is_killed(self):
        project, process = self.start_with_a_child_of_its_worker("killed-with-children")
        process.kill()
        process.communicate()
        wait_for(lambda: not processes_of(project.folder), "end of all", seconds=5)

    def test_what_a_worker_started_ends_when_the_killed_run_goes_on(self):
        # Also where the survivor, which would have ended it, was killed first.
        project, process = self.start_with_a_child_of_its_worker("strays")
        survivor, = [pid for pid, _ in processes_of(project.folder) if Path(f"/proc/{pid}/comm").read_text() == "fiel-survivor\n"]
        os.kill(survivor, signal.SIGKILL)
        process.kill()
        process.communicate()
        wait_for(lambda: len(processes_of(project.folder)) == 1, "end of the worker, which leaves its child")
        project.write_script(script(SPEED))
        run = Run(project, project.folder / "run", project.fiel("resume", project.folder / "run"))
        self.assert_winner(run, "SPEED=fast")
        self.assert_nothing_left(project, run)

    def test_a_changed_file_that_counts_is_refused_when_it_goes_on(self):
        project = self.project(script(SPEED), "changed", edits=[(TASK, f'evaluator = ["{sys.executable}", "score.py"]')])
        (project.folder / "score.py").write_text(SCORER.replace("SCORE", "int(right)"))
        self.assertTrue(run_until(project, tune_words(project), (8, "after"))[1])
        folder = project.folder / "run"
        for name, old, new in (("data/tuning/labels.csv", ",1,", ",2,"), ("score.py", "int(right)", "1 - int(right)"),
                               ("run/contract.toml", "max_drop  = 0.05", "max_drop  = 0.50"),
                               ("model.onnx", "doubled", "trebled"), ("fake.json", '"latency_seconds"', '"version": "9", "latency_seconds"'),
                               ("fake.json", '"faults": []', f'"faults": [{json.dumps(OTHER_DRIVER)}]'),
                               ("fake.json", '"faults": []', f'"faults": [{json.dumps(OTHER_CPU)}]')):
            with self.subTest(name):
                file = project.folder / name
                bytes_then = file.read_bytes()
                file.write_bytes(bytes_then.replace(old.encode(), new.encode(), 1))
                self.assertNotEqual(file.read_bytes(), bytes_then)
                refused = project.fiel("resume", folder)
                file.write_bytes(bytes_then)
                self.assertIn(refused.status, (2, 5), refused.err)
                self.assertRegex(refused.err, "changed since th(is|e) run began|was begun with")
        self.assertEqual(project.fiel("resume", folder).status, 0)

    def test_a_damaged_journal_is_refused(self):
        run = self.project(script(SPEED)).tune()
        file = run.folder / "run.db"
        bytes_now = bytearray(file.read_bytes())
        at = bytes_now.index(b'"verdict":"improved"')
        bytes_now[at:at + 20] = b'"verdict":"imprOved"'
        file.write_bytes(bytes_now)
        for command in ("show", "report", "resume", "export"):
            done = run.project.fiel(command, run.folder)
            self.assertEqual(done.status, 5, done.err)
            self.assertEqual(done.out, "")

    def test_resume_of_a_finished_run_says_its_verdict_again(self):
        run = self.project(script(SPEED)).tune()
        again = run.project.fiel("resume", run.folder)
        self.assertEqual((again.status, again.out), (run.status, run.done.out))
        self.assertEqual(run.project.openings(), 1)
        self.assertLess(again.seconds, 2)


if __name__ == "__main__":
    unittest.main()
