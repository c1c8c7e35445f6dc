"""Writes docs/conformance/mutation.md, and reads from it which rows it speaks of."""

import re
from typing import NamedTuple

from mutants import Row, way_of

INTRODUCTION = """# Every row of every machine, changed

<!-- Made by tools/mutation; the reasons stand in mutation_survivors.txt and mutation_unreachable.txt. Do not edit. -->

A rule of the protocol is a row of a table in `state_machines/`. `tools/mutation` changes one row at a time, in one way at
a time, and runs the tests: a change that no test notices is a rule that nobody checks.

| way | the row so changed |
|---|---|
| remove | is not there: its event is unexpected, the state stays |
| invert | accepts what its guard refuses, before the rows beside it, and refuses what it accepts (only rows with a guard) |
| stay | does its effects, but the state stays (only rows that lead to another state) |
| retarget | leads to another state than it should: the next of the machine's states that is neither this one nor its own |
| drop | does all but one of its effects; once for each |
| swap | does an effect behind the next one; once for each two neighbours |

The tests that a table makes of itself (`*.table_*`: golden matrix and diagram, exclusive guards) do not run here: they see
every change of a table, whatever it should say. The tests that run are written by hand from the clauses: first those of the
machine (`tests/state_machines`), then, for what these do not notice, the tests of all that stands above it:
{above}.
Of these, too, tests that compare a golden page (`*Hostility.*`) do not run.

A row that its owner cannot make fire (the owner looks before it feeds the event, or the event has no sender in that state)
stands with the reason in mutation_unreachable.txt, and below as *unreachable*. Such a row is the machine's own care: it keeps
the table complete for any owner.
"""

NO_TEST_ABOVE = "no test notices"
NOT_ABOVE = "does not fire there"
UNREACHABLE = "unreachable: "  # and the reason
COLUMNS = "| state | event | guard | ways | fails first without it | above the machine |\n|---|---|---|---|---|---|"


class Result(NamedTuple):
    row: Row
    caught: dict   # way -> the first test that fails, None if no test does
    above: str     # what a removal does above the machine: a test, or why there is none


def survivors(results: list) -> list:
    return [f"{result.row.key()}/{way}" for result in results for way, test in result.caught.items() if test is None]


def machines(results: list) -> list:
    return list(dict.fromkeys(result.row.machine for result in results))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _kind_above(above: str) -> str:
    if above.startswith(UNREACHABLE):
        return UNREACHABLE
    return above if above in (NO_TEST_ABOVE, NOT_ABOVE) else "a test"


def _counts(name: str, results: list) -> str:
    kinds = [way.split()[0] for result in results for way in result.caught]
    above = [_kind_above(result.above) for result in results]
    cells = [name, len(results), *(kinds.count(kind) for kind in ("remove", "invert", "stay", "retarget", "drop", "swap")), len(kinds),
             len(survivors(results)), *(above.count(what) for what in ("a test", NO_TEST_ABOVE, UNREACHABLE, NOT_ABOVE))]
    return "| " + " | ".join(map(str, cells)) + " |"


def _all_counts(results: list) -> list:
    parts = [(name, [result for result in results if result.row.machine == name]) for name in machines(results)]
    return [_counts(f"[{name}](#{name})", mine) for name, mine in parts] + [_counts("**all**", results)]


def _row(result: Result) -> str:
    row = result.row
    first = result.caught["remove"]
    cells = [row.state, row.event, row.guard, ", ".join(result.caught), f"`{first}`" if first else "survives"]
    above = f"`{result.above}`" if _kind_above(result.above) == "a test" else result.above
    return "| " + " | ".join(map(_cell, [*cells, above])) + " |"


