"""Who writes the made files of a set: its voice, and the parts of which all of them are put together.

A set has a voice of its own: what its records are about, how it spells keys, indents and quotes, and the prose that it
quotes (out of its own found files), so that the sets differ as the files of different authors do.
"""

from dataclasses import dataclass

SECONDS = 1715947200  # 17 May 2024: nothing may depend on the clock


@dataclass
class Voice:
    records: list   # of (name, {field: kind of value})
    case: str       # of keys: snake, camel, kebab
    indent: int
    quote: str
    prose: list     # sentences
    sources: list   # contents of text files of the same set, as (name, bytes)


VOICES = {
    "calibration": dict(case="snake", indent=2, quote='"', records=[
        ("sensor", {"sensor_id": "id", "room": "word", "reading": "float", "is_active": "bool", "measured_at": "time"}),
        ("book", {"title": "title", "author": "name", "pages": "int", "price": "float", "in_print": "bool"})]),
    "tuning": dict(case="camel", indent=4, quote='"', records=[
        ("order", {"order_number": "id", "customer": "name", "item_count": "int", "total": "float", "paid": "bool"}),
        ("host", {"host_name": "word", "ip_address": "address", "port": "int", "use_tls": "bool", "timeout": "float"}),
        ("member", {"first_name": "word", "mail": "mail", "joined": "date", "age": "int", "note": "title"})]),
    "holdout": dict(case="kebab", indent=3, quote="'", records=[
        ("flight", {"flight": "id", "departs": "time", "gate": "int", "delayed": "bool", "remark": "title"}),
        ("film", {"name": "title", "director": "name", "year": "int", "rating": "float", "awarded": "bool"}),
        ("species", {"latin_name": "title", "habitat": "word", "mass_kg": "float", "count": "int", "seen_on": "date"}),
        ("job", {"queue": "word", "retries": "int", "command": "title", "contact": "mail", "last_run": "time"})]),
}


def sentence(voice, rng):
    return voice.prose[rng.integers(len(voice.prose))]


def word(voice, rng):
    while True:
        words = [w for w in sentence(voice, rng).split() if w.isalpha() and w.isascii()]
        if words:
            return words[rng.integers(len(words))].lower()


def words(voice, rng, low, high):
    return " ".join(word(voice, rng) for _ in range(rng.integers(low, high)))


def value(kind, voice, rng):
    one = lambda low, high: int(rng.integers(low, high))  # noqa: E731
    match kind:
        case "id": return f"{chr(one(65, 91))}{chr(one(65, 91))}-{one(1000, 99999)}"
        case "int": return one(0, 10 ** one(1, 6))
        case "float": return round(float(rng.uniform(0, 10 ** one(1, 4))), 2)
        case "bool": return bool(one(0, 2))
        case "date": return f"20{one(10, 30)}-{one(1, 13):02}-{one(1, 29):02}"
        case "time": return f"{value('date', voice, rng)}T{one(0, 24):02}:{one(0, 60):02}:00Z"
        case "address": return f"10.{one(0, 256)}.{one(0, 256)}.{one(1, 255)}"
        case "mail": return f"{word(voice, rng)}@{word(voice, rng)}.example"
        case "word": return word(voice, rng)
        case "name": return f"{word(voice, rng).title()} {word(voice, rng).title()}"
        case "title": return words(voice, rng, 2, 6).capitalize()


def spell(key, voice):
    if voice.case == "camel":
        first, *rest = key.split("_")
        return first + "".join(part.title() for part in rest)
    return key.replace("_", "-") if voice.case == "kebab" else key


def table(voice, rng, low=3, high=40):
    """A name, keys as the voice spells them, and rows."""
    name, fields = voice.records[rng.integers(len(voice.records))]
    rows = [[value(kind, voice, rng) for kind in fields.values()] for _ in range(rng.integers(low, high))]
    return name, [spell(key, voice) for key in fields], rows


def paragraph(voice, rng):
    return " ".join(sentence(voice, rng) for _ in range(rng.integers(2, 6)))


def plain(cell):
    return {True: "true", False: "false"}.get(cell, cell) if isinstance(cell, bool) else str(cell)
