"""Writes the tables of docs/conformance: one page per clause or Annex, and README.md, which counts."""

import checks

STATES = ("held", "in part", "no test yet", "open", "not ours", "informative")
PAGES = [("4", "Clause 4: structure and concepts"), ("5", "Clause 5: protocol"), ("6", "Clause 6: information units"),
         ("7", "Clause 7: addressing and naming"), ("8", "Clause 8: error detection and recovery"),
         ("A", "Annex A: concurrent matching peer requests"), ("B", "Annex B: message transfer"),
         ("C", "Annex C: Connection Setup"), ("D", "Annex D: Disconnect")]

INTRODUCTION = """# FC-VI, requirement by requirement

<!-- Made by tools/traceability from requirements.txt and from what code and tests cite. Do not edit. -->

Every "shall" of ISO/IEC 14165-331 (FC-VI) clauses 4 to 8, every table that they make normative, Annex A, and every rule
of Annexes B to D, which are informative for the standard and binding here. A name is the clause with an item or rule of
its own, or with `#` and the number of the sentence.

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


def page_name(key: str) -> str:
    return f"annex-{key.lower()}.md" if key.isalpha() else f"clause-{key}.md"


def page_of(entry) -> str:
    return entry.clause.number[0]


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
    return "<br>".join(_link(f"`{name}`", sources.tests[name][0].file) if name in sources.tests else f"`{name}`"
                       for name in entry.tests)


def _requirement(entry) -> str:
    return entry.text + (f" *({entry.note})*" if entry.note else "")


def _row(entry, sources) -> str:
    tests = _tests(entry, sources)
    why = "<br>".join(part for part in (tests, entry.why) if part)
    cells = [entry.name, _requirement(entry), entry.state, _code(entry, sources), why]
    return "| " + " | ".join(map(_cell, cells)) + " |"


def page(key: str, title: str, entries: list, sources) -> str:
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


def summary(entries: list) -> str:
    lines = [INTRODUCTION, "## Counted", "", "| | entries | " + " | ".join(STATES) + " |",
             "|---|" + "---|" * (len(STATES) + 1)]
    for key, title in PAGES:
        of_page = [entry for entry in entries if page_of(entry) == key]
        lines.append(_counts(f"[{title}]({page_name(key)})", of_page))
    lines += [_counts("**all**", entries), "", "## What is not held", ""]
    for state in ("no test yet", "in part", "open"):
        lines += [f"### {state.capitalize()}", "", "| | | why |", "|---|---|---|"]
        lines += [f"| [{entry.name}]({page_name(page_of(entry))}) | {_cell(entry.text)} | {_cell(entry.why)} |"
                  for entry in entries if entry.state == state]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def pages(entries: list, sources) -> dict:
    """File name -> text."""
    made = {"README.md": summary(entries)}
    for key, title in PAGES:
        of_page = [entry for entry in entries if page_of(entry) == key]
        made[page_name(key)] = page(key, title, of_page, sources)
    return made

