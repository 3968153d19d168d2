"""How is fiel called, and what comes back? Its exit statuses are those of `fiel --help`."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import IO, Any

from fiel._programs import program

Word = str | os.PathLike[str]
Progress = Callable[[dict[str, Any]], object]

_VERDICTS = (0, 3, 4)  # decided, undecided, infeasible: answers, all of them
_LINES_KEPT = 60


class Failed(Exception):
    """fiel ended without an answer. `status` is its exit status, `message` what it told people last."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message or f"fiel ended with exit status {status}")
        self.status = status
        self.message = message


def output_of(words: Iterable[Word]) -> str:
    """What a command that only shows something prints."""
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8",
                          errors="replace", check=False)
    if done.returncode != 0:
        raise Failed(done.returncode, done.stderr.strip())
    return done.stdout


def version() -> str:
    """Of the programs: "0.1.0"."""
    return output_of(["--version"]).split()[-1]


def watch(words: list[Word], progress: Progress | None, wanted: str = "\n") -> list[str]:
    """Runs a long command to its verdict, and returns the lines that it told people which begin with `wanted`.

    With `progress` each event (docs/events.md) goes there; without, what people read goes to sys.stderr. Whatever stops
    the watching, Ctrl-C too, stops fiel in good order: `resume` goes on."""
    lines: deque[str] = deque(maxlen=_LINES_KEPT)  # the last ones, for an error
    found: list[str] = []
    more = ["--json-lines"] if progress else []
    with subprocess.Popen([program(), *words, *more], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, encoding="utf-8", errors="replace", process_group=0) as process:
        assert process.stdout and process.stderr
        reader = threading.Thread(target=_keep_lines, args=(process.stderr, lines, found, wanted, progress is None))
        reader.start()
        try:
            for line in process.stdout:
                if progress:
                    progress(json.loads(line))
            status = process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            for _ in process.stdout:  # so that it is not held up
                pass
            raise
        finally:
            reader.join()
    if status not in _VERDICTS:
        raise Failed(status, "\n".join(lines).strip())
    return found


def _keep_lines(stream: IO[str], lines: deque[str], found: list[str], wanted: str, shown: bool) -> None:
    for line in stream:
        lines.append(line.rstrip("\n"))
        if line.startswith(wanted):
            found.append(lines[-1])
        if shown:
            print(line, end="", file=sys.stderr, flush=True)
