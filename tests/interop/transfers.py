"""File transfers between two hosts, for tests: the hosts, the programs on them, and the fabric between.

The test's command line: namespaces|cables FABRICD VICP VIPING
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fabric
import hosts

KIND, FABRICD, VICP, VIPING = sys.argv[1:5]
SKIPPED = 77
SIZE = 3_000_001


class Transfers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-interop-")
        self.addCleanup(self.folder.cleanup)
        self.world = {"namespaces": hosts.Namespaces, "cables": hosts.Cables}[KIND]()
        self.addCleanup(self.world.remove)
        self.children = []
        self.service = None
        self.addCleanup(self.end_children)
        self.source, self.target = self.path("in"), self.path("out")
        self.source.write_bytes(random.Random(1).randbytes(SIZE))

    def path(self, name):
        return Path(self.folder.name, name)

    def end_children(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()

    def nic(self, host, transport):
        """A configuration file for programs of that host."""
        path = self.path(f"{host}.yaml")
        path.write_text(f"nics:\n- name: VINIC\n  {transport}\n"
                        "  timeouts: {open: 60s, farp: 1s, name_service: 60s, name_appears: 60s}\n")
        return path

    def ethernet(self, host, mode):
        interface = (self.world.pair if mode == "vn2vn" else self.world.to_switch)[host]
        return self.world.prefix(host), self.nic(host, f'transport: fcoe\n  mode: {mode}\n  interface: "{interface}"')

    def local(self, host):
        return (), self.nic(host, "transport: local")

    def place(self, kind, host):
        return self.local(host) if kind == "local" else self.ethernet(host, "fabric")

    def vicp(self, host, where, *words):
        return self.program(VICP, host, where, *words)

    def program(self, name, host, where, *words):
        prefix, configuration = where
        environment = {**os.environ, "FCVI_RUNTIME_DIR": str(self.path("run")), "FCVI_NODE": host, "FCVI_FABRICD": FABRICD,
                       "FCVI_CONFIG": str(configuration)}
        child = subprocess.Popen([*prefix, name, *map(str, words)], env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def finish(self, child):
        out, err = child.communicate(timeout=fabric.PATIENCE_S)
        return child.returncode, out, err

    def start_fabric(self):
        interfaces = [word for interface in self.world.of_switch for word in ("--fcoe", interface)]
        service = fabric.Fabric(FABRICD, str(self.path("run")), *interfaces, "--fka-period", "1000",
                                prefix=self.world.prefix("switch"))
        self.addCleanup(service.end)
        service.start()
        self.service = service
        return service

    def lost(self):
        """What the fabric tells of frames that it discarded, for messages."""
        status = self.service.status() if self.service else None
        if status is None:
            return ""
        return f"{status['discarded']} {[interface['discarded'] for interface in status['fcoe']['interfaces']]}"

    def send(self, left, *options):
        """Without a fabric nobody answers for a host that has not come up yet: one tries again."""
        def sent():
            sender = self.vicp("left", left, *options, self.source, "right:")
            status, _, err = self.finish(sender)
            not_there = self.service is None and status == 1 and "reach" in err
            return None if not_there else (status, err)
        return fabric.wait_for(sent, "the other host is there")

    def copy(self, left, right, *options):
        self.target.unlink(missing_ok=True)
        receiver = self.vicp("right", right, "--listen", self.target)
        sent = self.send(left, *options)
        self.assertEqual(sent, (0, ""), (options, self.lost()))
        status, _, err = self.finish(receiver)
        self.assertEqual((status, err), (0, ""), (options, self.lost()))
        self.assertTrue(self.target.read_bytes() == self.source.read_bytes(), options)

    def begin_transfer(self, left, right, *options):
        """And return when a part of the file is there."""
        receiver = self.vicp("right", right, "--listen", self.target)
        sender = self.vicp("left", left, *options, self.source, "right:")
        fabric.wait_for(lambda: self.stored() > 1 << 20, "the transfer is under way")
        return sender, receiver

    def stored(self):
        """Of a copy that is not complete."""
        parts = [self.path(name) for name in os.listdir(self.folder.name) if re.match(r"out\.vicp-", name)]
        return max((part.stat().st_size for part in parts), default=0)


def run_tests(reason=None):
    """`reason`: why they cannot be run here."""
    try:
        hosts.Namespaces().remove() if KIND == "namespaces" else None
    except hosts.Unavailable as unavailable:
        reason = unavailable
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    del sys.argv[1:5]
    unittest.main(verbosity=2)
