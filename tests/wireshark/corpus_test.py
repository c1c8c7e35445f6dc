#!/usr/bin/env python3
"""Each broken conversation of corpus.py raises the violations that it must, and no other; the good ones raise none. Over FCoE and
both Fibre Channel link types, with and without fc.reassemble. All are in one capture, each between ports of its own; one that is
named has a capture for itself.

usage: corpus_test.py PLUGIN [-v] [NAME...]
"""

import re
import sys
from pathlib import Path

import capture_file
import corpus
from merged import merged
from tshark import Tshark, skip_without_tshark, tables, workspace

FIELDS = ["frame.number", "fcvi.violation", "_ws.malformed", "_ws.lua.error", "_ws.expert.message"]
WAYS = [(link_type, reassemble) for link_type in (capture_file.ETHERNET, capture_file.FC, capture_file.FC_WITH_DELIMITERS)
        for reassemble in ("FALSE", "TRUE")]


def rows_of(tshark, place, frames, link_type, reassemble) -> list:
    capture = capture_file.write(Path(place) / "c.pcapng", frames, link_type)
    rows = tshark.fields(capture, FIELDS, "-o", f"fc.reassemble:{reassemble}")
    assert len(rows) == len(frames), (len(rows), len(frames))
    return rows


class Judge:
    def __init__(self, cases):
        self.cases, self.failures, self.raised, self.count = cases, [], set(), 0

    def judge(self, name: str, way, rows) -> None:
        self.count += 1
        seen = {violation for row in rows for violation in row["fcvi.violation"]}
        wrong = [row for row in rows if row["_ws.lua.error"]]
        self.raised |= seen
        if seen != self.cases[name][1] or wrong:
            self.failures.append(f"{name} (link type {way[0]}, fc.reassemble {way[1]}): expected {sorted(self.cases[name][1])}, got "
                                 f"{sorted(seen)} {wrong}")
        if "-v" in sys.argv:
            print(name, [(row["frame.number"][0], row["_ws.expert.message"]) for row in rows if row["fcvi.violation"]])


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    plugin, wanted = arguments[0], arguments[1:]
    skip_without_tshark()
    tshark, judge = Tshark(plugin), Judge(dict(corpus.CASES, **{name: (maker, set()) for name, maker in corpus.GOOD.items()}))
    with workspace() as place:
        for way in WAYS:
            talks = {name: maker() for name, (maker, _) in judge.cases.items() if not wanted or name in wanted}
            taken = {name: talk.list() for name, talk in talks.items() if way[0] != capture_file.FC or not corpus.needs_crc(talk)}
            for group in [{name: taken[name]} for name in taken] if wanted else [taken]:
                frames, places = merged(group)
                rows = rows_of(tshark, place, frames, *way)
                for name, own in places.items():
                    judge.judge(name, way, rows[own])
    known = set(re.findall(r'^\{name="(\w+)",text="[^"]*",group="', tables(plugin), re.MULTILINE))
    assert known, "no violations in the plugin's tables"
    if not wanted and known != judge.raised:
        judge.failures.append(f"violations that no case raises: {sorted(known - judge.raised)}")
    for failure in judge.failures:
        print(failure)
    print(f"{len(corpus.CASES)} broken and {len(corpus.GOOD)} good conversations, {judge.count} judged, {len(judge.failures)} failures")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main())
