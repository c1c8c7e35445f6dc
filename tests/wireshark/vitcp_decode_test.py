#!/usr/bin/env python3
"""What the plugin for VI over TCP shows: all fields with their values, texts of types, levels, options; connections, links with their
times, whole messages, statistics, the Info column.

usage: vitcp_decode_test.py PLUGIN
"""

import re
import sys
import unittest
from pathlib import Path

import vitcp_capture
from tshark import Tshark, skip_without_tshark, tables, workspace
from vitcp_talk import (CLIENT, CONNECT_NO_MATCH, CRC_OPTION, DELIVERY, END, END_OF_OPTIONS, FLOW_CONTROL, MARKER_OPTION, RDMA_READS, RDMA_WRITE,
                        RDMA_WRITES, RECEPTION, SERVER, TRANSMIT_ERROR, UNRELIABLE, Talk, ce_header, content)

PLUGIN = ""


class Decoding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tshark, cls.place = Tshark(PLUGIN), workspace()
        cls.addClassCleanup(cls.place.cleanup)

    def capture(self, talk, **how) -> tuple:
        packets = vitcp_capture.packets_of(talk, **how)
        return vitcp_capture.write(Path(self.place.name) / "c.pcapng", packets), packets

    def rows(self, talk, names, *arguments, **how) -> dict:
        """The rows of the packets by the name of the first segment that begins in them."""
        capture, packets = self.capture(talk, **how)
        rows = self.tshark.fields(capture, ["frame.number", "_ws.lua.error", "_ws.malformed"] + names, *arguments)
        self.assertEqual([row for row in rows if row["_ws.lua.error"] or row["_ws.malformed"]], [])
        return {packet.names[0]: row for packet, row in zip(packets, rows) if packet.names}

    def frames(self, rows) -> dict:
        return {name: row["frame.number"][0] for name, row in rows.items()}

    def text(self, talk, *arguments, **how) -> str:
        return self.tshark.run(self.capture(talk, **how)[0], *arguments)

    # Every field of the segment header and the RDMA header, with values that differ.
    def test_fields_of_messages(self):
        talk = Talk(UNRELIABLE, True).connect().message("m", 3, RDMA_WRITE, immediate=0xCAFEF00D)
        talk.set("m.0", posted=0x1234, ack=0x55667788, error=0x7F05, flags=talk.segments["m.0"].flags | TRANSMIT_ERROR)
        wanted = {"version": "0x01", "end_of_message": "1", "immediate_data_valid": "1", "transmit_error": "1", "type": "0x01",
                  "segment_length": "47", "data_offset": "0", "immediate_data": "0xcafef00d", "message_number": "0x00000101",
                  "message_ack": "0x55667788", "rx_descriptors_posted": str(0x1234), "remote_error.implementation_specific": "0x7f",
                  "remote_error.transport_error": "1", "remote_error.descriptor_error": "0", "remote_error.protection_error": "1",
                  "rdma.rdma_address": "0x000011000000e000", "rdma.memory_handle": "0x00000077", "rdma.rdma_length": "3", "data": content(3).hex(),
                  "crc.status": "right", "segment": "RdmaWrite"}
        row = self.rows(talk, ["vitcp." + name for name in wanted])["m.0"]
        self.assertEqual({name: row["vitcp." + name] for name in wanted}, {name: [value] for name, value in wanted.items()})

    # Every field of the CE header, and options: known, unknown, the end.
    def test_fields_of_set_up(self):
        options = CRC_OPTION + b"\0\7\0\6\xAB\xCD" + MARKER_OPTION + END_OF_OPTIONS
        ce = ce_header(DELIVERY | RDMA_READS | FLOW_CONTROL, b"here", b"there!", 0x12345678, 0x4321, options)
        talk = Talk(crc=True).request(ce=ce)
        wanted = {"peer_to_peer": "0", "descriptor_flow_control": "1", "rdma_read_enable": "1", "rdma_write_enable": "0",
                  "reliability_level": "0x02", "calling_discriminator_length": "4", "mtu_size": str(0x12345678),
                  "calling_discriminator": b"here".ljust(64, b"\0").hex(), "rdma_read_window": str(0x4321),
                  "called_discriminator_length": "6", "called_discriminator": b"there!".ljust(64, b"\0").hex()}
        names = ["vitcp.ce." + name for name in wanted] + ["vitcp.option.type", "vitcp.option.length", "vitcp.option.data", "vitcp.crc.status"]
        row = self.rows(talk, names)["rqst"]
        self.assertEqual({name: row["vitcp.ce." + name] for name in wanted}, {name: [value] for name, value in wanted.items()})
        self.assertEqual(row["vitcp.option.type"], ["1", "7", "2", "0"])
        self.assertEqual(row["vitcp.option.length"], ["4", "6", "4"])
        self.assertEqual((row["vitcp.option.data"], row["vitcp.crc.status"]), (["abcd"], ["right"]))
        text = self.text(talk, "-V")
        for line in ("Option: CRC", "Option: unknown", "Option: Urgent Marker", "Option: End of Option List", "type: CRC (1)",
                     "reliability level: Reliable Delivery (0x2)", "= type: ConnectRequest (0x05)"):
            self.assertIn(line, text)

    # All fields that wire/ has, and all types, are there: the tables are made of its own.
    def test_tables_are_those_of_wire(self):
        names = re.findall(r'\{name="(\w+)",offset=\d+', tables(PLUGIN))
        self.assertEqual(len(names), 12 + 4 + 3 + 11)
        talk = Talk().connect().message("m", 3, RDMA_WRITE).read("r", 3).message("n", 3)
        text = self.text(talk, "-V")
        for name in names:
            self.assertIn(name.replace("_", " "), text)
        for kind in re.findall(r'^\[\d+\]=\{name="(\w+)"', tables(PLUGIN), re.MULTILINE):
            if kind not in ("ConnectReject", "ConnectNoMatch"):
                self.assertIn(f"Segment: {kind}", text)

    def test_info(self):
        talk = Talk(RECEPTION).connect().message("m", 2500).message("n", 64, immediate=7).message("w", 1500, RDMA_WRITE).read("r", 1200)
        talk.message("bad", 10, ack=False).ack("error", SERVER, talk.number[CLIENT], error=0x1203)
        with_bits = talk.segments["n.0"]
        talk.set("n.0", flags=with_bits.flags | TRANSMIT_ERROR)
        wanted = {
            "rqst": 'ConnectRequest "service", Reliable Reception', "accept": 'ConnectAccept "service", Reliable Reception',
            "m.0": "Send 00000101h [0+1000]", "m.1": "Send 00000101h [1000+1000]", "m.2": "Send 00000101h [2000+500, end]",
            "m.ack": "NOP, ack 00000101h, 100 posted", "n.0": "Send 00000102h, 64 B, imm 00000007h, Transmit Error",
            "w.0": "RdmaWrite 00000103h, at 000011000000E000h [0+1000 of 1500 B]", "w.1": "RdmaWrite 00000103h [1000+500 of 1500 B]",
            "r": "RdmaReadRequest 00000104h, at 000011000000E000h, for 1200 B", "r.resp.0": "RdmaReadResponse 00000104h [0+1000 of 1200 B]",
            "error": "NOP, ack 00000105h, 100 posted, descriptor error, protection error, IS error 12h"}
        rows = self.rows(talk, ["_ws.col.Info", "_ws.col.Protocol"])
        self.assertEqual({name: rows[name]["_ws.col.Info"][0] for name in wanted}, wanted)
        self.assertEqual({row["_ws.col.Protocol"][0] for row in rows.values()}, {"VI/TCP"})

    # Several segments in a TCP segment are all named.
    def test_info_of_several(self):
        talk = Talk(UNRELIABLE).connect().message("m", 20).message("n", 30).message("o", 40)
        for mss, first in ((1460, "m.0"), (50, "o.0")):
            info = self.rows(talk, ["_ws.col.Info"], join=True, mss=mss)[first]["_ws.col.Info"][0]
            wanted = {1460: "Send 00000101h, 20 B; Send 00000102h, 30 B; Send 00000103h, 40 B", 50: "Send 00000102h, 30 B"}[mss]
            self.assertTrue(info.startswith(wanted), info)

    # Request and response, with their time, message and ACK, read and response, both ways.
    def test_links(self):
        talk = Talk(RECEPTION).connect().message("m", 2500, ack=False).message("n", 10, ack=False)
        talk.ack("ack", SERVER, talk.number[CLIENT], after=0.25).read("r", 2000)
        talk.set("accept", after=0.5).set("r.resp.0", after=0.125).set("r.resp.1", after=0.125)
        names = ["request_in", "response_in", "acknowledges", "acknowledged_in", "time"]
        for arguments in ((), ("-2",)):
            rows = self.rows(talk, ["vitcp." + name for name in names], *arguments)
            at = self.frames(rows)
            self.assertEqual(rows["accept"]["vitcp.request_in"], [at["rqst"]])
            self.assertEqual(rows["accept"]["vitcp.time"], ["0.500000000"])
            self.assertEqual(rows["ack"]["vitcp.acknowledges"], [at["n.0"]])
            self.assertEqual(rows["ack"]["vitcp.time"], ["0.250000000"])
            self.assertEqual([rows[f"r.resp.{part}"]["vitcp.request_in"] for part in (0, 1)], [[at["r"]]] * 2)
            self.assertEqual([rows[f"r.resp.{part}"]["vitcp.time"] for part in (0, 1)], [[], ["0.250000000"]])
            if arguments:  # links forward need two passes
                self.assertEqual(rows["rqst"]["vitcp.response_in"], [at["accept"]])
                self.assertEqual(rows["r"]["vitcp.response_in"], [at["r.resp.1"]])
                self.assertEqual([rows[name]["vitcp.acknowledged_in"] for name in ("m.0", "m.2", "n.0")], [[at["ack"]]] * 3)

    def test_refusal_is_linked(self):
        talk = Talk().request().refuse(type=CONNECT_NO_MATCH, after=0.5)
        row = self.rows(talk, ["vitcp.request_in", "vitcp.time"])["no"]
        self.assertEqual((row["vitcp.request_in"], row["vitcp.time"]), (["4"], ["0.500000000"]))

    def test_connection(self):
        talk = Talk(RECEPTION, True, window=3, posted=7, attributes=RDMA_READS | RDMA_WRITES | FLOW_CONTROL).connect()
        talk.read("r", 10, answer=False).message("m", 10, ack=False).message("n", 10)
        wanted = {"": "1", ".calling": "10.0.0.1:40000", ".called": "10.0.0.254:8474", ".calling_discriminator": '"client"',
                  ".called_discriminator": '"service"', ".level": "Reliable Reception", ".mtu": str(0x100000), ".crc": "1", ".setup": "4",
                  ".descriptors": "5", ".reads": "1", ".read_window": "3", ".unacknowledged": "2"}
        row = self.rows(talk, ["vitcp.connection" + name for name in wanted])["n.0"]
        self.assertEqual({name: row["vitcp.connection" + name] for name in wanted}, {name: [value] for name, value in wanted.items()})
        row = self.rows(talk, ["vitcp.connection.calling"], handshake=False)["n.0"]
        self.assertEqual(row["vitcp.connection.calling"], ["10.0.0.1:40000"])

    # Whole messages: over segments, over TCP segments, with reads in between, in one segment.
    def test_data(self):
        talk = Talk(RECEPTION).connect().message("m", 5000).message("n", 20).message("w", 3000, RDMA_WRITE).read("r", 2500).message("e", 0)
        for how in (dict(), dict(mss=333, join=True)):
            for arguments in ((), ("-2",), ("-Y", "tcp")):
                capture, _ = self.capture(talk, **how)
                rows = self.tshark.fields(capture, ["vitcp.message.data", "vitcp.message.complete"], *arguments)
                data = [value for row in rows for value in row["vitcp.message.data"]]
                self.assertEqual(data, [content(total).hex() for total in (5000, 20, 3000, 2500)])
                self.assertEqual([value for row in rows for value in row["vitcp.message.complete"]], ["1"] * 5)
        limited = self.tshark.fields(self.capture(talk)[0], ["vitcp.message.data"], "-o", "vitcp.message_limit:4")
        self.assertEqual([len(value) // 2 for row in limited for value in row["vitcp.message.data"]], [20, 3000, 2500])
        off = self.tshark.fields(self.capture(talk)[0], ["vitcp.message.data"], "-o", "vitcp.reassemble:FALSE")
        self.assertEqual([len(value) // 2 for row in off for value in row["vitcp.message.data"]], [20])

    def test_segments_of_a_message(self):
        rows = self.rows(Talk(UNRELIABLE).connect().message("m", 2500), ["vitcp.message.frame", "vitcp.message.segments", "vitcp.message.bytes"])
        at = self.frames(rows)
        self.assertEqual([rows[f"m.{part}"]["vitcp.message.bytes"] for part in range(3)], [["1000"], ["2000"], ["2500"]])
        self.assertEqual(rows["m.2"]["vitcp.message.segments"], ["3"])
        self.assertEqual(rows["m.2"]["vitcp.message.frame"], [at["m.0"], at["m.1"], at["m.2"]])

    def test_crc(self):
        talk = Talk(DELIVERY, True).connect().message("m", 10).set("m.0", crc_xor=1)
        names = ["vitcp.crc", "vitcp.crc.status", "vitcp.crc.calculated"]
        row = self.rows_of_broken(talk, names)["m.0"]
        octets = bytes.fromhex(row["vitcp.crc"][0][2:])
        self.assertEqual(octets[::-1], talk.segments["m.0"].octets()[-4:])
        self.assertEqual(row["vitcp.crc.status"], ["wrong"])
        self.assertEqual(int(row["vitcp.crc.calculated"][0], 0) ^ int(row["vitcp.crc"][0], 0), 0x01010101)
        row = self.rows(talk, names, "-o", "vitcp.check_crc:FALSE")["m.0"]
        self.assertEqual(row["vitcp.crc.status"], ["not checked"])

    def rows_of_broken(self, talk, names) -> dict:
        capture, packets = self.capture(talk)
        return {packet.names[0]: row for packet, row in zip(packets, self.tshark.fields(capture, names)) if packet.names}

    def test_statistics(self):
        talk = Talk(RECEPTION, True).connect().message("m", 2500).message("n", 64).read("r", 100)
        talk.ack("error", SERVER, talk.number[CLIENT], error=2).nop("bad", error=0x80)
        text = self.text(talk, "-q", "-o", "vitcp.statistics:TRUE")
        for line in ("Reliable Reception, Send +2", "Reliable Reception, RdmaReadRequest +1", "Reliable Reception +2564", "Send +4", "NOP +4",
                     "ConnectRequest +1", "ConnectAccept +1", "right +12", "set-up +1  0.000001000", "Send to ACK +2  0.00000", "RDMA Read +1  0.00000",
                     "reserved_bits +1"):
            self.assertRegex(text, line)

    # Nothing is said twice or by others: filters on each violation find the segment.
    def test_violation_is_a_filter(self):
        talk = Talk(DELIVERY).connect().message("m", 10).message("n", 10).drop("m.0")
        capture, packets = self.capture(talk)
        text = self.tshark.run(capture, "-Y", "vitcp.message_gap", "-T", "fields", "-e", "frame.number")
        self.assertEqual(text.split(), [str(1 + next(at for at, packet in enumerate(packets) if "n.0" in packet.names))])
        self.assertIn("Message Number is not the next one: 00000102h after 00000100h", self.tshark.run(capture, "-V"))
        self.assertEqual(talk.segments["n.0"].flags & END, END)


if __name__ == "__main__":
    PLUGIN = sys.argv.pop(1)
    skip_without_tshark()
    unittest.main()
