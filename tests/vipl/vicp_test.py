#!/usr/bin/env python3
"""vicp copies faithfully in every mode and level, refuses wrong arguments, leaves nothing half-written.

usage: vicp_test.py VICP
"""

import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

VICP = sys.argv.pop(1)


class Vicp(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source, self.target = Path(self.folder.name, "in"), Path(self.folder.name, "out")

    def run_vicp(self, *words):
        return subprocess.run([VICP, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)

    def copy(self, size, *options):
        self.source.write_bytes(random.Random(size).randbytes(size))
        run = self.run_vicp(*options, self.source, self.target)
        self.assertEqual((run.returncode, run.stderr), (0, ""), options)
        self.assertTrue(self.target.read_bytes() == self.source.read_bytes(), options)

    def test_every_level_and_mode(self):
        for level in ("unreliable", "delivery", "reception"):
            for mode in ("send", "write", "read"):
                if (level, mode) != ("unreliable", "read"):
                    self.copy(3_000_001, "-l", level, "-m", mode)

    def test_sizes(self):
        for size in (0, 1, 65535, 65536, 65537, 8 * 65536):
            self.copy(size)

    def test_help(self):
        run = self.run_vicp("--help")
        self.assertEqual(run.returncode, 0)
        self.assertIn("usage: vicp", run.stdout)

    def test_wrong_arguments(self):
        self.source.write_bytes(b"x")
        for words in ([], [self.source], ["-l", "high", self.source, self.target], ["-m", "talk", self.source, self.target],
                      ["-z", self.source, self.target], ["-l", "unreliable", "-m", "read", self.source, self.target],
                      [self.target, self.target], [self.folder.name, self.target]):
            run = self.run_vicp(*words)
            self.assertEqual(run.returncode, 2, words)
            self.assertNotEqual(run.stderr, "", words)
            self.assertFalse(self.target.exists(), words)

    def test_target_that_cannot_be_written(self):
        self.source.write_bytes(b"x")
        run = self.run_vicp(self.source, Path(self.folder.name, "no", "out"))
        self.assertEqual(run.returncode, 1)
        self.assertEqual([entry.name for entry in Path(self.folder.name).iterdir()], ["in"])


if __name__ == "__main__":
    unittest.main()
