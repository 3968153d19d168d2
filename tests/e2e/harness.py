"""What the end-to-end tests share: small projects on disk, fiel started from outside, and its records read back.

A project is a folder with an ONNX model, a tuning and a hold-out set, the script of an engine (docs/fake-engine.md) and a
contract. The scripted engine never opens the model; fiel's own checks of the data read it. A sample's class is the whole part
of its first number, which is what the scripted engine answers.

FIEL_BIN names the folder of the programs. Every test has a state folder of its own, so that no user's ledger is touched.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

BIN = Path(os.environ.get("FIEL_BIN", "build/release/bin")).resolve()
CLASSES = 10

CONTRACT = """fiel = 1

[model]
path = "model.onnx"

[data]
tuning  = "data/tuning"
holdout = "data/holdout"

[target]
engines = ["fake"]
[engines.fake]
worker    = "WORKER"
arguments = ["fake.json"]

[workload]
scenario  = "single_stream"

[speed]
min_gain   = 0.01

[accuracy]
confidence = 0.95
[[accuracy.task]]
name      = "right"
evaluator = "top1"
output    = "logits"
max_drop  = 0.05

[budget]
wall = "10 min"
"""


def knob(name, *values, latency=None, kind="property", **more):
    """The first value is the default. `latency` has factors: {"fast": 0.5} is twice as fast."""
    return {"name": name, "kind": kind, "values": list(values), "default": values[0], "latency": latency or {}, **more}


def script(*knobs, faults=(), **more):
    """An engine that answers every sample with its class and takes 10 ms for it, with the noise of a quiet machine."""
    return {
        "inputs": [{"name": "x", "dtype": "float32", "shape": [-1, CLASSES]}],
        "outputs": [
            {"name": "logits", "dtype": "float32", "shape": [-1, CLASSES], "rule": "class", "margin": 4},
            {"name": "y", "dtype": "float32", "shape": [-1, CLASSES], "rule": "scale", "factor": 2},
        ],
        "latency_seconds": 0.01,
        "artifact_bytes": 256,
        "noise": {"sigma": 0.02, "process_sigma": 0.003},
        "knobs": list(knobs),
        "faults": list(faults),
        **more,
    }


def scratch_place():
    """Memory, where there is enough: a journal waits for the disk at every event, and these tests have many of them."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 512 << 20
    return memory if roomy else None


SPEED = knob("SPEED", "plain", "fast", latency={"fast": 1 / 1.5})


