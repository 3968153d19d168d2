"""The contract's own task on a bundle's outputs: scores per sample, and what is lost against the reference."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def labels(contract_file, contract, which):
    folder = Path(contract_file).parent / contract["data"][which]
    with open(folder / "labels.csv", encoding="utf-8", newline="") as file:
        return {row["sample"]: row for row in csv.DictReader(file)}


def scores_of_outputs(outputs, contract_file, contract, which, task):
    """The score of each sample whose outputs lie in the folder."""
    here = Path(contract_file).resolve().parent
    rows = labels(contract_file, contract, which)
    if task["evaluator"] == "top1":
        score = {}
        for file in Path(outputs).glob("*.npz"):
            with np.load(file) as arrays:
                score[file.stem] = float(arrays[arrays.files[0]].argmax() == int(rows[file.stem]["label"]))
        return score
    program = [sys.executable if "python" in part else part for part in task["evaluator"][:1]] + task["evaluator"][1:]
    printed = subprocess.run([*program, Path(outputs).resolve(), here / contract["data"][which]], cwd=here, check=True,
                             capture_output=True, text=True).stdout
    return {line["sample"]: line["score"] for line in map(json.loads, printed.splitlines())}


def scores(bundle, contract_file, contract, which, variables=None):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, HERE / "run_bundle.py", bundle, contract_file, which, "outputs", folder],
                       check=True, capture_output=True, text=True, env=variables)
        return scores_of_outputs(folder, contract_file, contract, which, contract["accuracy"]["task"][0])


def losses(mine, reference, contract_file, contract, which, task):
    """[(part, n, score, loss, allowed)] for all samples and for each slice that the contract limits."""
    rows = labels(contract_file, contract, which)
    parts = {"all": (list(rows), task["max_drop"])}
    for name, limit in task.get("slices", {}).items():
        parts[name] = ([sample for sample, row in rows.items() if row["slice"] == name], limit["max_drop"])
    result = []
    for name, (samples, allowed) in parts.items():
        score, base = (float(np.mean([which_scores[s] for s in samples])) for which_scores in (mine, reference))
        result.append((name, len(samples), score, base - score, allowed))
    return result
