"""Write an evaluator program for a contract in ten lines: a function that scores one sample.

    # score.py
    from fiel import evaluator

    def exact_match(sample):
        return decode(sample.output) == sample.label

    evaluator.main(exact_match)

and in the contract `evaluator = ["python3", "score.py"]`, with a Python that has this package. Given several functions,
`"--metric", "NAME"` picks one. fiel calls it as `score.py OUTPUTS DATASET` and reads a JSON line per sample."""

import argparse
import csv
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Sample:
    """What the model answered for one sample, and what the data set says of it."""

    id: str
    outputs: Mapping[str, "np.ndarray[Any, Any]"]  # by the model's names, the batch axis included
    row: Mapping[str, str]  # of labels.csv; empty where there is none
    dataset: Path

    @property
    def output(self) -> "np.ndarray[Any, Any]":
        """The answer of a model that has one output."""
        if len(self.outputs) != 1:
            raise ValueError(f"the model has {len(self.outputs)} outputs, take one of sample.outputs: {', '.join(self.outputs)}")
        return next(iter(self.outputs.values()))

    @property
    def label(self) -> str:
        if "label" not in self.row:
            raise ValueError(f"sample {self.id} has no label in {self.dataset / 'labels.csv'}")
        return self.row["label"]

    @cached_property
    def inputs(self) -> dict[str, "np.ndarray[Any, Any]"]:
        """What the model was asked, where the data set has a file for each sample."""
        import numpy as np

        with np.load(self.dataset / f"{self.id}.npz") as arrays:
            return dict(arrays)


Score = Callable[[Sample], float]


def samples(outputs: Path, dataset: Path) -> Iterator[Sample]:
    """The samples to score, in the order of their names."""
    import numpy as np

    rows: dict[str, dict[str, str]] = {}
    if (dataset / "labels.csv").exists():
        with open(dataset / "labels.csv", encoding="utf-8-sig", newline="") as file:
            rows = {row["sample"]: row for row in csv.DictReader(file)}
    for path in sorted(outputs.glob("*.npz")):
        with np.load(path) as arrays:
            yield Sample(path.stem, dict(arrays), rows.get(path.stem, {}), dataset)


def main(*scores: Score) -> None:
    """The whole program: reads its arguments, prints {"sample": …, "score": …} a line for each sample."""
    by_name = {score.__name__: score for score in scores}
    if not scores or len(by_name) != len(scores):
        raise TypeError("evaluator.main wants one or more functions, each with a name of its own")
    parser = argparse.ArgumentParser(description="scores a model's outputs, sample by sample")
    parser.add_argument("--metric", choices=by_name, default=scores[0].__name__)
    parser.add_argument("outputs", type=Path, help="folder of <sample>.npz")
    parser.add_argument("dataset", type=Path, help="folder of the data set")
    arguments = parser.parse_args()
    score = by_name[arguments.metric]
    for sample in samples(arguments.outputs, arguments.dataset):
        value = float(score(sample))
        if not math.isfinite(value):  # JSON has no word for it, and no such score passes
            sys.exit(f"{arguments.metric}: the score of sample {sample.id} is {value}")
        print(json.dumps({"sample": sample.id, "score": value}))
