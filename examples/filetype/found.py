"""Files of a known type that every machine has on which ./setup was run, in folders of three kinds.

A type's folders differ from set to set (other authors, other habits), and no folder belongs to two sets.
"""

import re
import sysconfig
from pathlib import Path

PACKAGES = Path(sysconfig.get_path("purelib"))
STDLIB = Path(sysconfig.get_path("stdlib"))
CMAKE = max([folder for folder in Path("/usr/share").glob("cmake*") if (folder / "Modules").is_dir()],
            default=Path("/usr/share/cmake"))
INCLUDE = Path("/usr/include")
MULTIARCH = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
LIBRARIES = Path("/usr/lib") / MULTIARCH
SCRIPTS = Path("/var/lib/dpkg/info")
FONTS = Path("/usr/share/fonts/truetype")
LARGEST = 32 << 20

# type: (what the content must begin with, {set: [(folder, pattern), ...]}).
# A pattern with a slash looks below the folder too; another one only in it.
SOURCES = {
    "python": (b"", {
        "calibration": [(PACKAGES / "openvino", "**/*.py")],
        "tuning": [(PACKAGES / "numpy", "**/*.py")],
        "holdout": [(STDLIB, "*.py"), (STDLIB / "email", "*.py"), (STDLIB / "asyncio", "*.py"),
                    (STDLIB / "encodings", "*.py"), (STDLIB / "multiprocessing", "*.py")]}),
    "c": (b"", {
        "calibration": [(PACKAGES / "openvino/include/openvino/c", "*.h")],
        "tuning": [(INCLUDE / "linux", "**/*.h")],
        "holdout": [(INCLUDE / "openssl", "*.h"), (INCLUDE / MULTIARCH / "bits", "*.h"),
                    (INCLUDE / MULTIARCH / "sys", "*.h")]}),
    "cpp": (b"", {
        "calibration": [(PACKAGES / "openvino/include", "**/*.hpp")],
        "tuning": [(INCLUDE / "boost", "**/*.hpp")],
        "holdout": [(INCLUDE / "c++", "**/*.tcc"), (INCLUDE / "c++", "**/bits/*.h"),
                    (INCLUDE / "google/protobuf", "**/*.h")]}),
    "cmake": (b"", {
        "calibration": [(CMAKE / "Modules/Internal", "**/*.cmake")],
        "tuning": [(CMAKE / "Modules/Platform", "*.cmake"), (CMAKE / "Modules/Compiler", "*.cmake")],
        "holdout": [(CMAKE / "Modules", "*.cmake")]}),
    "rst": (b"", {
        "calibration": [(CMAKE / "Help/policy", "*.rst")],
        "tuning": [(CMAKE / "Help/variable", "*.rst"), (CMAKE / "Help/prop_tgt", "*.rst")],
        "holdout": [(CMAKE / "Help/command", "*.rst"), (CMAKE / "Help/release", "*.rst"),
                    (CMAKE / "Help/manual", "*.rst"), (CMAKE / "Help/generator", "*.rst")]}),
    "shell": (b"#!", {
        "calibration": [],
        "tuning": [(SCRIPTS, "*.p*")],
        "holdout": [(Path("/usr/bin"), "*"), (Path("/usr/sbin"), "*")]}),
    "perl": (b"", {
        "calibration": [(LIBRARIES / "perl-base/IO", "**/*.pm")],
        "tuning": [(LIBRARIES / "perl-base", "*.pm")],
        "holdout": [(Path("/usr/share/perl5"), "**/*.pm")]}),
    "elf": (b"\x7fELF", {
        "calibration": [(LIBRARIES, "*.so.*")],
        "tuning": [(LIBRARIES / "gconv", "*.so")],
        "holdout": [(Path("/usr/bin"), "*"), (Path("/usr/sbin"), "*")]}),
    "ttf": (b"\0\1\0\0", {
        "calibration": [(FONTS / "crosextra", "*.ttf")],
        "tuning": [(FONTS / "liberation", "*.ttf"), (FONTS / "liberation2", "*.ttf"),
                   (FONTS / "roboto", "**/*.ttf")],
        "holdout": [(FONTS / "dejavu", "*.ttf"), (FONTS / "open-sans", "*.ttf")]}),
}
SHELL = re.compile(rb"#! ?/(usr/)?bin/(sh|bash|dash)\b")


def files(kind, which):
    """Where files of a type may be in a set, in one order on every machine that has the same ones."""
    names = []
    for folder, pattern in SOURCES[kind][1][which]:
        names += sorted(folder.glob(pattern))
    return names


def content(kind, name):
    """The file's content, or nothing if it is no file of that type."""
    if name.is_symlink() or not name.is_file() or not 64 <= name.stat().st_size <= LARGEST:
        return None
    read = name.read_bytes()
    return read if (SHELL.match(read) if kind == "shell" else read.startswith(SOURCES[kind][0])) else None
