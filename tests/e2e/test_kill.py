"""Killed at any moment, a run goes on as if nothing had happened: the same verdict by the same evidence."""

import signal
import unittest
from concurrent.futures import ThreadPoolExecutor

from harness import BIN, Case, Run, keys_so_far, knob, processes_of, read_events, script, wait_for

# Three candidates fail, each at another stage; the rash one falls on the hold-out, so that it is opened twice.
SPEED = knob("SPEED", "plain", "fast", "rash", latency={"fast": 1 / 1.5, "rash": 0.5})
DEFECT = knob("DEFECT", "none", "build", "wrong", "race", latency={"wrong": 0.45, "race": 0.6})
FAULTS = [{"do": "crash", "phase": "build", "when": {"DEFECT": "build"}},
          {"do": "flip", "share": 0.2, "when": {"DEFECT": "wrong"}},
          {"do": "non_finite", "only_timed": True, "when": {"DEFECT": "race"}}]
FAULTS += [{"do": "flip", "samples": {"modulo": 100_000, "is": i}, "when": {"SPEED": "rash"}} for i in range(96, 120)]

# Counts workers; at the wanted one it kills fiel, which is its parent.
WRAPPER = """#!/bin/sh
printf x >> "$2"
if [ "$(wc -c < "$2")" -eq "$3" ]; then kill -KILL $PPID; fi
exec "{worker}" "$1"
"""


def decisions(run):
    """All that was decided, and by which numbers."""
    shown = run.show()
    return {"verdict": shown["verdict"],
            "ships": shown["ships"],
            "winner": shown["winner"] and shown["winner"]["route"],
            "speedup": shown["speedup"],
            "candidates": [(c["id"], c["route"], c["status"], c["kind"], c["race_ratios"]) for c in shown["candidates"]],
            "nominees": shown["nominees"]}


class Kill(Case):
    def unbroken(self):
        run = self.project(script(SPEED, DEFECT, faults=FAULTS), "unbroken").tune("--strategy", "fast")
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.project.openings(), 2)
        return run

    def start(self, name):
        project = self.project(script(SPEED, DEFECT, faults=FAULTS), name)
        return project, project.folder / "run"

    def tune_until(self, name, key):
        """Starts a run and kills it as soon as the event is there."""
        project, folder = self.start(name)
        process = project.start("tune", project.contract, "-o", folder, "--strategy", "fast")
        self.kill_at(process, folder, key)
        return project, folder

    def kill_at(self, process, folder, key):
        wait_for(lambda: key in keys_so_far(folder) or process.poll() is not None, f"event {key}")
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def go_on(self, project, folder):
        """Resumes a killed run to its end; what had been recorded must stand as it was."""
        wait_for(lambda: not processes_of(project.folder), "end of all processes of the killed run", seconds=2)
        before = [event["row"] for event in read_events(folder)]
        run = Run(project, folder, project.fiel("resume", folder))
        self.assertEqual([event["row"] for event in run.events()][:len(before)], before, "recorded events changed")
        self.assert_nothing_left(project, run)
        return run

    def assert_same(self, run, unbroken, decided):
        self.assert_status(run, unbroken.status)
        self.assertEqual(decisions(run), decided, str(run))
        self.assertEqual([e["key"] for e in run.events()], [e["key"] for e in unbroken.events()])
        self.assertEqual(run.project.openings(), unbroken.project.openings(), "the hold-out was opened another time")

    def test_killed_after_any_event_it_decides_as_an_unbroken_run(self):
        unbroken = self.unbroken()
        decided = decisions(unbroken)
        gate = next(e["key"] for e in unbroken.events() if e["type"] == "gate" and e["key"] != "candidate/1/gate")
        keys = ["run", "engine/fake", "candidate/1/build", "reference", "anchors", "comparator", "candidate/5/probe",
                "search/end", gate, "race/2", "race/end", "confirm/1/3", "holdout/1/opening",
                "holdout/reference", "holdout/1", "confirm/2/5", "estimate/4", "verdict"]
        self.assertEqual(set(keys) - {e["key"] for e in unbroken.events()}, set(), "events that no run has")

        def broken(key):
            project, folder = self.tune_until(f"killed-after-{key.replace('/', '-')}", key)
            return self.go_on(project, folder)

        with ThreadPoolExecutor(2) as pool:
            for key, run in zip(keys, pool.map(broken, keys)):
                with self.subTest(key):
                    self.assert_same(run, unbroken, decided)

    def test_killed_when_it_starts_any_worker_it_decides_as_an_unbroken_run(self):
        unbroken = self.unbroken()
        decided = decisions(unbroken)

        def broken(number):
            project, folder = self.start(f"killed-at-worker-{number}")
            wrapper = project.folder / "worker.sh"
            wrapper.write_text(WRAPPER.format(worker=BIN / "fiel-worker-fake"))
            wrapper.chmod(0o755)
            counter = project.folder / "count"
            project.edit(str(BIN / "fiel-worker-fake"), str(wrapper))
            project.edit('["fake.json"]', f'["fake.json", "{counter}", "{number}"]')
            killed = project.fiel("tune", project.contract, "-o", folder, "--strategy", "fast")
            self.assertEqual(killed.status, -signal.SIGKILL, killed.err)
            return self.go_on(project, folder)

        numbers = [1, 2, 3, 7, 12, 20, 31, 45, 60]
        with ThreadPoolExecutor(2) as pool:
            for number, run in zip(numbers, pool.map(broken, numbers)):
                with self.subTest(worker=number):
                    self.assert_same(run, unbroken, decided)

    def test_killed_again_and_again_it_still_decides_as_an_unbroken_run(self):
        unbroken = self.unbroken()
        project, folder = self.tune_until("killed-often", "candidate/2/build")
        for key in ("candidate/5/build", "race/1", "confirm/1/2", "holdout/1/opening", "confirm/2/1", "estimate/1"):
            process = project.start("resume", folder)
            self.kill_at(process, folder, key)
        self.assert_same(self.go_on(project, folder), unbroken, decisions(unbroken))

    def test_a_changed_model_or_data_set_is_refused_when_it_goes_on(self):
        project, folder = self.tune_until("killed", "anchors")
        labels = project.folder / "data/tuning/labels.csv"
        text = labels.read_text()
        labels.write_text(text.replace(",1,", ",2,", 1))
        refused = project.fiel("resume", folder)
        self.assertEqual(refused.status, 2, refused.err)
        self.assertRegex(refused.err, "tuning.*changed|changed.*tuning")
        labels.write_text(text)
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
