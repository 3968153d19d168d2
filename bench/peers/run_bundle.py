"""Runs one bundle in this process, by the loader that fiel ships with its bundles: outputs of a set, or a timing.

    run_bundle.py BUNDLE CONTRACT SET outputs FOLDER     <sample>.npz of outputs for each sample
    run_bundle.py BUNDLE CONTRACT SET time SECONDS       prints the median latency in seconds of one inference

A recurrent model's states are carried from step to step, as the contract's [[model.state]] says.
"""

import json
import statistics
import sys
import time
import tomllib
from pathlib import Path

import numpy as np

WARM_UP = 10


def samples(folder, states):
    """(name, [inputs of a step, ...]) of each sample, in the order of labels.csv."""
    names = [line.split(",")[0] for line in (folder / "labels.csv").read_text(encoding="utf-8").splitlines()[1:]]
    if (folder / "inputs.npz").exists():
        with np.load(folder / "inputs.npz") as file:
            arrays = {name: file[name] for name in file.files}
        for row, name in enumerate(names):
            yield name, [{key: array[row][None] for key, array in arrays.items()}]
        return
    for name in names:
        with np.load(folder / f"{name}.npz") as file:
            arrays = {key: file[key] for key in file.files}
        first = {key: arrays.pop(key) for key in list(arrays) if key in states}
        steps = [{key: array[i] for key, array in arrays.items()} for i in range(len(next(iter(arrays.values()))))]
        steps[0] |= first
        yield name, steps


class Runner:
    def __init__(self, bundle, contract):
        sys.path.insert(0, str(bundle))
        sys.dont_write_bytecode = True
        import engine
        self.note = json.loads((bundle / "artifact" / "load.json").read_text())
        self.session = engine.Session(bundle, json.loads((bundle / "bundle.json").read_text()), self.note)
        self.carried = [(state["output"], state["input"]) for state in contract["model"].get("state", [])]
        carried = {into for _, into in self.carried}
        self.zeros = {name: np.zeros([max(1, size) for size in sizes], dtype)
                      for name, (dtype, _, sizes) in zip(self.note["inputs"], self.session.inputs()) if name in carried}

    def sample(self, steps):
        """Outputs of each step, and the seconds that each took."""
        states, results, seconds = self.zeros, [], []
        for step in steps:
            feed = {**states, **step}
            self.session.set_inputs([np.asarray(feed[name], order="C") for name in self.note["inputs"]])
            start = time.perf_counter()
            self.session.run()
            seconds.append(time.perf_counter() - start)
            results.append({name: np.array(array) for name, array in zip(self.note["outputs"], self.session.outputs())})
            states = {into: results[-1][out] for out, into in self.carried}
        return results, seconds


def main():
    bundle, contract_file, which, what, rest = sys.argv[1:]
    contract = tomllib.loads(Path(contract_file).read_text())
    folder = Path(contract_file).parent / contract["data"][which]
    runner = Runner(Path(bundle).resolve(), contract)
    states = [into for _, into in runner.carried]
    feeds = samples(folder, states)
    if what == "outputs":
        for name, steps in feeds:
            results, _ = runner.sample(steps)
            stacked = {k: np.stack([r[k] for r in results]) if states else results[0][k] for k in results[0]}
            np.savez(Path(rest) / f"{name}.npz", **stacked)
        return
    seconds, stop = [], None
    everything = list(feeds)
    while stop is None or time.perf_counter() < stop or len(seconds) < WARM_UP:
        for _, steps in everything:
            seconds += runner.sample(steps)[1]
            if stop is None and len(seconds) >= WARM_UP:
                seconds, stop = [], time.perf_counter() + float(rest)
            elif stop is not None and time.perf_counter() > stop:
                break
    print(statistics.median(seconds))


if __name__ == "__main__":
    main()
