"""fiel's evaluator for the example: how well did the model read each line?

    score.py [--metric exact_match|character_accuracy] OUTPUTS DATASET

OUTPUTS holds <sample>.npz for each sample to score (arrays named like the model's outputs), DATASET is the data set's
folder with labels.csv. Prints {"sample": …, "score": …} a line for each sample found in OUTPUTS.

exact_match: 1 if the text read equals the label, blanks at both ends trimmed, else 0.
character_accuracy: 1 - (edit distance / length of the label), at least 0.
"""

import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np

BLANK = 0  # class 0 separates characters; then come the dictionary's, last the space


def read_characters(file):
    """Class index to character, from the dictionary that prepare.py takes out of the model."""
    return [""] + Path(file).read_text(encoding="utf-8").split("\n") + [" "]


def decode(logits, characters):
    """Greedy CTC: the best class of each step, repeats collapsed, blanks dropped. `logits` is [steps, classes]."""
    best = logits.argmax(axis=1)
    kept = np.concatenate(([True], best[1:] != best[:-1])) & (best != BLANK)
    return "".join(characters[i] for i in best[kept]).strip()


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, from_a in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, from_b in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (from_a != from_b))
    return row[-1]


def exact_match(read, label):
    return 1.0 if read == label.strip() else 0.0


def character_accuracy(read, label):
    label = label.strip()
    return max(0.0, 1.0 - edit_distance(read, label) / max(1, len(label)))


METRICS = {"exact_match": exact_match, "character_accuracy": character_accuracy}


def main():
    parser = argparse.ArgumentParser(description="scores a text recogniser's outputs, sample by sample")
    parser.add_argument("--metric", choices=METRICS, default="exact_match")
    parser.add_argument("outputs", type=Path)
    parser.add_argument("dataset", type=Path)
    arguments = parser.parse_args()

    characters = read_characters(Path(__file__).parent / "model" / "characters.txt")
    with open(arguments.dataset / "labels.csv", encoding="utf-8", newline="") as file:
        labels = {row["sample"]: row["label"] for row in csv.DictReader(file)}
    for file in sorted(arguments.outputs.glob("*.npz")):
        if file.stem not in labels:
            sys.exit(f"score.py: sample {file.stem} has no label in {arguments.dataset / 'labels.csv'}")
        with np.load(file) as arrays:
            if len(arrays.files) != 1:
                sys.exit(f"score.py: {file} should hold the model's one output, but holds {arrays.files}")
            output = arrays[arrays.files[0]]
        logits = output.reshape(-1, output.shape[-1]).astype(np.float32, copy=False)
        if logits.shape[-1] != len(characters):
            sys.exit(f"score.py: {file} has {logits.shape[-1]} classes, the dictionary {len(characters)}")
        score = METRICS[arguments.metric](decode(logits, characters), labels[file.stem])
        print(json.dumps({"sample": file.stem, "score": score}))


if __name__ == "__main__":
    main()
