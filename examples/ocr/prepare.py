"""Prepares the example: takes the text-recognition model out of a published package, and renders labelled lines.

    .venv/bin/python examples/ocr/prepare.py [--force]

Writes model/ (the model and its character dictionary) and data/{calibration,tuning,holdout} (inputs.npz and labels.csv;
row i of labels.csv is row i of inputs.npz). Everything is seeded; what is there and up to date is left alone.
"""

import argparse
import csv
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import PIL

import render
import texts

HERE = Path(__file__).resolve().parent
FONTS = Path("/usr/share/fonts/truetype")

PACKAGE = "rapidocr-onnxruntime==1.4.4"
WHEEL_SHA256 = "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf"
MODEL_NAME = "ch_PP-OCRv4_rec_infer.onnx"
MODEL_SHA256 = "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b"

# Sets differ in their words (texts.py), their typefaces and their seeds.
SETS = {
    "calibration": {
        "seed": 1, "words": texts.CALIBRATION_WORDS, "clean": 24, "each_hard": 8,
        "fonts": ["Carlito-Regular", "Carlito-Bold", "Caladea-Regular", "Caladea-Bold"],
    },
    "tuning": {
        "seed": 2, "words": texts.TUNING_WORDS, "clean": 180, "each_hard": 60,
        "fonts": ["LiberationSans-Regular", "LiberationSans-Bold", "LiberationSerif-Regular",
                  "LiberationMono-Regular", "Roboto-Regular", "Roboto-Medium"],
    },
    "holdout": {
        "seed": 3, "words": texts.HOLDOUT_WORDS, "clean": 400, "each_hard": 120,
        "fonts": ["DejaVuSans", "DejaVuSans-Bold", "DejaVuSerif", "DejaVuSansMono",
                  "OpenSans-Regular", "OpenSans-Semibold"],
    },
}


def sha256(file):
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def prepare_model(force):
    folder = HERE / "model"
    model = folder / MODEL_NAME
    characters = folder / "characters.txt"
    if not force and model.exists() and characters.exists() and sha256(model) == MODEL_SHA256:
        return print(f"model: {model.name} is there", file=sys.stderr)
    print(f"model: downloading the package {PACKAGE} (15 MB)", file=sys.stderr)
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # The package declares older Pythons only, but nothing of it is run: the model file is all we want.
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
                   "--only-binary=:all:", "--ignore-requires-python", "--dest", scratch, PACKAGE]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"prepare.py: pip could not download {PACKAGE}: is there a network?")
        (wheel,) = Path(scratch).glob("*.whl")
        if sha256(wheel) != WHEEL_SHA256:
            sys.exit(f"prepare.py: {wheel.name} is not the file that this example was made with (SHA-256 differs)")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith("/" + MODEL_NAME)]
            unpacked = Path(scratch) / MODEL_NAME
            unpacked.write_bytes(archive.read(name))
        if sha256(unpacked) != MODEL_SHA256:
            sys.exit(f"prepare.py: {MODEL_NAME} is not the file that this example was made with (SHA-256 differs)")
        properties = {entry.key: entry.value for entry in onnx.load(unpacked).metadata_props}
        characters.write_text(properties["character"].removesuffix("\n"), encoding="utf-8")
        shutil.move(unpacked, model)


def find_fonts(names):
    files = []
    for name in names:
        found = sorted(FONTS.rglob(name + ".ttf"))
        if not found:
            sys.exit(f"prepare.py: no {name}.ttf below {FONTS}: run ./setup")
        files.append(found[0])
    return files


def recipe(fonts):
    """Names all that decides a set's bytes; stored beside it."""
    parts = [f"numpy {np.__version__}", f"pillow {PIL.__version__}"]
    sources = [HERE / name for name in ("prepare.py", "render.py", "texts.py")]
    parts += [f"{file.name} {sha256(file)}" for file in [*sources, *fonts]]
    return "\n".join(parts) + "\n"


def prepare_set(name, spec, used, force):
    fonts = find_fonts(spec["fonts"])
    slices = ["clean"] * spec["clean"]
    slices += [hard for hard in render.HARD_SLICES for _ in range(spec["each_hard"])]
    generator = np.random.default_rng(spec["seed"])
    lines = texts.lines(spec["words"], len(slices), generator, used)
    folder = HERE / "data" / name
    note = folder.with_suffix(".recipe")
    if not force and note.exists() and note.read_text() == recipe(fonts):
        return print(f"data: {name} is there", file=sys.stderr)

    print(f"data: rendering {name}, {len(slices)} lines", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    order = generator.permutation(len(slices))  # slices mixed, so that the first n samples are a fair sample too
    inputs = np.empty((len(slices), 3, render.HEIGHT, render.WIDTH), np.float32)
    with open(folder / "labels.csv", "w", encoding="utf-8", newline="") as file:
        labels = csv.writer(file, lineterminator="\n")
        labels.writerow(["sample", "label", "slice"])
        for row, (text, which) in enumerate(zip(lines, order)):
            font = fonts[generator.integers(len(fonts))]
            inputs[row] = render.to_input(render.render(text, font, slices[which], generator))
            labels.writerow([f"{name[0]}{row + 1:04d}", text, slices[which]])
    np.savez(folder / "inputs.npz", x=inputs)
    note.write_text(recipe(fonts))  # last: a set without it is made again


def main():
    parser = argparse.ArgumentParser(description="prepares the text-recognition example")
    parser.add_argument("--force", action="store_true", help="make everything again")
    arguments = parser.parse_args()
    prepare_model(arguments.force)
    used = set()
    for name, spec in SETS.items():
        prepare_set(name, spec, used, arguments.force)


if __name__ == "__main__":
    main()
