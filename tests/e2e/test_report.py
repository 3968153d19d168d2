"""The page of a run, in a real browser: opened, sorted, filtered, its candidates opened, printed.

Needs Debian's package chromium and Playwright for Python (requirements-test.txt); ./test sets both up. Where they are missing the tests that
need them are skipped, and say so. FIEL_SCREENSHOTS=folder leaves pictures of the page in three widths, light and dark, and the print."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from harness import Project, SPEED, knob, scratch_place, script

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None
try:
    import axe_playwright_python
    AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text()
except ImportError:
    AXE = None

CHROMIUM = shutil.which("chromium")
MISSING = ("Chromium: apt-get install chromium" if not CHROMIUM else
           "Playwright: .venv/bin/pip install -r requirements-test.txt" if not sync_playwright else None)
HOSTILE = "<img src=x onerror='document.title=1'>.onnx"
SLICES = "[accuracy.task.slices]\nhard = { max_drop = 0.3 }\n\n[budget]\nexecutions = 100_000_000"
HEADINGS = ["Accuracy against the contract", "Speed, session by session", "Rejected, and why", "Latency against accuracy and memory",
            "The search over time", "Which knobs mattered", "How quiet the machine was", "All candidates", "What this rests on"]


def make_run(home):
    """A run with something of everything: a winner, fast but wrong ones, a crash, twins; and a model with a name of its own."""
    rough = {"do": "flip", "share": 0.12, "when": {"PRECISION": "bf16"}}
    crash = {"do": "crash", "phase": "build", "when": {"NAME": "c"}}
    precision = knob("PRECISION", "f32", "bf16", latency={"bf16": 0.5}, precisions={"bf16": {"bf16": 12}})
    made = Project(home / "project", script(SPEED, precision, knob("NAME", "a", "b", "c"), faults=[rough, crash], precisions={"f32": 12}),
                   slice_of=lambda i: "hard" if i % 3 == 1 else "clean",
                   edits=[("[budget]", SLICES), ('path = "model.onnx"', f'path = "{HOSTILE}"')])
    (made.folder / "model.onnx").rename(made.folder / HOSTILE)
    return made.tune()


def setUpModule():
    global RUN, SHOWN, FILE
    home = Path(tempfile.mkdtemp(prefix="fiel-e2e-", dir=scratch_place()))
    unittest.addModuleCleanup(shutil.rmtree, home, ignore_errors=True)
    RUN = make_run(home)
    SHOWN, FILE = RUN.show(), RUN.folder / "report.html"


class Written(unittest.TestCase):
    def test_tune_leaves_it_and_report_writes_the_same(self):
        self.assertEqual(RUN.status, 0, str(RUN))
        self.assertIn("report.html", RUN.done.err)
        fiel = RUN.project.fiel
        other = RUN.project.folder / "other.html"
        self.assertEqual(fiel("report", RUN.folder, "-o", other).status, 0)
        self.assertEqual(other.read_bytes(), FILE.read_bytes())
        self.assertEqual(fiel("report", RUN.folder, "-o", "-").out, FILE.read_text())
        self.assertEqual(fiel("report", RUN.project.folder / "nowhere").status, 2)

    def test_a_run_is_not_failed_for_its_page(self):
        FILE.rename(FILE.with_suffix(".kept"))
        FILE.mkdir()  # so that no file can take its place
        try:
            done = RUN.project.fiel("resume", RUN.folder)
            self.assertEqual(done.status, 0, done.err)
            self.assertIn("no page", done.err)
            self.assertIn("improved", done.out)
        finally:
            FILE.rmdir()
            FILE.with_suffix(".kept").rename(FILE)


@unittest.skipIf(MISSING, f"this needs {MISSING}")
class InTheBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = playwright.chromium.launch(executable_path=CHROMIUM)
        cls.addClassCleanup(cls.browser.close)

    def open(self, width=1400, **options):
        context = self.browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.addCleanup(context.close)
        page = context.new_page()
        self.complaints, self.requests = [], []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(FILE.as_uri())
        return page

    def column(self, page, index):
        """The texts of one column of the candidates that are shown, from top to bottom."""
        return page.eval_on_selector_all(
            "#all > tbody:not([hidden])", f"rows => rows.map(row => row.rows[0].cells[{index}].textContent)")

    def picture(self, page, name):
        if folder := os.environ.get("FIEL_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/{name}.png", full_page=True)

    def test_it_answers_in_order_and_asks_nothing_of_any_network(self):
        page = self.open()
        self.assertEqual(page.locator("h1").inner_text(), "improved")
        headings = page.locator("h2").all_inner_texts()
        self.assertEqual(headings, [heading for heading in HEADINGS if heading in headings])
        self.assertGreaterEqual(len(headings), len(HEADINGS) - 1)  # knobs: where enough was timed to say
        speedup = SHOWN["speedup"]
        lead = page.locator(".verdict .lead").inner_text()
        for key in ("estimate", "low", "high"):
            self.assertIn(f"{speedup[key]:.2f}", lead)
        self.assertEqual(self.requests, [FILE.as_uri()])
        self.assertEqual(self.complaints, [])
        self.assertEqual(page.title(), f"improved: {HOSTILE}", "a name is a name")
        self.assertEqual(page.locator("img").count(), 0)

    def test_slices_stand_against_the_contract(self):
        region = self.open().get_by_role("region", name=re.compile(r"\(ships\) on the hold-out.* once$"))
        rows = region.locator("tbody tr").all_inner_texts()
        tasks = next(c for c in SHOWN["candidates"] if c["id"] == SHOWN["ships"])["accuracy"]["holdout"]["tasks"]
        self.assertEqual(len(rows), len(tasks))
        for row, task in zip(rows, tasks):
            self.assertIn(task["slice"] or "all", row)
            self.assertIn(f"{task['drop_upper']:.4f}", row)

    def test_the_fast_but_wrong_are_crossed_out(self):
        rejected = self.open().locator("#rejected")
        wrong = [c for c in SHOWN["candidates"] if c["status"] == "inadmissible" and (c["screen_ratio"] or 0) > 1]
        self.assertTrue(wrong)
        self.assertEqual(rejected.locator("del").count(), min(len(wrong), 12))
        self.assertIn("out of the comparison", rejected.inner_text())

    def test_a_click_sorts_and_so_does_the_keyboard(self):
        page = self.open()
        heading = page.locator("#all > thead").get_by_role("columnheader", name="times", exact=True)
        heading.get_by_role("button").click()
        self.assertEqual(heading.get_attribute("aria-sort"), "ascending")
        upwards = [float(text) for text in self.column(page, 1) if text != "–"]
        self.assertEqual(upwards, sorted(upwards))
        heading.get_by_role("button").press("Enter")
        self.assertEqual(heading.get_attribute("aria-sort"), "descending")
        downwards = self.column(page, 1)
        self.assertEqual(downwards[0], f"{upwards[-1]:.2f}")
        self.assertEqual(downwards[-1], "–", "what was never timed stays at the end")
        status = page.locator("#all > thead").get_by_role("columnheader", name="status")
        status.get_by_role("button").click()
        self.assertEqual(self.column(page, 7), sorted(self.column(page, 7), key=str.lower))
        self.assertIsNone(heading.get_attribute("aria-sort"))

    def test_a_filter_shows_what_fits(self):
        page = self.open()
        page.get_by_label("Find").fill("precision=bf16 name=b")
        fitting = [c for c in SHOWN["candidates"] if "PRECISION=bf16" in c["route"] and "NAME=b" in c["route"]]
        self.assertTrue(fitting)
        self.assertEqual(len(self.column(page, 0)), len(fitting))
        self.assertEqual(page.locator("#count").inner_text(), f"{len(fitting)} of {len(SHOWN['candidates'])} shown")
        page.get_by_label("Find").fill("")
        page.get_by_label("Status").select_option("failed")
        self.assertEqual(len(self.column(page, 0)), len([c for c in SHOWN["candidates"] if c["status"] == "failed"]))

    def test_a_link_opens_a_candidate_to_its_evidence_even_if_it_was_filtered_out(self):
        page = self.open()
        page.get_by_label("Find").fill("nothing is called this")
        self.assertEqual(self.column(page, 0), [])
        ships = SHOWN["ships"]
        page.locator(".verdict").get_by_role("link", name=f"#{ships}").first.click()
        row = page.locator(f"#c{ships}")
        command = next(c for c in SHOWN["candidates"] if c["id"] == ships)["reproduce"]
        self.assertTrue(row.get_by_text(command).is_visible())
        self.assertEqual(len(self.column(page, 0)), len(SHOWN["candidates"]))
        crashed = next(c for c in SHOWN["candidates"] if c["status"] == "failed")
        summary = page.locator(f"#c{crashed['id']} summary")
        summary.focus()
        summary.press("Enter")
        self.assertIn("crash", page.locator(f"#c{crashed['id']} .evidence").inner_text())

    def test_all_is_there_without_script(self):
        page = self.open(java_script_enabled=False)
        self.assertEqual(page.locator("#all > tbody").count(), len(SHOWN["candidates"]))
        self.assertFalse(page.locator("#filter").is_visible())
        self.assertGreaterEqual(page.locator("svg.chart").count(), 4)
        first = page.locator("#all > tbody details").first
        first.locator("summary").click()
        self.assertTrue(first.get_by_text("fiel bench").is_visible())

    def test_it_fits_every_width_in_light_and_dark(self):
        grounds = set()
        for scheme in ("light", "dark"):
            for width in (360, 800, 1400):
                with self.subTest(scheme=scheme, width=width):
                    page = self.open(width, color_scheme=scheme)
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
                    page.locator("#all > tbody summary").first.click()
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    self.picture(page, f"{scheme}-{width}")
        self.assertEqual(len(grounds), 2)

    @unittest.skipUnless(AXE, "this needs axe: .venv/bin/pip install -r requirements-test.txt")
    def test_axe_finds_nothing_that_a_screen_reader_or_a_weak_eye_would_miss(self):
        for scheme in ("light", "dark"):
            page = self.open(1200, color_scheme=scheme)
            page.locator("#all > tbody summary").first.click()
            # The shadows beside wide tables are pictures to it, before which it can tell no contrast.
            page.evaluate("document.querySelectorAll('.scroll').forEach((one) => { one.style.background = 'none'; })")
            page.evaluate(AXE)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            self.assertEqual([(one["id"], one["nodes"][0]["html"]) for one in found["violations"]], [], scheme)
            self.assertIn("color-contrast", [one["id"] for one in found["passes"]])

    def test_a_mark_in_a_chart_leads_to_its_candidate(self):
        page = self.open()
        page.locator(f"#tradeoff [data-to=c{SHOWN['ships']}]").first.click()
        self.assertTrue(page.locator(f"#c{SHOWN['ships']} .evidence").is_visible())

    def test_it_prints(self):
        page = self.open(1000)
        page.evaluate("addEventListener('beforeprint', () => { window.sessions = document.querySelector('#speed details').open; })")
        printed = page.pdf(format="A4")
        self.assertEqual(page.evaluate("[window.sessions, document.querySelector('#speed details').open]"), [True, False])
        self.assertTrue(printed.startswith(b"%PDF"))
        page.emulate_media(media="print")
        self.assertFalse(page.locator("nav").is_visible())
        self.assertFalse(page.locator("#filter").is_visible())
        self.assertTrue(page.locator("#all").is_visible())
        if folder := os.environ.get("FIEL_SCREENSHOTS"):
            Path(folder, "print.pdf").write_bytes(printed)


if __name__ == "__main__":
    unittest.main()
