#!/usr/bin/env python3
"""Each broken conversation of corpus.py raises the violations that it must, and no other; the good ones raise none. Over FCoE and
both Fibre Channel link types, with and without fc.reassemble.

usage: corpus_test.py PLUGIN [-v] [NAME...]
"""

import re
import sys
from pathlib import Path

import capture_file
import corpus
from tshark import Tshark, skip_without_tshark, tables, workspace

FIELDS = ["frame.number", "fcvi.violation", "_ws.malformed", "_ws.lua.error", "_ws.expert.message"]
# The larger part of the time is tshark's start: most cases run in one way, and all of them in each way once in a while.
WAYS = [(capture_file.ETHERNET, "FALSE"), (capture_file.ETHERNET, "TRUE"), (capture_file.FC, "FALSE"),
        (capture_file.FC_WITH_DELIMITERS, "TRUE")]


def violations_of(tshark, place, talk, link_type, reassemble):
    capture = capture_file.write(Path(place) / "c.pcapng", talk.list(), link_type)
    rows = tshark.fields(capture, FIELDS, "-o", f"fc.reassemble:{reassemble}")
    assert len(rows) == len(talk.frames), rows
    errors = [row for row in rows if row["_ws.lua.error"]]
    return {name for row in rows for name in row["fcvi.violation"]}, errors, rows


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    plugin, wanted = arguments[0], arguments[1:]
    skip_without_tshark()
    tshark, failures, runs = Tshark(plugin), [], 0
    cases = dict(corpus.CASES, **{name: (maker, set()) for name, maker in corpus.GOOD.items()})
    raised = set()
    with workspace() as place:
        for at, (name, (maker, expected)) in enumerate(cases.items()):
            if wanted and name not in wanted:
                continue
            ways = [way for way in WAYS if way[0] != capture_file.FC or not corpus.needs_crc(maker())]
            ways = ways if wanted or not expected else [ways[at % len(ways)]]
            for link_type, reassemble in ways:
                runs += 1
                seen, errors, rows = violations_of(tshark, place, maker(), link_type, reassemble)
                raised |= seen
                if "-v" in sys.argv:
                    print(name, [(row["frame.number"][0], row["_ws.expert.message"]) for row in rows if row["fcvi.violation"]])
                if seen != expected or errors:
                    failures.append(f"{name} (link type {link_type}, fc.reassemble {reassemble}): expected {sorted(expected)}, got "
                                    f"{sorted(seen)} {errors}")
    for failure in failures:
        print(failure)
    known = set(re.findall(r'^\{name="(\w+)",text="[^"]*",group="', tables(plugin), re.MULTILINE))
    assert known, "no violations in the plugin's tables"
    if not wanted and known != raised:
        failures.append(f"violations that no case raises: {sorted(known - raised)}")
        print(failures[-1])
    print(f"{len(corpus.CASES)} broken and {len(corpus.GOOD)} good conversations, {runs} runs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
