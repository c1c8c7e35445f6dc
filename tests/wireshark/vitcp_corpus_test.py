#!/usr/bin/env python3
"""Each broken connection of vitcp_corpus.py raises the violations that it must, and no other; the good ones raise none. A segment
a TCP segment, several in one, and over several; IPv4 and IPv6.

usage: vitcp_corpus_test.py PLUGIN [-v] [NAME...]
"""

import re
import sys
from pathlib import Path

import vitcp_capture
import vitcp_corpus
from tshark import Tshark, skip_without_tshark, tables, workspace

FIELDS = ["frame.number", "tcp.stream", "vitcp.violation", "vitcp.segment", "_ws.malformed", "_ws.lua.error", "_ws.expert.message"]
# How the octets are cut into TCP segments.
WAYS = [dict(mss=1460), dict(mss=1460, join=True, ipv6=True), dict(mss=333, join=True), dict(mss=25)]
OCTETS = dict(mss=1)  # not of those that are broken, or begin in the middle: where a segment begins is seen at that of a TCP segment
PORTS = 20000


def packets_of(name: str, talk, at: int, how: dict) -> list:
    """Each connection has a port of its own, all are in one capture: the larger part of the time is tshark's start."""
    handshake = not name.startswith("the capture begins")
    return vitcp_capture.packets_of(talk, handshake=handshake, ports=(PORTS + at, vitcp_capture.PORT), **how)


class Corpus:
    def __init__(self, plugin: str):
        self.tshark, self.failures, self.raised = Tshark(plugin), [], set()

    def judge(self, name: str, expected: set, segments: int, rows: list, way: dict) -> None:
        seen = {name for row in rows for name in row["vitcp.violation"]}
        self.raised |= seen
        errors = [row for row in rows if row["_ws.lua.error"] or row["_ws.malformed"] and not expected]
        if "-v" in sys.argv:
            print(name, [(row["frame.number"][0], row["_ws.expert.message"]) for row in rows if row["vitcp.violation"]])
        decoded = sum(len(row["vitcp.segment"]) for row in rows)
        if seen != expected or errors:
            said = [row["_ws.expert.message"] for row in rows if row["vitcp.violation"]]
            self.failures.append(f"{name} ({way}): expected {sorted(expected)}, got {sorted(seen)} {said} {errors}")
        elif not expected and decoded != segments:
            self.failures.append(f"{name} ({way}): {decoded} of {segments} segments are shown")

    def check(self, place, way: dict, cases: dict) -> None:
        how = {key: value for key, value in way.items() if key != "ipv6"}
        packets, segments = [], {}
        for at, (name, (maker, _)) in enumerate(cases.items()):
            talk = maker()
            segments[name] = len(talk.segments)
            packets += packets_of(name, talk, at, how)
        capture = vitcp_capture.write(Path(place) / "c.pcapng", packets, ipv6=way.get("ipv6", False))
        rows_of = {}
        for row in self.tshark.fields(capture, FIELDS):
            rows_of.setdefault(int(row["tcp.stream"][0]), []).append(row)
        assert len(rows_of) == len(cases)
        for at, (name, (_, expected)) in enumerate(cases.items()):
            self.judge(name, expected, segments[name], rows_of[at], way)


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    plugin, wanted = arguments[0], arguments[1:]
    skip_without_tshark()
    cases = dict(vitcp_corpus.CASES, **{name: (maker, set()) for name, maker in vitcp_corpus.GOOD.items()})
    cases = {name: case for name, case in cases.items() if not wanted or name in wanted}
    whole = {name: case for name, case in cases.items() if not case[1] and not name.startswith("the capture begins")}
    corpus = Corpus(plugin)
    with workspace() as place:
        for way in WAYS:
            corpus.check(place, way, cases)
        if whole:
            corpus.check(place, OCTETS, whole)
    known = set(re.findall(r'^\{name="(\w+)",text="[^"]*",group="', tables(plugin), re.MULTILINE)) - {"urgent_data"}  # vitcp_stream_test.py
    assert known, "no violations in the plugin's tables"
    if not wanted and known != corpus.raised:
        corpus.failures.append(f"violations that no case raises: {sorted(known ^ corpus.raised)}")
    for failure in corpus.failures:
        print(failure)
    print(f"{len(vitcp_corpus.CASES)} broken and {len(vitcp_corpus.GOOD)} good connections, {len(WAYS) + 1} ways, "
          f"{len(corpus.failures)} failures")
    return 1 if corpus.failures else 0


if __name__ == "__main__":
    sys.exit(main())
