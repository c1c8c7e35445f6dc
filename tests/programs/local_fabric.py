"""A local fabric of its own for a test: a fresh runtime directory, and programs started under node names. With
FCVI_TEST_TRANSPORT=tcp the nodes are reached over TCP instead, each at an address of its own, by the same NIC name."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import tcp_hosts  # pylint: disable=wrong-import-position

PATIENT_NIC = SUPPORT / "patient_nic.yaml"
OVER_TCP = os.environ.get("FCVI_TEST_TRANSPORT") == "tcp"
NODES = ("left", "right", "alice", "bob", "one")  # all that tests name, but for numbers behind them
ports = itertools.count(tcp_hosts.PORT)  # the service of an earlier test may still have the last one


def option(name, default):
    """The number behind an option of a test's command line, which unittest is not to see; `default`: it is not there."""
    if name not in sys.argv:
        return default
    at = sys.argv.index(name)
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


class LocalFabricTest(unittest.TestCase):
    """Each case has its own fcvi-fabricd, which the programs start themselves."""

    TIMEOUT = 120
    TCP_TIMEOUTS = "{open: 60s}"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-test-")
        self.addCleanup(self.folder.cleanup)
        self.runtime = os.path.join(self.folder.name, "run")
        self.configurations = self.configure_tcp() if OVER_TCP else {}
        self.children = []
        self.addCleanup(self.end_children)

    def configure_tcp(self):
        folder = tempfile.TemporaryDirectory(prefix="fcvi-test-")
        self.addCleanup(folder.cleanup)
        hosts = tuple(zip(tcp_hosts.own_addresses(len(NODES)), NODES))
        port = next(ports)
        made = {}
        for address, node in hosts:
            nic = {"addresses": f"[{address}]", "port": port, "timeouts": self.TCP_TIMEOUTS}
            made[node] = tcp_hosts.write_configuration(folder.name, node, {"VINIC": nic}, hosts)
        return made

    def environment(self, node, **more):
        ours = {name: value for name, value in os.environ.items() if not name.startswith("FCVI_")}
        return {**ours, "FCVI_RUNTIME_DIR": self.runtime, "FCVI_NODE": node, "FCVI_CONFIG": self.configurations.get(node.rstrip("0123456789"), str(PATIENT_NIC)),
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
