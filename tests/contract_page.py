"""The table of keys in docs/contract.md is written from docs/schema/contract.schema.json: what a key means stands there once, where editors show it
while people type. A test (tests/e2e/test_schema.py) holds page and schema together, and the schema's keys against those that the program knows.

    tests/contract_page.py            writes the table anew
    tests/contract_page.py --check    says whether it would change; exit status 1 if so

Of a key the page shows "description" and "x-form": its type and default in a few words."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA, PAGE = ROOT / "docs/schema/contract.schema.json", ROOT / "docs/contract.md"
BEGIN, END = "| key | type, default | meaning |\n|---|---|---|\n", "\n\n## "


def inner(node):
    """Of a list of tables the table."""
    return node["items"] if node.get("items", {}).get("type") == "object" else node


def is_table(node):
    return inner(node).get("type") == "object"


def row(keys, node):
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in (keys, node.get("x-form"), node.get("description")))


def rows_of(table, node):
    keys = {key: value for key, value in inner(node).get("properties", {}).items() if not is_table(value)}
    shown = []
    for key, value in keys.items():  # those that mean the same share a row
        if shown and (shown[-1][1].get("x-form"), shown[-1][1].get("description")) == (value.get("x-form"), value.get("description")):
            shown[-1][0].append(key)
        else:
            shown.append(([key], value))
    for names, value in shown:
        yield row(", ".join(f"`{name}`" for name in names), value)
    named = inner(node).get("additionalProperties")
    if isinstance(named, dict) and "description" in named:
        yield row(f"*{named['title']}*", named)
    for key, value in inner(node).get("properties", {}).items():
        if is_table(value):
            yield from table_rows(f"{table}.{key}".lstrip("."), value)


def table_rows(table, node):
    """A table under names of the user's is shown as one of them, unless it is told of in words."""
    named = node.get("additionalProperties")
    if isinstance(named, dict) and "properties" in named and "title" in named:
        table, node = f"{table}.{named['title']}", named
    brackets = ("[[", "]]") if node.get("type") == "array" else ("[", "]")
    yield row(f"**`{brackets[0]}{table}{brackets[1]}`**", node)
    yield from rows_of(table, node)


def written():
    """The page as it should be."""
    page = PAGE.read_text()
    begin = page.index(BEGIN) + len(BEGIN)
    schema = json.loads(SCHEMA.read_text())
    return page[:begin] + "\n".join(rows_of("", schema)) + page[page.index(END, begin):]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    page = written()
    if sys.argv[1:]:
        sys.exit(page != PAGE.read_text())
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
