#!/usr/bin/env python3
"""fcvi-sim replay of the live fabric: what fcvi-fabricd captured of two programs is no different from either side, also where
fault rules befell their frames; decode, report and ladder then tell what became of each.

usage: live_test.py FCVI_SIM FCVI_FABRICD FCVI_CTL VIPING [unittest arguments]
"""

import json
import re
import signal
import struct
import subprocess
import sys
import unittest
from pathlib import Path

for folder in ("programs", "report"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
from data_test import FAULT, LOST, Data  # noqa: E402
from local_fabric import LocalFabricTest  # noqa: E402

FCVI_SIM, FABRICD, CTL, VIPING = sys.argv[1:5]
del sys.argv[1:5]

SECOND_MESSAGE = "message: FCVI_SEND_RQST, nth: 2"


class Live(LocalFabricTest):
    def start(self, node, *words, **more):
        return super().start(node, *words, FCVI_FABRICD=FABRICD, **more)

    def service(self):
        status, out, err = self.run_to_end("operator", FABRICD, "status", "--json")
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def ping(self, name, size):
        status, out, err = self.run_to_end("alice", VIPING, "-t", 60, "-W", 60, "-c", 10, "-i", 0.01, "-s", size, name)
        self.assertEqual((status, err), (0, ""), out)

    def captured(self, *options):
        """The service runs, then a server and a client come, are captured and go."""
        return self.captured_while(lambda: self.ping("bob", 1500), *options)

    def captured_while(self, happens, *options):
        self.start("first", VIPING, "-t", 60, "--listen")
        self.ping("first", 64)
        path = Path(self.folder.name, "live.pcapng")
        capture = self.start("operator", FABRICD, "capture", "-w", path, *options)
        self.wait_for(lambda: self.service()["captures"] > 0, "the capture begins")
        self.start("bob", VIPING, "-t", 60, "--listen")
        happens()
        capture.send_signal(signal.SIGINT)
        status, _, err = self.finish(capture)
        self.assertEqual(status, 0, err)
        return path

    def check(self, path, least=24):  # login, registration, names, set-up, ten messages, disconnect
        for node in ("alice", "bob"):
            with self.subTest(node=node):
                result = self.sim("replay", path, "--as", node)
                self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
                sent = re.search(r"no difference: ([0-9,]+) frames", result.stdout)
                self.assertGreater(int(sent[1]), least)

    def sim(self, *words):
        return subprocess.run([FCVI_SIM, *map(str, words)], capture_output=True, text=True)

    # --- faults

    def ping_with_fault(self, rule, answers):
        """Three messages; the rule befalls one frame, of the second."""
        status, out, err = self.run_to_end("operator", CTL, "fault", "add", "{" + rule + "}")
        self.assertEqual(status, 0, err)
        _, out, err = self.run_to_end("alice", VIPING, "-t", 60, "-l", "unreliable", "-c", 3, "-i", 0.01, "-W", 1, "bob")
        self.assertEqual(re.findall(r"seq=(\d) time", out), answers, out + err)
        status, out, err = self.run_to_end("operator", CTL, "fault", "list", "--json")
        self.assertEqual([rule["fired"] for rule in json.loads(out)], [1], out + err)

    def captured_with(self, rule, answers, *options):
        return self.captured_while(lambda: self.ping_with_fault(rule, answers), *options)

    def comments(self, path):
        """Of frames that a rule befell: what decode tells of it, and the comment."""
        frames = [json.loads(line) for line in self.sim("decode", "--json", path).stdout.splitlines()]
        return [(frame, comment) for frame in frames for comment in frame.get("comments", []) if "(fault rule " in comment]

    def report(self, path):
        page = Path(self.folder.name, "live.html")
        self.assertEqual(self.sim("report", path, "-o", page).returncode, 0)
        return Data(page)

    def judge(self, path, comment, flags):
        """One frame has the comment, and is marked so in the report and in the ladder."""
        [(frame, told)] = self.comments(path)
        self.assertEqual((told, "FCVI_SEND_RQST msg 2" in frame["summary"]), (comment, True), frame)
        data = self.report(path)
        at = data.frames["number"].index(frame["frame"])
        self.assertEqual(data.frames["flags"][at] & (LOST | FAULT), flags)
        self.assertEqual([remark[0] for remark in data.frames["remarks"] if "(fault rule " in remark[2]], [at])
        ladder = self.sim("ladder", path, "--text").stdout.splitlines()
        if flags & LOST:
            self.assertTrue(any("x─" in line or "─x" in line for line in ladder), ladder)
        # What did not arrive opens no Exchange and is of no connection.
        self.assertEqual("connection" in frame, not flags & LOST, frame)
        self.check(path, 18)

    def test_lost_frame(self):
        for rule in (f"action: drop, port: alice, {SECOND_MESSAGE}", f"action: drop, port: bob, direction: received, {SECOND_MESSAGE}"):
            with self.subTest(rule=rule):
                self.judge(self.captured_with(rule, ["1", "3"]), "fault: lost (fault rule 1)", LOST | FAULT)
            self.fresh()

    def fresh(self):
        self.end_children()
        self.run_to_end("operator", FABRICD, "stop")

    def test_both_ends_of_a_frame(self):
        """One that is lost has no other end; of one that comes late both say why."""
        rule = f"port: bob, direction: received, {SECOND_MESSAGE}"
        for action, answers, comment, ends in (("drop", ["1", "3"], "lost", ["sent"]),
                                               ("delay, by: 30ms", ["1", "2", "3"], "delayed by 30.000 ms", ["sent", "received"])):
            with self.subTest(action=action):
                path = self.captured_with(f"action: {action}, {rule}", answers, "--both-ends")
                self.assertEqual([(frame["direction"], told) for frame, told in self.comments(path)],
                                 [(end, f"fault: {comment} (fault rule 1)") for end in ends])
                self.check(path, 18)
            self.fresh()

    def test_delayed_frame(self):
        path = self.captured_with(f"action: delay, by: 30ms, port: alice, {SECOND_MESSAGE}", ["1", "2", "3"])
        self.judge(path, "fault: delayed by 30.000 ms (fault rule 1)", FAULT)

    def test_duplicated_frame(self):
        path = self.captured_with(f"action: duplicate, port: alice, {SECOND_MESSAGE}", ["1", "2", "3"])
        self.judge(path, "fault: duplicated (fault rule 1)", FAULT)

    def test_corrupted_frame(self):
        """Its CRC tells, and the fabric discards it: what its port sent, and what it was to receive."""
        for link in ("port: alice", "port: bob, direction: received"):
            with self.subTest(link=link):
                path = self.captured_with(f"action: corrupt, bit: 300, {link}, {SECOND_MESSAGE}", ["1", "3"])
                [(_, comment)] = self.comments(path)
                self.assertRegex(comment, r"\Adiscarded by the fabric, bad CRC: it was damaged on its way.*; "
                                          r"fault: corrupted, bit 300 \(fault rule 1\)\Z")
                self.judge(path, comment, LOST | FAULT)
            self.fresh()

    def test_corrupted_frame_that_arrives(self):
        """Damaged where no CRC guards it: another message arrives than was sent."""
        path = self.captured_with(f"action: corrupt, bit: 700, crc: good, port: alice, {SECOND_MESSAGE}", ["1", "2", "3"])
        self.judge(path, "fault: corrupted, bit 700, CRC good (fault rule 1)", FAULT)

    def test_link_that_was_reset(self):
        """The port comes back on its own interface, under another N_Port_ID: no login outlasts that."""
        def happens():
            self.ping("bob", 64)
            status, _, err = self.run_to_end("operator", CTL, "link", "bob", "reset")
            self.assertEqual(status, 0, err)
            self.wait_for(lambda: any(port["node"] == "bob" and port["logged_in"] for port in self.service()["ports"]), "bob is back")
            self.ping("bob", 64)
        path = self.captured_while(happens)
        result = self.sim("replay", path, "--as", "bob")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_end_of_a_capture(self):
        """Each interface's statistics say when it ended (isb_endtime), not before its last frame."""
        data, at, interfaces, ends, last = self.captured().read_bytes(), 0, 0, [], 0
        while at < len(data):
            kind, size = struct.unpack_from("<II", data, at)
            interfaces += kind == 1
            if kind == 6:
                last = max(last, struct.unpack_from("<Q", data, at + 12)[0])
            if kind == 5 and struct.unpack_from("<HH", data, at + 20) == (3, 8):
                ends.append(struct.unpack_from("<I", data, at + 8) + struct.unpack_from("<II", data, at + 24))
            at += size
        self.assertEqual([interface for interface, _, _ in ends], list(range(interfaces)))
        turned = (last & 0xFFFFFFFF) << 32 | last >> 32  # the high word comes first
        for _, high, low in ends:
            self.assertGreaterEqual(high << 32 | low, turned)

    # --- none

    def test_each_frame_once(self):
        self.check(self.captured())

    def test_both_ends(self):
        self.check(self.captured("--both-ends"))


if __name__ == "__main__":
    unittest.main()
