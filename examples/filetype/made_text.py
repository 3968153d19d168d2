"""Text files that are rare on a small machine, written by templates: one function for each type.

All choices come from the generator that is passed in.
"""

import csv
import difflib
import io
import json
from base64 import b64encode

from voice import paragraph, plain, sentence, spell, table, value, word, words


def make_json(voice, rng):
    name, keys, rows = table(voice, rng)
    content = {name + "s": [dict(zip(keys, row)) for row in rows], "total": len(rows), "next": None}
    if rng.integers(2):
        content = {"version": value("int", voice, rng), "settings": dict(zip(keys, rows[0])), **content}
    return json.dumps(content, indent=voice.indent)


def make_jsonl(voice, rng):
    _, keys, rows = table(voice, rng)
    return "\n".join(json.dumps(dict(zip(keys, row))) for row in rows) + "\n"


def separated(voice, rng, delimiter):
    _, keys, rows = table(voice, rng, 8, 60)
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(keys)
    writer.writerows(rows)
    return file.getvalue()


def make_csv(voice, rng):
    return separated(voice, rng, ",")


def make_tsv(voice, rng):
    return separated(voice, rng, "\t")


def make_xml(voice, rng):
    name, keys, rows = table(voice, rng)
    pad, quote = " " * voice.indent, voice.quote
    lines = [f"<?xml version={quote}1.0{quote} encoding={quote}UTF-8{quote}?>", f"<{name}s>"]
    for number, row in enumerate(rows):
        if voice.case == "camel":
            lines.append(f"{pad}<{name} " + " ".join(f"{k}={quote}{plain(c)}{quote}" for k, c in zip(keys, row)) + "/>")
        else:
            lines += [f"{pad}<{name} no={quote}{number}{quote}>"]
            lines += [f"{pad * 2}<{k}>{plain(c)}</{k}>" for k, c in zip(keys, row)] + [f"{pad}</{name}>"]
    return "\n".join([*lines, f"</{name}s>"]) + "\n"


