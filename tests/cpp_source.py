"""What the project's own checks share: finding C and C++ files, and taking comments and literals out of them."""

import re
from pathlib import Path

# The folders of the code, the bottom first: what every check of the project takes its list from. tests/layering.py compares them with
# the add_subdirectory() of the root and says which may use which.
LAYERS = ["wire", "runtime", "streams", "state_machines", "fc2_fabric", "farp", "vi", "fcvi", "loopback", "vitcp", "iwarp", "settings", "vipl", "verbs", "tools"]
BESIDE = ["man", "examples", "tests"]  # built, too

SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".hh", ".cc", ".ipp", ".inc"}

_TOKEN = re.compile(
    r"""(?P<line_comment>//(?:[^\n\\]|\\.|\\\n)*)
      | (?P<block_comment>/\*.*?(?:\*/|\Z))
      | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<number>\b[0-9][0-9a-fA-FxXbBuUlLpP.']*)      # so that 1'000 opens no character literal
      | (?P<character>'(?:[^'\\\n]|\\.)+')
    """,
    re.DOTALL | re.VERBOSE,
)


def blank(text: str) -> str:
    """Spaces of the same length; line ends stay."""
    return re.sub(r"[^\n]", " ", text)


def strip(text: str, keep_strings: bool = False) -> str:
    """The text with comments (and, unless kept, the insides of literals) as blanks. Offsets and lines stay."""

    def replace(match: re.Match) -> str:
        kind, found = match.lastgroup, match.group()
        if match.group("raw") is not None:
            kind = "raw"
        if kind in ("line_comment", "block_comment"):
            return blank(found)
        if kind == "number" or keep_strings:
            return found
        return found[0] + blank(found[1:-1]) + found[-1]

    return _TOKEN.sub(replace, text)


def files(root: Path, folders) -> list:
    """Every C and C++ file under these folders of the tree, sorted."""
    return sorted(p for folder in folders for p in (root / folder).rglob("*") if p.is_file() and p.suffix in SUFFIXES)


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|([^\s"<][^\n]*))', re.MULTILINE)


def includes(text: str) -> list:
    """(line, name) of every #include; a name that a macro makes comes as the macro's text."""
    code = strip(text, keep_strings=True)
    return [(line_of(code, m.start(0)), next(g for g in m.groups() if g).strip()) for m in _INCLUDE.finditer(code)]
