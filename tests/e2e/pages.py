"""The snippets of documentation pages, and how a test runs them.

A comment before a fence says what is done with it:

    <!-- run: yes -->              sh and python: run it in the page's folder; it must exit with 0
    <!-- run: file=NAME -->        write it to NAME
    <!-- run: openvino -->         run by tests/e2e/test_openvino.py, on a bundle of the real engine
    <!-- run: no, WHY -->          not run here

Fences without one are output, or are looked at by a test of their own."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^(?:<!-- run: (?P<what>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Snippet:
    page: str
    line: int
    what: str  # "" where nothing is said
    language: str
    text: str

    def run(self, folder, environment):
        """Runs or writes it; says what went wrong by an AssertionError that names the page's line."""
        if self.what.startswith("file="):
            (folder / self.what.removeprefix("file=")).write_text(self.text)
            return
        command = {"sh": ["bash", "-euo", "pipefail", "-c", self.text], "python": [sys.executable, "-c", self.text]}[self.language]
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{self.page}:{self.line}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}"


def snippets_of(page):
    text = (ROOT / page).read_text()
    return [Snippet(page, text.count("\n", 0, found.start()) + 1, found["what"] or "", found["language"], found["text"])
            for found in FENCE.finditer(text)]
