"""What vipl-conformance has: its tests with the clauses and return codes that they claim, and the codes on each page.

Its arrays are made by macros, so the C preprocessor is asked. Without the suite (another tree) there is nothing."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import citations

FOLDER = "tests/conformance/vipl"

_STRING = r'"(?:[^"\\]|\\.)*"'
_ARRAY = re.compile(r"const Test (\w+)\[\] = \{")
_CALL = re.compile(r'X\((\w+),\s+"([\d.]+)"')
_PAGE = re.compile(r"\[ID_(\w+)\] = \{")


@dataclass
class Entry:
    """A line of an array of tests."""

    name: str
    file: str
    places: set  # the clause that the report prints
    codes: set  # VI-DG 3.3.4 VIP_REJECT and the like
    run: str  # the function, whose comment may cite more


def _preprocessed(files: list, root: Path) -> str:
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-std=gnu11", f"-I{root / 'vipl'}", f"-I{root / FOLDER}"]
    return subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=True).stdout


def _balanced(text: str, at: int) -> int:
    """The place of the bracket that closes the one before `at`."""
    depth = 1
    for match in re.compile(rf"{_STRING}|[{{}}]").finditer(text, at):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return match.start()
    raise ValueError("a bracket does not close")


def _braced(text: str) -> list:
    """The {...} of the outermost level."""
    found, at = [], 0
    while (start := text.find("{", at)) >= 0:
        at = _balanced(text, start + 1)
        found.append(text[start + 1:at])
    return found


def _fields(text: str) -> list:
    """Split at the commas that stand in no bracket."""
    fields, depth = [""], 0
    for part in re.findall(rf"{_STRING}|[^\"]", text):
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(part, 0)
        if part == "," and depth == 0:
            fields.append("")
        else:
            fields[-1] += part
    return [field.strip() for field in fields]


def _string(field: str) -> str:
    return "".join(part[1:-1] for part in re.findall(_STRING, field))


def _codes(field: str, clause: str) -> set:
    return {("VI-DG", *clause.split("."), code) for code in re.findall(r"VIP_\w+", field)}


def _calls(root: Path) -> dict:
    return dict(_CALL.findall((root / FOLDER / "calls.h").read_text(encoding="utf-8")))


def _entry(text: str, file: str, calls: dict):
    fields = _fields(text)
    name, call = _string(fields[0]), fields[1].removeprefix("ID_")
    if not name:
        return None  # the end of the array
    page = calls[call]
    clause = _string(fields[2]) or f"VI-DG {page}"
    places = {citation.place for citation in citations.parse(clause) if citation.strict}
    return Entry(name, file, places, _codes(fields[4], page), fields[5])


def _files_of_arrays(files: list) -> dict:
    return {match.group(1): path for path in files for match in _ARRAY.finditer(path.read_text(encoding="utf-8"))}


def read(root: Path) -> tuple:
    """(entries, return codes on the pages of VI-DG chapter 3)."""
    if not (root / FOLDER / "calls.h").is_file():
        return [], set()
    files = sorted((root / FOLDER).glob("*.c"))
    text, calls, arrays = _preprocessed(files, root), _calls(root), _files_of_arrays(files)
    entries = []
    for array in _ARRAY.finditer(text):
        file = str(arrays[array.group(1)].relative_to(root))
        for line in _braced(text[array.end():_balanced(text, array.end())]):
            if entry := _entry(line, file, calls):
                entries.append(entry)
    codes = set()
    for page in _PAGE.finditer(text):
        codes |= _codes(text[page.end():_balanced(text, page.end())], calls[page.group(1)])
    return entries, codes
