"""The rows of the state machines, the ways to change one, and the list of survivors that were explained."""

import re
from typing import NamedTuple


class Row(NamedTuple):
    machine: str
    state: str
    event: str
    guard: str  # "none": unguarded
    target: str  # "-": the state stays
    effects: tuple
    clause: str

    def key(self) -> str:
        return f"{self.machine}/{self.state}/{self.event}/{self.guard}"

    def ways(self) -> list:
        """Each way makes another machine: what would change nothing by construction is no way."""
        found = ["remove"]
        if self.guard != "none":
            found.append("invert")
        if self.target not in ("-", self.state):
            found.append("stay")
        found.append("retarget")
        found += [f"drop {effect}" for effect in dict.fromkeys(self.effects)]
        once = [effect for effect in self.effects if self.effects.count(effect) == 1]
        return found + [f"swap {effect}" for effect, after in zip(self.effects, self.effects[1:]) if {effect, after} <= set(once)]

    def mutants(self) -> list:
        return [f"{self.key()}/{way}" for way in self.ways()]


_ROW = r"\w+/\w+/\w+/[^/]+"  # its key


class Mistake(Exception):
    """A list that cannot be read; says where."""


def parse_rows(text: str) -> list:
    """What the program mutation_rows prints."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split("\t")
        parts = fields[0].split("/")
        if len(fields) != 4 or len(parts) != 4:
            raise Mistake(f"mutation_rows, line {number}: no row: {line}")
        effects = () if fields[2] == "-" else tuple(fields[2].split(", "))
        rows.append(Row(*parts, fields[1], effects, fields[3]))
    twice = sorted({row.key() for row in rows if sum(row.key() == other.key() for other in rows) > 1})
    if not rows or twice:
        raise Mistake(f"mutation_rows: rows that are not told apart: {', '.join(twice)}" if twice else "mutation_rows: no row")
    return rows


def way_of(mutant: str) -> str:
    return mutant.rsplit("/", 1)[1]


def parse_explanations(text: str) -> dict:
    """mutant -> why it may survive (mutation_survivors.txt)."""
    return _parse_reasons(text, "mutation_survivors.txt", rf"{_ROW}/(remove|invert|stay|retarget|(drop|swap) \w+)", "mutant")


def parse_unreachable(text: str) -> dict:
    """Key of a row -> why it cannot fire above its machine (mutation_unreachable.txt)."""
    return _parse_reasons(text, "mutation_unreachable.txt", _ROW, "row")


def _parse_reasons(text: str, file: str, wanted: str, what: str) -> dict:
    """One or more of what is wanted, a line each, then the reason, indented."""
    explained, waiting, reason = {}, [], []
    for number, line in enumerate([*text.splitlines(), "end"], 1):
        where = f"{file}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if not waiting:
                raise Mistake(f"{where}: a reason without a {what}")
            reason.append(line.strip())
            continue
        if reason:
            explained.update({key: " ".join(reason) for key in waiting})
            waiting, reason = [], []
        if line == "end" and not waiting:
            break
        if not re.fullmatch(wanted, line):
            raise Mistake(f"{where}: no {what}, or one without a reason: {line}")
        if line in explained or line in waiting:
            raise Mistake(f"{where}: explained twice: {line}")
        waiting.append(line)
    return explained


def complaints(survivors: list, explained: dict) -> list:
    """What is wrong between the mutants that no test noticed and the list of those that were explained."""
    found = [f"survives unexplained: {mutant}" for mutant in survivors if mutant not in explained]
    return found + [f"explained, but it does not survive, or there is no such row any more: {mutant}"
                    for mutant in explained if mutant not in survivors]


def unreachable_complaints(unreachable: dict, rows, fires: dict) -> list:
    """What is wrong with the list of rows that cannot fire above; fires: key of a row -> what it fires in."""
    found = [f"mutation_unreachable.txt: no such row any more: {key}" for key in unreachable if key not in rows]
    return found + [f"mutation_unreachable.txt: it fires above the machine: {key} ({fires[key]})" for key in unreachable if key in fires]
