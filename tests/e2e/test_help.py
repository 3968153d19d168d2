"""What the program says of itself, and what shells complete: both come from what it is made of."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import BIN
from terminal import TypedShell

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

    def test_every_script_knows_every_command(self):
        for shell in ("bash", "zsh", "fish"):
            text = fiel("completion", shell).stdout
            self.assertEqual([command for command in commands() if command not in text], [], shell)


# What stands before, what is begun, and what Tab makes of it.
TYPED = [("", "repo", "report"),
         ("tune ", "--cand", "--candidates"),
         ("tune --strategy ", "fu", "full"),
         ("tune ", "--strategy=fu", "--strategy=full"),
         ("tune ", "contr", "contract.toml"),
         ("tune contract.toml --output ", "plac", "places"),
         ("completion ", "zs", "zsh"),
         ("help ", "tuto", "tutorial"),
         ("import ", "trt", "trtexec-cache"),
         ("import trtexec-cache ", "cach", "cache.jsonl"),
         ("show some.run ", "--mark", "--markdown")]


class InTheShells(unittest.TestCase):
    """The shells themselves, typed at. Those that are not installed are skipped: ./setup --tests installs them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fiel-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("contract.toml", "cache.jsonl"):
            (self.folder / name).touch()
        (self.folder / "places").mkdir()
        self.environment = {**os.environ, "HOME": folder.name, "TERM": "xterm", "PS1": "> "}

    def needs(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"this needs {shell}: apt-get install {shell}")

    def type_at(self, command, begin):
        """`fiel` is a function here that says what it was called with."""
        shell = TypedShell(command, self.environment, self.folder, begin + "; fiel() { printf '{%s}' \"$@\"; echo .; }")
        self.addCleanup(shell.close)
        for before, typed, wanted in TYPED:
            shell.complete(f"fiel {before}{typed}")
            said = shell.ask("", "}.")
            self.assertEqual(re.findall(r"\{([^}]*)\}", said)[-1].rstrip("/"), wanted, (command[0], before, typed, said))

    def test_bash(self):
        self.type_at(["bash", "--norc", "--noprofile", "-i"], f"source <({BIN}/fiel completion bash)")

    def test_zsh(self):
        self.needs("zsh")
        self.type_at(["zsh", "-f", "-i"], f"autoload -Uz compinit; compinit -u -D; source <({BIN}/fiel completion zsh)")

    def test_zsh_by_a_file_of_its_own(self):
        self.needs("zsh")
        (self.folder / "site").mkdir()
        (self.folder / "site/_fiel").write_text(fiel("completion", "zsh").stdout)
        self.type_at(["zsh", "-f", "-i"], "fpath=($PWD/site $fpath); autoload -Uz compinit; compinit -u -D")

    def test_fish(self):
        self.needs("fish")
        asked = "".join(f"; echo '#'; complete -C 'fiel {before}{typed}'" for before, typed, _ in TYPED)
        done = subprocess.run(["fish", "--no-config", "-c", f"{BIN}/fiel completion fish | source{asked}"], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        answers = [[line.split("\t")[0].rstrip("/") for line in part.splitlines()] for part in done.stdout.split("#\n")[1:]]
        self.assertEqual(answers, [[wanted] for _, _, wanted in TYPED])


if __name__ == "__main__":
    unittest.main()