def page(results: list, explained: dict, programs_above: list) -> str:
    lines = [INTRODUCTION.format(above=", ".join(f"`{name}`" for name in programs_above)), "## Counted", "",
             "The last four columns count the rows whose removal a test above the machine notices, too, those that fire in such",
             "tests unnoticed, those that cannot fire there, and those that could and do not: there, the tests of the machine stand",
             "alone.", "",
             "| machine | rows | remove | invert | stay | retarget | drop | swap | all | survive | noticed above | unnoticed "
             "| unreachable | not fired |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|", *_all_counts(results), "", "## What survives", ""]
    left = survivors(results)
    if left:
        lines += ["| row | way | why it may |", "|---|---|---|"]
        lines += [f"| {_cell(mutant.rsplit('/', 1)[0])} | {way_of(mutant)} | {_cell(explained.get(mutant, '**unexplained**'))} |"
                  for mutant in left]
    else:
        lines += ["Nothing."]
    for machine in machines(results):
        lines += ["", f"## {machine}", "", COLUMNS]
        lines += [_row(result) for result in results if result.row.machine == machine]
    return "\n".join(lines) + "\n"


def _section(text: str, machine: str) -> str:
    return re.search(rf"^## {machine}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL).group(0).rstrip("\n") + "\n"


def _sum(lines: list) -> str:
    """The last line of the table of counts, from the others."""
    columns = zip(*([int(cell) for cell in line.strip("| ").split(" | ")[1:]] for line in lines))
    return "| **all** | " + " | ".join(str(sum(column)) for column in columns) + " |"


def _with_room(old: str, machine: str) -> str:
    """The page with a line and a section for the machine, behind all others if it had none."""
    if re.search(rf"^## {machine}$", old, re.MULTILINE):
        return old
    return re.sub(r"^(?=\| \*\*all\*\* \|)", f"| [{machine}](#{machine}) |\n", old, flags=re.MULTILINE) + f"\n## {machine}\n"


def renewed(old: str, results: list, programs_above: list) -> str:
    """The page `old` with the parts of one machine made anew, of which nothing survives; all else stays."""
    machine = results[0].row.machine
    old = _with_room(old, machine)
    text = old.replace(_section(old, machine), _section(page(results, {}, programs_above), machine))
    count = re.compile(r"^\| \[(\w+)\]\(#\1\) \|.*$", re.MULTILINE)
    text = count.sub(lambda line: _counts(f"[{machine}](#{machine})", results) if line.group(1) == machine else line.group(0), text)
    return re.sub(r"^\| \*\*all\*\* \|.*$", _sum([line.group(0) for line in count.finditer(text)]), text, flags=re.MULTILINE)


def _cells(line: str) -> list:
    return [cell.replace("\\|", "|") for cell in line[2:-2].split(" | ")] if line.startswith("| ") else []


def listed(text: str) -> dict:
    """Key of a row -> its ways, as a page has them."""
    found, machine = {}, ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"## (\w+)", line):
            machine = heading.group(1)
        cells = _cells(line)
        if len(cells) == 6 and cells[0] != "state":
            found[f"{machine}/{cells[0]}/{cells[1]}/{cells[2]}"] = cells[3].split(", ")
    return found


def listed_above(text: str) -> dict:
    """Key of a row -> the test above the machine, of those rows that a page says to fire there."""
    found, machine = {}, ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"## (\w+)", line):
            machine = heading.group(1)
        cells = _cells(line)
        if len(cells) == 6 and cells[0] != "state" and (cells[5].startswith("`") or cells[5] == NO_TEST_ABOVE):
            found[f"{machine}/{cells[0]}/{cells[1]}/{cells[2]}"] = cells[5].strip("`")
    return found


def listed_survivors(text: str) -> list:
    part = text.split("## What survives", 1)[-1].split("\n## ", 1)[0]
    found = [re.match(r"\| (\S.*?) \| ([\w ]+) \| ", line) for line in part.splitlines()]
    return [f"{m.group(1)}/{m.group(2)}".replace("\\|", "|") for m in found if m and m.group(1) != "row"]
