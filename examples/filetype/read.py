"""How well does the model know the example's files, in plain OpenVINO and without fiel? For a look at the data.

    .venv/bin/python examples/filetype/read.py [--precision f32|bf16] [--types] [SET ...]
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import openvino

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description="prints the share of files known, slice by slice")
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--types", action="store_true", help="type by type as well")
    parser.add_argument("sets", nargs="*", default=["tuning", "holdout"])
    arguments = parser.parse_args()
    model = openvino.Core().compile_model(HERE / "model" / "model.onnx", "CPU",
                                          {"INFERENCE_PRECISION_HINT": arguments.precision})
    for name in arguments.sets:
        inputs = np.load(HERE / "data" / name / "inputs.npz")["bytes"]
        with open(HERE / "data" / name / "labels.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        known = defaultdict(list)
        for sample, row in zip(inputs, rows, strict=True):
            right = model(sample[None])[0][0].argmax() == int(row["label"])
            for part in ["all", row["slice"]] + [f"type {row['type']}"] * arguments.types:
                known[part].append(right)
        print(name)
        for part, right in sorted(known.items()):
            print(f"  {part:22} n={len(right):4}  {100 * np.mean(right):5.1f} %")


if __name__ == "__main__":
    main()
