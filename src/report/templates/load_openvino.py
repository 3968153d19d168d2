#!/usr/bin/env python3
"""Loads the sealed artifact beside this file, runs it, and says what came out and how long it took.

Usage: load.py [INPUT=FILE.npy ...] [--repeat N] [--save FOLDER]

Inputs that are not given are zeros, if they are floats: enough to see that it runs, not that it is right.
Exit status: 2 usage, 6 seal broken, 7 another OpenVINO or CPU than the bundle was measured with.
"""
import hashlib
import json
import os
import pathlib
import statistics
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
RESTARTED = "FIEL_BUNDLE_RESTARTED"


def stop(status: int, message: str) -> None:
    print(f"load.py: {message}", file=sys.stderr)
    sys.exit(status)


def read_bundle() -> dict:
    try:
        return json.loads((FOLDER / "bundle.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        stop(6, f"bundle.json cannot be read: {error}")


def check_seal(bundle: dict) -> None:
    for name, sealed in bundle["files"].items():
        digest = hashlib.sha256()
        try:
            with open(FOLDER / name, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            stop(6, f"the seal is broken: {name}: {error.strerror}")
        if digest.hexdigest() != sealed["sha256"]:
            stop(6, f"the seal is broken: {name} is not what was measured (SHA-256 {digest.hexdigest()})")


def enter_environment(bundle: dict) -> None:
    """Some settings are read when a process starts: set them, and start once more."""
    missing = {name: value for name, value in bundle["environment"].items() if os.environ.get(name) != value}
    if not missing:
        return
    if RESTARTED in os.environ:
        stop(7, f"the environment does not keep {', '.join(missing)}")
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **missing, RESTARTED: "1"})


def check_machine(bundle: dict, version: str) -> None:
    if version.split("-")[0] != bundle["engine_version"]:
        stop(7, f"this artifact belongs to OpenVINO {bundle['engine_version']}, here is {version}: tune again, or install "
                f"openvino=={bundle['engine_version']}")
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return
    flags = next((set(line.split(":")[1].split()) for line in text.splitlines() if line.startswith(("flags", "Features"))),
                 None)
    lacking = sorted(set(bundle["cpu_features"]) - flags) if flags is not None else []
    if lacking:
        stop(7, f"this CPU lacks {', '.join(lacking)}, which the artifact was built and measured with: tune again here")
    cores = set(bundle["cores"])
    if cores and hasattr(os, "sched_getaffinity") and os.sched_getaffinity(0) != cores:
        words = ",".join(str(core) for core in sorted(cores))
        print(f"load.py: note: it was measured on cores {words} alone: taskset -c {words} ...", file=sys.stderr)


def import_artifact(core, bundle: dict, note: dict):
    path = FOLDER / "artifact" / note["file"]
    if note["file"].endswith(".xml"):  # this device exports nothing compiled
        return core.compile_model(str(path), bundle["device"], bundle["properties"])
    return core.import_model(path.read_bytes(), bundle["device"], bundle["properties"])


def shape_of(port, name: str, bundle: dict) -> list:
    """Open axes are filled from the traffic's first shape, the batch along axis 0."""
    sizes = [size.get_length() if size.is_static else -1 for size in port.partial_shape]
    traffic = bundle["shapes"][0]["inputs"].get(name) if bundle["shapes"] else None
    for axis, size in enumerate(sizes):
        if size < 0:
            known = traffic is not None and axis < len(traffic)
            sizes[axis] = (traffic[axis] if known else 1) * (bundle["batch"] if axis == 0 else 1)
    return sizes


def make_inputs(np, compiled, names: list, files: dict, bundle: dict) -> list:
    inputs = []
    for port, name in zip(compiled.inputs, names):
        if name in files:
            inputs.append(np.ascontiguousarray(np.load(files.pop(name), allow_pickle=False)))
            continue
        dtype = port.element_type
        if not dtype.is_real():
            stop(2, f"input {name} is {dtype.get_type_name()}: made-up integers may mean anything; give {name}=FILE.npy")
        inputs.append(np.zeros(shape_of(port, name, bundle), dtype=dtype.to_dtype()))
    if files:
        stop(2, f"no input is called {', '.join(files)}; there are {', '.join(names)}")
    return inputs


def parse_arguments(arguments: list) -> tuple:
    files, repeat, save = {}, 20, None
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-h", "--help"):
            print(__doc__)
            sys.exit(0)
        elif argument == "--repeat":
            repeat = max(1, int(next(rest, "20")))
        elif argument == "--save":
            save = next(rest, None)
        elif "=" in argument:
            name, _, path = argument.partition("=")
            files[name] = path
        else:
            stop(2, f"{argument}: expected INPUT=FILE.npy, --repeat N or --save FOLDER")
    return files, repeat, save


def main() -> None:
    files, repeat, save = parse_arguments(sys.argv[1:])
    bundle = read_bundle()
    check_seal(bundle)
    enter_environment(bundle)
    import numpy as np
    import openvino as ov

    check_machine(bundle, ov.get_version())
    note = json.loads((FOLDER / "artifact" / "load.json").read_text(encoding="utf-8"))
    compiled = import_artifact(ov.Core(), bundle, note)
    inputs = make_inputs(np, compiled, note["inputs"], files, bundle)
    request = compiled.create_infer_request()
    for index, array in enumerate(inputs):
        request.set_input_tensor(index, ov.Tensor(array))
    seconds = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        request.infer()
        seconds.append(time.perf_counter() - start)
    for index, name in enumerate(note["outputs"]):
        array = request.get_output_tensor(index).data
        print(f"output {name} {array.dtype} {list(array.shape)}")
        if save:
            pathlib.Path(save).mkdir(parents=True, exist_ok=True)
            np.save(pathlib.Path(save) / f"{index}.npy", array)
    median = statistics.median(seconds[1:])
    print(f"latency {1e3 * median:.3f} ms (median of {repeat}, after a first one of {1e3 * seconds[0]:.3f} ms)")


if __name__ == "__main__":
    main()
