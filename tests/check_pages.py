"""Do the pages name files that exist? check_pages.py ROOT

Every relative link of README.md and docs/, and every file that a how-to (docs/adding-*.md) names in backquotes: by its path, or by its
name alone. Names with <...> or … in them stand for several files. And every test that a page names, as `Suite.Name` of a C++ test or
`test_file.test_name` of an end-to-end test."""

import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CPP_TEST = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")
E2E_TEST = re.compile(r"`(test_\w+\.test_\w+)`")
FILE = re.compile(r"`([\w./-]+\.(?:cpp|h|py|toml|cmake|md))`")


def tests_of(root):
    found = set()
    for path in (root / "src").rglob("*_test.cpp"):
        found.update(f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.M))
    for path in (root / "tests/e2e").glob("test_*.py"):
        found.update(f"{path.stem}.{name}" for name in re.findall(r"^    def (test_\w+)", path.read_text(), re.M))
    return found


def complaints(root):
    tests = tests_of(root)
    files = [path.relative_to(root).as_posix() for folder in ("src", "tests", "docs", "bench", "examples", "cmake")
             for path in (root / folder).rglob("*")]
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = page.read_text()
        for link in LINK.findall(text):
            if "://" not in link and not (page.parent / link).exists():
                yield f"{page.relative_to(root)} links to {link}, which is not there"
        for name in CPP_TEST.findall(text) + E2E_TEST.findall(text):
            if name not in tests:
                yield f"{page.relative_to(root)} names the test {name}, which is not there"
        if page.name.startswith("adding-"):
            for name in FILE.findall(text):
                if not any(file == name or file.endswith("/" + name) for file in files):
                    yield f"{page.relative_to(root)} names {name}, which is not there"


if __name__ == "__main__":
    found = list(complaints(Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(1 if found else 0)
