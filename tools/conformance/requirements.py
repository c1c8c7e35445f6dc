"""Reads docs/conformance/requirements*.txt, the lists that are kept by hand. The head of requirements.txt tells the format."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import citations

# Why an entry has no code or no test, or only in part. Anything else is a mistake.
REASONS = ("issue 4", "issue 5", "issue 13", "issue 18", "issue 19", "not ours", "informative")
KEYS = ("code", "test", "see", "note", "why")


class Mistake(Exception):
    """What is wrong, and in which line."""


@dataclass
class Clause:
    number: str
    title: str
    also: list  # places that nothing in the list names, but that exist: figures, permissions
    document: str = "FC-VI"

    @property
    def place(self) -> tuple:
        steps = tuple(self.number.split("."))
        return (self.document, *steps) if self.document in citations.NAMED else steps


@dataclass
class Requirement:
    name: str  # "5.6#1", "8.4.2 f)#2", "B.2.5 rule 4a b)", "Table 12"
    text: str
    line: int
    clause: Clause
    place: tuple = ()
    code: list = field(default_factory=list)  # (path, symbol)
    rows: bool = False  # "code: rows": what the tables cite is the code
    tests: list = field(default_factory=list)
    see: list = field(default_factory=list)  # places that say the same; a test may cite them instead
    note: str = ""
    why: str = ""
    file: str = "requirements.txt"

    @property
    def document(self) -> str:
        return self.clause.document

    @property
    def reason(self) -> str:
        return next((reason for reason in REASONS if self.why.startswith(reason)), "")

    @property
    def state(self) -> str:
        if self.reason in ("not ours", "informative"):
            return self.reason
        if not self.code and not self.rows:
            return "open"
        if not self.tests:
            return "no test yet"
        return "in part" if self.why else "held"


def _code(value: str) -> tuple:
    path, _, symbol = value.partition(" ")
    if not symbol or "/" not in path:
        raise ValueError(f"code: expected a file and a symbol, or rows; got {value!r}")
    return path, symbol


def _places(text: str, document: str) -> list:
    return [citations.parse_place(part.strip(), document) for part in text.split(",")]


def _set(entry: Requirement, key: str, value: str) -> None:
    if key == "code" and value == "rows":
        entry.rows = True
    elif key == "code":
        entry.code.append(_code(value))
    elif key == "test":
        entry.tests += value.split()
    elif key == "see":
        entry.see += _places(value, entry.document)
    else:
        setattr(entry, key, f"{getattr(entry, key)} {value}".strip())


class _Reader:
    def __init__(self, file: str):
        self.clauses, self.entries = [], []
        self.file, self.document = file, "FC-VI"
        self.key = ""  # of the line above, which an indented line may continue

    def line(self, number: int, line: str) -> None:
        if not line.strip() or line.startswith("#"):
            self.key = ""
        elif match := re.fullmatch(r"document (\S.*)", line):
            self.document = self.known(match.group(1))
        elif match := re.fullmatch(r"clause (\S+) (.+)", line):
            self.clauses.append(Clause(match.group(1), match.group(2), [], self.document))
        elif match := re.fullmatch(r"also (.+)", line):
            self.clauses[-1].also += _places(match.group(1), self.document)
        elif match := re.fullmatch(r"  (\w+): +(.+)", line):
            self.value(match.group(1), match.group(2))
        elif match := re.fullmatch(r" {4,}(\S.*)", line):
            self.value(self.key, match.group(1))
        elif match := re.fullmatch(r"(\S.*?)  +(\S.*)", line):
            self.entry(number, match.group(1), match.group(2))
        else:
            raise ValueError(f"cannot be read: {line!r}")

    def known(self, document: str) -> str:
        if document not in citations.DOCUMENTS or self.clauses:
            raise ValueError(f"expected one of {', '.join(citations.DOCUMENTS)} before the first clause; got {document!r}")
        return document

    def entry(self, number: int, name: str, text: str) -> None:
        if not self.clauses:
            raise ValueError("an entry before the first clause")
        place = citations.parse_place(re.sub(r"#\d+$", "", name), self.document)
        if any(other.name == name for other in self.entries):
            raise ValueError(f"{name} stands here a second time")
        self.entries.append(Requirement(name, text, number, self.clauses[-1], place, file=self.file))
        self.key = "text"

    def value(self, key: str, value: str) -> None:
        if key not in (*KEYS, "text") or not self.entries:
            raise ValueError(f"expected one of {', '.join(KEYS)}; got {key!r}")
        _set(self.entries[-1], key, value)
        self.key = key


def read(path: Path) -> tuple:
    """(clauses, entries); Mistake where a line cannot be read or says what cannot be."""
    reader = _Reader(path.name)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            reader.line(number, line.rstrip())
        except ValueError as error:
            raise Mistake(f"{path.name}:{number}: {error}") from None
    return reader.clauses, reader.entries


def read_all(folder: Path) -> tuple:
    """(clauses, entries) of every list of the folder, FC-VI's first."""
    clauses, entries = read(folder / "requirements.txt")
    for path in sorted(folder.glob("requirements_*.txt")):
        more_clauses, more_entries = read(path)
        clauses += more_clauses
        entries += more_entries
    return clauses, entries


def places(clauses: list, entries: list) -> set:
    """Every place that may be cited, with all that it lies within."""
    named = [entry.place for entry in entries] + [place for clause in clauses for place in clause.also]
    named += [clause.place for clause in clauses]
    return {place[:length] for place in named for length in range(1, len(place) + 1)}


def _belongs(entry: Requirement) -> bool:
    """To its clause, or to one beside it; a table or a figure belongs where it stands."""
    steps, clause = citations.steps_of(entry.place), citations.steps_of(entry.clause.place)
    if len(steps[0]) > 2 or citations.within(steps, clause):
        return True
    return entry.document == "FC-VI" and citations.related(steps[:2], clause[:2])


def complaints(entry: Requirement) -> list:
    """What an entry says that contradicts itself."""
    found = []
    if entry.why and not entry.reason:
        found.append(f"why must begin with one of: {', '.join(REASONS)}")
    if entry.state in ("open", "no test yet") and not entry.why:
        found.append(f"has no {'code' if entry.state == 'open' else 'test'} and no why")
    if entry.reason in ("not ours", "informative") and entry.tests:
        found.append(f"has tests, so it is not {entry.reason!r}")
    if not _belongs(entry):
        found.append(f"does not belong to clause {entry.clause.number}")
    return found
