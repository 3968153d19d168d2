"""The schemas of docs/schema: are they true of what the programs read and write, and of the pages?"""

import json
import re
import shlex
import sys
import tomllib
import unittest
from pathlib import Path

import fastjsonschema

from harness import BIN, Case, SPEED, knob, script

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import contract_page  # noqa: E402

NOWHERE = "z" * 20  # near no key, so that fiel lists those that it knows


def schema(name):
    return json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text())


def validator(name, definition=None):
    whole = schema(name)
    if definition:
        whole = {"allOf": [{"$ref": f"#/definitions/{definition}"}], "definitions": whole["definitions"]}
    return fastjsonschema.compile(whole)


def page_blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


# A contract with every table in it, each with a key that nobody knows; some keys are known only beside others.
EVERY_TABLE = f"""
{NOWHERE} = 1
[model]
{NOWHERE} = 1
[[model.shape]]
[model.input.x]
{NOWHERE} = 1
[[model.state]]
{NOWHERE} = 1
[data]
{NOWHERE} = 1
[target]
engines = ["fake"]
{NOWHERE} = 1
[engines.fake]
{NOWHERE} = 1
[fleet]
{NOWHERE} = 1
[fleet.targets.some]
{NOWHERE} = 1
[workload]
{NOWHERE} = 1
[limits]
{NOWHERE} = 1
[speed]
{NOWHERE} = 1
[accuracy]
{NOWHERE} = 1
[[accuracy.tensor]]
{NOWHERE} = 1
[[accuracy.task]]
{NOWHERE} = 1
[accuracy.task.slices.dark]
{NOWHERE} = 1
[budget]
{NOWHERE} = 1
[budget.phases]
{NOWHERE} = 1
[[variant]]
{NOWHERE} = 1
[[variant]]
program = ["python3"]
{NOWHERE} = 1
"""
UNDER_NAMES = {"model.input.x": "model.input.NAME", "engines.fake": "engines.NAME", "fleet.targets.some": "fleet.targets.NAME", "accuracy.task.slices.dark": "accuracy.task.slices.SLICE"}


class ContractKeys(Case):
    def known_to_fiel(self):
        file = self.folder / "every.toml"
        file.write_text(EVERY_TABLE)
        said = self.project(script(SPEED)).fiel("tune", file, "--dry-run").err
        found = set()
        for table, keys in re.findall(rf": (?:([\w.]+)\.)?{NOWHERE}: unknown key: known are: (.*)", said):
            found |= {(UNDER_NAMES.get(table, table), key.strip()) for key in keys.split(",")}
        self.assertIn(("budget", "wall"), found, said)
        return found

    def on_the_page(self):
        found, table = set(), ""
        for line in (ROOT / "docs/contract.md").read_text().split("## Keys")[1].split("\n## ")[0].splitlines():
            if heading := re.match(r"\| \*\*`\[+([\w.]+)\]+`\*\*", line):
                table = heading[1]
                if "= `{" in line:  # keys of tables under names of the user's
                    found |= {(f"{table}.SLICE", key.strip()) for key in re.search(r"`\{(.*?)\}`", line)[1].split(",")}
            elif line.startswith("| `"):
                found |= {(table, key) for key in re.findall(r"`([\w]+)`", line.split("|")[1])}
        return found

    def in_the_schema(self):
        found = set()

        def walk(node, table):
            for key, value in node.get("properties", {}).items():
                value = value.get("items", value) if value.get("items", {}).get("type") == "object" else value
                below = f"{table}.{key}".lstrip(".")
                if value.get("type") == "object":
                    named = value.get("additionalProperties")
                    if isinstance(named, dict) and "properties" in named:
                        walk(named, f"{below}.{'SLICE' if key == 'slices' else 'NAME'}")
                    walk(value, below)
                else:
                    found.add((table, key))

        walk(schema("contract"), "")
        return found

    def test_fiel_the_page_and_the_schema_know_the_same_keys(self):
        page = self.on_the_page()
        self.assertEqual(self.in_the_schema() ^ page, set(), "docs/schema/contract.schema.json and docs/contract.md differ")
        # Tables are keys too for fiel, but rows of their own on the page; the keys of a shape are inputs' names.
        tables = {table for table, _ in page}
        known = {(table, key) for table, key in self.known_to_fiel()
                 if not any(name == f"{table}.{key}".lstrip(".") or name.startswith(f"{table}.{key}.".lstrip(".")) for name in tables)}
        self.assertEqual(known ^ (page - {("model.shape", "weight")}), set(), "docs/contract.md and src/contract differ")

    def test_the_page_is_written_from_the_schema(self):
        self.assertEqual((ROOT / "docs/contract.md").read_text(), contract_page.written(), "tests/contract_page.py writes it anew")

    def test_contracts_that_fiel_takes_fit_and_those_it_refuses_do_not(self):
        check = validator("contract")
        project = self.project(script(SPEED))
        good = [page_blocks("docs/contract.md", "toml")[0], project.contract.read_text(),
                *(file.read_text() for file in (ROOT / "examples").glob("*/contract.toml")),
                project.fiel("init", "model.onnx").out]
        for text in good:
            check(tomllib.loads(text))
        for old, new in (("max_drop", "max_drip"), ('"10 min"', '"ten"'), ('"10 min"', "10"), ('holdout = "data/holdout"', ""),
                         ('"top1"', '"top3"'), ("min_gain   = 0.01", "min_gain = 1"), ("fiel = 1", "fiel = 2")):
            with self.subTest(new):
                text = project.contract.read_text()
                self.assertIn(old, text)
                wrong = text.replace(old, new)
                with self.assertRaises(fastjsonschema.JsonSchemaException):
                    check(tomllib.loads(wrong))
                (project.folder / "wrong.toml").write_text(wrong)
                self.assertEqual(project.fiel("tune", "wrong.toml", "--dry-run").status, 2)


