#!/usr/bin/env python3
"""Reports function and file lengths; fails on a function above 70 lines (docs/architecture.md, style), and on a folder
that has more code than it may: `loopback` shows what a transport needs, and stays small.

A function counts from the line of its name to that of its closing brace. Constant tables inside a function, and tables
anywhere else (arrays, transition tables, enums), do not count: they are data. Lambdas count within their function.
Files above 500 lines are listed to be looked at again; they do not fail.

usage: style_limits.py ROOT         check the tree
       style_limits.py --verbose ROOT   also list the functions above 40 lines
       style_limits.py --self-test
"""

import contextlib
import io
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import cpp_source

FOLDERS = [*cpp_source.LAYERS, *cpp_source.BESIDE]
LONGEST_FUNCTION = 70
LOOK_AGAIN_FUNCTION = 40
LOOK_AGAIN_FILE = 500
FOLDER_CODE_LINES = {"loopback": 500}  # fewer than these: lines that are neither blank nor comment, in .hpp and .cpp


class Function(NamedTuple):
    name: str
    line: int
    length: int


_ANGLES = re.compile(r"<[^<>(){};]*>")
_AFTER_PARAMETERS = re.compile(
    r"""\)\s*(?:(?:const|volatile|override|final|mutable|constexpr|try|&&?|noexcept(?:\s*\([^()]*(?:\([^()]*\))?[^()]*\))?
        |\[\[[^\]]*\]\]|__attribute__\s*\(\(.*?\)\)|->[^;{}]*|requires\b[^;{}]*)\s*)*$""",
    re.VERBOSE,
)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*\"\s*\"\s*$|\bexport\s*$")
_CONSTRUCTOR_LIST = re.compile(r"\)\s*(?:noexcept(?:\s*\([^()]*\))?\s*)?:(?!:)")
_ACCESS = re.compile(r"^\s*(?:(?:public|protected|private)\s*:\s*)+")
_TABLE = re.compile(r"\b(constexpr|const)\b.*=\s*$|\b(constexpr|const)\b[^=()]*[\w\]>]\s*$", re.DOTALL)


def prepare(text: str) -> str:
    """Comments, literals and preprocessor lines as blanks; of #if/#else only the first branch stays."""
    lines, hidden, continued = [], [], False
    for line in cpp_source.strip(text).split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if continued or directive:
            word = directive.group(1) if directive and not continued else ""
            if word in ("if", "ifdef", "ifndef"):
                hidden.append(False)
            elif word in ("else", "elif") and hidden:
                hidden[-1] = True
            elif word == "endif" and hidden:
                hidden.pop()
            continued = line.rstrip().endswith("\\")
            line = ""
        lines.append("" if any(hidden) else line)
    return "\n".join(lines)


def kind_of(header: str) -> str:
    """What an opening brace after this text begins: function, scope, member (initializer), or table."""
    text = _ACCESS.sub("", header)
    while True:
        bare = _ANGLES.sub(" ", text)
        if bare == text:
            break
        text = bare
    text = text.rstrip()
    if re.search(r"\bconcept\b", text) or text.count("(") > text.count(")"):
        return "table"
    if _CONSTRUCTOR_LIST.search(text):
        return "function" if re.search(r"[)}]$", text) else "member"
    if _AFTER_PARAMETERS.search(text):
        initializer = re.search(r"(?<![=!<>+\-*/%&|^])=(?!=)", re.sub(r"\boperator\s*\S+?\s*(?=\()|\([^()]*\)", "()", text))
        return "table" if initializer and "[" not in text[initializer.start():] else "function"
    if re.search(r"\]$", text) and "=" in text:
        return "function"  # a lambda without parameters
    return "scope" if _SCOPE.search(text) or not text else "table"


