#!/usr/bin/env python3
"""iscsi-warp: initiator and target as processes, over WARP and plain TCP (draft-jpink-warp-summary-00, Appendix B; WARP 32 to 35).

usage: iscsi_warp_test.py IWARP_RUN ISCSI_WARP
"""

import hashlib
import random
import sys
import tempfile
import time
import unittest
from pathlib import Path

import programs

IWARP_RUN, PROGRAM = sys.argv[1:3]
DISK_OCTETS = 16 << 20


def pattern(octets, seed):
    return random.Random(seed).randbytes(octets)


def digest(data):
    return hashlib.sha256(data).hexdigest()


class IscsiWarp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="iscsi-warp-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.disk = self.folder / "disk"
        self.disk.write_bytes(bytes(DISK_OCTETS))
        self.ports = ["--warp-port", programs.free_port(), "--tcp-port", programs.free_port()]

    def target(self, *options):
        run = programs.Run(IWARP_RUN, PROGRAM, "target", "--file", self.disk, "--address", "127.0.0.1", *self.ports, *options)
        self.addCleanup(run.file.close)
        self.addCleanup(run.end)
        for name, port in zip(("--no-warp", "--no-plain"), self.ports[1::2]):
            if name not in options:
                programs.wait_for_listener(port, run.process)
        return run

    def initiator(self, *words, wanted=0):
        run = programs.Run(IWARP_RUN, PROGRAM, *words, *self.ports)
        self.addCleanup(run.file.close)
        self.assertEqual(run.wait(), wanted, run.text())
        return run.text()

    def test_16_mib_are_written_and_read(self):
        self.target()
        whole = self.folder / "whole"
        whole.write_bytes(pattern(DISK_OCTETS, 1))
        for immediate in (0, 4096):
            self.disk.write_bytes(bytes(DISK_OCTETS))
            self.initiator("write", "--file", whole, "--connections", "warp", "--immediate", immediate)
            self.assertEqual(digest(self.disk.read_bytes()), digest(whole.read_bytes()))
        back = self.folder / "back"
        self.assertIn("32768 blocks read", self.initiator("read", "--file", back, "--connections", "warp"))
        self.assertEqual(digest(back.read_bytes()), digest(whole.read_bytes()))

    def test_parts(self):
        self.target()
        part = self.folder / "part"
        part.write_bytes(pattern(512 * 5, 2))
        self.initiator("write", "--file", part, "--connections", "warp", "--block", 7)
        self.assertEqual(self.disk.read_bytes()[7 * 512:12 * 512], part.read_bytes())
        self.assertEqual(self.disk.read_bytes().count(0), DISK_OCTETS - 512 * 5 + part.read_bytes().count(0))
        back = self.folder / "back"
        self.initiator("read", "--file", back, "--connections", "plain", "--block", 8, "--blocks", 2)
        self.assertEqual(back.read_bytes(), part.read_bytes()[512:1536])

    def test_one_session_has_a_connection_of_each_kind(self):
        self.disk.write_bytes(pattern(DISK_OCTETS, 3))
        self.target()
        back = self.folder / "back"
        for connections in ("warp,plain", "plain,warp"):
            shown = self.initiator("read", "--file", back, "--connections", connections)
            self.assertEqual([line.split(": ")[1] for line in shown.splitlines() if line.startswith("connection ")],
                             ["WARP" if one == "warp" else "plain TCP" for one in connections.split(",")])
            self.assertEqual(digest(back.read_bytes()), digest(self.disk.read_bytes()))
        self.assertIn("login refused", self.initiator("read", "--file", back, "--connections", "warp,plain,warp", wanted=1))

    def test_without_the_targets_consent_it_falls_back(self):
        self.target("--no-warp")
        back = self.folder / "back"
        shown = self.initiator("read", "--file", back, "--blocks", 3)
        self.assertIn("no WARP", shown)
        self.assertIn("connection 1: plain TCP", shown)
        self.assertEqual(back.stat().st_size, 3 * 512)
        self.initiator("read", "--file", back, "--connections", "warp", wanted=1)

    def test_with_the_targets_consent_it_does_not(self):
        self.target()
        self.assertIn("connection 1: WARP", self.initiator("read", "--file", self.folder / "back", "--blocks", 3))

    def test_a_wrong_tag_ends_the_connection_and_moves_nothing(self):
        target = self.target()
        back, part = self.folder / "back", self.folder / "part"
        part.write_bytes(pattern(512 * 8, 4))
        self.initiator("read", "--file", back, "--connections", "warp", "--wrong-tag", wanted=1)
        self.assertFalse(back.exists())
        self.initiator("write", "--file", part, "--connections", "warp", "--wrong-tag", "--immediate", 0, wanted=1)
        self.assertEqual(self.disk.read_bytes(), bytes(DISK_OCTETS))
        self.initiator("write", "--file", part, "--connections", "warp")  # the target goes on
        self.assertEqual(self.disk.read_bytes()[:4096], part.read_bytes())
        end = time.monotonic() + programs.PATIENCE_S  # it says so behind its own rdma_disconnect()
        while target.text().count("a connection over WARP: ") < 2 and time.monotonic() < end:
            time.sleep(0.02)
        self.assertGreaterEqual(target.text().count("a connection over WARP: "), 2, target.text())

    def test_beyond_the_disk(self):
        self.target()
        self.assertIn("status 2", self.initiator("read", "--file", self.folder / "back", "--connections", "warp", "--block", 32760,
                                                 "--blocks", 9, wanted=1))
        (self.folder / "part").write_bytes(bytes(1024))
        self.assertIn("status 2", self.initiator("write", "--file", self.folder / "part", "--connections", "warp", "--block", 32767,
                                                 wanted=1))

    def test_wrong_words(self):
        for words in ((), ("sing",), ("read",), ("read", "--file", "f", "--block", "x"), ("target", "--file"), ("read", "--what")):
            run = programs.Run(PROGRAM, *words)
            self.assertEqual(run.wait(), 2, f"{words}: {run.text()}")
            run.file.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