class Documents(Case):
    """What is written fits, and nothing is written that the schema does not describe."""

    def fits(self, document, name):
        validator(name)(document)
        self.assertEqual(sorted(document.keys() - schema(name)["properties"].keys()), [], f"docs/schema/{name}.schema.json lacks them")

    def test_results_of_every_verdict_fit(self):
        crash = knob("DEFECT", "none", "crash", "wrong", latency={"wrong": 0.5})
        faults = [{"do": "crash", "phase": "build", "when": {"DEFECT": "crash"}}, {"do": "flip", "when": {"DEFECT": "wrong"}}]
        runs = {"improved": self.project(script(SPEED, crash, faults=faults), "improved").tune("--strategy", "full"),
                "undecided": self.project(script(SPEED), "undecided", holdout=20).tune(),
                "infeasible": self.project(script(faults=[{"do": "flip"}]), "infeasible", edits=[
                    ("max_drop  = 0.05", "min_score = 0.9")]).tune()}
        described = schema("result")["definitions"]["candidate"]["properties"].keys()
        for verdict, run in runs.items():
            with self.subTest(verdict):
                self.assert_verdict(run, verdict)
                self.fits(run.show(), "result")
                for candidate in run.show()["candidates"]:
                    self.assertEqual(sorted(candidate.keys() - described), [], "docs/schema/result.schema.json lacks them")
        self.fits(json.loads(page_blocks("docs/result.md", "json")[0]), "result")
        wrong = runs["improved"].show()
        wrong["candidates"][0]["latency_us"]["p50"] = "fast"
        with self.assertRaises(fastjsonschema.JsonSchemaException):
            validator("result")(wrong)
        self.bundle_and_verify(runs["improved"])

    def bundle_and_verify(self, run):
        folder = self.folder / "bundle"
        self.assertEqual(run.project.fiel("export", run.folder, "-o", folder).status, 0)
        self.fits(json.loads((folder / "bundle.json").read_text()), "bundle")
        self.fits(json.loads((folder / "evidence.json").read_text()), "result")
        self.fits(json.loads(run.project.fiel("verify", folder, "--json").out), "verify")


class Protocol(Case):
    def test_every_line_between_fiel_and_a_worker_fits(self):
        logs = self.folder / "lines"
        logs.mkdir()
        engine = script(SPEED, knob("DEFECT", "none", "error"), state_folder=str(logs), faults=[
            {"do": "error", "phase": "build", "when": {"DEFECT": "error"}, "reason": "build_error", "message": "no"}])
        project = self.project(engine)
        # A line is in the log before it goes on: fiel may end the worker's group at the answer.
        kept = "log() { tee /dev/fd/3 3>&1 >>$1; }; "
        worker = f"{shlex.quote(str(BIN / 'fiel-worker-fake'))} {project.folder}/fake.json"
        pipes = f"{kept} log {logs}/$$.in | {worker} | log {logs}/$$.out"
        project.edit(f'"{BIN}/fiel-worker-fake"', '"/bin/sh"')
        project.edit('["fake.json"]', json.dumps(["-c", pipes]))
        self.assertEqual(project.fiel("bench", project.contract, "--route", "engine=fake SPEED=fast", "--sessions", 7).status, 0)
        self.assertEqual(project.fiel("check", project.contract, "--route", "engine=fake DEFECT=error").status, 8)
        self.check_lines(logs)

    def check_lines(self, logs):
        any_line, seen = validator("protocol"), set()
        for file in logs.glob("*.in"):
            requests = {}
            for line in file.read_text().splitlines():
                request = json.loads(line)
                requests[request["id"]] = request["type"]
                any_line(request)
                validator("protocol", f"{request['type']}_request")(request)
            for line in file.with_suffix(".out").read_text().splitlines():
                answer = json.loads(line)
                any_line(answer)
                if answer["type"] == "result":
                    validator("protocol", f"{requests[answer['id']]}_result")(answer)
                seen.add((requests[answer["id"]], answer["type"]))
        kinds = {(kind, "result") for kind in ("hello", "build", "load", "infer", "measure", "bye")}
        self.assertLessEqual(kinds | {("build", "error")}, seen)
        with self.assertRaises(fastjsonschema.JsonSchemaException):
            any_line({"id": 1, "type": "build", "model": "relative.onnx", "device": "CPU", "settings": {}, "shapes": [],
                      "artifact_dir": "/a"})

    def test_the_pages_messages_fit(self):
        text = (ROOT / "docs/protocol.md").read_text()
        messages = re.findall(r"[→←] (\{.*?\})\s*(?=`|\n|→|←)", re.sub(r"\n   +", " ", text))
        fitting = 0
        for message in messages:
            if "…" in re.sub(r'"[^"]*"', "", message):  # left out on the page
                continue
            validator("protocol")(json.loads(message.replace("/…/", "/x/")))
            fitting += 1
        self.assertGreaterEqual(fitting, 6)


if __name__ == "__main__":
    unittest.main()
