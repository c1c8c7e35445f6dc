#!/usr/bin/env python3
"""Processor time of tshark over 100,000 TCP segments with the plugin, as a multiple of the time without it: long messages, messages of
64 octets, and both with CRCs; and that it does not grow with the capture. The limits leave room for other processes, which disturb
all. The segments are made once, and repeated with other numbers.

usage: vitcp_speed_test.py PLUGIN
"""

import sys
from pathlib import Path

import vitcp_capture
from speed_test import FRAMES, holds
from tshark import Tshark, skip_without_tshark, workspace
from vitcp_talk import RECEPTION, UNRELIABLE, Talk

LIMIT = 3.0        # it takes some 2.3 times
SMALL_LIMIT = 4.5  # 1.5 to 3.5 times, on a busy machine
CRC_LIMIT = 5.5    # some 4 times: each octet is looked at in Lua


def capture_of(place, name: str, talk: Talk) -> Path:
    packets = vitcp_capture.packets_of(talk)
    assert len(packets) >= FRAMES, len(packets)
    return vitcp_capture.write(Path(place) / f"{name}.pcapng", packets)


def small(level: int, crc=False) -> Talk:
    talk = Talk(level, crc).connect()
    for at in range(FRAMES if level == UNRELIABLE else FRAMES // 2):
        talk.message(str(at), 64)
    return talk


def long(crc=False) -> Talk:
    talk = Talk(UNRELIABLE, crc, piece=1400).connect()
    for at in range(FRAMES // 100):
        talk.message(str(at), 140_000)
    return talk


def main() -> int:
    skip_without_tshark()
    tshark, good = Tshark(sys.argv[1]), []
    with workspace() as place:
        for name, talk, limit in (("long messages", long(), LIMIT), ("long messages with CRC", long(True), CRC_LIMIT),
                                  ("Sends of 64 octets", small(UNRELIABLE), SMALL_LIMIT),
                                  ("Sends of 64 octets and their ACKs", small(RECEPTION), SMALL_LIMIT)):
            good.append(holds(tshark, name, capture_of(place, "c", talk), limit))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
