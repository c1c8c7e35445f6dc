"""Compares the list with the sources: what an entry names must be there, and what a comment cites must exist."""

import re
from pathlib import Path

import citations
import requirements
import sources as source_files


def _is_precise(place: tuple) -> bool:
    """An item or a rule, not a clause that has several sentences."""
    return any(not re.fullmatch(r"[A-F]|\d+", step) for step in place)


def rows_of(entry, sources) -> list:
    """The machines whose rows cite this item or rule, something within it, or the rule that it is an item of; of a
    sentence without a name, those that cite its clause, if the entry says that rows are its code."""
    if not _is_precise(entry.place) and not entry.rows:
        return []

    def hold(place: tuple) -> bool:
        rule = _is_precise(place) and citations.within(entry.place, place)
        return place == entry.place or rule or (_is_precise(entry.place) and citations.within(place, entry.place))

    return sorted({row.machine for row in sources.rows
                   if any(hold(citation.place) for citation in citations.parse(row.comment.text))})


def test_complaints(entry, sources) -> list:
    found = []
    wanted = [entry.place, *entry.see]
    for name in entry.tests:
        same_name = sources.tests.get(name, [])
        if not same_name:
            found.append(f"test {name} does not exist")
        elif len(same_name) > 1:
            found.append(f"test {name} exists in {' and '.join(test.file for test in same_name)}")
        elif not any(citations.related(place, want) for place in same_name[0].places for want in wanted):
            found.append(f"test {name} ({same_name[0].file}) cites neither it nor what it says the same as")
    return found


def code_complaints(entry, sources, root: Path) -> list:
    found = []
    for path, symbol in entry.code:
        if not (root / path).is_file():
            found.append(f"{path} does not exist")
        elif not source_files.has_symbol(root / path, symbol):
            found.append(f"{path} has no {symbol}")
    if entry.rows and not rows_of(entry, sources):
        found.append("no row of a state machine cites it any more")
    return found


def _order(entries: list) -> list:
    """Numbers of one place run from 1 without a gap, so that a name never moves to another sentence."""
    found, last = [], {}
    for entry in entries:
        number = re.search(r"#(\d+)$", entry.name)
        if number:
            if int(number.group(1)) != last.get(entry.place, 0) + 1:
                found.append(f"{entry.name}: expected #{last.get(entry.place, 0) + 1}")
            last[entry.place] = int(number.group(1))
    return found


def citation_complaints(comments: list, known: set, last_ruling: int) -> list:
    """Clauses, rules and rulings that comments and rows name and that do not exist."""
    found = []
    for comment in comments:
        for citation in citations.parse(comment.text):
            if citation.strict and citation.place not in known:
                found.append(f"{comment.where()}: FC-VI has no {citations.text_of(citation.place)}")
        found += [f"{comment.where()}: there is no ruling {number}" for number in source_files.rulings(comment.text)
                  if not 1 <= number <= last_ruling]
    return found


def last_ruling(root: Path) -> int:
    numbers = re.findall(r"^\| (\d+) \|", (root / "docs/rulings.md").read_text(encoding="utf-8"), re.MULTILINE)
    return max(map(int, numbers), default=0)


def all_complaints(root: Path, clauses: list, entries: list, sources) -> list:
    found = _order(entries)
    for entry in entries:
        about = requirements.complaints(entry) + code_complaints(entry, sources, root) + test_complaints(entry, sources)
        found += [f"requirements.txt:{entry.line}: {entry.name}: {text}" for text in about]
    known = requirements.places(clauses, entries)
    cited = sources.comments + [row.comment for row in sources.rows]
    found += citation_complaints(cited, known, last_ruling(root))
    for entry in entries:
        found += [f"requirements.txt:{entry.line}: {entry.name}: FC-VI has no {citations.text_of(place)}"
                  for place in entry.see if place not in known]
    return found
