#!/usr/bin/env python3
"""fcvi-sim replay: every figure's capture from either side is no different; one that was changed by hand is, and the
frame is named; captures that it cannot play.

usage: replay_test.py FCVI_SIM SCENARIOS CAPTURES [unittest arguments]
"""

import dataclasses
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pcapng

FCVI_SIM, SCENARIOS, CAPTURES = sys.argv[1:4]
del sys.argv[1:4]

SAME, DIFFERENT, BAD_INPUT = 0, 1, 2
FC_HEADER = 24
# Offsets in a Fibre Channel frame.
TYPE, OPCODE, PARAMETER = 8, FC_HEADER + 4, FC_HEADER + 12
FC_VI = 0x58
CONNECT_RQST, RESP1, RESP3, DISCONNECT_RESP = 0x10, 0x18, 0x1A, 0x1B
WRITE_RQST, READ_RQST, READ_RESP = 0x01, 0x02, 0x0A


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="fcvi-replay-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.captures = {}

    def file(self, name):
        return Path(self.folder.name, name)

    def capture_of(self, scenario):
        """Of a scenario's run, once for all cases."""
        if scenario not in self.captures:
            path = self.file(Path(scenario).stem + ".pcapng")
            subprocess.run([FCVI_SIM, "run", str(Path(SCENARIOS, scenario)), "--capture", str(path)], check=True,
                           stdout=subprocess.DEVNULL)
            self.captures[scenario] = path
        return self.captures[scenario]

    def once(self, scenario):
        """Its capture with each frame where it was sent, or, from the fabric, received."""
        capture = pcapng.Capture.read(self.capture_of(scenario))
        capture.packets = [packet for packet in capture.packets if packet.sent or packet.fc()[5] == 0xFF]
        return capture.write(self.file(f"once-{Path(scenario).stem}.pcapng"))

    def replay(self, path, port, *options):
        return subprocess.run([FCVI_SIM, "replay", str(path), "--as", port, *options], capture_output=True, text=True)

    def ports_of(self, path):
        """As the message about an unknown port lists them."""
        refused = self.replay(path, "nobody")
        self.assertEqual((refused.returncode, refused.stdout), (BAD_INPUT, ""), refused.stderr)
        return re.findall(r"'([^']*)' [0-9A-F]{6}", refused.stderr.split("it has", 1)[1])

    def check_same(self, path, port, *options):
        result = self.replay(path, port, *options)
        self.assertEqual((result.returncode, result.stderr), (SAME, ""), result.stdout)
        self.assertRegex(result.stdout, r"\Ano difference: [0-9,]+ frames? of port .* as captured, [0-9,]+ frames? to it\n"
                                        r"(left out: [0-9,]+ frames? that it sent for other FC-4s\n)?"
                                        r"(sent now, and not captured, but the capture may have ended before: .*\n)*\Z")
        return int(re.search(r"no difference: ([0-9,]+)", result.stdout)[1].replace(",", ""))

    def check_different(self, path, port, first_line, *options):
        result = self.replay(path, port, *options)
        self.assertEqual((result.returncode, result.stderr), (DIFFERENT, ""), result.stdout)
        self.assertRegex(result.stdout.splitlines()[0], rf"\A{first_line}\Z")
        return result.stdout

    def decoded(self, path, *options):
        return subprocess.run([FCVI_SIM, "decode", str(path), *options], check=True, capture_output=True, text=True).stdout

    def of_two_runs(self, both_ends):
        """Programs that run one after the other have the same N_Port_IDs, OX_IDs, handles and message numbers."""
        capture = pcapng.Capture.read(self.capture_of("figure-C.1-client-server-setup.yaml"))
        if not both_ends:  # as a live capture has each frame once: where its port has it
            capture.packets = [packet for packet in capture.packets if packet.sent or packet.fc()[5] == 0xFF]
        joined = capture.followed_by(capture, "next ")
        return joined, len(capture.packets)

    # --- as captured

    def test_every_figure_from_either_side(self):
        figures = sorted(path.name for path in Path(SCENARIOS).glob("*.yaml"))
        self.assertGreaterEqual(len(figures), 64)
        for figure in figures:
            path = self.capture_of(figure)
            capture = pcapng.Capture.read(path)
            ports = self.ports_of(path)
            self.assertEqual(sorted(ports), sorted(capture.names), figure)
            self.assertEqual(len(ports), 2, figure)
            for port in ports:
                with self.subTest(figure=figure, port=port):
                    sent = sum(packet.sent and packet.interface == capture.interface(port) for packet in capture.packets)
                    self.assertEqual(self.check_same(path, port), sent)

    def test_every_figure_where_it_was_sent(self):
        """Each frame once: what comes from the other port is captured before it is taken in, and before a fault delays, changes or
        doubles it, as its comment says. Not where only the receiving end has the comment."""
        played = 0
        for figure in sorted(path.name for path in Path(SCENARIOS).glob("*.yaml")):
            capture = pcapng.Capture.read(self.capture_of(figure))
            told = {pcapng.option(packet.options, 1) for packet in capture.packets if packet.sent}
            if any(pcapng.option(packet.options, 1) not in told for packet in capture.packets):
                continue
            capture.packets = [packet for packet in capture.packets if packet.sent or packet.fc()[5] == 0xFF]
            path = capture.write(self.file("once.pcapng"))
            for port in capture.names:
                with self.subTest(figure=figure, port=port):
                    self.check_same(path, port)
            played += 1
        self.assertGreater(played, 53)

    def test_connections_that_take_turns(self):
        """Each frame once: the peer's Disconnect of one connection is captured while data of another are on their way to it."""
        for port in ("alice", "bob"):
            with self.subTest(port=port):
                self.check_same(self.once("../tour/02-three-operations.yaml"), port)

    def test_connections_that_end_while_others_send(self):
        """Thirty at once: what a connection had still to send when it failed is not sent; each posts when its peer is ready."""
        path = self.capture_of("../tour/14-bad-cable.yaml")
        for port in ("alice", "bob"):
            with self.subTest(port=port):
                self.check_same(path, port)

    def test_a_lost_frame_at_a_port_that_shows_none_received(self):
        """Each frame once, and no fabric: its comment tells that it never arrived."""
        self.check_same(self.once("../topology/private-loop-faults.yaml"), "bob")

    def test_a_cable_that_was_pulled(self):
        """No login outlasts it: who comes back asks nobody by ADISC. Where frames tell that logins outlasted the break, they do."""
        for scenario in ("../tour/09-cable-pulled.yaml", "../topology/fabric-nos-unchanged.yaml",
                         "../topology/fabric-address-changed.yaml"):
            path = self.capture_of(scenario)
            for port in ("alice", "bob"):
                with self.subTest(scenario=scenario, port=port):
                    self.check_same(path, port)

    def test_loops(self):
        """A LIP has no frame: that it came ADISC tells, or a LOGO from another address; on a public loop FAN or a FLOGI. A frame that the
        link took waits for the loop (public-loop-unchanged: a message frame, before an ADISC that is more urgent and came later)."""
        for scenario, ports in (("private-loop-lip", ("alice", "bob", "carol")), ("private-loop-changed", ("alice", "bob", "carol")),
                                ("private-loop-port-leaves", ("alice", "bob", "carol")),
                                ("public-loop-changed", ("alice", "store", "dave")), ("public-loop-unchanged", ("alice", "bob", "store", "dave"))):
            path = self.capture_of(f"../topology/{scenario}.yaml")
            for port in ports:
                with self.subTest(scenario=scenario, port=port):
                    self.check_same(path, port)

    def test_two_n_ports(self):
        """Linked to each other: FLOGI and its answers have no address, their Port_Names tell whose they are. Each frame once, too."""
        for scenario in ("point-to-point", "point-to-point-nos"):
            path = self.capture_of(f"../topology/{scenario}.yaml")
            for port in ("alice", "bob"):
                with self.subTest(scenario=scenario, port=port):
                    self.check_same(path, port)
        capture = pcapng.Capture.read(self.capture_of("../topology/point-to-point.yaml"))
        without = pcapng.write_pcap(self.file("two.pcap"), capture.packets, pcapng.FC_WITH_DELIMITERS)
        capture.packets = [packet for packet in capture.packets if packet.sent]
        once = capture.write(self.file("two_once.pcapng"))
        broken = self.once("../topology/point-to-point-nos.yaml")  # the other FLOGI is captured before the own link is there again
        for path, port in ((once, "alice"), (once, "bob"), (without, "010101"), (without, "010102"), (broken, "alice"), (broken, "bob")):
            with self.subTest(capture=path, port=port):
                self.check_same(path, port)

    def test_further_captures_without_directions(self):
        """A frame that is on its way while its port logs in anew; a port that comes back with another N_Port_ID; a broadcast, of which
        each port has a record; frames that nobody got, and that were sent again as they were (ABTS, BA_ACC)."""
        for scenario, ports in (("private-loop-port-leaves", ("000001", "000002", "000004")),
                                ("../tour/17-aborts-unanswered", ("010100", "010200")), ("fabric-nos-within-message", ("010100", "010200")), ("fabric-address-changed", ("010300", "010200")),
                                ("private-loop-lip", ("000001", "000002", "000004")),
                                ("second_address", ("010100", "010200", "010300", "010400"))):
            packets = pcapng.Capture.read(self.capture_of(f"../topology/{scenario}.yaml")).packets
            path = pcapng.write_pcap(self.file("without.pcap"), packets, pcapng.FC_WITH_DELIMITERS)
            for port in ports:
                with self.subTest(scenario=scenario, port=port):
                    self.check_same(path, port)

    def test_second_level_recovery(self):
        """An ABTS that nobody answers twice ends in LOGO (ruling 282)."""
        path = self.capture_of("../tour/17-aborts-unanswered.yaml")
        for port in ("alice", "bob"):
            with self.subTest(port=port):
                self.check_same(path, port)

    def test_other_fc_4s(self):
        """Who shares the port with FC-VI: its logins are played, its frames are left out, and their number is told."""
        path = self.capture_of("../tour/13-other-traffic.yaml")
        self.check_same(path, "alice")
        self.check_same(path, "bob")
        self.check_same(path, "disk")
        # Two PLOGIs are captured before bob's own login has ended: he took them in behind it.
        self.check_same(self.once("../tour/13-other-traffic.yaml"), "bob")
        result = self.replay(path, "disk")
        lines = self.decoded(path).splitlines()
        sent = sum(re.search(r"disk +> .* > 010300 (FCP|IP) ", line) is not None for line in lines)
        self.assertGreater(sent, 100)
        self.assertEqual(result.stdout.splitlines()[1], f"left out: {sent} frames that it sent for other FC-4s")
        capture = pcapng.Capture.read(path)
        plogi = next(at for at, packet in enumerate(capture.packets) if packet.sent and packet.interface == capture.interface("disk") and packet.fc()[1:4] == b"\x01\x03\x00")
        node_name = FC_HEADER + 28
        capture.packets[plogi] = capture.packets[plogi].patched(node_name, b"\x7f")
        text = self.check_different(capture.write(self.file("plogi.pcapng")), "disk", rf"frame {plogi + 1} at \S+ s is different now")
        self.assertIn("  LOGIN.node_name: ", text)

    def test_a_frame_that_the_port_took_in_late(self):
        """Of the live fabric, on a busy machine: bob listed the ports (disconnected) before he took in the RSCN that was captured
        before. Later than the tolerance it is a difference."""
        for name in ("listing", "disconnect"):
            path = Path(CAPTURES, f"live-{name}-and-state-change.pcapng.gz")
            for port in ("alice", "bob"):
                with self.subTest(capture=name, port=port):
                    self.check_same(path, port)
            capture = pcapng.Capture.read(path)
            captured = max(at for at, packet in enumerate(capture.packets) if packet.fc()[5:9] == b"\xff\xff\xfd\x01")  # RSCN
            for packet in capture.packets[captured + 1:]:
                packet.time += 600 * 10**6
            with self.subTest(capture=name, late=True):
                capture.write(self.file("late.pcapng"))
                text = self.check_different(self.file("late.pcapng"), "bob", r"a frame is sent now at \S+ s, before frame \d+ at .*")
                self.assertRegex(text.splitlines()[2], r" > FFFFF[CD] (GPN_ID|LS_ACC)")
                self.check_same(self.file("late.pcapng"), "bob", "--tolerance", "700")

    def test_a_frame_that_was_not_sent_late(self):
        """Of the same capture: what bob answers to the RSCN is there, and cannot be another, or missing."""
        path = Path(CAPTURES, "live-listing-and-state-change.pcapng.gz")
        original = pcapng.Capture.read(path)
        lines = self.decoded(path).splitlines()
        number = lambda words: next(at for at, line in enumerate(lines, 1) if words in line)
        asks, answers = number("010300 > FFFFFC GPN_ID"), number("010300 > FFFFFD LS_ACC to RSCN")
        sent = {asks: "010300 > FFFFFC GPN_ID", answers: "010300 > FFFFFD LS_ACC"}
        for what, named in (("missing", asks), ("another", asks), ("missing", answers), ("another", answers)):
            with self.subTest(what=what, frame=lines[named - 1]):
                packets = [*original.packets]
                if what == "missing":
                    del packets[named - 1]
                else:
                    packets[named - 1] = packets[named - 1].patched(FC_HEADER, b"\x7f")
                changed = pcapng.Capture(original.head, original.names, packets).write(self.file("live.pcapng"))
                first = self.check_different(changed, "bob", ".*").splitlines()
                self.assertTrue(first[0].startswith(f"frame {named} at") or sent[named] in first[2], first)

    def test_an_answer_that_is_missing_at_the_end(self):
        """Of what bob received last. Where the capture ends with it nobody knows, and that is said; where it went on for a second, as
        its statistics say (isb_endtime), the answer is missing."""
        path = Path(CAPTURES, "live-disconnect-and-state-change.pcapng.gz")
        capture = pcapng.Capture.read(path)
        rscn = max(at for at, packet in enumerate(capture.packets) if packet.fc()[5:9] == b"\xff\xff\xfd\x01")
        interface = capture.packets[rscn].interface
        kept = capture.packets[:rscn + 1] + [packet for packet in capture.packets[rscn + 1:] if packet.interface != interface]
        capture.packets = kept
        ends = capture.write(self.file("ends.pcapng"))
        result = self.replay(ends, "bob")
        self.assertEqual((result.returncode, result.stderr), (SAME, ""), result.stdout)
        self.assertRegex(result.stdout, r"\nsent now, and not captured, but the capture may have ended before: .* > FFFFFD LS_ACC")
        last = max(packet.time for packet in kept)
        with open(ends, "ab") as file:
            file.write(pcapng.ended(interface, last + 10**9))
        text = self.check_different(ends, "bob", r"a frame is sent now at \S+ s, .*")
        self.assertRegex(text, r" > FFFFF[CD] (GPN_ID|LS_ACC)")

    def test_names_of_a_port(self):
        path = self.capture_of("figure-C.1-client-server-setup.yaml")
        for name in ("client", "010200", "20:00:02:fc:f0:00:00:02"):
            with self.subTest(name=name):
                self.assertEqual(self.check_same(path, name), 18)

    def test_one_end_without_directions(self):
        """As tcpdump writes it: the port is found by its addresses. With and without SOF, EOF and Ethernet."""
        capture = pcapng.Capture.read(self.capture_of("figure-6-rdma-read.yaml"))
        for link_type in (pcapng.ETHERNET, pcapng.FC, pcapng.FC_WITH_DELIMITERS):
            for name, n_port_id in (("originator", "010100"), ("responder", "010200")):
                own = [packet for packet in capture.packets if packet.interface == capture.interface(name)]
                with self.subTest(link_type=link_type, port=name):
                    path = pcapng.write_pcap(self.file("one_end.pcap"), own, link_type)
                    self.check_same(path, n_port_id)

    def test_both_ends_without_directions(self):
        """As pcap has it: the second of two records is the arrival of the first, also where a fault rewrote it on the way."""
        played = 0
        for figure in [*sorted(path.name for path in Path(SCENARIOS).glob("*.yaml")), "../farp.yaml"]:
            packets = pcapng.Capture.read(self.capture_of(figure)).packets
            link_type = (pcapng.ETHERNET, pcapng.FC_WITH_DELIMITERS)[played % 2]
            path = pcapng.write_pcap(self.file("both.pcap"), packets, link_type)
            for n_port_id in ("010100", "010200"):
                sent = sum(packet.sent and packet.fc()[5:8].hex() in (n_port_id, "000000") for packet in packets)
                with self.subTest(figure=figure, port=n_port_id):
                    self.assertLessEqual(self.check_same(path, n_port_id), sent)
            played += 1
        self.assertGreater(played, 50)

    def test_programs_one_after_the_other(self):
        for both_ends in (False, True):
            joined, frames = self.of_two_runs(both_ends)
            path = joined.write(self.file("programs.pcapng"))
            text = self.decoded(path)
            self.assertNotIn(" | ! ", text)
            for copy in re.finditer(r"^ *([0-9]+) .*same as ([0-9]+)", text, re.MULTILINE):
                self.assertEqual(int(copy[1]) > frames, int(copy[2]) > frames, copy[0])
            followed = self.decoded(path, "--follow", "connection", "which").splitlines()
            self.assertEqual(len(followed), 2, followed)
            for port in self.ports_of(path):
                with self.subTest(both_ends=both_ends, port=port):
                    self.check_same(path, port)

    def test_each_program_has_its_port_name(self):
        joined, frames = self.of_two_runs(both_ends=False)
        old, new = bytes.fromhex("200002fcf0000002"), bytes.fromhex("3511223344556677")
        for at in range(frames, len(joined.packets)):
            packet = joined.packets[at]
            joined.packets[at] = packet.with_fc(packet.fc().replace(old, new))
        path = joined.write(self.file("names.pcapng"))
        for name in ("20:00:02:fc:f0:00:00:02", "35:11:22:33:44:55:66:77"):
            with self.subTest(name=name):
                self.check_same(path, name)

    def test_no_violation_where_frames_are_cut(self):
        """What is cut off is not known, and not wrong. Of the last one the fabric does not keep the order of frames, as its LS_ACC to
        FLOGI says."""
        for figure in ("figure-6-rdma-read.yaml", "figure-7-concurrent-receive-streams.yaml", "figure-C.1-client-server-setup.yaml",
                       "../two_paths.yaml"):
            capture = pcapng.Capture.read(self.capture_of(figure))
            for snap in (52, 60, 68, 80, 96, 128, 256, 400, 600):
                with self.subTest(figure=figure, snap=snap):
                    self.assertNotIn(" | ! ", self.decoded(capture.write(self.file("cut.pcapng"), snap)))

    def test_no_gap_where_the_capture_began_amid_a_message(self):
        """At the receiver its first frame comes after the capture began, when its sender sends a later one."""
        capture = pcapng.Capture.read(self.capture_of("figure-2-send.yaml"))
        packets = capture.packets
        for at, packet in enumerate(packets):
            if packet.fc()[TYPE] != FC_VI:
                continue
            capture.packets = packets[at:]
            with self.subTest(first=at):
                self.assertNotIn(" | ! ", self.decoded(capture.write(self.file("amid.pcapng"))))

    def test_login_by_fip(self):
        capture = pcapng.Capture.read(self.capture_of("figure-C.1-client-server-setup.yaml"))
        for at in (1, 3):  # the client's FLOGI and its accept
            capture.packets[at] = pcapng.in_fip(capture.packets[at])
        decoded = subprocess.run([FCVI_SIM, "decode", str(capture.write(self.file("fip.pcapng")))], capture_output=True, text=True)
        self.assertIn("FIP Link Service Request, FLOGI", decoded.stdout)
        self.assertEqual(self.check_same(self.file("fip.pcapng"), "client"), 18)

    def test_standard_input(self):
        with open(self.capture_of("figure-2-send.yaml"), "rb") as capture:
            result = subprocess.run([FCVI_SIM, "replay", "-", "--as", "010100"], stdin=capture, capture_output=True, text=True)
        self.assertEqual(result.returncode, SAME, result.stdout + result.stderr)

    def test_a_capture_that_ends_early(self):
        """What would have come behind it nobody knows."""
        capture = self.edited()
        for count in range(6, len(capture.packets)):  # from where both have sent a frame with their N_Port_ID
            path = pcapng.Capture(capture.head, capture.names, capture.packets[:count]).write(self.file("early.pcapng"))
            for n_port_id in ("010100", "010200"):
                with self.subTest(count=count, port=n_port_id):
                    self.check_same(path, n_port_id)

    # --- changed by hand

    def sent_by(self, capture, port, opcode):
        """Number of the first such frame that the port sends, from 1."""
        for number, packet in enumerate(capture.packets, 1):
            fc = packet.fc()
            if packet.sent and packet.interface == capture.interface(port) and fc[TYPE] == FC_VI and fc[OPCODE] == opcode:
                return number
        self.fail(f"{port} does not send {opcode:#x}")

    def edited(self, scenario="figure-C.1-client-server-setup.yaml"):
        return pcapng.Capture.read(self.capture_of(scenario))

    def test_a_changed_field(self):
        capture = self.edited()
        number = self.sent_by(capture, "server", DISCONNECT_RESP)
        capture.packets[number - 1] = capture.packets[number - 1].patched(PARAMETER, struct.pack(">I", 0x00480000))
        path = capture.write(self.file("field.pcapng"))
        text = self.check_different(path, "server", rf"frame {number} at 0\.\d{{9}} s is different now")
        self.assertIn("  FCVI_DISCONNECT_RESP.parameter: 00480000h Protocol Error, now 004B0000h Disconnect Accept\n", text)
        self.assertEqual(text.count("\n"), 4, text)
        whole = self.check_different(path, "server", rf"frame {number} .*", "-v")
        self.assertGreater(whole.count("FCVI_DISCONNECT_RESP.parameter"), 2)

    def test_every_field_of_the_header(self):
        """Of RESP3: a bit in each word of header and Device_Header, but for what the port chooses."""
        original = self.edited()
        number = self.sent_by(original, "server", RESP3)
        chosen = {18, 19, 12}  # RX_ID, SEQ_ID: chosen when they are seen first, not now
        for offset in range(FC_HEADER + 32):
            if offset in range(1, 4) or offset in (5, 6, 7, 8, 10, 11, 16, 17) or offset in chosen:
                continue  # addresses, TYPE and OX_ID: whose frame it is
            capture = self.edited()
            packet = capture.packets[number - 1]
            capture.packets[number - 1] = packet.patched(offset, bytes([packet.fc()[offset] ^ 0x01]))
            with self.subTest(offset=offset):
                path = capture.write(self.file("bit.pcapng"))
                result = self.replay(path, "server")
                self.assertEqual(result.returncode, DIFFERENT, result.stdout + result.stderr)
                self.assertIn(f"frame {number} at", result.stdout.splitlines()[0])

    def test_a_missing_frame(self):
        """It is sent now, and was not captured."""
        capture = self.edited()
        number = self.sent_by(capture, "server", DISCONNECT_RESP)
        del capture.packets[number - 1]
        following = next(at for at, packet in enumerate(capture.packets, 1)
                         if at >= number and packet.sent and packet.interface == capture.interface("server"))
        text = self.check_different(capture.write(self.file("missing.pcapng")), "server",
                                    rf"a frame is sent now at 0\.\d{{9}} s, before frame {following} at 0\.\d{{9}} s")
        self.assertIn("  now:      010100 > 010200 FCVI_DISCONNECT_RESP Disconnect Accept\n", text)

    def test_an_extra_frame(self):
        """It was captured, and is not sent now: another RESP1, a moment later."""
        capture = self.edited()
        number = self.sent_by(capture, "server", RESP1)
        first = capture.packets[number - 1]
        again = pcapng.Packet(first.interface, first.time + 1000, first.data, first.options)
        capture.packets.insert(number, again.patched(PARAMETER, struct.pack(">I", 0x00010000)))
        self.check_different(capture.write(self.file("extra.pcapng")), "server", rf"frame {number + 1} at 0\.\d{{9}} s is not sent now")

    def test_all_differences(self):
        capture = self.edited()
        numbers = [self.sent_by(capture, "server", opcode) for opcode in (RESP3, DISCONNECT_RESP)]
        for number in numbers:
            packet = capture.packets[number - 1]
            capture.packets[number - 1] = packet.patched(PARAMETER, struct.pack(">I", 0x00480000))
        path = capture.write(self.file("two.pcapng"))
        found = lambda text: [int(number) for number in re.findall(r"^frame (\d+) at", text, re.MULTILINE)]
        self.assertEqual(found(self.check_different(path, "server", ".*")), numbers[:1])
        self.assertEqual(found(self.check_different(path, "server", ".*", "--all")), numbers)

    def test_a_late_frame(self):
        """Later than the tolerance: the answer comes now when the request does, which is too early for the capture."""
        capture = self.edited()
        number = self.sent_by(capture, "server", RESP3)
        for packet in capture.packets[number - 1:]:
            packet.time += 2 * 10**9
        path = capture.write(self.file("late.pcapng"))
        self.check_different(path, "server", rf"a frame is sent now at 0\.\d{{9}} s, before frame {number} at 2\.\d{{9}} s")
        self.check_same(path, "server", "--tolerance", "3000")

    def test_each_field_of_an_answer(self):
        """One bit of one field of one frame: the first line names that frame. Which ids the port gives is free; what else was derived
        from the frame (of CONNECT_RQST and RESP1, requests of messages, their data) is not looked at here."""
        header = {"r_ctl": (0, 0x10), "d_id": (3, 1), "cs_ctl": (4, 0x80), "type": (8, 1), "f_ctl, first byte": (9, 1),
                  "f_ctl, second byte": (10, 8), "f_ctl, third byte": (11, 0x10), "df_ctl": (13, 1), "seq_cnt": (15, 1),
                  "parameter": (23, 4)}
        device = {"handle": (3, 1), "opcode": (4, 1), "flags": (5, 0x80), "reserved": (7, 1), "msg_id": (11, 1), "fcvi_parameter": (15, 1),
                  "rmt_va": (23, 1), "rmt_va_handle": (27, 1), "connection_id": (31, 1)}
        fields = dict(header, **{name: (FC_HEADER + at, bit) for name, (at, bit) in device.items()})
        count = 0
        for figure, port, opcode in (("figure-C.1-client-server-setup", "client", 0x19), ("figure-C.1-client-server-setup", "server", RESP3),
                                     ("figure-C.1-client-server-setup", "client", 0x12),
                                     ("figure-C.1-client-server-setup", "server", DISCONNECT_RESP),
                                     ("figure-3-send-reliable-reception", "responder", 0x08)):
            capture = self.edited(figure + ".yaml")
            number = self.sent_by(capture, port, opcode)
            packet = capture.packets[number - 1]
            for name, (at, bit) in fields.items():
                if at >= len(packet.fc()):
                    continue
                with self.subTest(figure=figure, opcode=opcode, field=name):
                    capture.packets[number - 1] = packet.patched(at, bytes([packet.fc()[at] ^ bit]))
                    result = self.replay(capture.write(self.file("field.pcapng")), port)
                    self.assertEqual((result.returncode, result.stderr), (DIFFERENT, ""), result.stdout)
                    count += 1
                    # By these it is of another stream of messages: a later frame of its own stream may be named.
                    if opcode != 0x08 or name not in ("r_ctl", "d_id", "type", "df_ctl", "handle"):
                        self.assertIn(f"frame {number} at ", result.stdout.splitlines()[0])
        self.assertGreater(count, 80)

    def test_each_answer_missing_twice_or_late(self):
        """Each frame by which the port answers another, in turn: not captured, captured twice, captured behind the next of its
        Exchange. It is named, or another frame of its Exchange, or, of responses that look the same, the next one."""
        count = 0
        for figure, port in (("C.1-client-server-setup", "client"), ("C.1-client-server-setup", "server"),
                             ("3-send-reliable-reception", "responder"), ("4-rdma-write", "responder"), ("6-rdma-read", "responder")):
            original = self.edited(f"figure-{figure}.yaml").packets
            own = [at for at, packet in enumerate(original)
                   if packet.sent and packet.interface == self.edited(f"figure-{figure}.yaml").interface(port)]
            for at, next_one in zip(own, own[1:]):
                if not is_answer(original[at].fc()):
                    continue
                packet, later = original[at], original[next_one]
                edits = {"missing": original[:at] + original[at + 1:],
                         "twice": original[:at + 1] + [dataclasses.replace(packet, time=packet.time + 1)] + original[at + 1:]}
                if exchange_of(later.fc()) == exchange_of(packet.fc()):
                    edits["late"] = (original[:at] + [dataclasses.replace(later, time=packet.time)] + original[at + 1:next_one] +
                                     [dataclasses.replace(packet, time=later.time)] + original[next_one + 1:])
                for what, packets in edits.items():
                    with self.subTest(figure=figure, port=port, frame=at + 1, what=what):
                        capture = self.edited(f"figure-{figure}.yaml")
                        capture.packets = packets
                        result = self.replay(capture.write(self.file("answer.pcapng")), port)
                        self.assertEqual((result.returncode, result.stderr), (DIFFERENT, ""), result.stdout)
                        first = result.stdout.splitlines()[0]
                        if what == "missing" and first.startswith("a frame is sent now"):
                            now = re.search(r"^  now: +(\S+ > \S+)", result.stdout, re.MULTILINE)[1]
                            self.assertEqual(now, " > ".join(id_text(id_of) for id_of in (packet.fc()[5:8], packet.fc()[1:4])))
                        else:
                            number = int(re.match(r"frame (\d+) at", first)[1])
                            named = packets[number - 1].fc()
                            # Behind a response that is missing the next one takes its place.
                            is_next = what == "missing" and number > at and named[FC_HEADER + 4] == packet.fc()[FC_HEADER + 4]
                            self.assertTrue(is_next or exchange_of(named) == exchange_of(packet.fc()), result.stdout)
                        count += 1
        self.assertGreater(count, 90)

    def test_eof_and_crc(self):
        """Of a frame that the port sent. What a comment says a fault did to it the port did not."""
        for what, offset, told in (("EOF", -4, r"EOF: EOFa, now EOFn?t?"), ("CRC", -8, "CRC: wrong, now right")):
            for comment in ("", "fault: marked as invalid"):
                with self.subTest(what=what, comment=comment):
                    capture = self.edited()
                    number = self.sent_by(capture, "server", RESP1)
                    packet = capture.packets[number - 1]
                    data = bytearray(packet.data)
                    data[offset] = 0x50 if what == "EOF" else data[offset] ^ 1
                    options = pcapng.with_comment(packet.options, comment) if comment else packet.options
                    capture.packets[number - 1] = dataclasses.replace(packet, data=bytes(data), options=options)
                    path = capture.write(self.file("eof.pcapng"))
                    if comment:
                        self.check_same(path, "server")
                    else:
                        text = self.check_different(path, "server", rf"frame {number} at \S+ s is different now")
                        self.assertRegex(text, rf"\n  {told}\n")

    def test_data_that_was_written_and_is_read_back(self):
        """What the peer wrote is there: read back as it was written is no difference, read back otherwise is one."""
        capture = self.edited("../first_connection.yaml")
        place = slice(FC_HEADER + 16, FC_HEADER + 28)  # FCVI_RMT_VA and its handle
        frames = [(at, packet.fc()) for at, packet in enumerate(capture.packets)
                  if packet.fc()[TYPE] == FC_VI and packet.fc()[0] < 0x80]
        writes = {fc[20:24]: fc for _, fc in frames if fc[OPCODE] == WRITE_RQST}
        written = next(iter(writes.values()))[place]
        for at, fc in frames:
            if fc[OPCODE] in (READ_RQST, READ_RESP):
                capture.packets[at] = capture.packets[at].patched(FC_HEADER + 16, written)
        number = self.sent_by(capture, "bob", READ_RESP)
        text = self.check_different(capture.write(self.file("read_other.pcapng")), "bob", rf"frame {number} at \S+ s is different now")
        self.assertIn(" of the frame: ", text)
        for at, fc in frames:
            if fc[OPCODE] == READ_RESP:
                data = writes[fc[20:24]][FC_HEADER + 32:]
                self.assertEqual(len(data), len(fc) - FC_HEADER - 32)
                capture.packets[at] = capture.packets[at].patched(FC_HEADER + 32, data)
        self.check_same(capture.write(self.file("read_back.pcapng")), "bob")

    def test_what_the_port_chooses_is_no_difference(self):
        """The client's FCVI_HANDLE and FCVI_CONNECTION_ID, its OX_IDs, in all frames that have them."""
        capture = self.edited()
        for at, packet in enumerate(capture.packets):
            capture.packets[at] = packet.with_fc(with_other_choices(packet.fc()))
        self.assertEqual(self.check_same(capture.write(self.file("choices.pcapng")), "client"), 18)

    def test_another_implementation(self):
        """Linux has other service parameters; its login is by FIP."""
        text = self.check_different(Path(CAPTURES, "linux-fabric-login.pcap"), "010100",
                                    r"frame 9 at 8\.670022000 s is different now")
        self.assertIn("  LOGIN.e_d_tov: 00000000h, now 000007D0h\n", text)

    # --- bad input

    def refused(self, path, port):
        result = self.replay(path, port)
        self.assertEqual((result.returncode, result.stdout), (BAD_INPUT, ""), result.stderr)
        return result.stderr

    def test_an_unknown_port(self):
        path = self.capture_of("figure-C.1-client-server-setup.yaml")
        self.assertEqual(self.refused(path, "nobody"),
                         f"fcvi-sim: {path}: no port 'nobody'; it has 'server' 010100 (20:00:02:fc:f0:00:00:01), "
                         "'client' 010200 (20:00:02:fc:f0:00:00:02)\n")

    def test_no_name_for_a_port(self):
        """Not those whose interface has no name."""
        own = pcapng.Capture.read(self.capture_of("figure-2-send.yaml")).packets
        path = pcapng.write_pcap(self.file("nameless.pcap"), own, pcapng.ETHERNET)
        self.assertEqual(self.refused(path, ""), 'fcvi-sim: --as: expected a port, got ""; an unknown one names those that there are\n')

    def test_a_capture_that_begins_late(self):
        capture = self.edited()
        number = self.sent_by(capture, "server", RESP1)
        capture.packets = capture.packets[number - 1:]
        self.assertIn("the first frame that port 'server' 010100 sent, 1, is FCVI_CONNECT_RESP1: a replay needs the capture from its "
                      "fabric login (FLOGI) on\n", self.refused(capture.write(self.file("late.pcapng")), "server"))

    def test_no_set_up(self):
        """The login is there, the set-up of the connection is not."""
        capture = self.edited("figure-2-send.yaml")
        connects = {0x10, 0x18, 0x19, 0x1A}
        capture.packets = [packet for packet in capture.packets
                           if packet.fc()[TYPE] != FC_VI or packet.fc()[OPCODE] not in connects]
        self.assertRegex(self.refused(capture.write(self.file("no_set_up.pcapng")), capture.names[0]),
                         r"frame \d+ is of a connection \(FCVI_HANDLE [0-9A-F]{8}h\) whose set-up was not captured")

    def test_a_message_of_four_gigabytes(self):
        """By a damaged FCVI_TOT_LEN."""
        capture = self.edited("figure-2-send.yaml")
        for port in capture.names:
            for number, packet in enumerate(capture.packets, 1):
                fc = packet.fc()
                if packet.sent and packet.interface == capture.interface(port) and fc[TYPE] == FC_VI and fc[OPCODE] == 0:
                    capture.packets[number - 1] = packet.patched(FC_HEADER + 28, b"\xff\xff\xff\xff")
                    text = self.refused(capture.write(self.file("long.pcapng")), port)
                    self.assertIn(f"frame {number} needs 4294967295 bytes of memory", text)
                    return
        self.fail("no SEND_RQST")

    def test_damaged_lengths_and_addresses(self):
        """Of what the port's user is said to have asked for: a clear word, and no crash."""
        capture = self.edited()
        number = self.sent_by(capture, "client", CONNECT_RQST)
        payload = FC_HEADER + 32
        fc = capture.packets[number - 1].fc()
        length_at = next(at for at in range(payload, len(fc)) if fc[at] == 16 and 16 <= fc[at + 1] <= 128) + 1
        capture.packets[number - 1] = capture.packets[number - 1].patched(length_at, b"\xff")
        self.assertIn(f"frame {number} has an address with a length that FC-VI 7.2 does not have",
                      self.refused(capture.write(self.file("address.pcapng")), "client"))
        capture = self.edited("figure-6-rdma-read.yaml")
        number = self.sent_by(capture, "originator", READ_RQST)
        frame = capture.packets[number - 1].fc()
        for at, packet in enumerate(capture.packets):  # at both ends
            if packet.fc() == frame:
                capture.packets[at] = packet.patched(FC_HEADER + 16, b"\xff" * 8)
        self.assertRegex(self.refused(capture.write(self.file("wrap.pcapng")), "responder"),
                         r"frame \d+ reaches beyond the last address")

    def test_data_of_a_read_that_was_refused(self):
        """They have no place in memory that was not registered for it."""
        capture = self.edited("figure-6-rdma-read.yaml")
        number = self.sent_by(capture, "responder", READ_RESP)
        flags = capture.packets[number - 1].fc()[FC_HEADER + 5]
        capture.packets[number - 1] = capture.packets[number - 1].patched(FC_HEADER + 5, bytes([flags | 0x05]))
        self.check_different(capture.write(self.file("refused.pcapng")), "responder", r"frame \d+ at .*")

    def test_a_gap_of_years(self):
        """By a damaged time: timers that ask again would run for as long."""
        capture = self.edited()
        packet = capture.packets[-1]
        capture.packets[-1] = dataclasses.replace(packet, time=packet.time + 10**18)
        self.assertIn("is more than a day away", self.refused(capture.write(self.file("gap.pcapng")), "client"))

    def test_tolerance(self):
        path = self.capture_of("figure-2-send.yaml")
        for value in ("0", "-1", "nan", "60001"):
            with self.subTest(value=value):
                self.assertNotIn(self.replay(path, "010100", "--tolerance", value).returncode, (SAME, DIFFERENT))
        self.check_same(path, "010100", "--tolerance", "0.01")

    def test_a_sequence_that_changes_its_id(self):
        """Free to choose, but once for all its frames."""
        capture = self.edited("figure-4-rdma-write.yaml")
        at = next(at for at, packet in enumerate(capture.packets)
                  if packet.sent and packet.fc()[TYPE] == FC_VI and packet.fc()[OPCODE] == WRITE_RQST
                  and packet.fc()[14:16] == b"\x00\x02")
        capture.packets[at] = capture.packets[at].patched(12, bytes([capture.packets[at].fc()[12] ^ 0x40]))
        self.check_different(capture.write(self.file("seq_id.pcapng")), "originator", r"frame \d+ at .* is different now")

    def test_no_capture(self):
        self.file("cut.pcapng").write_bytes(self.capture_of("figure-2-send.yaml").read_bytes()[:-20])
        self.assertIn("cut.pcapng", self.refused(self.file("cut.pcapng"), "010100"))
        self.assertIn("none.pcapng", self.refused(self.file("none.pcapng"), "010100"))


