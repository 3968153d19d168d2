"""Where are fiel's programs? In the wheel they lie in the package's folder bin; FIEL_BIN names another folder, such as the
build/release/bin of a source tree."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def program(name: str = "fiel") -> Path:
    folder = Path(os.environ.get("FIEL_BIN") or Path(__file__).parent / "bin")
    found = folder / name
    if not found.is_file():
        raise FileNotFoundError(f"no program {found}: install fiel by pip, or let FIEL_BIN name the folder of its programs "
                                "(build/release/bin of a source tree)")
    return found


def main() -> NoReturn:
    """The command `fiel` of an environment: becomes the program, so that signals and exit statuses are its own."""
    try:
        found = str(program())
    except FileNotFoundError as error:
        sys.exit(f"fiel: error: {error}")
    os.execv(found, [found, *sys.argv[1:]])
