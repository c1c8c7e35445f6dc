#!/usr/bin/env python3
"""Processor time of tshark over 100,000 frames with the plugin, as a multiple of the time without it: 3 times at most. It takes
some 2.4 times, so that other processes, which disturb both, do not make it fail.

usage: speed_test.py FCVI_SIM PLUGIN SCENARIO
"""

import os
import random
import subprocess
import sys
from pathlib import Path

from tshark import Tshark, skip_without_tshark, workspace

FRAMES, RUNS, LIMIT = 100_000, 3, 3.0


def seconds(tshark: Tshark, capture, with_plugin: bool) -> float:
    before = os.times()
    lines = tshark.run(capture, "-c", str(FRAMES), with_plugin=with_plugin).splitlines()
    after = os.times()
    assert len(lines) == FRAMES, len(lines)
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> int:
    simulator, plugin, scenario = sys.argv[1:]
    skip_without_tshark()
    tshark = Tshark(plugin)
    with workspace() as place:
        data, capture = Path(place) / "data", Path(place) / "c.pcapng"
        data.write_bytes(random.Random(1).randbytes(21_000_000))
        subprocess.run([simulator, "run", scenario, "--file", data, "--capture", capture], check=True, stdout=subprocess.DEVNULL)
        # In turn, so that both meet the same neighbours.
        times = [(seconds(tshark, capture, False), seconds(tshark, capture, True)) for _ in range(RUNS)]
    without, with_plugin = min(time for time, _ in times), min(time for _, time in times)
    ratio = with_plugin / without
    print(f"{FRAMES} frames: {without:.2f} s without, {with_plugin:.2f} s with the plugin, {ratio:.2f} times (limit {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