def without_template(header: str) -> str:
    """The header with template<...> and the requires clause after it as blanks."""
    text = _ACCESS.sub(lambda m: cpp_source.blank(m.group()), header)
    match = re.match(r"\s*(template\s*<[^;{}]*?>\s*(?=\w|\[))(requires\s*\([^;{}]*?\)(?=\s*\w))?", text)
    return cpp_source.blank(match.group()) + text[match.end():] if match else text


def name_in(text: str) -> str:
    match = re.search(r"((?:[\w~]+(?:<[^()]*>)?\s*::\s*)*(?:operator\s*(?:\(\s*\)|[^\s(]+)|~?\w+))\s*\(", text)
    name = " ".join(match.group(1).split()) if match else "lambda"
    if re.fullmatch(r"[A-Z][A-Z_0-9]*", name):  # TEST(Suite, case)
        name = " ".join(text[match.start():].split())
    return name


def closing(code: str, start: int) -> int:
    """The offset of the brace that closes the one at start."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    raise ValueError(f"brace in line {cpp_source.line_of(code, start)} is never closed")


def table_lines(code: str, start: int, end: int) -> int:
    """Lines of the constant tables inside a function body."""
    total, position = 0, start + 1
    for match in re.compile(r"[{};]").finditer(code, start + 1, end):
        if match.start() < position:
            continue
        header = code[position:match.start()]
        position = match.end()
        if match.group() == "{" and _TABLE.search(header) and not _AFTER_PARAMETERS.search(header.rstrip()):
            close = closing(code, match.start())
            total += code.count("\n", match.start(), close)
            position = close + 1
    return total


def functions(text: str) -> list:
    code, found, position, header_start = prepare(text), [], 0, 0
    for match in re.compile(r"[{};]").finditer(code):
        if match.start() < position:
            continue
        if match.group() != "{":
            header_start = match.end()
            continue
        header = code[header_start:match.start()]
        kind = kind_of(header)
        if kind == "scope":
            header_start = match.end()
            continue
        close = closing(code, match.start())
        position = close + 1
        if kind == "function":
            header = without_template(header)
            begin = header_start + len(header) - len(header.lstrip())
            parameters = code.find("(", begin)  # a return type above the name is not counted
            first = cpp_source.line_of(code, parameters if begin <= parameters < match.start() else begin)
            length = cpp_source.line_of(code, close) - first + 1 - table_lines(code, match.start(), close)
            found.append(Function(name_in(header), first, length))
        if kind == "function" or kind == "table" and not re.match(r"\s*[,(.]", code[position:position + 20]):
            header_start = position
    return found


def code_lines(text: str) -> int:
    return sum(1 for line in cpp_source.strip(text).splitlines() if line.strip())


def too_long_folders(root: Path) -> list:
    errors = []
    for folder, limit in FOLDER_CODE_LINES.items():
        files = cpp_source.files(root, [folder])
        count = sum(code_lines(file.read_text(encoding="utf-8", errors="replace")) for file in files)
        print(f"{folder}/ has {count} lines of code")
        if count >= limit:
            errors.append(f"{folder}/ has {count} lines of code; it must have fewer than {limit}")
    return errors


def report(root: Path, verbose: bool) -> list:
    errors, everything, file_lengths = [], [], []
    for file in cpp_source.files(root, FOLDERS):
        name, text = file.relative_to(root), file.read_text(encoding="utf-8", errors="replace")
        file_lengths.append((text.count("\n"), str(name)))
        try:
            everything += [(f.length, f"{name}:{f.line}: {f.name}") for f in functions(text)]
        except ValueError as error:
            errors.append(f"{name}: {error}")
    everything.sort(reverse=True)
    for lengths, what in ((everything, "functions"), (file_lengths, "files")):
        if lengths:
            longest = max(lengths)
            median = statistics.median(n for n, _ in lengths)
            print(f"{len(lengths)} {what}: median {median:g} lines, longest {longest[0]} ({longest[1]})")
    for length, name in sorted(file_lengths, reverse=True):
        if length > LOOK_AGAIN_FILE:
            print(f"look again: {name} has {length} lines")
    for length, where in everything:
        if length > LONGEST_FUNCTION:
            errors.append(f"{where} has {length} lines; {LONGEST_FUNCTION} is the end")
        elif verbose and length > LOOK_AGAIN_FUNCTION:
            print(f"look again: {where} has {length} lines")
    return errors + too_long_folders(root)


SELF_TEST = """
#pragma once
#define OPEN {
namespace fcvi::wire {
using transition_table = Table<
  On<"{", A, E, B, Do<X, Y>, none>,
  On<"FC-VI 8.2 (b)", A, E, B, none, none>
>;
enum class Color : unsigned { red, green };
static constexpr Row rows[] = {
  {1, "a"}, {2, "}"},
};
const std::map<int, std::function<int(int)>> table = {
  {1, [](int x) { return x; }},
};
struct Frame final : Base<int> {
 public:
  Frame(int a) noexcept
      : a_{a}, b_(1), c_{} {
    a_ = 1;
  }
  explicit Frame() : a_{1} {}
  bool operator==(const Frame&) const { return true; }
  int operator()(int x) const noexcept(noexcept(x + 1)) {
    return x;
  }
 private:
  int a_{0}, b_ = {1};
  int c_{0};
};
template <class T>
  requires(std::is_integral_v<T>)
auto parse(std::span<const std::byte> bytes, struct Options* options)
    -> result<T, ParseError> {
  static constexpr int table[] = {
      1,
      2,
  };
  if (true) {
    for (int i = 0; i < 3; ++i) { call([&] { return '{'; }); }
  }
  return T{1'000};
}
template <class T> concept Codec = requires(T t) {
  t.size();
};
auto lambda = [](int x) {
  return x;
};
const char* raw = R"x({ { {)x";
}  // namespace fcvi::wire
extern "C" {
int vip(struct nic* nic) {
#ifdef A
  if (nic) {
#else
  if (!nic) {
#endif
    return 1;
  }
  return 0;
}
}
TEST(Suite, case_one) {
  EXPECT_TRUE(true);
}
"""
SELF_TEST_EXPECTED = [
    ("Frame", 4), ("Frame", 1), ("operator==", 1), ("operator()", 3), ("parse", 8), ("lambda", 3), ("vip", 10),
    ("TEST(Suite, case_one)", 3),
]


def self_test() -> list:
    failures = []
    found = [(f.name, f.length) for f in functions(SELF_TEST)]
    if found != SELF_TEST_EXPECTED:
        failures.append(f"self test: found {found}\n        expected {SELF_TEST_EXPECTED}")
    for lines, wrong in ((LONGEST_FUNCTION, False), (LONGEST_FUNCTION + 1, True)):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "vi").mkdir()
            (Path(name) / "vi" / "long.cpp").write_text("int f() {\n" + "  work();\n" * (lines - 2) + "}\n")
            with contextlib.redirect_stdout(io.StringIO()):
                failed = bool(report(Path(name), False))
            if failed != wrong:
                failures.append(f"self test: a function of {lines} lines should {'fail' if wrong else 'pass'}")
    for lines, wrong in ((FOLDER_CODE_LINES["loopback"] - 1, False), (FOLDER_CODE_LINES["loopback"], True)):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "loopback").mkdir()
            text = "// what it is\n\n" + "int a;  // one of many\n" * lines + "/* the\n end */\n"
            (Path(name) / "loopback" / "many.cpp").write_text(text)
            with contextlib.redirect_stdout(io.StringIO()):
                failed = bool(report(Path(name), False))
            if failed != wrong:
                failures.append(f"self test: a folder of {lines} lines of code should {'fail' if wrong else 'pass'}")
    return failures


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--verbose"]
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    if arguments[0] == "--self-test":
        errors = self_test()
    else:
        errors = report(Path(arguments[0]).resolve(), "--verbose" in sys.argv)
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
