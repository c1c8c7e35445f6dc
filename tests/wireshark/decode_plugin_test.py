#!/usr/bin/env python3
"""fcvi-sim decode and the Wireshark plugin say the same of every frame of every scenario of a folder, and of every conversation of
corpus.py: the same violations with the same words, the same connection, the same frame that it repeats.

usage: decode_plugin_test.py FCVI_SIM PLUGIN FOLDER
"""

import subprocess
import sys
from pathlib import Path

import capture_file
import corpus
from decode_corpus_test import decode
from merged import merged
from scenarios_test import packets_of
from tshark import Tshark, skip_without_tshark, workspace

FIELDS = ["frame.number", "fcvi.violation", "fcvi.connection", "fcvi.same_frame", "_ws.expert.message"]


def difference(row, frame) -> str:
    theirs, ours = row["fcvi.violation"], [found["name"] for found in frame.get("violations", ())]
    if theirs != ours:
        return f"violations {theirs}, decode says {ours}"
    texts = [found["text"] for found in frame.get("violations", ())]
    if [text for text in texts if text not in row["_ws.expert.message"]]:
        return f"violations {row['_ws.expert.message']}, decode says {texts}"
    # Of ABTS and ACK the plugin only says which request it is about. A set-up that was not answered yet has no connection;
    # the plugin says afterwards which it became.
    if "connection" in frame and int(frame["r_ctl"], 16) < 0x80 and row["fcvi.connection"] != [str(frame["connection"])]:
        return f"connection {row['fcvi.connection']}, decode says {frame['connection']}"
    if row["fcvi.same_frame"] and row["fcvi.same_frame"] != [str(frame.get("same_frame"))]:
        return f"repeats {row['fcvi.same_frame']}, decode says {frame.get('same_frame')}"
    return ""


def compare(tshark, program, capture, names, failures) -> int:
    """`names`: of each frame, whose it is."""
    rows, frames = tshark.fields(capture, FIELDS), decode(program, capture)
    assert len(rows) == len(frames) == len(names), (len(rows), len(frames), len(names))
    for name, row, frame in zip(names, rows, frames):
        if found := difference(row, frame):
            failures.append(f"{name}, frame {frame['frame']}: {found}")
    return len(frames)


def main() -> int:
    simulator, plugin, folder = sys.argv[1:]
    skip_without_tshark()
    tshark, failures, count = Tshark(plugin), [], 0
    with workspace() as place:
        capture = Path(place) / "c.pcapng"
        scenarios = sorted(Path(folder).glob("*.yaml"))
        assert scenarios, folder
        names = []
        with open(capture, "wb") as sections:
            for scenario in scenarios:
                one = Path(place) / "one.pcapng"
                subprocess.run([simulator, "run", scenario, "--capture", one], check=True, stdout=subprocess.DEVNULL)
                sections.write(one.read_bytes())
                names += [scenario.stem] * packets_of(one.read_bytes())
        count += compare(tshark, simulator, capture, names, failures)
        frames, places = merged({name: maker().list() for name, (maker, _) in corpus.CASES.items()})
        names = [name for name, its in places.items() for _ in frames[its]]
        count += compare(tshark, simulator, capture_file.write(capture, frames), names, failures)
    for failure in failures[:60]:
        print(failure)
    print(f"{len(scenarios)} scenarios, {len(corpus.CASES)} conversations, {count} frames, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
