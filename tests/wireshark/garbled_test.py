#!/usr/bin/env python3
"""Whatever the bytes are: no error in the plugin, and tshark ends. Frames of good conversations with changed, cut and repeated bytes,
the same in each run.

usage: garbled_test.py PLUGIN
"""

import random
import sys
from dataclasses import replace
from pathlib import Path

import capture_file
import corpus
from tshark import Tshark, skip_without_tshark, workspace

FRAMES, LINK_TYPES = 3000, (capture_file.ETHERNET, capture_file.FC, capture_file.FC_WITH_DELIMITERS)


class Garbled:
    """A frame whose bytes are not those of its fields."""

    def __init__(self, frame, chance: random.Random):
        self.frame, data = frame, bytearray(frame.fc())
        for _ in range(chance.choice((0, 1, 1, 2, 5, 40))):
            # Half of the changes where most of the meaning is.
            at = chance.randrange(min(len(data), 64) if chance.random() < 0.5 else len(data))
            data[at] = chance.choice((0, 1, 0xFF, chance.randrange(256), data[at] ^ 1 << chance.randrange(8)))
        if chance.random() < 0.1:
            del data[chance.randrange(len(data)):]
        if chance.random() < 0.05:
            data += chance.randbytes(chance.randrange(600))
        self.data = bytes(data)

    def __getattr__(self, name):
        return getattr(self.frame, name)

    def fc(self) -> bytes:
        return self.data


def garbled_frames(seed: int):
    chance = random.Random(seed)
    makers, frames = list(corpus.GOOD.values()), []
    while len(frames) < FRAMES:
        for frame in chance.choice(makers)().list():
            frame = replace(frame, outbound=chance.choice((None, True, False)))
            frames += [Garbled(frame, chance)] * chance.choice((1, 1, 1, 2))
    return frames[:FRAMES]


def main() -> int:
    skip_without_tshark()
    tshark = Tshark(sys.argv[1])
    failures = 0
    with workspace() as place:
        for seed, link_type in enumerate(LINK_TYPES * 2):
            capture = capture_file.write(Path(place) / "c.pcapng", garbled_frames(seed), link_type)
            for arguments in (("-2",), ("-2", "-o", "fc.reassemble:TRUE")):
                rows = tshark.fields(capture, ["frame.number", "_ws.lua.error"], *arguments)
                wrong = [row for row in rows if row["_ws.lua.error"]]
                failures += len(wrong)
                print(f"seed {seed}, link type {link_type}, {' '.join(arguments)}: {len(wrong)} errors", *wrong[:2])
            tshark.run(capture)  # without a tree
            tshark.run(capture, "-q", "-o", "fcvi.statistics:TRUE")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
