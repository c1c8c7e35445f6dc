#!/usr/bin/env python3
"""Fails when a class that has a state machine does not say what holds between its members, or does not assert it.

Each member of a type `machines::NAME::Machine` makes its class an owner: the class, or one that it stands in, declares
`bool is_consistent() const`, and its code has FCVI_ASSERT_CONSISTENT (state_machines/consistency.hpp). Each function that
calls the member's process() asserts it afterwards, or calls a settle() that does. Each machine of state_machines/ has an
owner, or stands in OWNERLESS.

usage: machine_owners.py ROOT          check the tree, and print each machine with its owner, and with the booleans that stand
                                       beside it: what they say should not be a state
       machine_owners.py --self-test   show that each fault is found
"""

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import cpp_source
from style_limits import closing

FOLDERS = [layer for layer in cpp_source.LAYERS if layer != "state_machines"]  # the tables themselves
_MEMBER = re.compile(r"\b(?:(machines)::)?(\w+)::Machine\b(?!\s*[&*(:])\s*(\w*)[^;(){}]*;")
_ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*machines::(\w+)\s*;")
_CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)[^;{}()]*(?:\([^{};]*\)[^;{}]*)?$")
_SAYS = re.compile(r"\bbool\s+is_consistent\s*\(\s*\)\s*const\b")
_ASSERTS = re.compile(r"\bFCVI_ASSERT_CONSISTENT\s*\(\s*\*this\s*\)")
_SETTLES = re.compile(r"(?<!::)\bsettle\s*\(\s*\)")
_SETTLE = re.compile(r"\bsettle\s*\(\s*\)\s*\{")
_TEMPLATE = re.compile(r"\btemplate\s*<[^<>]*>")
_NO_FUNCTION = re.compile(r"\b(?:namespace|class|struct|union|enum)\b[^()]*$")
_FUNCTION = re.compile(r"(\w+)\s*\(")
# Functions that need not settle, because each of their callers does when it has fed all of its machines.
FEEDERS = {("MessageSender", "Message"): {"feed"}, ("Registration",): {"request"}}


# Machines whose owner is still to come.
OWNERLESS = set()


class Owner(NamedTuple):
    machine: str
    classes: tuple  # those that the member stands in, the innermost last
    bodies: tuple   # their texts
    file: Path
    member: str


def scopes_at(code: str, offset: int) -> list:
    """(header, begin, end) of each brace that is open there, the outermost first."""
    opened = []
    begin = 0
    for match in re.compile(r"[{};]").finditer(code, 0, offset):
        if match.group() == "{":
            opened.append((code[begin:match.start()], match.start()))
        elif match.group() == "}" and opened:
            opened.pop()
        begin = match.end()
    return [(header, start, closing(code, start)) for header, start in opened]


def owners(root: Path) -> list:
    found = []
    for file in cpp_source.files(root, FOLDERS):
        code = cpp_source.strip(file.read_text(encoding="utf-8", errors="replace"))
        aliases = dict(_ALIAS.findall(code))
        for match in _MEMBER.finditer(code):
            machine = match.group(2) if match.group(1) else aliases.get(match.group(2))
            named = [(_CLASS.search(header), code[start:end]) for header, start, end in scopes_at(code, match.start())]
            named = [(name.group(1), body) for name, body in named if name]
            if machine and named:
                found.append(Owner(machine, tuple(n for n, _ in named), tuple(b for _, b in named), file,
                                   match.group(3)))
    return found


def code_of(owner: Owner) -> str:
    """Its header, and the files beside it that define its functions."""
    texts = [owner.file.read_text(encoding="utf-8", errors="replace")]
    for file in sorted(owner.file.parent.glob("*.cpp")):
        text = file.read_text(encoding="utf-8", errors="replace")
        if any(re.search(rf"\b{name}::is_consistent\s*\(\s*\)\s*const\b", text) for name in owner.classes):
            texts.append(text)
    return "\n".join(cpp_source.strip(text) for text in texts)


def function_at(code: str, offset: int) -> tuple:
    """The name of the function that stands there, and its text from there on."""
    for header, _, end in scopes_at(code, offset):
        header = _TEMPLATE.sub("", header)
        if not _NO_FUNCTION.search(header):
            name = _FUNCTION.search(header)
            return name.group(1) if name else "?", code[offset:end]
    return "?", ""


def bare_calls(owner: Owner) -> list:
    """The functions that call the member's process(), and after it neither assert nor settle."""
    code = code_of(owner)
    settle = any(_ASSERTS.search(code[match.end():closing(code, match.end() - 1)]) for match in _SETTLE.finditer(code))
    calls = re.finditer(rf"\b{owner.member}\s*\.\s*process\s*\(", code)
    found = (function_at(code, match.start()) for match in calls)
    return sorted({name for name, rest in found if not (_ASSERTS.search(rest) or settle and _SETTLES.search(rest))})


