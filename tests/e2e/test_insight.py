"""What a run teaches beyond its verdict: Pareto set, what mattered, what may be left, and the run as a recorded space. Who proposes
may be a program of the user's."""

import json
import shlex
import sys
import unittest

from harness import Case, SPEED, knob, script

# 48 routes. MODE matters most and stands at its best; NONE does nothing; bf16 is fast and answers wrongly.
MODE = knob("MODE", "plain", "slow", "slower", latency={"slow": 1.6, "slower": 2.4})
NONE = knob("NONE", "a", "b", "c", "d")
PRECISION = knob("PRECISION", "f32", "bf16", latency={"bf16": 0.6})
ROUGH = {"do": "flip", "share": 0.12, "when": {"PRECISION": "bf16"}}  # too much for the gate, too little for the probe


class Insight(Case):
    def test_a_run_says_what_mattered_what_is_left_and_replays(self):
        run = self.project(script(SPEED, MODE, NONE, PRECISION, faults=[ROUGH])).tune("--candidates", 30)
        shown = run.show()
        self.assert_winner(run, "SPEED=fast")

        (mattered,) = shown["what_mattered"]
        self.assertIsNone(mattered["too_little"], mattered)
        self.assertGreaterEqual(mattered["candidates"], 20)
        self.assertEqual(mattered["knobs"][0]["knob"], "MODE")
        self.assertLess({k["knob"]: k["share"] for k in mattered["knobs"]}.get("NONE", 0), 0.1)
        self.assertEqual([(s["knob"], s["value"]) for s in mattered["to_copy"]], [("SPEED", "fast")])  # bf16 is wrong
        self.assertAlmostEqual(mattered["to_copy"][0]["ratio"], 1.5, delta=0.2)
        self.assertIn("What mattered on fake", run.project.fiel("show", run.folder, "--all").out)

        quality = shown["quality"]
        self.assertGreaterEqual(quality["draws"], 2)
        self.assertEqual(quality["may_be_better"], 0)
        self.assertAlmostEqual(quality["left_at_most"], 1 - 0.05 ** (1 / quality["draws"]), places=6)
        self.assertIn(f"none of {quality['draws']}", quality["sentence"])
        self.assertIn("with 95 % confidence", run.project.fiel("show", run.folder).out)

        front = shown["pareto"]["points"]
        admissible = [c for c in shown["candidates"] if c["status"] == "admissible"]
        self.assertEqual(shown["pareto"]["compared"] + shown["pareto"]["left_out"], len(admissible))
        self.assertEqual(front[0]["ratio"], max(p["ratio"] for p in front))
        self.assertLessEqual({p["id"] for p in front}, {c["id"] for c in admissible})

        for ending in ("json", "csv"):
            file = run.folder / f"space.{ending}"
            done = run.project.fiel("export", run.folder, "--t4" if ending == "json" else "--csv", file)
            self.assertEqual(done.status, 0, done.err)
            replayed = run.project.fiel("replay", file, "--repeats", 3, "--json")
            self.assertEqual(replayed.status, 0, replayed.err)
            space = json.loads(replayed.out)
            wrong = [c for c in shown["candidates"] if c["status"] == "inadmissible"]
            self.assertTrue(wrong)
            self.assertEqual(space["configurations"], len(shown["candidates"]))
            self.assertLess(space["admissible"], space["configurations"])


# Proposes MODE=slow, then what was told to be faster, then ends; writes down what it was told.
PROPOSER = """
import json, sys
answers = [{"engine": "fake", "settings": {"MODE": "slow"}}, {"engine": "fake", "settings": {"SPEED": "fast", "NONE": "a"}}, {"end": True}]
with open("told.jsonl", "w") as told:
    for line in sys.stdin:
        message = json.loads(line)
        if "ask" in message:
            print(json.dumps(answers.pop(0)), flush=True)
        else:
            told.write(line)
            told.flush()
"""


class Proposers(Case):
    def test_a_program_may_propose_and_is_told_and_its_death_is_an_error(self):
        project = self.project(script(SPEED, MODE, NONE))
        (project.folder / "mine.py").write_text(PROPOSER)
        run = project.tune("--strategy-program", shlex.join([sys.executable, "mine.py"]))
        self.assert_winner(run, "SPEED=fast")
        self.assertEqual(run.show()["budget"]["stop_reason"], "exhausted")
        space, *told = map(json.loads, (project.folder / "told.jsonl").read_text().splitlines())
        self.assertEqual({k["name"] for k in space["space"]["engines"][0]["knobs"]}, {"SPEED", "MODE", "NONE"})
        self.assertEqual(space["start"], {"engine": "fake", "settings": {}})
        self.assertEqual([t["tell"]["settings"] for t in told], [{"MODE": "slow"}, {"SPEED": "fast"}])
        self.assertLess(told[0]["tell"]["log_speedup"], 0)
        self.assertGreater(told[1]["tell"]["log_speedup"], 0)
        self.assertGreater(told[1]["tell"]["seconds"], 0)

        broken = project.tune("--strategy-program", "exit 7", run="broken")
        self.assertEqual(broken.status, 5, str(broken))
        self.assertIn("the program that proposes (exit 7) ended (exit status 7)", broken.done.err)


if __name__ == "__main__":
    unittest.main()
