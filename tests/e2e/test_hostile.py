"""Workers that a model took over (tests/hostile_worker.py): each costs one candidate, or nothing, and leaves nothing."""

import sys
import unittest
from pathlib import Path

from harness import BIN, SPEED, Case, knob, processes_of, script

WORKER = Path(__file__).resolve().parent.parent / "hostile_worker.py"
FAST = 0.5

# What they are rejected for.
REFUSED = {"flickers": "mistrusted", "pipes": "mistrusted", "links_its_folder": "mistrusted", "huge_output": "mistrusted",
           "hole_in_artifact": "mistrusted", "deep_artifact": "mistrusted", "many_files": "mistrusted", "odd_name": "mistrusted",
           "pipe_in_artifact": "mistrusted", "long_read_back": "mistrusted", "nested": "mistrusted", "gigabyte": "mistrusted"}
# Those that do their work all the same; they are slower than the winner.
HARMLESS = ("deep_scratch", "leaks_descriptors", "leaves_processes")


def hostile(project):
    """The contract's worker is the hostile one from now on."""
    project.edit(f'worker    = "{BIN / "fiel-worker-fake"}"', f'worker    = "{sys.executable}"')
    arguments = f'["{WORKER}", "{BIN / "fiel-worker-fake"}", "{project.folder / "fake.json"}"]'
    project.edit('arguments = ["fake.json"]', f"arguments = {arguments}")
    return project


class Hostile(Case):
    def test_each_costs_its_candidate_at_most_and_leaves_nothing(self):
        defect = knob("DEFECT", "none", *REFUSED, *HARMLESS, latency={name: FAST for name in REFUSED} | {name: 1.1 for name in HARMLESS})
        run = hostile(self.project(script(SPEED, defect))).tune("--strategy", "fast")
        self.assert_winner(run, "SPEED=fast")
        for name, kind in REFUSED.items():
            with self.subTest(name):
                candidate = run.candidate(f"DEFECT={name}")
                self.assertEqual((candidate["status"], candidate["kind"]), ("failed", kind), candidate["reason"])
        for name in HARMLESS:
            with self.subTest(name):
                self.assertIn(run.candidate(f"DEFECT={name}")["status"], ("admissible", "pruned"))
        self.assert_nothing_left(run.project, run)
        self.assertEqual(processes_of(run.project.folder), [])
        self.assertLess(run.done.seconds, 90)


if __name__ == "__main__":
    unittest.main()
