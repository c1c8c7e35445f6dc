#!/usr/bin/env python3
"""Indications and frames of IFT made by hand (IFT 4.1, 5.1): the plugin finds both, cut anywhere and several in a segment, checks
each CRC, and hands what is in a frame to Wireshark's DDP and RDMAP.

usage: ift_test.py PLUGIN
"""

import struct
import sys
import tempfile
from pathlib import Path

from tshark import Tshark, skip_without_tshark

FIELDS = ["frame.number", "ift.adaption", "ift.header_size", "ift.payload_size", "ift.vtag", "ift.crc.status", "iwarp_ddp.stag",
          "iwarp_ddp.tagged_flag", "_ws.malformed", "_ws.lua.error", "_ws.expert.message"]
CLIENT, SERVER = 0x1111, 0x2222  # VTags
HC, PC, R, PH = 1 << 29, 1 << 28, 1 << 30, 1 << 31


def crc32c(octets):
    value = 0xFFFFFFFF
    for octet in octets:
        value ^= octet
        for _ in range(8):
            value = value >> 1 ^ (value & 1) * 0x82F63B78
    return struct.pack("<I", value ^ 0xFFFFFFFF)


def indication(vtag, phase_1, crcs=HC | PC):
    octets = struct.pack(">IHHIHH44x", 0x52444450, 1, 1, crcs | R | (PH if phase_1 else 0), vtag, 0)
    return octets + crc32c(octets)


def frame(vtag, header, payload, crcs=HC | PC, damage=0):
    first = struct.pack(">HHH", len(header), len(payload), vtag) + header
    octets = first + (crc32c(first) if crcs & HC else b"") + payload
    if crcs & PC:
        octets += crc32c(payload) if payload else bytes(4)
    return octets if not damage else octets[:-damage] + bytes([octets[-damage] ^ 1]) + octets[len(octets) - damage + 1:]


WRITE = struct.pack(">BBIQ", 0xC1, 0x40, 0xABCD1234, 0x1000)       # Tagged, Last, DV 1; RV 1, RDMA Write; STag, TO
SEND = struct.pack(">BBIIII", 0x41, 0x43, 0, 0, 1, 0)              # Untagged; RV 1, Send; QN 0, MSN 1, MO 0


class Capture:
    """TCP segments of one connection, in a pcap of link type 101 (IPv4)."""

    def __init__(self, port):
        self.ports, self.sent, self.out = (40000, port), {True: 1, False: 1}, []
        self.add(True, b"", 0x02)
        self.add(False, b"", 0x12)

    def add(self, from_client, octets, flags=0x18):
        source, target = self.ports if from_client else self.ports[::-1]
        tcp = struct.pack(">HHIIBBHHH", source, target, self.sent[from_client] - (1 if flags & 2 else 0), self.sent[not from_client],
                          0x50, flags, 65535, 0, 0)
        hosts = (b"\x0a\0\0\1", b"\x0a\0\0\2")
        near, far = hosts if from_client else hosts[::-1]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(octets), 0, 0, 64, 6, 0) + near + far
        self.out.append(ip + tcp + octets)
        self.sent[from_client] += len(octets)

    def write(self, path):
        file = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
        for at, packet in enumerate(self.out):
            file += struct.pack("<IIII", at, 0, len(packet), len(packet)) + packet
        Path(path).write_bytes(file)
        return path


def talk(capture, frames, step, crcs=HC | PC):
    capture.add(True, indication(CLIENT, False, crcs))
    capture.add(False, indication(SERVER, True, crcs))
    octets = b"".join(frames)
    for at in range(0, len(octets), step):
        capture.add(True, octets[at:at + step])


def values(rows, name):
    return [value for row in rows for value in row[name]]


def check(rows, sizes, statuses, stags):
    errors = values(rows, "_ws.lua.error") + values(rows, "_ws.malformed")
    assert not errors, errors
    assert len(values(rows, "ift.adaption")) == 2, rows
    assert [int(size) for size in values(rows, "ift.payload_size")] == sizes, (values(rows, "ift.payload_size"), sizes)
    assert values(rows, "ift.crc.status") == statuses, values(rows, "ift.crc.status")
    assert [int(stag, 16) for stag in values(rows, "iwarp_ddp.stag")] == stags, values(rows, "iwarp_ddp.stag")


def main():
    tshark = Tshark(sys.argv[1])
    payloads = [b"a" * 100, b"", b"b" * 3000]
    good = [frame(SERVER, WRITE, payloads[0]), frame(SERVER, WRITE, payloads[1]), frame(SERVER, SEND, payloads[2])]
    sizes, stags = [100, 0, 3000], [0xABCD1234] * 2
    with tempfile.TemporaryDirectory() as folder:
        for step in (1460, 37, 100000):  # cut, and all in one
            capture = Capture(7174)
            talk(capture, good, step)
            rows = tshark.fields(capture.write(Path(folder) / "good.pcap"), FIELDS)
            check(rows, sizes, ["right"] * 8, stags)
        capture = Capture(7174)  # without CRCs, for any port
        talk(capture, [frame(SERVER, WRITE, b"c" * 50, 0)] * 2, 1460, 0)
        check(tshark.fields(capture.write(Path(folder) / "plain.pcap"), FIELDS), [50, 50], ["right"] * 2, stags)
        capture = Capture(7174)  # a payload CRC that is wrong, and a VTag of somebody else
        talk(capture, [frame(SERVER, WRITE, b"d" * 50, damage=1), frame(7, WRITE, b"e" * 50)], 1460)
        rows = tshark.fields(capture.write(Path(folder) / "bad.pcap"), FIELDS)
        check(rows, [50, 50], ["right"] * 3 + ["wrong"] + ["right"] * 2, stags)
        said = " ".join(values(rows, "_ws.expert.message"))
        assert "Bad CRC32C" in said and "VTag" in said, said
    print("5 captures are as they should be")


if __name__ == "__main__":
    skip_without_tshark()
    main()
