"""One change of an owner's code: what it is called, where it stands, and the lists that are kept of such changes."""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

# What is changed without a FILE: the owners of the protocol, and the queues between them and a program.
OWNERS = [
    "farp/*.cpp", "fcvi/*.cpp", "loopback/*.cpp", "vi/*.cpp",
    *(f"fc2_fabric/node/{name}.cpp" for name in (
        "basic_links", "class_2", "exchange", "exchange_class_2", "exchange_table", "fabric_login", "frame_sorter",
        "frames_before_login", "iu_sender", "link_services", "login_session", "n_port", "port_attachment", "port_services",
        "received_sequences", "recovery_qualifiers", "remote_port", "remote_ports", "sent_sequence",
        "sequence_sender")),
    "fc2_fabric/link/receive_queue.cpp", "vipl/engine/completion_port.cpp", "vipl/engine/growing_ring.hpp", "vipl/engine/handle_slots.hpp", "vipl/engine/work_port.cpp",
    "vitcp/*.cpp", "vitcp/port_service/*.cpp",
]
# Names and sums beside them.
NO_OWNERS = {"fcvi/counters.cpp", "vitcp/counters.cpp"}

# What the reader of a page needs to know of each way; the operators stand in owner_operators.py.
WAYS = {
    "relation": "`<` is `<=` or `>=`, and so on; `==` is `!=`, and `!=` is `==`",
    "condition": "what an `if`, a loop or a `?:` asks is negated (where it is no comparison: those are changed as relations)",
    "logic": "of `a && b` or `a || b` one side is left out; this asks for more than the other operator, or a negated side, would",
    "constant": "an integer, or a named integral constant, is one more or one less (0 only more); `true` is `false`; an "
                "enumerator is the next one",
    "statement": "a statement is left out: a call, an assignment, a `return` from the midst, `break`, `continue`",
    "arguments": "two arguments for parameters of one type are swapped",
    "member": "a small member is the next member of the same type in the same class",
    "arithmetic": "`+` is `-`, `-` is `+`; `std::min` is `std::max`",
}
LONGEST = 110  # of the text that names a change


class Mistake(Exception):
    """A list that cannot be read; says where."""


class Mutant(NamedTuple):
    file: str
    function: str  # without namespaces
    way: str
    before: str    # the changed text and what stands around it, spaces normalized
    after: str
    number: int    # 1, and more where one function has the same change several times

    def key(self) -> str:
        twin = f" #{self.number}" if self.number > 1 else ""
        return f"{self.file} {self.function}: {self.before} => {self.after}{twin}"


KEY = re.compile(r"(?P<file>[\w/]+\.[ch]pp) (?P<function>\S+): (?P<before>.+?) => (?P<after>.+)")


def normalized(text: str) -> str:
    """Without comments and the spaces that a formatter moves: beside brackets, and before a member's dot or arrow."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"(?<=[(\[{]) | (?=[)\]}])| (?=\.\w|->\w)", "", text)


def short(text: str) -> str:
    text = normalized(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def digest(source: str) -> str:
    """Of the tokens only: where lines break, and which spaces stand between them, is no change."""
    tokens = re.sub(r"(?<!\w) | (?!\w)", "", normalized(source))
    return hashlib.sha256(tokens.encode()).hexdigest()[:10]


def parse_equivalents(text: str) -> dict:
    """Key -> why no test can tell it from the code as it is. One or more keys, a line each, then the reason, indented."""
    found, waiting, reason = {}, [], []
    for number, line in enumerate([*text.splitlines(), "end"], 1):
        where = f"owner_equivalents.txt:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if not waiting:
                raise Mistake(f"{where}: a reason without a change")
            reason.append(line.strip())
            continue
        if reason:
            found.update({key: " ".join(reason) for key in waiting})
            waiting, reason = [], []
        if line == "end" and not waiting:
            break
        if not KEY.fullmatch(line):
            raise Mistake(f"{where}: no change, or one without a reason: {line}")
        if line in found or line in waiting:
            raise Mistake(f"{where}: explained twice: {line}")
        waiting.append(line)
    return found


def stale(key: str, source: str) -> str:
    """Why the key can name nothing in this source, or "". Cheap, without the compiler: for the check in the test run."""
    parts = KEY.fullmatch(key)
    name = parts["function"].rsplit("::", 1)[-1]
    if not re.search(rf"(?<!\w){re.escape(name)}\s*\(", source) and not name.startswith("operator"):
        return f"no function {parts['function']}"
    before = parts["before"].removesuffix("...")
    return "" if before in normalized(source) else "no such code"


def owners(root: Path) -> list:
    found = [str(path.relative_to(root)) for pattern in OWNERS for path in sorted(root.glob(pattern))]
    found = [file for file in found if file not in NO_OWNERS]
    if not found:
        raise Mistake(f"{root}: no owner")
    return found
