#!/usr/bin/env python3
"""Every scenario of a folder, run by fcvi-sim and read by tshark with the plugin: each FC-VI frame is decoded, the Info
column has the words of the ladder, nothing is malformed, and what no fault hit raises no violation.

usage: scenarios_test.py FCVI_SIM PLUGIN FOLDER
"""

import html
import re
import struct
import subprocess
import sys
from pathlib import Path

from tshark import Tshark, skip_without_tshark, tables, workspace

FIELDS = ["frame.number", "fc.type", "fc.r_ctl", "fcvi.iu", "fcvi.opcode", "fcvi.violation", "frame.comment", "_ws.col.Info",
          "_ws.malformed", "_ws.lua.error"]
DECODED = ["fcvi.flags." + name for name in
           ("imm_data", "resp_err", "desc_err", "prot_err", "trans_err", "retry", "conn_info", "conn_sts",
            "conn_setup_abort", "vi_app_discon", "mode")]


def arrows(svg: str) -> set:
    """The texts of FC-VI messages in a ladder diagram."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return {html.unescape(text) for text in texts if text.startswith("FCVI_")}


def packets_of(section: bytes) -> int:
    """Of a pcapng file of the simulator (little-endian)."""
    at = count = 0
    while at < len(section):
        kind, size = struct.unpack_from("<II", section, at)
        count += kind == 6
        at += size
    return count


def is_shown(text: str, infos: set) -> bool:
    """A row of the ladder may go on with what it counts and with what a fault did."""
    return any(text.startswith(info) for info in infos)


class Seen:
    """What appeared, over all scenarios."""

    def __init__(self):
        self.ius, self.flags, self.failures = set(), {}, []


def judge(name: str, rows: list, svg: str, seen: Seen) -> None:
    def fail(text):
        seen.failures.append(f"{name}: {text}")

    with_faults = any(row["frame.comment"] for row in rows)
    infos = set()
    for row in rows:
        number = row["frame.number"][0]
        if row["_ws.malformed"] or row["_ws.lua.error"]:
            fail(f"frame {number} is malformed, or an error in the plugin: {row}")
        device_data = row["fc.r_ctl"] and int(row["fc.r_ctl"][0], 0) < 0x10
        if row["fc.type"] == ["0x58"] and device_data and len(row["fcvi.iu"]) != 1:
            fail(f"frame {number} is not decoded: {row}")
        if row["fcvi.violation"] and not with_faults:
            fail(f"frame {number} raises {row['fcvi.violation']}, though no fault hit anything")
        seen.ius.update(row["fcvi.iu"])
        for flag in DECODED:
            seen.flags.setdefault(flag, set()).update(row[flag])
        if row["fcvi.iu"]:
            infos.add(re.sub(r" \[[^\]]*\]$", "", row["_ws.col.Info"][0]))
    for text in arrows(svg):
        if not is_shown(text, infos):
            fail(f'the ladder has "{text}", the Info column does not')


def main() -> int:
    simulator, plugin, folder = sys.argv[1:]
    skip_without_tshark()
    tshark, seen = Tshark(plugin), Seen()
    with workspace() as place:
        scenarios = sorted(Path(folder).glob("*.yaml"))
        assert scenarios, folder
        # One capture with a section for each: tshark's start takes longer than most of them.
        capture, ladders, lengths = Path(place) / "all.pcapng", [], []
        with open(capture, "wb") as sections:
            for scenario in scenarios:
                one, ladder = Path(place) / "c.pcapng", Path(place) / "l.svg"
                subprocess.run([simulator, "run", scenario, "--capture", one, "--ladder", ladder], check=True, stdout=subprocess.DEVNULL)
                section = one.read_bytes()
                sections.write(section)
                ladders.append(ladder.read_text(encoding="utf-8"))
                lengths.append(packets_of(section))
        # In the middle of Sequences Wireshark's own dissector sees other frames when it reassembles.
        for reassemble in ("FALSE", "TRUE"):
            rows = tshark.fields(capture, FIELDS + DECODED, "-o", f"fc.reassemble:{reassemble}")
            assert len(rows) == sum(lengths), (len(rows), sum(lengths))
            for scenario, ladder, length in zip(scenarios, ladders, lengths):
                judge(f"{scenario.stem}, fc.reassemble {reassemble}", rows[:length], ladder, seen)
                del rows[:length]
    known = set(re.findall(r'\[\d+\]=\{name="(FCVI_[A-Z0-9_]+)"', tables(plugin)))
    assert len(known) == 12, known
    if seen.ius != known:
        seen.failures.append(f"IUs that no scenario shows: {sorted(known - seen.ius)}")
    for line in seen.failures[:40]:
        print(line)
    print(f"{len(scenarios)} scenarios, {len(seen.failures)} failures; flags:",
          {name: sorted(values) for name, values in seen.flags.items()})
    return 1 if seen.failures else 0


if __name__ == "__main__":
    sys.exit(main())
