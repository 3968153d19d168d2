"""A part of docs/reliability.md, or of another page, that a bench writes: between "<!-- bench/NAME: from here -->" and "... to here -->"."""

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "reliability.md"


def read_section(name, page_file=PAGE):
    _, _, rest = page_file.read_text().partition(f"<!-- {name}: from here -->\n")
    return rest.partition(f"<!-- {name}: to here -->")[0]


def write_section(name, text, page_file=PAGE):
    first, last = f"<!-- {name}: from here -->\n", f"<!-- {name}: to here -->"
    page = page_file.read_text()
    assert page.count(first) == page.count(last) == 1, f"{page_file} has no place for {name}"
    head, _, rest = page.partition(first)
    page_file.write_text(head + first + text + last + rest.partition(last)[2])
