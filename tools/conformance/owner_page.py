"""Writes docs/conformance/owner_mutation.md, and reads from it what an earlier run found in files that this one left alone."""

import re
from collections import Counter
from typing import NamedTuple

from owner_mutants import WAYS
from owner_run import SURVIVES, UNREACHED

HEAD = """# The owners' code, changed

<!-- Made by tools/mutation --owners; the reasons stand in owner_equivalents.txt. Do not edit. -->

Owners are the classes that run the machines: `tools/mutation --owners` changes one place of their code at a time and runs the
tests that reach it, fastest first, until one fails, crashes or does not end. Tests that compare a golden page do not count.

| way | the change |
|---|---|
{ways}

Left out by rule, since no choice at run time can make them: {left_out}.

## Counted

*Killed*: a test failed, crashed or did not end. *Equivalent*: no test can tell it, and the list says why. *Survives*: tests
reach it, none fails. *Not reached*: no test goes there. *State*: a digest of the source that was changed; `tools/mutation
--owners --check` tells which files have changed since. *Tests*: the programs that ran.

| file | mutants | killed | equivalent | survives | not reached | state | tests |
|---|---|---|---|---|---|---|---|
"""
ROW = re.compile(r"\| `(?P<file>[\w/.]+)` \| (?P<mutants>\d+) \| (?P<killed>\d+) \| (?P<equivalent>\d+) \| (?P<survives>\d+) "
                 r"\| (?P<unreached>\d+) \| (?P<digest>\w+) \| (?P<tests>[^|]*) \|")
CITED = "## The tests that the list of requirements cites"


class FileResult(NamedTuple):
    file: str
    mutants: int
    killed: int
    equivalent: int
    survives: int
    unreached: int
    digest: str
    tests: str
    lines: list  # of its survivors

    def row(self) -> str:
        return (f"| `{self.file}` | {self.mutants} | {self.killed} | {self.equivalent} | {self.survives} | {self.unreached} | "
                f"{self.digest} | {self.tests} |")


def _code(text: str) -> str:
    return "`` " + text.replace("|", "\\|") + " ``"


def survivor_line(mutant, outcome: str) -> str:
    where = f"| `{mutant.function}` | {mutant.way} | {_code(mutant.before)} | {_code(mutant.after)} | "
    return where + ("no test goes there |" if outcome == UNREACHED else "survives |")


def result(file: str, verdicts: list, equivalents: dict, state: str, tests: str) -> FileResult:
    """verdicts: (mutant, Verdict) of one file."""
    alive = [(m, v) for m, v in verdicts if v.outcome in (SURVIVES, UNREACHED)]
    left = [(m, v) for m, v in alive if m.key() not in equivalents]
    return FileResult(file, len(verdicts), len(verdicts) - len(alive), len(alive) - len(left),
                      sum(v.outcome == SURVIVES for _, v in left), sum(v.outcome == UNREACHED for _, v in left), state, tests,
                      [survivor_line(m, v.outcome) for m, v in left])


def parse(text: str) -> dict:
    """File -> FileResult."""
    lines, found, file = {}, {}, ""
    for line in text.split("\n## What survives", 1)[-1].splitlines():
        if heading := re.fullmatch(r"### ([\w/.]+)", line):
            file = heading.group(1)
        elif line.startswith("| `") and file:
            lines.setdefault(file, []).append(line)
        elif line.startswith("## "):
            file = ""
    for m in ROW.finditer(text):
        numbers = {name: int(m[name]) for name in ("mutants", "killed", "equivalent", "survives", "unreached")}
        found[m["file"]] = FileResult(m["file"], **numbers, digest=m["digest"], tests=m["tests"], lines=lines.get(m["file"], []))
    return found


def cited_part(text: str) -> str:
    return (CITED + text.split(CITED, 1)[1].split("\n## ", 1)[0]).rstrip() if CITED in text else ""


def rules(left_out: Counter) -> str:
    return ", ".join(f"{what} ({count})" for what, count in sorted(left_out.items())) or "nothing"


def old_rules(text: str) -> str:
    """As the page has them: a run of some files does not know the others' counts."""
    found = re.search(r"choice at run time can make them: (.*)\.\n", text)
    return found.group(1) if found else "not counted yet"


def page(results: dict, owners: list, left_out: str, cited: str) -> str:
    every = [results[file] for file in owners if file in results]
    ways = "\n".join(f"| {way} | {what} |" for way, what in WAYS.items())
    sums = [sum(getattr(r, name) for r in every) for name in ("mutants", "killed", "equivalent", "survives", "unreached")]
    lines = [HEAD.format(ways=ways, left_out=left_out) + "\n".join(r.row() for r in every),
             f"| **all** | {' | '.join(map(str, sums))} | | |", ""]
    waiting = [file for file in owners if file not in results]
    if waiting:
        lines += ["Not run yet: " + ", ".join(f"`{file}`" for file in waiting) + ".", ""]
    if cited:
        lines += [cited, ""]
    lines += ["## What survives", ""]
    for one in every:
        if one.lines:
            lines += [f"### {one.file}", "", "| function | way | code | changed | tests |", "|---|---|---|---|---|", *one.lines, ""]
    if not any(one.lines for one in every):
        lines += ["Nothing.", ""]
    return "\n".join(lines).rstrip() + "\n"
