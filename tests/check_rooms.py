"""Rooms may include only rooms that stand above them in src/CMakeLists.txt.

Usage: check_rooms.py SOURCE_DIR    prints each offence as file:line, exit 1 if there is one
"""
import pathlib
import re
import sys


def main() -> int:
    source = pathlib.Path(sys.argv[1])
    rooms = re.findall(r"^fiel_room\((\w+)", (source / "src/CMakeLists.txt").read_text(), re.M)
    offences = 0
    for path in sorted((source / "src").rglob("*.[hc]*")):
        room = path.relative_to(source / "src").parts[0]
        if room not in rooms:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'#include "(\w+)/', line)
            if match and match[1] in rooms and rooms.index(match[1]) > rooms.index(room):
                print(f"{path.relative_to(source)}:{number}: {room} may not use {match[1]}, which stands below it")
                offences += 1
    print(f"{len(rooms)} rooms, {offences} offences")
    return 1 if offences or len(rooms) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
