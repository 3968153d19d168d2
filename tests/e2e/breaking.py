"""Runs that are killed, and disks that lose power: what the tests and bench/kills share.

A place to be killed at is (N, where): around the N-th time that a file is forced to the disk, see tests/crash_seam.cpp. The
journal is forced once an event.
"""

import contextlib
import os
import shutil
import signal
from pathlib import Path

from harness import BIN, Run, keys_so_far, knob, processes_of, read_events, script, wait_for

SEAM = BIN / "libcrash_seam.so"
WHERE = ("before", "torn", "written", "after")
JOURNAL, LEDGER = "run.db-wal", "ledger.db-wal"

# Three candidates fail, each at another stage; the rash one falls on the hold-out, so that it is opened twice.
SPEED = knob("SPEED", "plain", "fast", "rash", latency={"fast": 1 / 1.5, "rash": 0.5})
DEFECT = knob("DEFECT", "none", "build", "wrong", "race", latency={"wrong": 0.45, "race": 0.6})
FAULTS = [{"do": "crash", "phase": "build", "when": {"DEFECT": "build"}},
          {"do": "flip", "share": 0.2, "when": {"DEFECT": "wrong"}},
          {"do": "non_finite", "only_timed": True, "when": {"DEFECT": "race"}}]
FAULTS += [{"do": "flip", "samples": {"modulo": 100_000, "is": i}, "when": {"SPEED": "rash"}} for i in range(96, 120)]
ENGINE = script(SPEED, DEFECT, faults=FAULTS)


def tune_words(project):
    return ["tune", project.contract, "-o", project.folder / "run", "--strategy", "fast"]


def decisions(run):
    """All that was decided, by which numbers, and what it cost of the error budget."""
    shown = run.show()
    return {"status": run.status,
            "verdict": shown["verdict"],
            "ships": shown["ships"],
            "winner": shown["winner"] and shown["winner"]["route"],
            "speedup": shown["speedup"],
            "candidates": [(c["id"], c["route"], c["status"], c["kind"], c["race_ratios"]) for c in shown["candidates"]],
            "nominees": shown["nominees"],
            "events": [e["key"] for e in run.events()],
            "openings": run.project.openings()}


@contextlib.contextmanager
def preloaded(project, place, file=JOURNAL, disk=None):
    project.more_environment = {"LD_PRELOAD": str(SEAM), "FIEL_SEAM_FILE": file, "FIEL_SEAM_KILL": f"{place[0]}:{place[1]}"}
    if disk:
        project.more_environment["FIEL_SEAM_DISK"] = str(disk)
    yield
    project.more_environment = {}


def run_until(project, words, place, **more):
    """Done of a command that is killed at a place, or ends before it. True: it was killed."""
    with preloaded(project, place, **more):
        done = project.fiel(*words)
    wait_for(lambda: not processes_of(project.folder), "end of all processes of a killed run", seconds=5)
    return done, done.status == -signal.SIGKILL


def words_to_go_on(project):
    """`resume`, or from the start again where the run had not begun."""
    folder = project.folder / "run"
    if "run" in keys_so_far(folder):
        return ["resume", folder]
    shutil.rmtree(folder, ignore_errors=True)
    return tune_words(project)


def rows(project):
    folder = project.folder / "run"
    return [e["row"] for e in read_events(folder)] if keys_so_far(folder) else []


def go_on(project):
    """To the end; what had been recorded must stand as it was."""
    before = rows(project)
    run = Run(project, project.folder / "run", project.fiel(*words_to_go_on(project)))
    kept = before if "run" in [row[1] for row in before] else []
    assert [e["row"] for e in run.events()][:len(kept)] == kept, "recorded events changed"
    return run


def leftovers(project):
    """Files that a run should not leave: scratch folders and temporary files."""
    return sorted(str(p.relative_to(project.folder)) for p in project.folder.rglob("*")
                  if p.name == "scratch" or p.name.endswith((".tmp", ".part")) or p.name.startswith("observer"))


def lose_power(project, disk):
    """What is left of the run and of the ledger when all is gone that was not forced to the disk."""
    for folder in (project.folder / "run", project.state):
        if folder.exists():
            inode = folder.stat().st_ino
            shutil.rmtree(folder)
            restore(disk, inode, folder)


def restore(disk, inode, place):
    place.mkdir()
    names = disk / f"d{inode}"
    for line in names.read_text().splitlines() if names.exists() else []:
        kind, below, name = line.split(" ", 2)
        if kind == "d":
            restore(disk, below, place / name)
        else:
            content = disk / f"f{below}"
            (place / name).write_bytes(content.read_bytes() if content.exists() else b"")
