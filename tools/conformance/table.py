"""Writes the tables of docs/conformance: one page per clause or Annex, and README.md, which counts."""

from typing import NamedTuple

import checks
import citations

WHOLE = {"VI-TCP": "vitcp.md", "IFT": "iwarp-ift.md", "RFC 5040": "iwarp-rfc5040.md", "RFC 5041": "iwarp-rfc5041.md",
         "RFC 5043": "iwarp-rfc5043.md", "RFC 5044": "iwarp-rfc5044.md", "RFC 6581": "iwarp-rfc6581.md", "WARP": "warp.md"}  # documents of one page
STATES = ("held", "in part", "no test yet", "open", "not ours", "informative")


class Page(NamedTuple):
    document: str
    chapter: str  # the first step of its clauses; empty: all of the document
    title: str

    @property
    def file(self) -> str:
        if self.document in WHOLE:
            return WHOLE[self.document]
        if self.document in citations.NAMED:
            return f"{self.document.lower()}-{self.chapter}.md"
        return f"annex-{self.chapter.lower()}.md" if self.chapter.isalpha() else f"clause-{self.chapter}.md"

    def entries(self, entries: list) -> list:
        return [entry for entry in entries
                if entry.document == self.document and self.chapter in ("", entry.clause.number.split(".")[0])]


PAGES = [Page("FC-VI", "4", "Clause 4: structure and concepts"), Page("FC-VI", "5", "Clause 5: protocol"),
         Page("FC-VI", "6", "Clause 6: information units"), Page("FC-VI", "7", "Clause 7: addressing and naming"),
         Page("FC-VI", "8", "Clause 8: error detection and recovery"),
         Page("FC-VI", "A", "Annex A: concurrent matching peer requests"), Page("FC-VI", "B", "Annex B: message transfer"),
         Page("FC-VI", "C", "Annex C: Connection Setup"), Page("FC-VI", "D", "Annex D: Disconnect"),
         Page("VI-ARCH", "2", "VI-ARCH 2: overview, data transfer, reliability levels"),
         Page("VI-ARCH", "3", "VI-ARCH 3: NICs, memory, VIs, completion queues"),
         Page("VI-ARCH", "4", "VI-ARCH 4: connection and disconnection"), Page("VI-ARCH", "5", "VI-ARCH 5: VI states"),
         Page("VI-ARCH", "6", "VI-ARCH 6: descriptor processing"), Page("VI-ARCH", "7", "VI-ARCH 7: error handling"),
         Page("VI-ARCH", "8", "VI-ARCH 8 and 9: guidelines, example user agent"),
         Page("VI-ARCH", "10", "VI-ARCH 10 and 11: example descriptor format, example hardware"),
         Page("VI-DG", "2", "VI-DG 2: conformance phases, threads, reliability"), Page("VI-DG", "3", "VI-DG 3: calls"),
         Page("VI-DG", "4", "VI-DG 4: data structures and values"), Page("VI-DG", "5", "VI-DG 5: descriptors"),
         Page("VI-DG", "6", "VI-DG 6: provider notes"), Page("VI-TCP", "", "VI over TCP"),
         Page("IFT", "", "IFT: framing of DDP over TCP"), Page("RFC 5040", "", "RFC 5040: RDMAP"), Page("RFC 5041", "", "RFC 5041: DDP"),
         Page("RFC 5043", "", "RFC 5043: DDP over SCTP"), Page("RFC 5044", "", "RFC 5044: MPA"), Page("RFC 6581", "", "RFC 6581: enhanced connection establishment"),
         Page("WARP", "", "WARP: what RDMA over TCP and SCTP is to be")]

NAMES = {"FC-VI": "ISO/IEC 14165-331 (FC-VI)", "VI-ARCH": "Virtual Interface Architecture Specification 1.0 (VI-ARCH)",
         "VI-DG": "Intel VI Architecture Developer's Guide (VI-DG)", "VI-TCP": "draft-dicecco-vitcp-01 (VI-TCP)",
         "IFT": "draft-williams-iwarp-ift-01 (IFT)", "RFC 5040": "RFC 5040 (RDMAP)", "RFC 5041": "RFC 5041 (DDP)",
         "RFC 5043": "RFC 5043 (DDP over SCTP)", "RFC 5044": "RFC 5044 (MPA)", "RFC 6581": "RFC 6581 (MPA and SCTP, enhanced)", "WARP": "draft-jpink-warp-summary-00 (WARP)"}

