#!/usr/bin/env python3
"""Fails when a C or C++ file is not as clang-format 14 writes it with .clang-format, or a line is above 120 columns.

Tables between "clang-format off" and "on", raw strings and string literals of one word may be wider.

usage: form.py ROOT          check the tree
       form.py ROOT --mend   format the files; lines that are too long are still reported
       form.py --self-test   show that each fault is found

Exit status 77 (skipped): there is no clang-format 14 here.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cpp_source

FOLDERS = [*cpp_source.LAYERS, *cpp_source.BESIDE]
COLUMNS = 120
SKIPPED = 77
_RAW = re.compile(r'\b(?:u8|[uUL])?R"([^()\s\\]{0,16})\(.*?\)\1"', re.DOTALL)


def formatter() -> str:
    """The program, or "" where it is missing or another version: another one writes another layout."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout:
            return path
    return ""


def long_lines(text: str) -> list:
    """Numbers of lines above the limit that the formatter may break."""
    free = _RAW.sub(lambda m: re.sub(r"[^\n]", "", m.group()), text)
    found, off = [], False
    for number, line in enumerate(free.split("\n"), 1):
        if "clang-format off" in line or "clang-format on" in line:
            off = "clang-format off" in line
        if len(line) > COLUMNS and not off:
            found.append(number)
    return found


def in_pieces(files: list, size: int = 50):
    return (files[at:at + size] for at in range(0, len(files), size))


def check(root: Path, program: str) -> list:
    files = cpp_source.files(root, FOLDERS)
    errors = []
    for piece in in_pieces(files):
        command = [program, "--dry-run", "--Werror", "-style=file", *map(str, piece)]
        said = subprocess.run(command, capture_output=True, text=True).stderr
        places = re.findall(r"^(\S+?:\d+):\d+: error:", said, re.MULTILINE)
        errors += [f"{place.removeprefix(f'{root}/')}: not as clang-format writes it" for place in dict.fromkeys(places)]
    for file in files:
        errors += [f"{file.relative_to(root)}:{number}: above {COLUMNS} columns"
                   for number in long_lines(file.read_text(encoding="utf-8"))]
    return errors


def mend(root: Path, program: str) -> None:
    for piece in in_pieces(cpp_source.files(root, FOLDERS)):
        subprocess.run([program, "-i", "-style=file", *map(str, piece)], check=True)


def self_test(program: str) -> list:
    own = (Path(__file__).resolve().parent.parent / ".clang-format").read_text()
    cases = {
        "clean": ("int main() { return 0; }\n", 0),
        "layout": ("int  main() { return 0; }\n", 1),
        "long comment": ("// " + "word " * 30 + "end\nint a;\n", 1),
        "long raw string": ('auto a =\n    R"(' + "word " * 30 + ')";\n', 0),
        "long table": ("// clang-format off\nint a[] = {" + "1,  " * 40 + "};\n// clang-format on\n", 0),
    }
    failures = []
    for case, (text, wanted) in cases.items():
        with tempfile.TemporaryDirectory() as name:
            root = Path(name).resolve()
            (root / "vi").mkdir()
            (root / ".clang-format").write_text(own)
            (root / "vi" / "a.cpp").write_text(text)
            found = check(root, program)
            if len(found) != wanted:
                failures.append(f"self test '{case}': found {found}")
            mend(root, program)
            if case == "layout" and check(root, program):
                failures.append("self test: mended, and still not as it should be")
    return failures


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    program = formatter()
    if not program:
        print("skipped: no clang-format 14 on this machine (Debian package clang-format-14)")
        return SKIPPED
    if arguments == ["--self-test"]:
        errors = self_test(program)
    else:
        root = Path(arguments[0]).resolve()
        if arguments[1:] == ["--mend"]:
            mend(root, program)
        errors = check(root, program)
        if not errors:
            print(f"{len(cpp_source.files(root, FOLDERS))} files are as clang-format writes them")
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
