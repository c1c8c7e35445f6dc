#!/usr/bin/env python3
"""Installed by their command, the plugins are loaded without being named, and their profiles have columns and colours that work.

usage: install_test.py FCVI_PLUGIN VITCP_PLUGIN CMAKE FOLDER_OF_SOURCES
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import capture_file
import vitcp_capture
from conversation import UNRELIABLE, Conversation
from tshark import skip_without_tshark
from vitcp_talk import RECEPTION, Talk

PLUGIN, VITCP_PLUGIN, CMAKE, SOURCES = "", "", "", ""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(prefix="fcvi-wireshark-")
        cls.addClassCleanup(cls.home.cleanup)
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(("XDG_", "WIRESHARK_"))} | {"HOME": cls.home.name, "LC_ALL": "C.UTF-8"}
        for plugin, profile, name in ((PLUGIN, "profile", "FC-VI"), (VITCP_PLUGIN, "vitcp/profile", "VI-TCP")):
            subprocess.run([CMAKE, f"-DPLUGIN={plugin}", f"-DPROFILE={SOURCES}/{profile}", f"-DNAME={name}", "-P",
                            f"{SOURCES}/install.cmake"], check=True, env=cls.environment, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        talk = Conversation(UNRELIABLE).connect().message("m", 3000).message("n", 10).drop("m.1").disconnect()
        cls.names = list(talk.frames)
        cls.capture = capture_file.write(Path(cls.home.name) / "c.pcapng", talk.list())
        talk = Talk(RECEPTION).connect().message("m", 3000).message("n", 10).read("r", 10).nop("nop", error=0x80)
        packets = vitcp_capture.packets_of(talk)
        cls.tcp_names = [packet.names[0] if packet.names else "" for packet in packets]
        cls.tcp_capture = vitcp_capture.write(Path(cls.home.name) / "t.pcapng", packets)

    def tshark(self, *arguments, capture=None) -> list:
        done = subprocess.run(["tshark", "-r", capture or self.capture, *arguments], capture_output=True, text=True, check=True,
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

    def test_vitcp_profile_has_columns(self):
        lines = self.tshark("-C", "VI-TCP", "-T", "tabs", capture=self.tcp_capture)
        columns = [column.strip() for column in lines[self.tcp_names.index("n.0")].split("\t")]
        self.assertEqual(columns[5:7] + columns[-1:], ["VI/TCP", "1", "Send 00000102h, 10 B"])

    def test_vitcp_profile_has_colours(self):
        rules = self.tshark("-C", "VI-TCP", "--color", "-T", "fields", "-e", "frame.coloring_rule.name", capture=self.tcp_capture)
        named = dict(zip(self.tcp_names, rules))
        wanted = {"rqst": "set-up", "m.0": "data", "n.ack": "ACK", "r": "RDMA Read", "nop": "violation"}
        self.assertEqual({name: named[name] for name in wanted}, {name: "VI/TCP " + rule for name, rule in wanted.items()})


if __name__ == "__main__":
    PLUGIN, VITCP_PLUGIN, CMAKE, SOURCES = sys.argv[1:5]
    del sys.argv[1:5]
    skip_without_tshark()
    unittest.main()