def is_answer(fc: bytes) -> bool:
    """By F_CTL, the frame is of the Exchange's responder."""
    return fc[9] & 0x80 != 0


def exchange_of(fc: bytes) -> tuple:
    originator, responder = (fc[1:4], fc[5:8]) if is_answer(fc) else (fc[5:8], fc[1:4])
    return originator, responder, fc[16:18]


def id_text(n_port_id: bytes) -> str:
    return n_port_id.hex().upper()


def with_other_choices(fc: bytes) -> bytes:
    """The same frame, had the client (010200) begun with other numbers."""
    fc = bytearray(fc)
    client, by_responder = b"\x01\x02\x00", fc[9] & 0x80 != 0
    from_client = fc[5:8] == client or fc[1:4] != client
    if from_client != by_responder and fc[16:18] != b"\xff\xff":
        fc[16] ^= 0x10  # OX_ID
    if fc[TYPE] != FC_VI or fc[0] >= 0x80:
        return bytes(fc)
    handle_at, connection_at = FC_HEADER, FC_HEADER + 28
    if not from_client and fc[handle_at:handle_at + 4] != b"\xff\xff\xff\xff":
        fc[handle_at] ^= 0x20
    if fc[OPCODE] in (0x10, 0x18, 0x19, 0x1A):
        fc[connection_at] ^= 0x40
    if fc[OPCODE] == 0x10:
        fc[FC_HEADER + 32 + 8] ^= 0x20  # FCVI_RQST_HANDLE
    return bytes(fc)


if __name__ == "__main__":
    unittest.main()
