"""A part of docs/reliability.md that a bench writes: between "<!-- bench/NAME: from here -->" and "... to here -->"."""

from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/reliability.md"


def write_section(name, text):
    first, last = f"<!-- {name}: from here -->\n", f"<!-- {name}: to here -->"
    page = PAGE.read_text()
    assert page.count(first) == page.count(last) == 1, f"{PAGE} has no place for {name}"
    head, _, rest = page.partition(first)
    PAGE.write_text(head + first + text + last + rest.partition(last)[2])
