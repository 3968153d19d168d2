"""Evaluators of two of the cases: score.py captcha|voice OUTPUTS DATASET, a JSON line for each sample in OUTPUTS.

captcha: 1 if the text read (greedy CTC, upper and lower case alike) is the label. voice: the share of steps whose decision
(speech above 0.5) is the label's, which has a 0 or a 1 for each step.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np


def captcha(output, label, characters):
    best = output.reshape(-1, output.shape[-1]).argmax(1) if output.shape[-1] == len(characters) else output.ravel()
    text, last = "", None
    for index in best.astype(int):
        text += characters[index] if index != last else ""
        last = index
    return float(text.lower() == label.lower())


def voice(output, label, _):
    return float(np.mean((output.ravel() > 0.5) == np.array([step == "1" for step in label])))


def main():
    kind, outputs, dataset = sys.argv[1:]
    file = Path(__file__).parent / "characters.json"
    characters = json.loads(file.read_text(encoding="utf-8")) if kind == "captcha" else None
    with open(Path(dataset) / "labels.csv", encoding="utf-8", newline="") as rows:
        labels = {row["sample"]: row["label"] for row in csv.DictReader(rows)}
    for file in sorted(Path(outputs).glob("*.npz")):
        with np.load(file) as arrays:
            output = arrays["output" if kind == "voice" else arrays.files[0]]
        score = {"captcha": captcha, "voice": voice}[kind](output, labels[file.stem], characters)
        print(json.dumps({"sample": file.stem, "score": score}))


if __name__ == "__main__":
    main()
