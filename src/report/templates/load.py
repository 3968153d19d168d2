#!/usr/bin/env python3
"""Loads the sealed artifact beside this file, runs it, and says what came out and how long it took.

Usage: load.py [INPUT=FILE.npy ...] [--repeat N] [--save FOLDER]

Inputs that are not given are zeros, if they are floats: enough to see that it runs, not that it is right.
Exit status: 2 usage, 6 seal broken, 7 another engine or CPU than the bundle was measured with.
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


def check_machine(bundle: dict, engine) -> None:
    if engine.version() != bundle["engine_version"]:
        stop(7, f"this artifact belongs to {engine.NAME} {bundle['engine_version']}, here is {engine.version()}: tune again, "
                f"or install {engine.PACKAGE}=={bundle['engine_version']}")
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


def traffic_shape(sizes: list, name: str, bundle: dict) -> list:
    """Open axes are filled from the traffic's first shape, the batch along axis 0."""
    traffic = bundle["shapes"][0]["inputs"].get(name) if bundle["shapes"] else None
    for axis, size in enumerate(sizes):
        if size < 0:
            known = traffic is not None and axis < len(traffic)
            sizes[axis] = (traffic[axis] if known else 1) * (bundle["batch"] if axis == 0 else 1)
    return sizes


def make_inputs(np, ports: list, names: list, files: dict, bundle: dict) -> list:
    inputs = []
    for (dtype, is_float, sizes), name in zip(ports, names):
        if name in files:
            inputs.append(np.ascontiguousarray(np.load(files.pop(name), allow_pickle=False)))
            continue
        if not is_float:
            stop(2, f"input {name} is {dtype}: made-up integers may mean anything; give {name}=FILE.npy")
        inputs.append(np.zeros(traffic_shape(sizes, name, bundle), dtype=dtype))
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
    sys.dont_write_bytecode = True  # the bundle stays as it was sealed
    sys.path.insert(0, str(FOLDER))
    import numpy as np
    import engine

    check_machine(bundle, engine)
    note = json.loads((FOLDER / "artifact" / "load.json").read_text(encoding="utf-8"))
    session = engine.Session(FOLDER, bundle, note)
    session.set_inputs(make_inputs(np, session.inputs(), note["inputs"], files, bundle))
    seconds = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        session.run()
        seconds.append(time.perf_counter() - start)
    for index, (name, array) in enumerate(zip(note["outputs"], session.outputs())):
        print(f"output {name} {array.dtype} {list(array.shape)}")
        if save:
            pathlib.Path(save).mkdir(parents=True, exist_ok=True)
            np.save(pathlib.Path(save) / f"{index}.npy", array)
    median = statistics.median(seconds[1:])
    print(f"latency {1e3 * median:.3f} ms (median of {repeat}, after a first one of {1e3 * seconds[0]:.3f} ms)")


if __name__ == "__main__":
    main()
