"""Compares the lists with the sources: what an entry names must be there, and what a comment cites must exist."""

import fnmatch
import functools
import re
from pathlib import Path

import citations
import requirements
import sources as source_files


@functools.cache
def _is_precise(place: tuple) -> bool:
    """An item or a rule, not a clause that has several sentences."""
    return any(not re.fullmatch(r"[A-F]|\d+", step) for step in citations.steps_of(place))


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


def tests_named(name: str, sources) -> dict:
    """Those that bear the name; "*" stands for any part of it."""
    names = fnmatch.filter(sources.tests, name) if "*" in name else [name] * (name in sources.tests)
    return {found: sources.tests[found] for found in names}


def _cites(test, wanted: list, return_codes: set) -> bool:
    """A test that claims return codes (vipl-conformance) must claim the one that an entry is about."""
    def holds(want: tuple) -> bool:
        if test.codes is not None and want in return_codes:
            return want in test.codes
        return any(citations.related(place, want) for place in test.places)

    return any(map(holds, wanted))


def test_complaints(entry, sources) -> list:
    found = []
    wanted = [entry.place, *entry.see]
    for name in entry.tests:
        named = tests_named(name, sources)
        if not named:
            found.append(f"test {name} does not exist")
        for each, same_name in named.items():
            if len(same_name) > 1:
                found.append(f"test {each} exists in {' and '.join(test.file for test in same_name)}")
            elif not _cites(same_name[0], wanted, sources.return_codes):
                found.append(f"test {each} ({same_name[0].file}) cites neither it nor what it says the same as")
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


def _has_no(place: tuple) -> str:
    return f"{citations.document_of(place)} has no {citations.text_of(citations.steps_of(place))}"


def citation_complaints(comments: list, known: set, documents: set, last: dict) -> list:
    """Clauses, rules and rulings that comments and rows name and that do not exist."""
    found = []
    for comment in comments:
        for citation in citations.parse(comment.text):
            judged = citation.strict and citations.document_of(citation.place) in documents
            if judged and citation.place not in known:
                found.append(f"{comment.where()}: {_has_no(citation.place)}")
        found += [f"{comment.where()}: there is no ruling {series}{number}"
                  for series, number in source_files.rulings(comment.text) if not 1 <= number <= last[series]]
    return found


# Series of docs/rulings.md with a letter: VI over TCP, IFT, MPA to RDMAP, WARP.
RULINGS = ("V-", "I-", "M-", "W-")


def last_rulings(root: Path) -> dict:
    """The highest number of each series."""
    text = (root / "docs/rulings.md").read_text(encoding="utf-8")
    return {series: max(map(int, re.findall(rf"^\| {series}(\d+) \|", text, re.MULTILINE)), default=0) for series in ("", *RULINGS)}


def _page_complaints(entries: list, sources) -> list:
    """Every return code on every page of VI-DG chapter 3, as vipl-conformance has them, is an entry."""
    have = {entry.place for entry in entries}
    if not any(entry.document == "VI-DG" for entry in entries):
        return []
    return [f"requirements_vi_dg.txt: {citations.text_of(place)} is no entry" for place in sorted(sources.return_codes)
            if place not in have]


def all_complaints(root: Path, clauses: list, entries: list, sources) -> list:
    found = _order(entries) + _page_complaints(entries, sources)
    known = requirements.places(clauses, entries)
    for entry in entries:
        about = requirements.complaints(entry) + code_complaints(entry, sources, root) + test_complaints(entry, sources)
        about += [_has_no(place) for place in entry.see if place not in known]
        found += [f"{entry.file}:{entry.line}: {entry.name}: {text}" for text in about]
    documents = {clause.document for clause in clauses}  # a citation of a document without a list cannot be judged
    cited = sources.comments + [row.comment for row in sources.rows]
    return found + citation_complaints(cited, known, documents, last_rulings(root))
