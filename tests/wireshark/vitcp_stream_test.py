#!/usr/bin/env python3
"""What TCP and the capture do to the octets: retransmissions, segments out of order, lost, cut by a snap length, urgent; captures that
begin later; other ports, other protocols. What a capture does not have is unknown, and not wrong. Many connections are in one
capture, each with a port of its own.

usage: vitcp_stream_test.py PLUGIN
"""

import random
import sys
import unittest
from dataclasses import replace
from pathlib import Path

import vitcp_capture
from tshark import Tshark, skip_without_tshark, workspace
from vitcp_capture import ACK, PSH, URG, Tcp, moved, packets_of, repeated
from vitcp_talk import CLIENT, CRC_OPTION, DELIVERY, END_OF_OPTIONS, MARKER_OPTION, RDMA_WRITE, RECEPTION, SERVER, UNRELIABLE, Talk, content

PLUGIN = ""
PORTS = 20000
FIELDS = ["frame.number", "tcp.stream", "vitcp.segment", "vitcp.violation", "vitcp.message.data", "vitcp.crc.status", "_ws.lua.error",
          "_ws.expert.message"]
IN_ORDER = ("-o", "tcp.reassemble_out_of_order:TRUE")
SNAP_LENGTHS = (55, 60, 66, 70, 77, 78, 79, 90, 100, 118, 150, 200, 229, 300, 600, 1000)


def talk(crc=False) -> Talk:
    """At Reliable Reception both ends send, one reads."""
    made = Talk(RECEPTION, crc).connect().message("m", 5000).message("n", 64).message("o", 3000, RDMA_WRITE, immediate=7)
    return made.message("p", 2500, client=SERVER).read("r", 2500).message("q", 0)


DATA = [content(total).hex() for total in (5000, 64, 3000, 2500, 2500)]


