"""What the program says of itself, and what shells complete: both come from what it is made of."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from harness import BIN

DOCS = Path(__file__).resolve().parents[2] / "docs"


def fiel(*words):
    return subprocess.run([BIN / "fiel", *words], capture_output=True, text=True, timeout=30)


def commands():
    text = fiel("--help").stdout
    return re.findall(r"^  (\w+) ", text[re.search("(?i)^subcommands:", text, re.M).end():], re.M)


class Help(unittest.TestCase):
    def test_a_topic_is_its_page(self):
        listed = fiel("help").stdout
        for page in DOCS.glob("*.md"):
            self.assertEqual(fiel("help", page.stem).stdout, page.read_text())
            self.assertRegex(listed, rf"(?m)^  {page.stem} ")

    def test_a_command_is_how_it_is_used(self):
        self.assertEqual(fiel("help", "tune").stdout, fiel("tune", "--help").stdout)

    def test_another_word_is_told_the_nearest(self):
        done = fiel("help", "contarct")
        self.assertEqual(done.returncode, 2)
        self.assertIn("contract", done.stderr)


class Completion(unittest.TestCase):
    def completed(self, *words):
        line = f'source <({BIN}/fiel completion bash); COMP_WORDS=(fiel "$@"); COMP_CWORD=$#; _fiel; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", line, "bash", *words], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.completed(""), commands())
        self.assertEqual(self.completed("repo"), ["report"])
        self.assertEqual(self.completed("tune", "contract.toml", "--json"), ["--json", "--json-lines"])
        self.assertEqual(self.completed("tune", "--strategy", "f"), ["full", "fast"])
        self.assertEqual(self.completed("tune", "--output", ""), [], "a file's name is the shell's own matter")
        self.assertEqual(self.completed("completion", ""), ["bash", "zsh", "fish"])

    def test_the_other_shells_can_read_theirs(self):
        for shell, check in (("zsh", "-n"), ("fish", "--no-execute")):
            text = fiel("completion", shell).stdout
            for command in commands():
                self.assertIn(command, text)
            if shutil.which(shell):
                done = subprocess.run([shell, check], input=text, capture_output=True, text=True, timeout=30)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)


if __name__ == "__main__":
    unittest.main()
