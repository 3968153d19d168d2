#!/usr/bin/env python3
"""A worker that its model took over: hostile_worker.py WORKER SCRIPT

Passes all lines on to WORKER SCRIPT (the scripted engine) and back. What the knob DEFECT is set to happens besides: each
function of ATTACKS is given the request and the good answer, and gives the answer that goes out. Nothing of it asks for rights
that a confined worker has not: what is tried is what such a worker can put in the coordinator's way.
"""
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

requests = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
answers = os.fdopen(os.dup(1), "wb", buffering=0)
os.dup2(2, 1)
engine = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def outputs_of(request, answer):
    """The files that the answer names."""
    for sample in answer.get("outputs", []):
        for file in sample.get("files", {}).values():
            yield Path(request["output_dir"]) / file


def deeper(folder, levels):
    """A path that no system call takes."""
    here = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    for _ in range(levels):
        os.mkdir("deeper-and-deeper")
        os.chdir("deeper-and-deeper")
    os.fchdir(here)


def flickers(request, answer):
    """Its outputs are now files, now pipes, now links to what the user may read, faster than anybody can look."""
    if request["type"] != "infer":
        return answer
    forms = []
    for file in outputs_of(request, answer):
        good, pipe, link = (file.with_name(f"{file.name}.{kind}") for kind in ("good", "pipe", "link"))
        good.write_bytes(file.read_bytes())
        os.mkfifo(pipe)
        link.symlink_to("/etc/hostname")
        forms.append((file, [good, pipe, link]))

    def flicker():
        while True:
            for file, kinds in forms:
                for kind in kinds:
                    try:
                        os.rename(kind, file)
                        os.rename(file, kind)
                    except OSError:
                        pass

    for _ in range(2):
        threading.Thread(target=flicker, daemon=True).start()
    return answer


def pipes(request, answer):
    if request["type"] == "infer":
        for file in outputs_of(request, answer):
            file.unlink()
            os.mkfifo(file)
    return answer


def links_its_folder(request, answer):
    """The folder of its outputs is a link to one that has files of the same names."""
    if request["type"] == "infer":
        folder = Path(request["output_dir"])
        folder.rename(folder.with_name("elsewhere"))
        folder.symlink_to("elsewhere")
    return answer


def huge_output(request, answer):
    """An array that takes no room on the disk and all of the memory."""
    if request["type"] == "infer":
        for file in list(outputs_of(request, answer))[:1]:
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }"
            header = header.ljust(117) + b"\n"
            file.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
            os.truncate(file, 10 + len(header) + 4 * 1099511627776)
    return answer


def hole_in_artifact(request, answer):
    if request["type"] == "build":
        hole = Path(request["artifact_dir"]) / "hole"
        hole.touch()
        os.truncate(hole, 1 << 40)
    return answer


def deep_artifact(request, answer):
    if request["type"] == "build":
        deeper(request["artifact_dir"], 2000)
    return answer


def many_files(request, answer):
    if request["type"] == "build":
        for i in range(10_500):
            (Path(request["artifact_dir"]) / str(i)).touch()
    return answer


def odd_name(request, answer):
    if request["type"] == "build":
        Path(os.fsdecode(os.fsencode(request["artifact_dir"]) + b"/\xff\x1b[31m\n")).touch()
    return answer


def pipe_in_artifact(request, answer):
    if request["type"] == "build":
        os.mkfifo(Path(request["artifact_dir"]) / "pipe")
    return answer


def long_read_back(request, answer):
    if request["type"] == "build":
        answer["effective"] = {f"SETTING_{i}": "x" * 1000 for i in range(3000)}
    return answer


def nested(request, answer):
    return b'{"id":' + str(answer["id"]).encode() + b',"type":"result","x":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}\n"


def gigabyte(request, answer):
    piece = b"x" * (1 << 20)
    for _ in range(1 << 10):
        answers.write(piece)
    return answer


def deep_scratch(request, answer):
    """Does its work; only who cleans up after it has to look out."""
    if request["type"] == "load":
        deeper(".", 3000)
        os.mkdir("locked", 0)
    return answer


def leaks_descriptors(request, answer):
    """Does its work, with as many files open as it may."""
    if request["type"] == "load":
        try:
            for _ in range(20_000):
                os.open("/dev/null", os.O_RDONLY)
        except OSError:
            pass
    return answer


def leaves_processes(request, answer):
    """Does its work; what it started, without the mark of who did and with standard output in hand, is to end with it."""
    if request["type"] == "load":
        if os.fork() == 0:
            if os.fork() == 0:
                # Processes are looked for by the script's path on their command line.
                os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[2]], {})
            os._exit(0)
    return answer


def builds_differ(request, answer):
    """Does its work; no two builds have the same bytes, as where a compiler times its kernels while it builds."""
    if request["type"] == "build":
        (Path(request["artifact_dir"]) / "kernels").write_bytes(os.urandom(16))
    return answer


def fills_disk(request, answer):
    if request["type"] == "build":
        piece = b"x" * (1 << 20)
        try:
            with open(Path(request["artifact_dir"]) / "much", "wb", buffering=0) as file:
                while file.write(piece):
                    pass
        except OSError:
            time.sleep(1)
    return answer


ATTACKS = {attack.__name__: attack for attack in (
    flickers, pipes, links_its_folder, huge_output, hole_in_artifact, deep_artifact, many_files, odd_name, pipe_in_artifact,
    long_read_back, nested, gigabyte, deep_scratch, leaks_descriptors, leaves_processes, builds_differ,
    fills_disk)}


def main():
    attack = None
    for line in requests:
        request = json.loads(line)
        attack = ATTACKS.get(request.get("settings", {}).get("DEFECT"), attack)
        engine.stdin.write(line.encode())
        engine.stdin.flush()
        answer = json.loads(engine.stdout.readline())
        if attack and request["type"] != "bye":
            answer = attack(request, answer)
        answers.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n")
        if request["type"] == "bye":
            break
    engine.wait()


main()