class Streams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tshark, cls.place = Tshark(PLUGIN), workspace()
        cls.addClassCleanup(cls.place.cleanup)

    def rows(self, packets, *arguments, **how) -> list:
        rows = self.tshark.fields(vitcp_capture.write(Path(self.place.name) / "c.pcapng", packets, **how), FIELDS, *arguments)
        self.assertEqual(len(rows), len(packets))
        self.assertEqual([row for row in rows if row["_ws.lua.error"]], [])
        return rows

    def streams(self, variants, *arguments, **how) -> list:
        """Of each variant, a list of packets: its rows. They get ports of their own."""
        packets = [replace(packet, ports=(PORTS + at, packet.ports[1])) for at, variant in enumerate(variants) for packet in variant]
        of_stream = {}
        for row in self.rows(packets, *arguments, **how):
            of_stream.setdefault(int(row["tcp.stream"][0]), []).append(row)
        self.assertEqual(len(of_stream), len(variants))
        return [of_stream[at] for at in range(len(variants))]

    def said(self, rows, name) -> list:
        return [value for row in rows for value in row[name]]

    def expect_good(self, rows, about, segments=None, data=None) -> None:
        self.assertEqual(self.said(rows, "_ws.expert.message") if self.said(rows, "vitcp.violation") else [], [], about)
        if segments is not None:
            self.assertEqual(len(self.said(rows, "vitcp.segment")), segments, about)
        if data is not None:
            self.assertEqual(self.said(rows, "vitcp.message.data"), data, about)

    # Every TCP segment once more, at once and later: nothing is counted twice.
    def test_retransmissions(self):
        variants = []
        for how in (dict(), dict(join=True, mss=700), dict(mss=100)):
            packets = packets_of(talk(), **how)
            step = 1 if len(packets) < 60 else 7
            variants += [repeated(packets, at, by) for at in range(3, len(packets) - 3, step) for by in (1, 3)]
        for arguments in ((), IN_ORDER):
            for at, rows in enumerate(self.streams(variants, *arguments)):
                self.expect_good(rows, (at, arguments), len(talk().segments), DATA)

    # A segment arrives later than those behind it. Wireshark puts them in order, if its preference says so.
    def test_out_of_order(self):
        variants = []
        for how in (dict(join=True, mss=700), dict(mss=1460)):
            packets = packets_of(talk(), **how)
            for at in range(5, len(packets) - 5):
                same = [packet.client == packets[at].client and packet.payload for packet in packets[at + 1:at + 3]]
                if packets[at].payload and all(same):
                    variants += [moved(packets, at, 1), moved(packets, at, 2)]
        self.assertGreater(len(variants), 15)
        for at, rows in enumerate(self.streams(variants, *IN_ORDER)):
            self.expect_good(rows, at, len(talk().segments), DATA)
        for at, rows in enumerate(self.streams(variants)):  # late ones are not handed over
            self.expect_good(rows, at)

    # A TCP segment is lost to the capture, at any place.
    def test_lost(self):
        for how in (dict(join=True, mss=700), dict(mss=1460), dict(mss=200)):
            for crc in (False, True):
                packets = packets_of(talk(crc), **how)
                places = range(3, len(packets) - 3) if len(packets) < 60 else range(3, len(packets) - 3, 5)
                for at, rows in enumerate(self.streams([packets[:at] + packets[at + 1:] for at in places])):
                    self.expect_good(rows, (how, crc, at))

    # What comes behind a loss is decoded again: all of the last message, and nearly all segments.
    def test_lost_begins_again(self):
        packets = packets_of(talk(), mss=1460)
        for at, rows in enumerate(self.streams([packets[:at] + packets[at + 1:] for at in range(3, len(packets) - 6)])):
            self.assertGreaterEqual(len(self.said(rows, "vitcp.segment")), len(talk().segments) - 2, at)

    # The capture begins with any of the packets, with both ends or one.
    def test_late(self):
        for crc in (False, True):
            for how in (dict(join=True, mss=700), dict(mss=1460)):
                packets = packets_of(talk(crc), **how)
                variants = [packets[at:] for at in range(1, len(packets) - 4)]
                variants += [[packet for packet in packets[at:] if packet.client] for at in range(4, len(packets) - 8)]
                variants += [[packet for packet in packets[at:] if not packet.client] for at in range(4, len(packets) - 8)]
                for at, rows in enumerate(self.streams(variants)):
                    self.expect_good(rows, (crc, how, at))

    # ... and CRCs are checked then, too.
    def test_late_crc(self):
        for name, rest in (("m.2", 4), ("n.0", 3)):
            made = talk(True)
            packets = packets_of(made, mss=1460)
            first = next(at for at, packet in enumerate(packets) if name in packet.names)
            rows = self.rows(packets[first:])
            self.expect_good(rows, name)
            states = self.said(rows, "vitcp.crc.status")
            self.assertEqual(set(states), {"right"})
            self.assertGreaterEqual(len(states), rest)

    # Only a part of each packet was captured, of all or of some.
    def test_cut(self):
        for how in (dict(join=True, mss=700), dict(mss=1460)):
            for crc in (False, True):
                packets, chance = packets_of(talk(crc), **how), random.Random(1)
                variants = [[replace(packet, snap=snap) for packet in packets] for snap in SNAP_LENGTHS]
                variants += [[replace(packet, snap=chance.choice((0, 0, snap))) for packet in packets] for snap in SNAP_LENGTHS]
                for at, rows in enumerate(self.streams(variants)):
                    self.expect_good(rows, (how, crc, at))

    # With the headers in each packet, all segments are shown and followed: links, numbers, no data.
    def test_cut_behind_headers(self):
        for crc in (False, True):
            packets = [replace(packet, snap=120) for packet in packets_of(talk(crc), mss=1460)]
            rows = self.rows(packets)
            self.expect_good(rows, crc, len(talk().segments), [])
            gap = talk(crc).drop("n.0").drop("n.ack")
            rows = self.rows([replace(packet, snap=120 if "rqst" not in packet.names and "accept" not in packet.names else 0)
                              for packet in packets_of(gap, mss=1460)])
            self.assertIn("message_gap", self.said(rows, "vitcp.violation"))

    # Hundreds of cut packets leave nothing behind in Lua.
    def test_many_cut(self):
        made = Talk(UNRELIABLE).connect()
        for at in range(300):
            made.message(str(at), 400)
        cut = [replace(packet, snap=60 + at % 60) for at, packet in enumerate(packets_of(made))]
        rows = self.streams([cut, packets_of(talk())])[1]
        self.expect_good(rows, "behind them", len(talk().segments), DATA)

    # Wireshark hands over TCP segments as they are.
    def test_no_desegmentation(self):
        for how in (dict(mss=1460), dict(mss=700), dict(mss=700, join=True)):
            rows = self.rows(packets_of(talk(), **how), "-o", "tcp.desegment_tcp_streams:FALSE")
            self.expect_good(rows, how)
            self.assertGreaterEqual(len(self.said(rows, "vitcp.segment")), len(talk().segments) // 2, how)

    # Two connections one after the other between the same ports.
    def test_same_ports_again(self):
        first, second = packets_of(talk()), [replace(packet, seq=(packet.seq + 0x5000000) & 0xFFFFFFFF,
                                                     ack=(packet.ack + 0x5000000) & 0xFFFFFFFF if packet.ack else 0)
                                             for packet in packets_of(talk())]
        for arguments in ((), ("-2",)):
            self.expect_good(self.rows(first + second, *arguments), arguments, 2 * len(talk().segments), 2 * DATA)

    # The same port at both ends: the addresses tell the directions.
    def test_same_port_at_both_ends(self):
        self.expect_good(self.rows(packets_of(talk(), ports=(8474, 8474))), "", len(talk().segments), DATA)

    # tshark -2 without a filter makes no items in its first pass.
    def test_two_passes(self):
        for how in (dict(join=True, mss=700), dict(mss=1460), dict(mss=100)):
            self.expect_good(self.rows(packets_of(talk(True), **how), "-2"), how, len(talk().segments), DATA)

    # Another port: a whole ConnectRequest shows what it is. The preference for ports, and the one against that.
    def test_other_ports(self):
        packets = packets_of(talk(), ports=(40000, 18000))
        self.expect_good(self.rows(packets), "found", len(talk().segments), DATA)
        off = ("-o", "vitcp.heuristic:FALSE")
        self.expect_good(self.rows(packets, *off), "off", 0)
        self.expect_good(self.rows(packets, *off, "-o", "vitcp.ports:8474,18000-18001"), "ports", len(talk().segments), DATA)
        self.expect_good(self.rows(packets_of(talk()), *off, "-o", "vitcp.ports:18000"), "other ports", 0)
        self.expect_good(self.rows(packets, *off, "-d", "tcp.port==18000,vitcp"), "decode as", len(talk().segments), DATA)

    # Other protocols are left alone, at any port: text, and octets that begin as a segment does.
    def test_other_protocols(self):
        chance = random.Random(7)
        nearly = [replace(talk().segments["rqst"], **change).octets() for change in (
            dict(version=2), dict(error=8), dict(immediate=1), dict(offset=1), dict(type=6), dict(length=163), dict(posted=0, ce=bytes(140)))]
        texts = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x01\x05\x00\xa4", b"\x16\x03\x01\x02\x00\x01" + bytes(200), chance.randbytes(500), bytes(300)]
        variants, names = [], []
        for port in (8474, 18000):
            for data in texts + (nearly if port == 18000 else []):
                tcp = Tcp(ports=(40000, port))
                tcp.octets(CLIENT, data)
                tcp.octets(SERVER, data)
                variants.append(tcp.close().packets)
                names.append((port, data[:30]))
        for name, rows in zip(names, self.streams(variants)):
            self.expect_good(rows, name, 0)
            self.assertEqual(self.said(rows, "_ws.lua.error"), [])

    # VI-TCP 3.7: only the first octet of a segment, and only of who takes marks.
    def test_urgent(self):
        for option, pointer, wanted in ((True, 0, []), (True, 1, ["urgent_data"]), (True, 99, ["urgent_data"]), (False, 0, ["urgent_data"]),
                                        (True, 124, []), (True, 125, ["urgent_data"])):
            options = (MARKER_OPTION + END_OF_OPTIONS) if option else END_OF_OPTIONS
            made = Talk(DELIVERY).request(options=options).accept(options=options).message("m", 100).message("n", 100)
            packets = packets_of(made, join=True)
            at = next(at for at, packet in enumerate(packets) if "m.0" in packet.names)
            packets[at] = replace(packets[at], flags=ACK | PSH | URG, urgent=pointer)
            rows = self.rows(packets)
            self.assertEqual(self.said(rows, "vitcp.violation"), wanted, (option, pointer))

    # A CRC option that one end does not grant.
    def test_ipv6(self):
        made = Talk(RECEPTION).request(options=CRC_OPTION + END_OF_OPTIONS, crc=True).accept().message("m", 5000)
        self.expect_good(self.rows(packets_of(made, mss=700), ipv6=True), "", len(made.segments), DATA[:1])


if __name__ == "__main__":
    PLUGIN = sys.argv.pop(1)
    skip_without_tshark()
    unittest.main()