INTRODUCTION = """# Requirement by requirement

<!-- Made by tools/traceability from requirements*.txt and from what code and tests cite. Do not edit. -->

FC-VI: every "shall" of ISO/IEC 14165-331 clauses 4 to 8, every table that they make normative, Annex A, and every rule
of Annexes B to D, which are informative for the standard and binding here. VI-ARCH: every rule of chapters 2 to 7 and 10
that binds a provider. VI-DG: the same of its chapters 2 to 6, every return code of every call (chapter 3), every bit of
the Control and Status fields (5.2). VI-TCP: what `wire/` and `state_machines/` hold of VI over TCP; the rest comes with its
provider. IFT and RFC 5040, 5041, 5043, 5044 and 6581: every MUST, SHALL and REQUIRED, and what IFT says by SHOULD. WARP: its
requirements, row by row. A name is the clause with an item, rule, bit or code of its own, or with `#` and the number of the sentence.

| state | means |
|---|---|
| held | the code stands, and the tests named fail without it |
| in part | the same, for all but what is said |
| no test yet | the code stands; no test that is named here would miss it |
| open | not implemented; the issue that brings it is named |
| not ours | it binds somebody else: an operating system, an application |
| informative | it cannot be broken here, for the reason given |

Tests that a golden file makes (the matrices of `state_machines/golden`) would miss every row of every machine; they do not
count here, since they hold what is, not what the standard asks for.

`tools/traceability` makes these pages; `tools/traceability --check` (CTest `project.traceability`) fails when an entry loses
its code or its test, when a comment, a row or a test cites a clause, rule or ruling that does not exist, and when a page is
stale. `tools/traceability --cites "8.4.2 f)"` lists who cites a place.
"""


def page_of(entry) -> Page:
    return next(page for page in PAGES if entry in page.entries([entry]))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _link(text: str, path: str) -> str:
    return f"[{text}](../../{path})"


def _code(entry, sources) -> str:
    parts = [_link(f"`{symbol}`", path) for path, symbol in entry.code]
    machines = checks.rows_of(entry, sources)
    parts += [_link(f"rows of `{name}`", f"state_machines/{name}.hpp") for name in machines]
    return "<br>".join(parts)


def _tests(entry, sources) -> str:
    def cell(name: str) -> str:
        named = list(checks.tests_named(name, sources).values())
        return _link(f"`{name}`", named[0][0].file) if named else f"`{name}`"

    return "<br>".join(map(cell, entry.tests))


def _requirement(entry) -> str:
    return entry.text + (f" *({entry.note})*" if entry.note else "")


def _row(entry, sources) -> str:
    tests = _tests(entry, sources)
    why = "<br>".join(part for part in (tests, entry.why) if part)
    cells = [entry.name, _requirement(entry), entry.state, _code(entry, sources), why]
    return "| " + " | ".join(map(_cell, cells)) + " |"


def page(title: str, entries: list, sources) -> str:
    lines = [f"# {title}", "", "<!-- Made by tools/traceability. Do not edit. -->"]
    clause = None
    for entry in entries:
        if entry.clause is not clause:
            clause = entry.clause
            lines += ["", f"## {clause.number} {clause.title}", "", "| | requirement | state | code | tests, or why not |",
                      "|---|---|---|---|---|"]
        lines.append(_row(entry, sources))
    return "\n".join(lines) + "\n"


def _counts(name: str, entries: list) -> str:
    numbers = [sum(entry.state == state for entry in entries) for state in STATES]
    return f"| {name} | {len(entries)} | " + " | ".join(str(number or "") for number in numbers) + " |"


def _counted(entries: list) -> list:
    """A table for each document."""
    lines = []
    for document, name in NAMES.items():
        of_document = [entry for entry in entries if entry.document == document]
        if not of_document:
            continue
        lines += [f"### {name}", "", "| | entries | " + " | ".join(STATES) + " |", "|---|" + "---|" * (len(STATES) + 1)]
        lines += [_counts(f"[{each.title}]({each.file})", each.entries(entries)) for each in PAGES
                  if each.document == document]
        lines += [_counts("**all**", of_document), ""]
    return lines


def summary(entries: list) -> str:
    lines = [INTRODUCTION, "## Counted", "", *_counted(entries), "## What is not held", ""]
    for state in ("no test yet", "in part", "open"):
        lines += [f"### {state.capitalize()}", "", "| | | why |", "|---|---|---|"]
        lines += [f"| [{entry.place[0] + ' ' if entry.document != 'FC-VI' else ''}{entry.name}]({page_of(entry).file}) "
                  f"| {_cell(entry.text)} | {_cell(entry.why)} |" for entry in entries if entry.state == state]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def pages(entries: list, sources) -> dict:
    """File name -> text."""
    made = {"README.md": summary(entries)}
    documents = {entry.document for entry in entries}
    for each in PAGES:
        if each.document in documents:
            made[each.file] = page(each.title, each.entries(entries), sources)
    return made