def write_model(path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", CLASSES])
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", CLASSES]) for name in ("logits", "y")]
    nodes = [helper.make_node("Identity", ["x"], ["logits"]), helper.make_node("Add", ["x", "x"], ["y"])]
    made = helper.make_model(helper.make_graph(nodes, "doubled", [x], outputs),
                             opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    path.write_bytes(made.SerializeToString())


def make_samples(count, seed):
    random = np.random.default_rng(seed)
    x = random.random((count, CLASSES), dtype=np.float32)
    labels = np.arange(count) % CLASSES
    x[:, 0] = labels + 0.25 + 0.5 * x[:, 0]
    return x, labels


def write_set(folder, x, labels, slice_of=lambda i: "clean"):
    """`slice_of` names the slice of the sample with this index."""
    folder.mkdir(parents=True)
    np.savez(folder / "inputs.npz", x=x)
    rows = [f"s{i:04},{label},{slice_of(i)}\n" for i, label in enumerate(labels)]
    (folder / "labels.csv").write_text("sample,label,slice\n" + "".join(rows))


@dataclass
class Done:
    status: int
    out: str
    err: str
    seconds: float


class Run:
    """A run folder and how the command that made it ended."""

    def __init__(self, project, folder, done):
        self.project, self.folder, self.done = project, Path(folder), done

    def __str__(self):
        return f"exit status {self.done.status}\n--- stdout\n{self.done.out}\n--- stderr\n{self.done.err}"

    @property
    def status(self):
        return self.done.status

    def show(self):
        return json.loads(self.project.fiel("show", self.folder, "--json").out)

    def events(self, kind=None):
        return [event for event in read_events(self.folder) if kind in (None, event["type"])]

    def candidate(self, *settings):
        """The candidate of show --json with exactly these settings, as "NAME=value"."""
        found = [c for c in self.show()["candidates"] if sorted(c["route"].split()[1:]) == sorted(settings)]
        assert len(found) == 1, f"{len(found)} candidates with {settings}\n{self}"
        return found[0]


def read_events(folder):
    """All events of a run, also while it is going on or after it was killed."""
    with closing(sqlite3.connect(f"file:{Path(folder) / 'run.db'}?mode=ro", uri=True, timeout=10)) as db:
        rows = db.execute("SELECT number, key, type, spent_seconds, body, checksum FROM event ORDER BY number").fetchall()
    return [{"number": row[0], "key": row[1], "type": row[2], "spent": row[3], "body": json.loads(row[4]), "row": row}
            for row in rows]


def keys_so_far(folder):
    """Keys of the events of a run that may not have begun yet."""
    if not (Path(folder) / "run.db").exists():
        return []
    try:
        with closing(sqlite3.connect(f"file:{Path(folder) / 'run.db'}?mode=ro", uri=True, timeout=10)) as db:
            return [row[0] for row in db.execute("SELECT key FROM event ORDER BY number")]
    except sqlite3.OperationalError:
        return []  # it is just being made


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"no {what} within {seconds} s"
        time.sleep(0.002)


def processes_of(folder):
    """Command lines of all processes that name this folder: fiel itself and its workers, which get the script's path."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has just ended
        if any(str(folder) in word for word in words):
            found.append((int(entry.name), " ".join(words)))
    return found


class Project:
    def __init__(self, folder, engine, *, tuning=96, holdout=120, slice_of=lambda i: "clean", extra="", edits=()):
        """`edits` are pairs of a text that the contract has and the text to put in its place; `extra` is appended."""
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.state = self.folder / "state"
        self.more_environment = {}
        write_model(self.folder / "model.onnx")
        write_set(self.folder / "data/tuning", *make_samples(tuning, seed=1), slice_of)
        write_set(self.folder / "data/holdout", *make_samples(holdout, seed=2), slice_of)
        self.write_script(engine)
        self.contract = self.folder / "contract.toml"
        contract = CONTRACT
        if "state_folder" in engine:  # workers are confined to their own folders
            Path(engine["state_folder"]).mkdir(parents=True, exist_ok=True)
            contract = contract.replace('arguments = ["fake.json"]',
                                        f'arguments = ["fake.json"]\nwritable  = ["{engine["state_folder"]}"]')
        self.contract.write_text(contract.replace("WORKER", str(BIN / "fiel-worker-fake")) + extra)
        for old, new in edits:
            self.edit(old, new)

    def write_script(self, engine):
        (self.folder / "fake.json").write_text(json.dumps(engine, indent=1))

    def edit(self, old, new):
        text = self.contract.read_text()
        assert old in text, f"the contract has no {old!r}"
        self.contract.write_text(text.replace(old, new))

    def line_of(self, text):
        lines = self.contract.read_text().splitlines()
        return 1 + next(i for i, line in enumerate(lines) if text in line)

    def environment(self):
        return {**os.environ, "FIEL_STATE_DIR": str(self.state), "NO_COLOR": "1", **self.more_environment}

    def command(self, *words):
        return [str(BIN / "fiel"), *map(str, words)]

    def fiel(self, *words, timeout=300):
        started = time.monotonic()
        ended = subprocess.run(self.command(*words), cwd=self.folder, env=self.environment(), timeout=timeout,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return Done(ended.returncode, ended.stdout, ended.stderr, time.monotonic() - started)

    def start(self, *words):
        """For those who don't want to wait; a process group of its own, as a shell would give it."""
        return subprocess.Popen(self.command(*words), cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)

    def tune(self, *words, run="run", timeout=300):
        folder = self.folder / run
        return Run(self, folder, self.fiel("tune", self.contract, "-o", folder, *words, timeout=timeout))

    def openings(self):
        """Of hold-outs, as the ledger counts them."""
        if not (self.state / "ledger.db").exists():
            return 0
        with closing(sqlite3.connect(f"file:{self.state / 'ledger.db'}?mode=ro", uri=True, timeout=10)) as db:
            return db.execute("SELECT count(*) FROM opening").fetchone()[0]


class Case(unittest.TestCase):
    """Gives projects, and looks after each test whether a process is left."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="fiel-e2e-", dir=scratch_place()))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.end_leftovers)

    def end_leftovers(self):
        for process, _ in processes_of(self.folder):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def project(self, engine, name="project", **more):
        return Project(self.folder / name, engine, **more)

    def assert_status(self, run, status):
        self.assertEqual(run.status, status, str(run))

    def assert_verdict(self, run, verdict):
        """The word, and the exit status that goes with it."""
        statuses = {"improved": 0, "not_improved": 0, "undecided": 3, "infeasible": 4}
        self.assert_status(run, statuses[verdict])
        self.assertEqual(run.show()["verdict"], verdict, str(run))

    def assert_winner(self, run, *settings):
        self.assert_verdict(run, "improved")
        shown = run.show()
        self.assertEqual(sorted(shown["winner"]["route"].split()[1:]), sorted(settings), str(run))
        self.assertEqual(shown["ships"], shown["winner"]["id"])

    def assert_comparator_ships(self, run):
        shown = run.show()
        self.assertIsNone(shown["winner"], str(run))
        self.assertEqual(shown["ships"], shown["comparator"]["id"], str(run))

    def assert_nothing_left(self, project, run=None):
        """No process that belongs to the project, and no scratch folder."""
        end = time.monotonic() + 2
        while (left := processes_of(project.folder)) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(left, [])
        if run is not None:
            self.assertFalse((run.folder / "scratch").exists(), "a scratch folder is left")


class RealEngines(Case):
    """A real (if small) model and a folder of samples in a home that all tests of a class share."""

    SAMPLES = 900  # half of them are the hold-out: 1 % at 2.5 % error needs 368

    @classmethod
    def make_home(cls):
        cls.home = Path(tempfile.mkdtemp(prefix="fiel-e2e-real-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)

    @classmethod
    def make_classifier(cls):
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        import make_models
        cls.make_home()
        (cls.home / "model.onnx").write_bytes(make_models.small_cnn().SerializeToString(deterministic=True))
        (cls.home / "samples").mkdir()
        images = np.random.RandomState(5).standard_normal((cls.SAMPLES, 3, 32, 32)).astype(np.float32)
        np.savez(cls.home / "samples/inputs.npz", image=images)
        cls.image = images[:1]

    # For make_sets: %s is how much of the agreement may be lost.
    SETS = """
fiel = 1
[model]
path = "model.onnx"
[data]
calibration = "calibration"
tuning      = "tuning"
holdout     = "holdout"
[target]
engines = ["openvino"]
[[accuracy.task]]
name      = "agreement"
evaluator = "agreement"
output    = "probabilities"
max_drop  = %s
"""

    @classmethod
    def make_sets(cls, max_drop, variant):
        """The classifier with its samples in three sets, and a contract with this [[variant]]."""
        cls.make_classifier()
        images = np.load(cls.home / "samples/inputs.npz")["image"]
        for name, some in (("calibration", images[:40]), ("tuning", images[40:240]), ("holdout", images[240:440])):
            (cls.home / name).mkdir()
            np.savez(cls.home / name / "inputs.npz", image=some)
        (cls.home / "contract.toml").write_text(cls.SETS % max_drop + "[[variant]]\n" + variant)

    @classmethod
    def fiel(cls, *words, timeout=60):
        ended = subprocess.run([str(BIN / "fiel"), *map(str, words)], cwd=cls.home, timeout=timeout, text=True,
                               env={**os.environ, "FIEL_STATE_DIR": str(cls.home / "state"), "NO_COLOR": "1"},
                               stdin=subprocess.DEVNULL, capture_output=True)
        return Done(ended.returncode, ended.stdout, ended.stderr, 0.0)

    def shown(self, tuned=None):
        # What this machine finds is its own matter; that it is decided, or said what is missing, is ours.
        tuned = tuned or self.tuned
        self.assertIn(tuned.status, (0, 3), tuned.err)
        return json.loads(tuned.out)

    def run_bundle(self, bundle, expected, tolerance):
        """Runs the bundle's Python program on one image."""
        np.save(self.home / "image.npy", self.image)
        done = subprocess.run([sys.executable, bundle / "load.py", f"image={self.home / 'image.npy'}", "--save",
                               self.home / "out"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"output probabilities float32 \[1, 10\]\nlatency \d")
        np.testing.assert_allclose(np.load(self.home / "out/0.npy"), expected, atol=tolerance)
