"""How well does the model read the example's lines, in plain OpenVINO and without fiel? For a look at the data.

    .venv/bin/python examples/ocr/read.py [--precision f32|bf16] [SET ...]
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import openvino

import score

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description="prints both metrics, slice by slice")
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    parser.add_argument("sets", nargs="*", default=["tuning", "holdout"])
    arguments = parser.parse_args()
    core = openvino.Core()
    model = core.compile_model(HERE / "model" / "ch_PP-OCRv4_rec_infer.onnx", "CPU",
                               {"INFERENCE_PRECISION_HINT": arguments.precision})
    characters = score.read_characters(HERE / "model" / "characters.txt")
    for name in arguments.sets:
        inputs = np.load(HERE / "data" / name / "inputs.npz")["x"]
        with open(HERE / "data" / name / "labels.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        scores = defaultdict(list)
        for sample, row in zip(inputs, rows, strict=True):
            text = score.decode(model(sample[None])[0][0], characters)
            both = [metric(text, row["label"]) for metric in score.METRICS.values()]
            scores[row["slice"]].append(both)
            scores["all"].append(both)
        print(f"{name}: {', '.join(score.METRICS)}")
        for slice_name, both in scores.items():
            means = "  ".join(f"{100 * mean:5.1f} %" for mean in np.mean(both, axis=0))
            print(f"  {slice_name:13} n={len(both):4}  {means}")


if __name__ == "__main__":
    main()
