#!/usr/bin/env python3
"""Whatever the octets are: no error in the plugin, and tshark ends. Streams of good connections with changed, missing and repeated
octets, the same in each run.

usage: vitcp_garbled_test.py PLUGIN
"""

import random
import sys
from dataclasses import replace
from pathlib import Path

import vitcp_capture
import vitcp_corpus
from tshark import Tshark, skip_without_tshark, workspace

CONNECTIONS = 150


def garbled(data: bytes, chance: random.Random) -> bytes:
    data = bytearray(data)
    for _ in range(chance.choice((0, 1, 1, 2, 5, 40))):
        # Half of the changes where most of the meaning is.
        at = chance.randrange(min(len(data), 64) if chance.random() < 0.5 else len(data))
        data[at] = chance.choice((0, 1, 0xFF, chance.randrange(256), data[at] ^ 1 << chance.randrange(8)))
    if chance.random() < 0.1:
        at = chance.randrange(len(data))
        del data[at:at + chance.randrange(1, 50)]
    if chance.random() < 0.05:
        data += chance.randbytes(chance.randrange(600))
    return bytes(data) or b"\1"


def packets(seed: int) -> list:
    chance, makers, made = random.Random(seed), list(vitcp_corpus.GOOD.values()), []
    for at in range(CONNECTIONS):
        talk = chance.choice(makers)()
        for name, segment in talk.segments.items():
            if chance.random() < 0.2:
                octets = garbled(segment.octets(), chance)
                talk.segments[name] = type("Garbled", (), dict(octets=lambda self, octets=octets: octets, client=segment.client,
                                                               alone=segment.alone, after=segment.after))()
        how = dict(mss=chance.choice((25, 100, 700, 1460)), join=chance.random() < 0.5, ports=(20000 + at, vitcp_capture.PORT))
        for packet in vitcp_capture.packets_of(talk, handshake=chance.random() < 0.7, **how):
            copies = chance.choice((0, 2)) if chance.random() < 0.05 else 1
            made += [replace(packet, snap=chance.choice((0,) * 9 + (60, 80, 120)))] * copies
    return made


def main() -> int:
    skip_without_tshark()
    tshark, failures = Tshark(sys.argv[1]), 0
    with workspace() as place:
        for seed in range(4):
            capture = vitcp_capture.write(Path(place) / "c.pcapng", packets(seed), ipv6=seed % 2 == 1)
            for arguments in ((), ("-2",), ("-o", "tcp.reassemble_out_of_order:TRUE"), ("-o", "tcp.desegment_tcp_streams:FALSE")):
                rows = tshark.fields(capture, ["frame.number", "vitcp.segment", "_ws.lua.error"], *arguments)
                wrong = [row for row in rows if row["_ws.lua.error"]]
                failures += len(wrong)
                print(f"seed {seed}, {' '.join(arguments)}: {sum(len(row['vitcp.segment']) for row in rows)} segments, {len(wrong)} errors",
                      *wrong[:2])
            tshark.run(capture, "-V")
            tshark.run(capture, "-q", "-o", "vitcp.statistics:TRUE")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
