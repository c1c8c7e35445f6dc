#!/usr/bin/env python3
"""vicp between processes: faithful in every mode and level, refuses wrong arguments, leaves nothing half-written.

usage: vicp_test.py VICP
"""

import os
import random
import signal
import subprocess
import sys
import unittest
import zlib
from pathlib import Path

from local_fabric import LocalFabricTest

VICP = sys.argv.pop(1)
NOBODY_S = "5"


class Vicp(LocalFabricTest):
    def setUp(self):
        super().setUp()
        self.source, self.target = Path(self.folder.name, "in"), Path(self.folder.name, "out")

    def copy(self, size, *options, listen=(), to="right:"):
        self.source.write_bytes(random.Random(size).randbytes(size))
        self.target.unlink(missing_ok=True)
        receiver = self.start("right", VICP, *listen, "--listen", self.target)
        status, out, err = self.run_to_end("left", VICP, *options, self.source, to)
        self.assertEqual((status, err), (0, ""), (options, self.finish(receiver)))
        self.assertIn(f"{size} bytes copied, CRC-32 {zlib.crc32(self.source.read_bytes()):08x}", out)
        status, out, err = self.finish(receiver)
        self.assertEqual((status, err), (0, ""), options)
        self.assertIn(f"{size} bytes received", out)
        self.assertTrue(self.target.read_bytes() == self.source.read_bytes(), options)

    def files(self):
        return sorted(entry.name for entry in Path(self.folder.name).iterdir() if entry.name != "run")

    def test_every_level_and_mode(self):
        for level in ("unreliable", "delivery", "reception"):
            for mode in ("send", "write", "read"):
                if (level, mode) != ("unreliable", "read"):
                    self.copy(3_000_001, "-l", level, "-m", mode)

    def test_sizes(self):
        for size in (0, 1, 131071, 131072, 131073, 16 * 131072, 64 << 20):
            self.copy(size)

    def test_discriminator_and_level_of_the_receiver(self):
        self.copy(1000, "-l", "reception", listen=("-d", "backup", "-l", "reception"), to="right:backup")

    def test_the_sender_may_come_first_and_permissions_travel(self):
        self.source.write_bytes(b"#!/bin/sh\n")
        self.source.chmod(0o750)
        sender = self.start("left", VICP, self.source, "right:")
        status, _, err = self.run_to_end("right", VICP, "--listen", self.target)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.finish(sender)[0], 0)
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(self.target.stat().st_mode & 0o777, 0o750 & ~mask)

    def test_into_a_folder_under_the_name_of_the_source(self):
        self.source.write_bytes(b"x" * 5000)
        self.target.mkdir()
        receiver = self.start("right", VICP, "-q", "--listen", self.target)
        self.assertEqual(self.run_to_end("left", VICP, "-q", self.source, "right:"), (0, "", ""))
        self.assertEqual(self.finish(receiver), (0, "", ""))
        self.assertEqual(Path(self.target, "in").read_bytes(), b"x" * 5000)

    def test_names_reach_the_terminal_without_control_characters(self):
        name = "red\x1b[31m\u009b31m\n\u20ac"
        shown = r"red\x1B[31m\xC2\x9B31m\x0A" + "\u20ac"
        self.source = Path(self.folder.name, name)
        self.source.write_bytes(b"x" * 5000)
        self.target.mkdir()
        receiver = self.start("right", VICP, "--listen", self.target)
        status, out, err = self.run_to_end("left", VICP, self.source, "right:")
        self.assertEqual((status, err), (0, ""))
        self.assertIn(f"/{shown}: 5000 bytes copied", out)
        status, out, err = self.finish(receiver)
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith(f"{shown}: 5000 bytes received"), out)
        self.assertEqual(os.listdir(self.target), [name])

    def test_a_refusal_reaches_the_terminal_without_control_characters(self):
        self.source.write_bytes(b"x")
        receiver = self.start("right", VICP, "--listen", Path(self.folder.name, "no\x1b[31m", "out"))
        for status, _, err in (self.run_to_end("left", VICP, self.source, "right:"), self.finish(receiver)):
            self.assertEqual(status, 1)
            self.assertIn(r"no\x1B[31m/out", err)
            self.assertNotIn("\x1b", err)

    def test_a_killed_sender_leaves_nothing(self):
        with open(self.source, "wb") as file:
            file.truncate(4 << 30)  # sparse, and more than is copied until the kill
        receiver = self.start("right", VICP, "--listen", self.target)
        sender = self.start("left", VICP, self.source, "right:")
        self.wait_for(lambda: any(name.startswith("out.vicp-") for name in self.files()), "the copy begins")
        sender.send_signal(signal.SIGKILL)
        status, _, err = self.finish(receiver)
        self.assertEqual(status, 1)
        self.assertIn("left: ", err)
        self.assertEqual(self.files(), ["in"])

    def test_an_interrupted_receiver_leaves_nothing(self):
        with open(self.source, "wb") as file:
            file.truncate(4 << 30)
        receiver = self.start("right", VICP, "--listen", self.target)
        sender = self.start("left", VICP, self.source, "right:")
        self.wait_for(lambda: any(name.startswith("out.vicp-") for name in self.files()), "the copy begins")
        receiver.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(receiver)[0], -signal.SIGINT)
        status, _, err = self.finish(sender)
        self.assertEqual(status, 1)
        self.assertIn("right: ", err)
        self.assertEqual(self.files(), ["in"])

    def shorten_while_it_is_copied(self, *options):
        self.target.unlink(missing_ok=True)
        with open(self.source, "wb") as file:
            file.truncate(4 << 30)
        receiver = self.start("right", VICP, "--listen", self.target)
        sender = self.start("left", VICP, *options, self.source, "right:")
        self.wait_for(lambda: any(name.startswith("out.vicp-") for name in self.files()), "the copy begins")
        os.truncate(self.source, 1 << 20)
        status, _, err = self.finish(sender)
        self.assertEqual((status, self.finish(receiver)[0]), (1, 1), err)
        self.assertIn("became shorter", err)
        self.assertEqual(self.files(), ["in"])

    def test_a_source_that_becomes_shorter(self):
        for mode in ("send", "write", "read"):
            self.shorten_while_it_is_copied("-m", mode)

    def test_a_target_without_room_is_told_before_anything_is_copied(self):
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.folder.name], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if kind not in ("ext2/ext3", "xfs", "btrfs"):
            self.skipTest(f"{kind} reserves no room")
        room = os.statvfs(self.folder.name)
        with open(self.source, "wb") as file:
            file.truncate(room.f_frsize * room.f_blocks + (1 << 30))
        receiver = self.start("right", VICP, "--listen", self.target)
        status, _, err = self.run_to_end("left", VICP, self.source, "right:")
        self.assertEqual((status, self.finish(receiver)[0]), (1, 1), err)
        self.assertRegex(err, "No space left|File too large")
        self.assertEqual(self.files(), ["in"])

    def test_a_target_that_cannot_be_written_is_told_to_both(self):
        self.source.write_bytes(b"x")
        receiver = self.start("right", VICP, "--listen", Path(self.folder.name, "no", "out"))
        status, _, err = self.run_to_end("left", VICP, self.source, "right:")
        self.assertEqual((status, self.finish(receiver)[0]), (1, 1))
        self.assertIn("No such file", err)
        self.assertEqual(self.files(), ["in"])

    def test_nobody_there(self):
        self.source.write_bytes(b"x")
        status, _, err = self.run_to_end("left", VICP, "-t", NOBODY_S, self.source, "left:")
        self.assertEqual(status, 1)
        self.assertIn("nobody waits there", err)
        status, _, err = self.run_to_end("left", VICP, "-t", NOBODY_S, self.source, "no.such.host.invalid:")
        self.assertEqual(status, 1)
        self.assertIn("the name is not known", err)

    def test_help(self):
        status, out, _ = self.run_to_end("left", VICP, "--help")
        self.assertEqual(status, 0)
        self.assertIn("usage: vicp", out)

    def test_wrong_arguments(self):
        self.source.write_bytes(b"x")
        for words in ([], [self.source], [self.source, "host"], [self.source, ":x"], [self.source, "a:b:c"], ["--listen"],
                      ["--listen", "a", "b"], ["--resume", self.source, "host:"], ["-l", "high", self.source, "host:"],
                      ["-m", "talk", self.source, "host:"], ["-z", self.source, "host:"], ["-t", "soon", self.source, "host:"],
                      ["-l", "unreliable", "-m", "read", self.source, "host:"], [self.target, "host:"],
                      [self.folder.name, "host:"]):
            status, _, err = self.run_to_end("left", VICP, *words)
            self.assertEqual(status, 2, words)
            self.assertNotEqual(err, "", words)
            self.assertFalse(self.target.exists(), words)

    def test_resume_is_refused_with_the_reason(self):
        _, _, err = self.run_to_end("left", VICP, "--resume", self.source, "host:")
        self.assertIn("partial copy is never kept", err)


if __name__ == "__main__":
    unittest.main()
