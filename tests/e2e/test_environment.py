"""What the machine does to a run: a folder that becomes read-only, too few file handles, time that stands still or jumps."""

import errno
import signal
import sqlite3
import subprocess
import time
import unittest
from contextlib import closing

from breaking import decisions
from harness import BIN, SPEED, Case, Run, keys_so_far, script, wait_for
from test_disk import CAN_MOUNT, can_mount

ENGINE = script(SPEED)
MACHINE = BIN / "libmachine_seam.so"


class Environment(Case):
    def decided(self, run):
        return {key: value for key, value in decisions(run).items() if key != "openings"}

    once = None

    def unbroken(self):
        if Environment.once is None:
            run = self.project(ENGINE, "unbroken").tune()
            self.assert_winner(run, "SPEED=fast")
            Environment.once = self.decided(run)
        return self.once

    @unittest.skipUnless(can_mount(), "mounting needs unshare and user namespaces, which are not to be had here")
    def test_a_folder_that_became_read_only(self):
        slow = {"do": "slow", "seconds": 2, "phase": "build", "when": {"SPEED": "fast"}}
        project = self.project(script(SPEED, faults=[slow]))
        small = project.folder / "small"
        small.mkdir()
        steps = f"""
            mount -t tmpfs -o size=100m tmpfs {small}
            "{BIN}/fiel" tune contract.toml -o small/run 2> killed.err & run=$!
            until [ -e small/run/logs/candidate-2.log ]; do sleep 0.05; done
            kill -KILL $run; wait $run
            until mount -o remount,ro {small}; do sleep 0.05; done  # it is busy as long as a worker's log is open
            "{BIN}/fiel" resume small/run 2> first.err; echo $? > first.status
            "{BIN}/fiel" tune contract.toml -o small/other 2> other.err; echo $? > other.status
            mount -o remount,rw {small}
            "{BIN}/fiel" resume small/run > second.out 2> second.err; echo $? > second.status
        """
        subprocess.run([*CAN_MOUNT, "sh", "-c", steps], cwd=project.folder, env=project.environment(), timeout=120, check=True)
        read = {path.name: path.read_text() for path in project.folder.iterdir() if path.is_file() and path.suffix != ".onnx"}
        for name in ("first", "other"):
            self.assertEqual(read[f"{name}.status"].strip(), "5", read[f"{name}.err"])
            self.assertRegex(read[f"{name}.err"], "(?i)read-?only")
        self.assertEqual(read["second.status"].strip(), "0", read["second.err"])

    def test_too_few_file_handles(self):
        project = self.project(ENGINE)
        command = 'ulimit -n 12; exec "$0" tune contract.toml -o run'
        ended = subprocess.run(["sh", "-c", command, BIN / "fiel"], cwd=project.folder, env=project.environment(), timeout=60,
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertRegex(ended.stderr, "too many open files|unable to open|ulimit")
        words = ["resume", project.folder / "run"] if "run" in keys_so_far(project.folder / "run") else [
            "tune", project.contract, "-o", project.folder / "other"]
        self.assertEqual(project.fiel(*words).status, 0)

    def test_a_run_that_stood_still_decides_the_same(self):
        project = self.project(ENGINE, "stopped")
        process = project.start("tune", project.contract, "-o", project.folder / "run")
        wait_for(lambda: "race/1" in keys_so_far(project.folder / "run") or process.poll() is not None, "race")
        process.send_signal(signal.SIGSTOP)
        time.sleep(1)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
        done = project.fiel("resume", project.folder / "run")  # which says its verdict again
        self.assertEqual(self.decided(Run(project, project.folder / "run", done)), self.unbroken())

    def machine(self, project, **seam):
        project.more_environment = {"LD_PRELOAD": str(MACHINE), **seam}

    @unittest.skipUnless(MACHINE.exists(), f"{MACHINE} is not built (it does not go with sanitizers)")
    def test_no_memory_for_another_process(self):
        unbroken = self.unbroken()
        for number, error, words in ((1, errno.ENOMEM, "memory"), (4, errno.EAGAIN, "too many processes"), (14, errno.ENOMEM, "memory")):
            with self.subTest(number=number):
                project = self.project(ENGINE, f"alone{number}")
                self.machine(project, FIEL_SEAM_START=f"{number}:{error}")
                run = project.tune()
                self.assert_status(run, 5)
                self.assertIn("cannot start", run.done.err)
                self.assertIn(words, run.done.err)
                self.assertIn("fiel resume", run.done.err)
                self.assert_nothing_left(project)
                project.more_environment = {}
                done = project.fiel("resume", run.folder)
                self.assertEqual(self.decided(Run(project, run.folder, done)), unbroken)

    @unittest.skipUnless(MACHINE.exists(), f"{MACHINE} is not built (it does not go with sanitizers)")
    def test_a_clock_of_the_day_that_jumps_by_years_changes_nothing(self):
        project = self.project(ENGINE, "jumps")
        self.machine(project, FIEL_SEAM_CLOCK=str(9 * 366 * 86400))
        run = project.tune()
        with closing(sqlite3.connect(run.folder / "run.db")) as db:
            dates = [row[0] for row in db.execute("SELECT utc FROM event ORDER BY number")]
        self.assertNotEqual(dates, sorted(dates), "the clock did not jump")
        self.assertEqual(self.decided(run), self.unbroken())
        self.assertLess(run.show()["budget"]["spent_seconds"], run.done.seconds + 1)

    def test_locale_time_zone_and_clock_change_nothing(self):
        project = self.project(ENGINE, "elsewhere")
        project.more_environment = {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE.UTF-8"}
        process = project.start("tune", project.contract, "-o", project.folder / "run")
        wait_for(lambda: "candidate/2" in keys_so_far(project.folder / "run") or process.poll() is not None, "candidate")
        process.kill()
        process.communicate()
        project.more_environment = {"TZ": "America/Adak", "LC_ALL": "C"}  # a day earlier
        done = project.fiel("resume", project.folder / "run")
        self.assertEqual(self.decided(Run(project, project.folder / "run", done)), self.unbroken())


if __name__ == "__main__":
    unittest.main()