def make_html(voice, rng):
    name, keys, rows = table(voice, rng, 3, 15)
    pad = " " * voice.indent
    lines = ["<!DOCTYPE html>", "<html lang=\"en\">", "<head>", f"{pad}<meta charset=\"utf-8\">",
             f"{pad}<title>{words(voice, rng, 2, 5).title()}</title>"]
    lines += [f"{pad}<link rel=\"stylesheet\" href=\"{word(voice, rng)}.css\">"] * int(rng.integers(2))
    lines += ["</head>", "<body>", f"{pad}<h1>{words(voice, rng, 2, 5)}</h1>"]
    for _ in range(rng.integers(2, 6)):
        lines.append(f"{pad}<p class=\"{word(voice, rng)}\">{paragraph(voice, rng)} "
                     f"<a href=\"/{name}/{word(voice, rng)}.html\">{word(voice, rng)}</a></p>")
    lines += [f"{pad}<table>", pad * 2 + "<tr>" + "".join(f"<th>{key}</th>" for key in keys) + "</tr>"]
    lines += [pad * 2 + "<tr>" + "".join(f"<td>{plain(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, f"{pad}</table>", "</body>", "</html>"]) + "\n"


def make_css(voice, rng):
    pad = " " * voice.indent
    colour = lambda: f"#{rng.integers(1 << 24):06x}"  # noqa: E731
    rules = []
    for _ in range(rng.integers(6, 25)):
        body = [f"color: {colour()}", f"margin: {rng.integers(40)}px auto", f"padding: {rng.integers(9)}em",
                "display: flex", f"font-size: {rng.integers(10, 40)}px", f"border: 1px solid {colour()}",
                f"width: {rng.integers(100)}%", "text-align: center", f"background: {colour()}"]
        picked = rng.permutation(len(body))[: rng.integers(2, 6)]
        mark = ("." if voice.case == "kebab" else "#", "", ".")[rng.integers(3)]
        selector = mark + (word(voice, rng) if mark else ("a:hover", "body", "h2", "ul li")[rng.integers(4)])
        rules.append(selector + " {\n" + "".join(f"{pad}{body[i]};\n" for i in picked) + "}\n")
    return "\n".join(rules)


def make_yaml(voice, rng):
    name, keys, rows = table(voice, rng, 2, 12)
    lines = ["---"] * int(rng.integers(2)) + [f"version: {rng.integers(1, 9)}", f"{name}s:"]
    for row in rows:
        for first, (key, cell) in enumerate(zip(keys, row)):
            lines.append(("  - " if not first else "    ") + f"{key}: {plain(cell)}")
    lines += ["defaults:"] + [f"  {word(voice, rng)}: {plain(value('bool', voice, rng))}" for _ in range(3)]
    return "\n".join(lines) + "\n"


def toml_cell(cell):
    return plain(cell) if isinstance(cell, (bool, int, float)) else f'"{cell}"'


def make_toml(voice, rng):
    name, keys, rows = table(voice, rng, 2, 12)
    lines = [f"# {sentence(voice, rng)}", f'title = "{words(voice, rng, 2, 4)}"', "", f"[{word(voice, rng)}]",
             f"enabled = {plain(value('bool', voice, rng))}", f"ports = [{rng.integers(9000)}, {rng.integers(9000)}]"]
    for row in rows:
        lines += ["", f"[[{name}]]"] + [f"{key} = {toml_cell(cell)}" for key, cell in zip(keys, row)]
    return "\n".join(lines) + "\n"


def make_ini(voice, rng):
    name, keys, rows = table(voice, rng, 2, 10)
    equals = "=" if voice.case == "camel" else " = "
    lines = [f"; {sentence(voice, rng)}"]
    for row in rows:
        lines += [f"[{name}.{word(voice, rng)}]"] + [f"{k}{equals}{plain(c)}" for k, c in zip(keys, row)] + [""]
    return "\n".join(lines)


def make_markdown(voice, rng):
    name, keys, rows = table(voice, rng, 2, 8)
    bullet, fence = ("*", "~~~") if voice.case == "kebab" else ("-", "```")
    lines = [f"# {words(voice, rng, 2, 5).title()}", "", paragraph(voice, rng), ""]
    for _ in range(rng.integers(1, 5)):
        lines += [f"## {words(voice, rng, 1, 4).capitalize()}", "", paragraph(voice, rng), ""]
        lines += [f"{bullet} **{word(voice, rng)}**: {sentence(voice, rng)}" for _ in range(rng.integers(2, 5))] + [""]
        lines += [f"See [{word(voice, rng)}](docs/{word(voice, rng)}.md) and `{word(voice, rng)}`.", ""]
    lines += [f"{fence}sh", f"{name} --{word(voice, rng)} {word(voice, rng)}", fence, ""]
    lines += ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def make_sql(voice, rng):
    name, keys, rows = table(voice, rng, 3, 25)
    keys = [key.replace("-", "_") for key in keys]
    kinds = [{bool: "BOOLEAN", int: "INTEGER", float: "NUMERIC(10,2)"}.get(type(c), "VARCHAR(80)") for c in rows[0]]
    cells = lambda row: ", ".join(  # noqa: E731
        plain(c).upper() if isinstance(c, (bool, int, float)) else f"'{c}'" for c in row)
    lines = [f"-- {sentence(voice, rng)}", f"CREATE TABLE {name}s ("]
    lines += [f"{' ' * voice.indent}{k} {t} NOT NULL," for k, t in zip(keys, kinds)]
    lines += [f"{' ' * voice.indent}PRIMARY KEY ({keys[0]})", ");"]
    lines += [f"INSERT INTO {name}s ({', '.join(keys)}) VALUES ({cells(row)});" for row in rows]
    lines += [f"SELECT {keys[0]}, COUNT(*) FROM {name}s WHERE {keys[2]} > {rng.integers(99)} GROUP BY {keys[0]};"]
    return "\n".join(lines) + "\n"


def make_svg(voice, rng):
    size = rng.integers(100, 900, 2)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
             f'viewBox="0 0 {size[0]} {size[1]}">', f"{' ' * voice.indent}<title>{words(voice, rng, 1, 4)}</title>"]
    for _ in range(rng.integers(5, 40)):
        x, y, w, h, colour = *rng.integers(0, 400, 4), rng.integers(1 << 24)
        shapes = (f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="#{colour:06x}"/>',
                  f'<circle cx="{x}" cy="{y}" r="{w}" stroke="#{colour:06x}"/>',
                  f'<path d="M{x} {y} L{w} {h} C{y} {x} {h} {w} {x} {h} Z" fill="none"/>',
                  f'<text x="{x}" y="{y}">{word(voice, rng)}</text>')
        lines.append(" " * voice.indent + shapes[rng.integers(4)])
    return "\n".join([*lines, "</svg>"]) + "\n"


def make_diff(voice, rng):
    """A found text file against itself with some lines changed, dropped or doubled."""
    name, content = voice.sources[rng.integers(len(voice.sources))]
    before = content.decode("utf-8", "replace").splitlines(keepends=True)[:400]
    after = []
    for line in before:
        fate = rng.uniform()
        after += [line] if fate > 0.06 else ([], [line, line], [words(voice, rng, 2, 6) + "\n"])[int(fate // 0.0201)]
    prefix = ("a/", "b/") if voice.case != "camel" else ("old/", "new/")
    head = f"diff --git a/{name} b/{name}\n" if voice.case == "kebab" else ""
    return head + "".join(difflib.unified_diff(before, after, prefix[0] + name, prefix[1] + name))


def make_dockerfile(voice, rng):
    base = {"camel": "alpine:3", "kebab": "debian:trixie-slim"}.get(voice.case, "ubuntu:24.04")
    lines = [f"# {sentence(voice, rng)}"] * int(rng.integers(2))
    lines += [f"FROM {base} AS {word(voice, rng)}", f"WORKDIR /srv/{word(voice, rng)}"]
    for _ in range(rng.integers(3, 9)):
        lines.append((f"ENV {word(voice, rng).upper()}={value('int', voice, rng)}",
                      f"COPY {word(voice, rng)}.txt /srv/",
                      f"RUN apt-get update && apt-get install -y {word(voice, rng)} \\\n    && apt-get clean",
                      f"EXPOSE {rng.integers(1000, 9999)}",
                      f"RUN mkdir -p /opt/{word(voice, rng)}")[rng.integers(5)])
    return "\n".join([*lines, f'CMD ["/srv/{word(voice, rng)}", "--{word(voice, rng)}"]']) + "\n"


def make_ics(voice, rng):
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", f"PRODID:-//{word(voice, rng)}//{word(voice, rng)}//EN"]
    for _ in range(rng.integers(1, 12)):
        day = value("date", voice, rng).replace("-", "")
        lines += ["BEGIN:VEVENT", f"UID:{value('mail', voice, rng)}", f"DTSTAMP:{day}T080000Z",
                  f"DTSTART:{day}T{rng.integers(10, 23)}0000Z",
                  f"SUMMARY:{words(voice, rng, 2, 6)}", f"DESCRIPTION:{sentence(voice, rng)}", "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def make_eml(voice, rng):
    day = rng.integers(1, 29)
    lines = [f"From: {value('name', voice, rng)} <{value('mail', voice, rng)}>", f"To: {value('mail', voice, rng)}",
             f"Subject: {words(voice, rng, 2, 7)}", f"Date: Fri, {day} May 2024 1{rng.integers(10)}:12:45 +0200",
             f"Message-ID: <{rng.integers(1 << 40)}@{word(voice, rng)}.example>", "MIME-Version: 1.0",
             "Content-Type: text/plain; charset=utf-8", ""]
    return "\n".join(lines + [paragraph(voice, rng) + "\n" for _ in range(rng.integers(1, 6))]) + "\n"


def captions(voice, rng, head, dot, number):
    lines, at = [head] if head else [], 0
    for i in range(rng.integers(5, 40)):
        stop = at + int(rng.integers(1, 7))
        stamp = lambda t: f"{t // 3600:02}:{t // 60 % 60:02}:{t % 60:02}{dot}{rng.integers(1000):03}"  # noqa: E731
        lines += [str(i + 1)] * number + [f"{stamp(at)} --> {stamp(stop)}", sentence(voice, rng), ""]
        at = stop
    return "\n".join(lines) + "\n"


def make_srt(voice, rng):
    return captions(voice, rng, "", ",", 1)


def make_vtt(voice, rng):
    return captions(voice, rng, "WEBVTT\n", ".", int(voice.case == "camel"))


def make_latex(voice, rng):
    kind = {"camel": "report", "kebab": "scrartcl"}.get(voice.case, "article")
    lines = [rf"\documentclass[1{rng.integers(3)}pt]{{{kind}}}", r"\usepackage{amsmath}",
             rf"\title{{{words(voice, rng, 2, 6)}}}",
             r"\begin{document}", r"\maketitle"]
    for _ in range(rng.integers(2, 6)):
        lines += [rf"\section{{{words(voice, rng, 1, 4)}}}\label{{sec:{word(voice, rng)}}}", paragraph(voice, rng),
                  rf"\begin{{equation}} x = \frac{{{rng.integers(99)}}}{{\alpha + {rng.integers(9)}}} \end{{equation}}",
                  rf"As \cite{{{word(voice, rng)}}} says, \emph{{{word(voice, rng)}}}."]
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def make_po(voice, rng):
    lines = ['msgid ""', 'msgstr ""', f'"Project-Id-Version: {word(voice, rng)} {rng.integers(9)}\\n"',
             '"Content-Type: text/plain; charset=UTF-8\\n"', '"Content-Transfer-Encoding: 8bit\\n"', ""]
    for _ in range(rng.integers(5, 40)):
        source = sentence(voice, rng).replace('"', "'").replace("\\", "/")
        lines += [f"#: src/{word(voice, rng)}.c:{rng.integers(2000)}", f'msgid "{source}"',
                  f'msgstr "{source[::-1]}"', ""]
    return "\n".join(lines)


def make_pem(voice, rng):
    kind = {"camel": "CERTIFICATE", "kebab": "PRIVATE KEY"}.get(voice.case, "PUBLIC KEY")
    text = b64encode(b"\x30\x82" + rng.bytes(int(rng.integers(200, 1500)))).decode()
    body = "\n".join(text[i : i + 64] for i in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n"


MAKERS = {kind: globals()["make_" + kind] for kind in (
    "json", "jsonl", "csv", "tsv", "xml", "html", "css", "yaml", "toml", "ini", "markdown", "sql", "svg", "diff",
    "dockerfile", "ics", "eml", "srt", "vtt", "latex", "po", "pem")}
