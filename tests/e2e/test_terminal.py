"""What a terminal shows while a run goes on and at its end, and what other programs read instead."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import Case, Project, SPEED, knob, scratch_place, script
from terminal import Terminal, set_size

PLAIN = knob("NAME", "a", "µ")  # a name that not every terminal can show
STAGES = ["prepare", "anchors", "search", "gate", "race", "consistency", "confirm", "hold-out", "estimate"]
PAGE = Path(__file__).resolve().parents[2] / "docs/events.md"


class OnATerminal(Case):
    def tune(self, columns, on_text=None, **environment):
        made = self.project(script(SPEED, PLAIN))
        terminal = Terminal(columns)
        kept = {name: value for name, value in made.environment().items() if name not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
        self.environment, self.shown = {**kept, "TERM": "xterm", **environment}, made.command("show", made.folder / "run", "--all")
        status = terminal.run(made.command("tune", made.contract, "-o", made.folder / "run"), self.environment, made.folder,
                              on_text=on_text)
        self.assertEqual(status, 0, terminal.seen)
        return terminal

    def test_one_line_says_stage_time_left_best_so_far_and_what_is_under_way(self):
        terminal = self.tune(160, LC_ALL="C.UTF-8")
        drawn = terminal.status_lines()
        self.assertTrue(any(re.match(r" {8}search; \d+ min .*of 10 min left; best #\d+: \d\.\d\dx #\d+", line) for line in drawn), drawn)
        self.assertTrue(any(re.search(r"\d tried of \d+ routes", line) for line in drawn), drawn)
        self.assertTrue(any(re.match(r" {8}estimate; .*best #\d+: 1\.\d\dx #\d+ \[1\.\d\d, 1\.\d\d\], \d+ sessions", line)
                            for line in drawn), drawn[-5:])
        self.assertTrue(all(len(line) < 160 for line in drawn))
        self.assertNotIn("left", terminal.lines()[-5], "the status line is gone at the end")
        self.assertIn("SPEED=fast", terminal.seen)
        self.assertRegex(terminal.seen, "\x1b\\[1;32mimproved: ")

    def test_the_line_follows_the_width_and_the_table_fits_eighty_columns(self):
        def narrow(terminal):
            if b"search" in terminal.bytes:
                set_size(terminal.ours, 44)
        drawn = self.tune(120, on_text=narrow, LC_ALL="C.UTF-8").status_lines()
        self.assertGreater(max(map(len, drawn)), 43)
        self.assertLessEqual(len(drawn[-1]), 43, drawn[-1])

    def test_no_color_means_plain_lines_and_c_means_ascii(self):
        terminal = self.tune(80, NO_COLOR="1", LC_ALL="C")
        self.assertNotIn("\x1b", terminal.seen)
        self.assertNotIn("\r", terminal.seen)
        self.assertTrue(terminal.seen.isascii(), terminal.seen)
        self.assertIn("NAME=u:", terminal.seen)
        table = terminal.seen[terminal.seen.index("improved: "):]
        self.assertTrue(all(len(line) <= 80 for line in table.split("\n") if "fiel export" not in line), table)
        self.assertIn("search: strategy", terminal.seen)
        piped = subprocess.run(self.shown, env=self.environment, capture_output=True, text=True, encoding="utf-8", timeout=60).stdout
        self.assertIn("NAME=µ", piped, "a pipe gets UTF-8 whatever the locale is")


class ForPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(prefix="fiel-e2e-", dir=scratch_place())
        cls.addClassCleanup(cls.home.cleanup)
        rough = {"do": "flip", "share": 0.3, "when": {"PRECISION": "bf16"}}
        made = Project(Path(cls.home.name) / "project", script(SPEED, knob("PRECISION", "f32", "bf16", latency={"bf16": 0.5}), faults=[rough]))
        cls.run_ = made.tune("--json-lines")
        cls.lines = [json.loads(line) for line in cls.run_.done.out.splitlines()]

    def of(self, event):
        return [line for line in self.lines if line["event"] == event]

    def test_the_first_line_names_the_run_and_the_last_its_end(self):
        self.assertEqual(self.run_.status, 0, str(self.run_))
        self.assertEqual((self.lines[0]["event"], self.lines[0]["format"]), ("run", 1))
        self.assertEqual(Path(self.lines[0]["folder"]), self.run_.folder)
        end, shown = self.lines[-1], self.run_.show()
        self.assertEqual((end["event"], end["exit_status"]), ("end", 0))
        for key in ("verdict", "reason", "ships", "missing"):
            self.assertEqual(end[key], shown[key])
        self.assertEqual(end["winner"], shown["winner"]["id"])

    def test_stages_come_in_their_order_and_time_goes_on(self):
        self.assertEqual([line["name"] for line in self.of("stage")], STAGES)
        times = [line["at_seconds"] for line in self.lines]
        self.assertEqual(times, sorted(times))

    def test_the_last_line_of_each_candidate_is_what_the_result_says(self):
        told = {line["id"]: line for line in self.of("candidate")}
        shown = {candidate["id"]: candidate for candidate in self.run_.show()["candidates"]}
        self.assertEqual(told.keys(), shown.keys())
        for identity, line in told.items():
            for key in ("route", "roles", "kind", "race_ratios"):
                self.assertEqual(line[key], shown[identity][key], (identity, key))
        self.assertIn("wrong", {line["kind"] for line in told.values()})

    def test_people_read_on_beside_it(self):
        self.assertIn("search: strategy", self.run_.done.err)

    def test_a_resumed_run_tells_from_its_beginning(self):
        again = self.run_.project.fiel("resume", self.run_.folder, "--json-lines")
        lines = [json.loads(line) for line in again.out.splitlines()]
        self.assertEqual((lines[0]["event"], lines[-1]["event"], lines[-1]["verdict"]), ("run", "end", "improved"))

    def test_a_run_that_does_not_begin_ends_with_its_error(self):
        made = self.run_.project
        done = made.fiel("tune", made.contract, "-o", self.run_.folder, "--json-lines")
        end = json.loads(done.out.splitlines()[-1])
        self.assertEqual((done.status, end["exit_status"]), (2, 2))
        self.assertIn("holds a run already", end["error"])

    def test_the_page_shows_the_lines_that_are_written(self):
        text = PAGE.read_text()
        example = [json.loads(line) for line in text[text.index("```json\n") + 8:text.rindex("```")].splitlines()]
        written = {line["event"]: set(line) for line in self.lines}
        for line in example:
            self.assertIn(f"`{line['event']}`", text)
            if line["event"] in written:
                self.assertEqual(set(line), written[line["event"]])
        self.assertLessEqual(written.keys(), {line["event"] for line in example})

    def test_one_document_and_many_lines_exclude_each_other(self):
        done = self.run_.project.fiel("resume", self.run_.folder, "--json", "--json-lines")
        self.assertEqual(done.status, 2)
        self.assertIn("--json-lines", done.err)


if __name__ == "__main__":
    unittest.main()
