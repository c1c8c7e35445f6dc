#!/usr/bin/env python3
"""fcvi-sim replay of the live fabric: what fcvi-fabricd captured of two programs is no different from either side.

usage: live_test.py FCVI_SIM FCVI_FABRICD VIPING [unittest arguments]
"""

import json
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from local_fabric import LocalFabricTest  # noqa: E402

FCVI_SIM, FABRICD, VIPING = sys.argv[1:4]
del sys.argv[1:4]


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
        self.start("first", VIPING, "-t", 60, "--listen")
        self.ping("first", 64)
        path = Path(self.folder.name, "live.pcapng")
        capture = self.start("operator", FABRICD, "capture", "-w", path, *options)
        self.wait_for(lambda: self.service()["captures"] > 0, "the capture begins")
        self.start("bob", VIPING, "-t", 60, "--listen")
        self.ping("bob", 1500)
        capture.send_signal(signal.SIGINT)
        status, _, err = self.finish(capture)
        self.assertEqual(status, 0, err)
        return path

    def check(self, path):
        for node in ("alice", "bob"):
            with self.subTest(node=node):
                result = subprocess.run([FCVI_SIM, "replay", str(path), "--as", node], capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
                sent = re.search(r"no difference: ([0-9,]+) frames", result.stdout)
                self.assertGreater(int(sent[1]), 24)  # login, registration, names, set-up, ten messages, disconnect

    def test_each_frame_once(self):
        self.check(self.captured())

    def test_both_ends(self):
        self.check(self.captured("--both-ends"))


if __name__ == "__main__":
    unittest.main()