def booleans(body: str) -> list:
    """The boolean members of a class, from the text between its braces; not those of classes within it."""
    depth, flat = 0, []
    for character in body[1:]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth <= 0:
            flat.append(character)
    names = []
    for statement in re.split(r"[;}]|\b(?:public|private|protected)\s*:", "".join(flat)):
        member = re.match(r"\s*(?:mutable\s+)?bool\s+(.*)", statement, re.DOTALL)
        if member and "(" not in member.group(1):
            names += re.findall(r"(?:^|,)\s*(\w+)", member.group(1))
    return names


def machines(root: Path) -> set:
    return {file.stem for file in (root / "state_machines").glob("*.hpp")
            if re.search(r"\busing\s+Machine\s*=\s*fsm::Machine\s*<", cpp_source.strip(file.read_text(encoding="utf-8")))}


def check(root: Path) -> list:
    errors, found = [], owners(root)
    for owner in found:
        where = f"{owner.file.relative_to(root)}: {'::'.join(owner.classes)}, which has {owner.machine}"
        if not any(_SAYS.search(body) for body in owner.bodies):
            errors.append(f"{where}, has no is_consistent() const")
        elif not _ASSERTS.search(code_of(owner)):
            errors.append(f"{where}, does not assert that it is consistent")
        else:
            bare, allowed = set(bare_calls(owner)), FEEDERS.get(owner.classes, set())
            errors += [f"{where}: {name}() neither asserts nor settles after process()" for name in sorted(bare - allowed)]
            errors += [f"{where}: {name}() is no exception any more: FEEDERS" for name in sorted(allowed - bare)]
    owned = {owner.machine for owner in found}
    errors += [f"state_machines/{name}.hpp: no class has it" for name in sorted(machines(root) - owned - OWNERLESS)]
    errors += [f"state_machines/{name}.hpp has an owner now: OWNERLESS" for name in sorted(owned & OWNERLESS)]
    for owner in sorted(found, key=lambda one: (one.machine, one.file)):
        beside = [name for body in owner.bodies for name in booleans(body)]
        print(f"{owner.machine}: {'::'.join(owner.classes)}, {len(beside)} booleans {' '.join(beside)}".rstrip())
    return errors


SOUND = {
    "state_machines/door.hpp": "using Machine = fsm::Machine<Def>;\n",
    "vi/house.hpp": "namespace vi {\nclass House final : private machines::door::Context {\n public:\n"
                    "  [[nodiscard]] bool is_consistent() const;\n private:\n  struct Room {\n"
                    "    machines::door::Machine machine;\n  };\n  void f(const machines::door::Machine& of);\n};\n}\n",
    "vi/house.cpp": "bool House::is_consistent() const { return true; }\nvoid House::settle() { FCVI_ASSERT_CONSISTENT(*this); }\n"
                    "template <class E>\nvoid House::process(const E& event) {\n"
                    "  if (open_) { room_.machine.process(event, *this); }\n  settle();\n}\n",
}
FAULTS = {
    "no is_consistent": ("vi/house.hpp", "  [[nodiscard]] bool is_consistent() const;\n", "  bool is_consistent(int) const;\n"),
    "is_consistent of another class": ("vi/house.hpp", "class House", "class Other { bool is_consistent() const; };\nclass House"),
    "no assertion": ("vi/house.cpp", "FCVI_ASSERT_CONSISTENT(*this)", "// FCVI_ASSERT_CONSISTENT(*this)\n"),
    "a call that does not settle": ("vi/house.cpp", "  settle();\n", ""),
    "a call that settles before": ("vi/house.cpp", "  if (open_) { room_.machine.process(event, *this); }\n  settle();\n",
                                   "  settle();\n  room_.machine.process(event, *this);\n"),
    "a settle that does not assert": ("vi/house.cpp", "{ FCVI_ASSERT_CONSISTENT(*this); }",
                                      "{}\nvoid House::other() { FCVI_ASSERT_CONSISTENT(*this); }"),
    "a second machine without one": ("vi/house.cpp", "bool House", "namespace d = machines::door;\nclass Shed { d::Machine m_; };\nbool House"),
    "a machine without an owner": ("vi/house.hpp", "machines::door::Machine machine", "machines::gate::Machine machine"),
}


def self_test() -> list:
    failures = []
    for fault, change in [("", None), *FAULTS.items()]:
        with tempfile.TemporaryDirectory() as name:
            for path, text in SOUND.items():
                if change and change[0] == path:
                    text = text.replace(change[1], change[2])
                    if fault.startswith("is_consistent of"):
                        text = text.replace("  [[nodiscard]] bool is_consistent() const;\n", "")
                (Path(name) / path).parent.mkdir(exist_ok=True)
                (Path(name) / path).write_text(text)
            with contextlib.redirect_stdout(io.StringIO()):
                failed = bool(check(Path(name)))
            if failed != bool(fault):
                failures.append(f"self test: {fault or 'a sound tree'} should {'fail' if fault else 'pass'}")
    members = "{ bool a_ = false, b_{true}; bool f(int) const; struct In { bool no; }; mutable bool c_; public: bool d_ = x; }"
    if booleans(members) != ["a_", "b_", "c_", "d_"]:
        failures.append(f"self test: the booleans are {booleans(members)}")
    return failures


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    errors = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]).resolve())
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
