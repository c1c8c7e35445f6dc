"""A local fabric of its own for a test: a fresh runtime directory, and programs started under node names."""

import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PATIENT_NIC = Path(__file__).parents[1] / "support" / "patient_nic.yaml"


class LocalFabricTest(unittest.TestCase):
    """Each case has its own fcvi-fabricd, which the programs start themselves."""

    TIMEOUT = 120

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-test-")
        self.addCleanup(self.folder.cleanup)
        self.runtime = os.path.join(self.folder.name, "run")
        self.children = []
        self.addCleanup(self.end_children)

    def environment(self, node, **more):
        ours = {name: value for name, value in os.environ.items() if not name.startswith("FCVI_")}
        return {**ours, "FCVI_RUNTIME_DIR": self.runtime, "FCVI_NODE": node, "FCVI_CONFIG": str(PATIENT_NIC),
                "XDG_CONFIG_HOME": self.folder.name, "XDG_CONFIG_DIRS": self.folder.name, **more}

    def start(self, node, *words, **more):
        child = subprocess.Popen(list(map(str, words)), env=self.environment(node, **more), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def run_to_end(self, node, *words, **more):
        child = self.start(node, *words, **more)
        return self.finish(child)

    def finish(self, child):
        out, err = child.communicate(timeout=self.TIMEOUT)
        return child.returncode, out, err

    def end_children(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()

    def wait_for(self, condition, what):
        deadline = time.monotonic() + self.TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)
