#!/usr/bin/env python3
"""Installed by its command, the plugin is loaded without being named, and its profile has columns and colours that work.

usage: install_test.py PLUGIN CMAKE FOLDER_OF_SOURCES
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import capture_file
from conversation import UNRELIABLE, Conversation
from tshark import skip_without_tshark

PLUGIN, CMAKE, SOURCES = "", "", ""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(prefix="fcvi-wireshark-")
        cls.addClassCleanup(cls.home.cleanup)
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(("XDG_", "WIRESHARK_"))} | {"HOME": cls.home.name, "LC_ALL": "C.UTF-8"}
        subprocess.run([CMAKE, f"-DPLUGIN={PLUGIN}", f"-DPROFILE={SOURCES}/profile", "-P", f"{SOURCES}/install.cmake"], check=True,
                       env=cls.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        talk = Conversation(UNRELIABLE).connect().message("m", 3000).message("n", 10).drop("m.1").disconnect()
        cls.names = list(talk.frames)
        cls.capture = capture_file.write(Path(cls.home.name) / "c.pcapng", talk.list())

    def tshark(self, *arguments) -> list:
        done = subprocess.run(["tshark", "-r", self.capture, *arguments], capture_output=True, text=True, check=True,
                              env=self.environment)
        return done.stdout.splitlines()

    def test_it_is_loaded(self):
        self.assertIn("FC-VI 104 FCVI_SEND_RQST msg 2", "\n".join(self.tshark()))

    def test_profile_has_columns(self):
        lines = self.tshark("-C", "FC-VI", "-T", "tabs")
        columns = lines[self.names.index("n.0")].split("\t")
        self.assertEqual([column.strip() for column in columns[5:9] + columns[-1:]], ["FC-VI", "1", "2", "0x1003", "FCVI_SEND_RQST msg 2"])

    def test_profile_has_colours(self):
        rules = self.tshark("-C", "FC-VI", "--color", "-T", "fields", "-e", "frame.coloring_rule.name")
        named = dict(zip(self.names, rules))
        self.assertEqual(named["rqst"], "FC-VI set-up")
        self.assertEqual(named["m.0"], "FC-VI data")
        self.assertEqual(named["m.2"], "FC-VI violation")
        self.assertEqual(named["discon.resp"], "FC-VI Disconnect")


if __name__ == "__main__":
    PLUGIN, CMAKE, SOURCES = sys.argv[1:4]
    del sys.argv[1:4]
    skip_without_tshark()
    unittest.main()
