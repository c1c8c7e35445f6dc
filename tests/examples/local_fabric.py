"""A local fabric of its own for a test, and programs that run on it."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

PATIENT_NIC = Path(__file__).parents[1] / "support" / "patient_nic.yaml"
ENOUGH_S = 120  # to end a test that hangs; nothing is expected to take so long


class LocalFabric(unittest.TestCase):
    folder_of_programs = Path()

    def setUp(self):
        # In /tmp, since the name of a socket has at most 107 bytes.
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi", dir="/tmp")
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o700)
        self.addCleanup(self.stop_fabric)

    def environment(self, node):
        own = {"FCVI_RUNTIME_DIR": self.folder.name, "FCVI_NODE": node, "FCVI_CONFIG": str(PATIENT_NIC), "HOME": self.folder.name}
        inherited = {name: value for name, value in os.environ.items() if name not in ("FCVI_CONFIG", "XDG_CONFIG_HOME")}
        return {**inherited, **own}

    def stop_fabric(self):
        fabricd = os.environ.get("FCVI_FABRICD", "fcvi-fabricd")
        subprocess.run([fabricd, "stop"], env=self.environment("test"), capture_output=True, check=False, timeout=ENOUGH_S)

    def start(self, program, *words, node="server"):
        """Ends with the test at the latest."""
        process = subprocess.Popen([str(self.folder_of_programs / program), *map(str, words)], env=self.environment(node),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def good(self, process):
        """Its output, after it ended well."""
        output, errors = process.communicate(timeout=ENOUGH_S)
        self.assertEqual((process.returncode, errors), (0, ""), process.args)
        return output
