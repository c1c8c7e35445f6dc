"""What the sources cite: rows of the state machines, tests, comments."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import citations
import suite

CODE = ("wire", "streams", "state_machines", "fc2_fabric", "farp", "vi", "fcvi", "loopback", "vitcp", "iwarp", "vipl", "tools")
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}

_TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
_ROW = re.compile(r'On<"([^"]*)",\s*(\w+),\s*(\w+)')
_MACHINE = re.compile(r'std::string_view name = "(\w+)"')
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_C_TOKEN = re.compile(r"//[^\n]*|/\*(.*?)\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)'", re.DOTALL)
_RULING = re.compile(r"\b[Rr]ulings? ([VIMW]-)?(\d+)")


@dataclass
class Comment:
    file: str
    line: int
    text: str

    def where(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass
class Test:
    name: str
    file: str
    places: set
    codes: set = None  # return codes that it claims, if it is one that claims


@dataclass
class Row:
    machine: str
    source: str
    event: str
    comment: Comment  # its clause


@dataclass
class Sources:
    tests: dict = field(default_factory=dict)  # by name: all that bear it
    rows: list = field(default_factory=list)
    comments: list = field(default_factory=list)
    return_codes: set = field(default_factory=set)  # every one on the pages of VI-DG chapter 3


def _comment_of(line: str) -> str:
    match = re.search(r"//[/!]?<? ?(.*)", _LITERAL.sub(lambda literal: " " * len(literal.group()), line))
    return line[match.start(1):].rstrip() if match else ""


def comments(file: str, text: str) -> list:
    """Comments of whole lines, joined where they follow each other; those behind code stand alone."""
    found, whole = [], False
    for number, line in enumerate(text.splitlines(), 1):
        comment = _comment_of(line)
        starts = line.lstrip().startswith("//")
        if comment and starts and whole:
            found[-1].text += " " + comment
        elif comment:
            found.append(Comment(file, number, comment))
        whole = bool(comment) and starts
    return found


def block_comments(file: str, text: str) -> list:
    """/* ... */, which C has."""
    return [Comment(file, text.count("\n", 0, match.start()) + 1,
                    " ".join(line.strip().lstrip("*").strip() for line in match.group(1).splitlines()))
            for match in _C_TOKEN.finditer(text) if match.group(1)]


def rows(file: str, text: str) -> list:
    machine = _MACHINE.search(text)
    if not machine:
        return []
    return [Row(machine.group(1), match.group(2), match.group(3),
                Comment(file, text.count("\n", 0, match.start()) + 1, match.group(1))) for match in _ROW.finditer(text)]


def _places(found: list) -> set:
    return {citation.place for comment in found for citation in citations.parse(comment.text)}


def _span(text: str, match: re.Match) -> tuple:
    """Of a test with the comment above it."""
    start = match.start()
    while (above := text.rfind("\n", 0, start - 1) + 1) < start and text[above:start].startswith("//"):
        start = above
    line_end = text.find("\n", match.end())
    one_line = text[match.start():line_end].rstrip().split("//")[0].rstrip().endswith("}")
    end = line_end if one_line else text.find("\n}", match.end())
    return start, len(text) if end < 0 else end


def tests(file: str, text: str) -> list:
    """What a test cites stands above it, in it, or in the first comment of its file."""
    head = [comment for comment in comments(file, text)[:1] if comment.line == 1]
    found = []
    for match in _TEST.finditer(text):
        start, end = _span(text, match)
        found.append(Test(f"{match.group(1)}.{match.group(2)}", file, _places(head + comments(file, text[start:end]))))
    return found


def scenarios(root: Path) -> list:
    """Scenarios that CTest runs one by one (tests/scenarios): what one cites stands in its first comment."""
    found = []
    for path in sorted((root / "tools/scenarios/fc-vi").glob("*.yaml")):
        lines = path.read_text(encoding="utf-8").splitlines()
        end = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
        file = str(path.relative_to(root))
        head = Comment(file, 1, " ".join(line[1:].strip() for line in lines[:end]))
        found.append((head, Test(f"fc-vi.{path.stem}", file, _places([head]))))
    return found


def _of_function(name: str, text: str, found: list) -> list:
    """The comment that ends above a function, and those within it."""
    match = re.search(rf"^static [^\n;=]*\b{name}\([^;{{]*\{{", text, re.MULTILINE)
    if not match:
        return []
    first, last = text.count("\n", 0, match.start()) + 1, text.count("\n", 0, text.find("\n}", match.end())) + 1
    ends = [comment.line + len(comment.text) // 90 for comment in found]
    return [comment for comment, end in zip(found, ends) if first <= comment.line <= last or first - 3 <= end < first]


def conformance_tests(root: Path) -> tuple:
    """(tests of vipl-conformance, their clauses as comments, codes of the pages): what one cites stands in its entry and at its function."""
    entries, codes = suite.read(root)
    texts = {entry.file: (root / entry.file).read_text(encoding="utf-8") for entry in entries}
    found = {file: block_comments(file, text) for file, text in texts.items()}
    tests_found, clauses = [], []
    for entry in entries:
        places = entry.places | _places(_of_function(entry.run, texts[entry.file], found[entry.file]))
        tests_found.append(Test(entry.name, entry.file, places, entry.codes))
    for file, text in texts.items():
        literals = re.finditer(r'"(VI-(?:DG|ARCH) [\d.]+)"', text)
        clauses += [Comment(file, text.count("\n", 0, each.start()) + 1, each.group(1)) for each in literals]
    return tests_found, clauses, codes


def read(root: Path) -> Sources:
    sources = Sources()
    for folder in (*CODE, "tests"):
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in SUFFIXES):
            file, text = str(path.relative_to(root)), path.read_text(encoding="utf-8", errors="replace")
            sources.comments += comments(file, text) + block_comments(file, text)
            sources.rows += rows(file, text)
            for test in tests(file, text) if folder == "tests" else []:
                sources.tests.setdefault(test.name, []).append(test)
    for comment, test in scenarios(root):
        sources.comments.append(comment)
        sources.tests.setdefault(test.name, []).append(test)
    tests_found, clauses, sources.return_codes = conformance_tests(root)
    sources.comments += clauses
    for test in tests_found:
        sources.tests.setdefault(test.name, []).append(test)
    return sources


def has_symbol(path: Path, symbol: str) -> bool:
    """A function, type or constant that the file's code names; of Class::member both, in a header apart."""
    code = "\n".join(line[:len(line) - len(_comment_of(line))] for line in path.read_text(encoding="utf-8").splitlines())
    if path.suffix == ".cpp" and re.search(rf"\b{re.escape(symbol)}\b", code):
        return True
    return path.suffix != ".cpp" and all(re.search(rf"\b{re.escape(part)}\b", code) for part in symbol.split("::"))


def rulings(text: str) -> list:
    """(series, number) of each: ("", 3), and ("V-", 4) of a series with a letter."""
    return [(series, int(number)) for series, number in _RULING.findall(text)]
