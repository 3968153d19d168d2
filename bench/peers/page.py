"""Writes docs/peers.md from what is kept below .cache/peers: what is not there yet is a row that says so."""

import json
import os
import statistics
import time
import tomllib
from pathlib import Path

import judge

HERE = Path(__file__).resolve().parent
LOSSES = HERE / "losses.md"
DEFAULTS = ("ONNX Runtime, default", "OpenVINO, default")
BUSY = 0.1  # of the CPU taken by other programs: from here on a wall time is an upper bound
OPENING = """# fiel beside its peers

Made by `bench/peers/peers` on {cpu} ({cores} cores), {date}. Every entrant gets the same model, data and contract, and ten minutes for a
model unless its row says otherwise. *times*: as fast as the faster of the two engines' defaults, median (lowest to highest) of {rounds} rounds' ratios: every entrant in a
fresh process for {seconds:g} s in every round, in a drawn order. *loss*: points of the contract's first task on the hold-out against ONNX
Runtime's default, which is float32, of the points that it allows; *slice*: the one nearest to its limit. *in contract*: by these point
estimates, a lower bar than fiel's own proof, which also asks for confidence. *wall*, *builds*: what it took, the tool's own judging included;
"<" where other programs took more than a tenth of the CPU meanwhile{others}.
How each peer is used: `bench/peers/entrants.py`.

## fiel and the fastest of the others within the contract
*times*: the other's time over fiel's, round by round. An entrant that is not in the contract, or failed, competes in neither column.

| model | fiel | ships | in contract | fastest other in contract | times | wall: fiel, slowest other |
|---|---|---|---|---|---|---|
"""
HEADER = """
## All entrants
| model | entrant | p50 | times | hold-out | loss | slice | in contract | wall | builds | remark |
|---|---|---|---|---|---|---|---|---|---|---|
"""


def cpu_name():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "an unnamed CPU")


def load(file):
    return json.loads(file.read_text()) if file.exists() else {}


def spread(ratios):
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def wall(made):
    return f"{'< ' if made.get('others', 0) > BUSY else ''}{made['seconds']:.0f} s" if "seconds" in made else ""


class Case:
    """What is kept of one case: how each entrant was made, its losses on the hold-out, its latencies."""

    def __init__(self, folder, entrants):
        self.name, self.entrants = folder.name, entrants
        self.contract_file = folder / "contract.toml"
        self.contract = tomllib.loads(self.contract_file.read_text())
        self.folders = {name: folder / "made" / name.replace(" ", "_") for name in entrants}
        self.made = {name: load(path / "made.json") for name, path in self.folders.items()}
        self.scores = {name: load(path / "holdout.json") for name, path in self.folders.items()}
        self.times = load(folder / "times.json")
        timed = [name for name, at in self.times.get("made", {}).items() if self.made.get(name, {}).get("at") == at]
        self.rounds = {name: [each[name] for each in self.times["rounds"]] for name in timed}
        self.medians = {name: statistics.median(values) for name, values in self.rounds.items() if values}
        self.parts = {name: self.losses(name) for name in entrants if self.scores[name] and self.scores[DEFAULTS[0]]}

    def losses(self, name):
        return judge.losses(self.scores[name], self.scores[DEFAULTS[0]], self.contract_file, self.contract, "holdout",
                            self.contract["accuracy"]["task"][0])

    def within(self, name):
        return all(loss <= allowed + 1e-9 for *_, loss, allowed in self.parts[name])

    def ratios(self, other, name):
        return [theirs / own for theirs, own in zip(self.rounds[other], self.rounds[name])]

    def row(self, name):
        made = self.made[name]
        cost = f"{wall(made)} | {made.get('builds', '')}"
        if name not in self.parts:
            return f"| {self.name} | {name} | | | | | | | {cost} | {made.get('error', 'not made yet').replace('|', '/')} |"
        parts = self.parts[name]
        worst = max(parts[1:], key=lambda part: part[3] - part[4], default=None)
        percent = lambda part: f"{100 * part[3]:+.1f} of {100 * part[4]:.0f}"  # noqa: E731
        times, remark = "|", made.get("remark", "")
        if name in self.medians:
            base = min((name for name in DEFAULTS if name in self.medians), key=self.medians.get)
            times = f"{1e3 * self.medians[name]:.3g} ms | {spread(self.ratios(base, name))}"
        else:
            remark = (remark + "; not timed").removeprefix("; ")
        return (f"| {self.name} | {name} | {times} | {100 * parts[0][2]:.1f} % | {percent(parts[0])} | {f'{worst[0]} {percent(worst)}' if worst else ''} "
                f"| {'yes' if self.within(name) else '**no**'} | {cost} | {remark} |")

    def against_fiel(self):
        made = self.made["fiel"]
        others = [name for name in self.medians if name != "fiel" and name in self.parts and self.within(name)]
        if "fiel" not in self.medians or "fiel" not in self.parts or not others:
            return f"| {self.name} | {made.get('error', 'not made or timed yet')} | | | | | |"
        best = min(others, key=self.medians.get)
        slowest = max((name for name in self.entrants if name != "fiel" and self.made[name]), key=lambda name: self.made[name]["seconds"])
        return (f"| {self.name} | {made['verdict']} | `{made['ships']}` | {'yes' if self.within('fiel') else '**no**'} | {best} "
                f"| {spread(self.ratios(best, 'fiel'))} | {wall(made)}, {wall(self.made[slowest])} ({slowest}) |")


def write(file, folders, entrants):
    """`folders` of the cases that are prepared."""
    cases = [Case(folder, entrants) for folder in folders]
    timed = [case.times for case in cases if case.times]
    text = OPENING.format(
        cpu=cpu_name(), cores=os.cpu_count(),
        date=time.strftime("%d %B %Y", time.localtime(max((times["at"] for times in timed), default=None))),
        rounds=min((len(times["rounds"]) for times in timed), default=0), seconds=min((times["seconds"] for times in timed), default=0),
        others="".join(f"; while it was timed they took {100 * max(times['others'] for times in timed):.0f} % at most" for _ in timed[:1]))
    text += "\n".join(case.against_fiel() for case in cases) + "\n" + HEADER
    text += "\n".join(case.row(name) for case in cases for name in entrants) + "\n"
    file.write_text(text + ("\n" + LOSSES.read_text() if LOSSES.exists() else ""))
