#!/usr/bin/env python3
"""The octets that vitcp_talk.py makes are those that wire/ writes; the CRC is that of ruling V-20, by long division.

usage: vitcp_bytes_test.py GOLDEN_SEGMENTS
"""

import subprocess
import sys
import unittest

import vitcp_talk
from vitcp_talk import (CONNECT_ACCEPT, CONNECT_NO_MATCH, CONNECT_REJECT, CONNECT_REQUEST, CRC_OPTION, DELIVERY, END, END_OF_OPTIONS,
                        IMMEDIATE, MARKER_OPTION, NOP, PEER_TO_PEER, RDMA_READS, RDMA_WRITE, READ_REQUEST, READ_RESPONSE, SEND,
                        TRANSMIT_ERROR, Segment, ce_header)

GOLDEN = ""
DATA, RDMA = b"\1\2\3\4\5", (0x8877665544332211, 0xABCD, 5)
HEADER = dict(number=0x11223344, ack=0xFFFFFFFE, posted=0x0506, error=0x7F02)


def messages(crc: bool) -> list:
    parts = [("send", SEND, dict(flags=IMMEDIATE | TRANSMIT_ERROR, offset=0x01020304, immediate=0xCAFEF00D, payload=DATA)),
             ("write", RDMA_WRITE, dict(rdma=RDMA, payload=DATA)), ("read", READ_REQUEST, dict(rdma=RDMA)),
             ("response", READ_RESPONSE, dict(payload=DATA)), ("nop", NOP, {}), ("reject", CONNECT_REJECT, {}),
             ("no_match", CONNECT_NO_MATCH, {})]
    return [(name, Segment(type, crc=crc, **HEADER, **values)) for name, type, values in parts]


def set_ups() -> list:
    def ce(options):
        return ce_header(DELIVERY | RDMA_READS | PEER_TO_PEER, calling=DATA, called=DATA[:2], mtu=0x12345678, window=9, options=options)
    return [("request", Segment(CONNECT_REQUEST, ce=ce(b""), **HEADER)),
            ("accept", Segment(CONNECT_ACCEPT, ce=ce(CRC_OPTION + MARKER_OPTION + END_OF_OPTIONS), crc=True, **HEADER))]


def by_long_division(octets: bytes) -> bytes:
    """The remainder of the polynomial, bit by bit."""
    bits = [octet >> bit & 1 for octet in octets for bit in range(8)] + [0] * 32
    bits[:32] = [1 - bit for bit in bits[:32]]
    generator = [int(bit) for bit in f"{1 << 32 | 0xDB710641:033b}"]
    for at in range(len(bits) - 32):
        if bits[at]:
            bits[at:at + 33] = [a ^ b for a, b in zip(bits[at:at + 33], generator)]
    rest = [1 - bit for bit in bits[-32:]]
    return bytes(sum(rest[8 * octet + bit] << bit for bit in range(8)) for octet in range(4))


class Bytes(unittest.TestCase):
    def test_as_wire_writes_them(self):
        lines = subprocess.run([GOLDEN], capture_output=True, text=True, check=True).stdout.splitlines()
        ours = messages(False) + messages(True) + set_ups()
        self.assertEqual([f"{name} {segment.octets().hex()}" for name, segment in ours], lines)

    def test_flag_of_the_end(self):
        self.assertEqual(Segment(NOP).octets()[1], END | NOP)

    def test_crc(self):
        vector = bytes.fromhex("0184001c00000000000000000000000100000000 00050000")
        self.assertEqual(vitcp_talk.crc(vector).hex(), "5fc534a8")
        for octets in (vector, DATA, bytes(100), bytes(range(256))):
            self.assertEqual(vitcp_talk.crc(octets), by_long_division(octets))


if __name__ == "__main__":
    GOLDEN = sys.argv.pop(1)
    unittest.main()
