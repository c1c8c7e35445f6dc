#!/usr/bin/env python3
"""Captures of scenarios over TCP, read by tshark with the plugin: Wireshark follows each stream from SYN to FIN, all VI segments are
decoded, and what no fault hit raises no expert item, neither of TCP nor of VI over TCP. Faults stand in the packets' comments.

usage: vitcp_scenarios_test.py FCVI_SIM PLUGIN FOLDER
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tshark import Tshark, skip_without_tshark, workspace

FCVI_SIM, PLUGIN, FOLDER = "", "", Path()
FIELDS = ["frame.number", "tcp.stream", "tcp.flags.syn", "tcp.flags.fin", "tcp.flags.reset", "vitcp.segment", "vitcp.violation",
          "frame.comment", "_ws.expert.message", "_ws.expert.severity", "_ws.malformed", "_ws.lua.error"]
CHAT = 0x200000  # what Wireshark says of each SYN and FIN
# Their windows are full, as they should be: Wireshark says so.
BACK_PRESSURE = ("slow_receiver", "octet_by_octet")
CHECKSUMS = ("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE")


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tshark, cls.place = Tshark(PLUGIN), workspace()
        cls.addClassCleanup(cls.place.cleanup)

    def captures(self, scenario: Path) -> list:
        """(label, capture, segments by name) of each run."""
        folder = Path(tempfile.mkdtemp(dir=self.place.name))
        results = folder / "results.jsonl"
        done = subprocess.run([FCVI_SIM, "run", str(scenario), "--capture", str(folder / "c.pcapng"), "--json", str(results)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        runs = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
        files = sorted(folder.glob("*.pcapng"))
        self.assertEqual(len(files), len(runs))
        return [(file, sum(run["ius"].values())) for file in files
                for run in runs if len(runs) == 1 or self.part_of(run["run"]) in file.name]

    @staticmethod
    def part_of(label: str) -> str:
        return label.replace(", ", ".").replace("=", "-").replace("#", "-")

    def judge(self, name: str, rows: list, segments: int) -> None:
        with_faults = any(row["frame.comment"] for row in rows)
        for row in rows:
            self.assertEqual(row["_ws.lua.error"], [], (name, row))
            if with_faults:
                continue
            items = [message for message, severity in zip(row["_ws.expert.message"], row["_ws.expert.severity"]) if int(severity) > CHAT]
            items = [item for item in items if not item.endswith("the connection closing")]  # of each FIN
            if name in BACK_PRESSURE:
                items = [item for item in items if "indow" not in item]
            self.assertEqual((items, row["vitcp.violation"], row["_ws.malformed"]), ([], [], []), (name, row))
        if with_faults:
            return
        self.assertEqual(sum(len(row["vitcp.segment"]) for row in rows), segments, name)
        for stream in {row["tcp.stream"][0] for row in rows}:
            own = [row for row in rows if row["tcp.stream"] == [stream]]
            self.assertEqual(sum(row["tcp.flags.syn"] == ["1"] for row in own), 2, name)
            self.assertEqual(sum(row["tcp.flags.fin"] == ["1"] for row in own), 2, name)
            self.assertEqual(sum(row["tcp.flags.reset"] == ["1"] for row in own), 0, name)

    def test_each_is_followed_and_clean(self):
        scenarios = sorted(FOLDER.glob("*.yaml"))
        self.assertGreater(len(scenarios), 5)
        clean = 0
        for scenario in scenarios:
            for capture, segments in self.captures(scenario):
                with self.subTest(capture=capture.name, scenario=scenario.stem):
                    rows = self.tshark.fields(capture, FIELDS, *CHECKSUMS)
                    self.judge(scenario.stem, rows, segments)
                    clean += not any(row["frame.comment"] for row in rows)
        self.assertGreater(clean, 10)

    def test_decode_names_the_same_segments(self):
        """fcvi-sim decode follows the streams as Wireshark does: the same segments, in the same packets."""
        for name in ("first_connection", "octet_by_octet"):
            for capture, segments in self.captures(FOLDER / f"{name}.yaml"):
                printed = subprocess.run([FCVI_SIM, "decode", "-v", str(capture)], capture_output=True, text=True, check=True).stdout
                said = [line for line in printed.splitlines() if line.startswith("Frame ")]
                rows = self.tshark.fields(capture, FIELDS)
                self.assertEqual(len(said), len(rows))
                seen = [line.count("VITCP ") for line in said]
                self.assertEqual(sum(seen), segments, (name, capture.name))
                self.assertFalse([line for line in said if "malformed" in line])
                for line, row in zip(said, rows):
                    self.assertEqual(" SYN" in line, row["tcp.flags.syn"] == ["1"], line)
                    self.assertEqual(" FIN" in line, row["tcp.flags.fin"] == ["1"], line)

    def test_faults_are_comments(self):
        """Of what was reset the RST says so; of a wrong CRC the segment, where the plugin finds it, too."""
        for capture, _ in self.captures(FOLDER / "wrong_crc.yaml"):
            rows = self.tshark.fields(capture, FIELDS)
            marked = [row for row in rows if row["frame.comment"]]
            self.assertEqual({row["frame.comment"][0] for row in marked}, {"fault: wrong CRC"})
            self.assertTrue(any("crc" in name for row in marked for name in row["vitcp.violation"]), marked)


if __name__ == "__main__":
    FCVI_SIM, PLUGIN, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    skip_without_tshark()
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
