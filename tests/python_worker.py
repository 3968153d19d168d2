#!/usr/bin/env python3
"""A whole fiel worker in Python, as docs/protocol.md says: the "engine" doubles its input.

It has one knob, THREADS, which changes nothing. Use it as the start of a worker of your own: replace build(), load()
and run_once().
"""
import json
import os
import sys
import time

# First act: keep descriptors 0 and 1 for ourselves, since engines print.
requests = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)

import numpy as np  # noqa: E402  (after the descriptors are safe)


class Refused(Exception):
    """Becomes an answer of type "error"."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


loaded = None


def hello(_):
    return {
        "protocol": 1,
        "engine": "doubler",
        "version": np.__version__,
        "pid": os.getpid(),
        "devices": [{"name": "CPU", "description": "numpy"}],
        "cpu_features": [],
        "capabilities": ["offline"],
        "knobs": [{"name": "THREADS", "kind": "property", "values": ["1", "2"], "default": "1", "help": "Does nothing."}],
        "float32_settings": {},
    }


def build(request):
    start = time.perf_counter()
    if request["device"] != "CPU":
        raise Refused("unsupported", f"no device {request['device']}")
    with open(os.path.join(request["artifact_dir"], "doubler.json"), "w") as file:
        json.dump({"settings": request["settings"], "model": request["model"]}, file)
    return {"build_seconds": time.perf_counter() - start, "effective": {"THREADS": "1"}, "ignored": ["THREADS"]}


def load(request):
    global loaded
    start = time.perf_counter()
    with open(os.path.join(request["artifact_dir"], "doubler.json")) as file:
        loaded = json.load(file)
    return {
        "load_seconds": time.perf_counter() - start,
        "inputs": [{"name": "x", "dtype": "float32", "shape": [-1, -1]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": [-1, -1]}],
        "parallel_requests": 1,
    }


def read_input(sample):
    place = sample["inputs"]["x"]
    count = int(np.prod(place["shape"]))
    # fromfile copies, so the pack stays as it is whatever the engine does.
    return np.fromfile(place["file"], dtype=place["dtype"], count=count, offset=place["offset"]).reshape(place["shape"])


def run_once(x):
    return x * np.float32(2)


def run_batch(samples, batch):
    """Runs up to `batch` samples joined along axis 0; the last one is repeated where some are missing."""
    inputs = [read_input(sample) for sample in samples]
    inputs += [inputs[-1]] * (batch - len(inputs))
    joined = np.concatenate(inputs)
    start = time.perf_counter()
    outputs = run_once(joined)
    seconds = time.perf_counter() - start
    return seconds, np.split(outputs, batch)[: len(samples)]


def write_outputs(folder, samples, outputs):
    entries = []
    for sample, output in zip(samples, outputs):
        name = f"{sample['index']}.npy"
        np.save(os.path.join(folder, name), output)
        entries.append({"index": sample["index"], "files": {"y": name}})
    return entries


def infer(request):
    if loaded is None:
        raise Refused("bad_request", "nothing is loaded")
    samples, batch = request["samples"], request["batch"]
    total, entries = 0.0, []
    for start in range(0, len(samples), batch):
        chunk = samples[start : start + batch]
        seconds, outputs = run_batch(chunk, batch)
        total += seconds
        entries += write_outputs(request["output_dir"], chunk, outputs)
    return {"seconds": total, "outputs": entries}


def measure(request):
    if loaded is None:
        raise Refused("bad_request", "nothing is loaded")
    if request["scenario"] == "server":
        raise Refused("unsupported", "this worker knows no server scenario")
    samples, batch = request["samples"], request["batch"]
    warmup, latencies = [], []
    position = 0
    start = time.perf_counter()
    while True:
        chunk = [samples[(position + k) % len(samples)] for k in range(min(batch, len(samples)))]
        position += len(chunk)
        if len(warmup) < request["warmup_count"]:
            warmup.append(run_batch(chunk, batch)[0])
            start = time.perf_counter()
            continue
        seconds, outputs = run_batch(chunk, batch)
        latencies.append(seconds)
        elapsed = time.perf_counter() - start
        if len(latencies) >= request["min_count"] and elapsed >= request["min_seconds"]:
            break
        if elapsed >= request["max_seconds"]:
            break
    np.array(latencies, dtype="<f8").tofile(request["latency_file"])
    done = len(latencies) * (len(chunk) if request["scenario"] == "offline" else 1)
    return {
        "count": done,
        "seconds": time.perf_counter() - start,
        "warmup_seconds": warmup,
        "outputs": write_outputs(request["output_dir"], chunk, outputs),
    }


def answer(request):
    handlers = {"hello": hello, "build": build, "load": load, "infer": infer, "measure": measure, "bye": lambda _: {}}
    try:
        if request["type"] not in handlers:
            raise Refused("bad_request", f"no request {request['type']}")
        return {"id": request["id"], "type": "result", **handlers[request["type"]](request)}
    except Refused as refused:
        return {"id": request["id"], "type": "error", "reason": refused.reason, "message": str(refused)}
    except Exception as error:  # noqa: BLE001  (an answer is better than an exit)
        return {"id": request["id"], "type": "error", "reason": "internal", "message": repr(error)}


for line in requests:
    request = json.loads(line)
    answers.write(json.dumps(answer(request)) + "\n")
    answers.flush()
    if request["type"] == "bye":
        break
sys.exit(0)
