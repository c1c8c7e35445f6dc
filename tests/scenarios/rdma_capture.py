#!/usr/bin/env python3
"""Captures of simulated streams of RDMA, as tshark's MPA, DDP and RDMAP dissectors read them, over IFT with our plugin in front of the
latter two: well formed, each CRC right, as many FPDUs as the simulation counts.

usage: rdma_capture.py FCVI_SIM IFT_PLUGIN SCENARIOS [unittest's options]        exit status 77: skipped, the reason is printed
"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FCVI_SIM, PLUGIN, SCENARIOS = "", "", Path()
WRONG = "_ws.malformed || iwarp_mpa.bad_length || iwarp_ddp.rsvd != 0"
STARTUP = ("MPA Request Frame", "MPA Reply Frame", "Adaption Indication")


class Captures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rdma-capture-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def simulate(self, scenario, *options):
        """How many segments there were but for those of start-ups; the capture lies in the folder."""
        results = self.folder / "results.json"
        words = [FCVI_SIM, "run", SCENARIOS / scenario, "--capture", self.folder / "c.pcapng", "--json", results, *options]
        run = subprocess.run(words, capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        counts = json.loads(results.read_text().splitlines()[0])["ius"]
        return sum(count for name, count in counts.items() if name not in STARTUP)

    def read(self, *options):
        # The octets of a Send are its program's; tshark takes some for RPC. Ports of ours may be others' elsewhere.
        words = ["tshark", "-o", "tcp.try_heuristic_first:TRUE", "-X", f"lua_script:{PLUGIN}", "--disable-protocol", "rpcordma", "-r",
                 self.folder / "c.pcapng", *options]
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout

    def assert_well_formed(self):
        self.assertEqual(self.read("-Y", WRONG), "")
        self.assertNotIn("Bad CRC32", self.read("-V"))

    def count(self, field):
        return len(self.read("-T", "fields", "-e", field).replace(",", "\n").split())

    def test_mpa(self):
        for markers in ("none", "both"):
            with self.subTest(markers):
                fpdus = self.simulate("first_stream.yaml", "--set", f"workloads.0.rdma.markers={markers}")
                self.assert_well_formed()
                self.assertEqual(self.count("iwarp_mpa.ulpdulength"), fpdus)
                self.assertGreater(fpdus, 10)

    def test_ift(self):
        frames = self.simulate("over_ift.yaml", "--only", "crc=both")
        self.assert_well_formed()
        self.assertNotIn("wrong", self.read("-T", "fields", "-e", "ift.crc.status"))
        self.assertEqual(self.count("ift.header_size"), frames)
        self.assertGreater(frames, 10)

    def test_the_wrong_crc_is_seen(self):
        """What these tests look for, tshark finds where it is."""
        self.simulate("wrong_crc.yaml", "--only", "framing=mpa")
        self.assertEqual(self.read("-V").count("Bad CRC32"), 1)
        self.assertIn("Terminate", self.read())

    def test_same_seed_same_bytes(self):
        captures = []
        for _ in range(2):
            self.simulate("first_stream.yaml")
            captures.append((self.folder / "c.pcapng").read_bytes())
        self.assertEqual(*captures)


if __name__ == "__main__":
    FCVI_SIM, PLUGIN, SCENARIOS = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if shutil.which("tshark") is None:
        print("skipped: tshark is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
