#!/usr/bin/env python3
"""FC-VI file transfers over FCoE: VN2VN between two hosts, through fcvi-fabricd as the FCF, and between a process on its local
fabric and a host on Ethernet; at all reliability levels. Then the FCF is killed amid transfers.

usage: hosts_test.py namespaces|cables FABRICD VICP      exit status 77: skipped, the reason is printed
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import fabric
import hosts

KIND, FABRICD, VICP = sys.argv[1:4]
SKIPPED = 77
LEVELS = ("unreliable", "delivery", "reception")
SIZE = 3_000_001
FC_VI = "fc.type == 0x58"


class Hosts(unittest.TestCase):
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
        prefix, configuration = where
        environment = {**os.environ, "FCVI_RUNTIME_DIR": str(self.path("run")), "FCVI_NODE": host, "FCVI_FABRICD": FABRICD,
                       "FCVI_CONFIG": str(configuration)}
        child = subprocess.Popen([*prefix, VICP, *map(str, words)], env=environment, stdin=subprocess.DEVNULL,
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

    def copy_at_all_levels(self, left, right):
        for level in LEVELS:
            self.copy(left, right, "-l", level)
        for mode in ("write", "read"):
            self.copy(left, right, "-l", "reception", "-m", mode)

    # --- captures

    def watch(self, host, interface):
        """tcpdump, where the kernel sees the frames."""
        if not self.world.captures_wire:
            return None
        file = self.path("wire.pcap")
        tcpdump = subprocess.Popen([*self.world.prefix(host), "tcpdump", "-i", interface, "-w", file, "-B", "16384", "-Z", "root",
                                    "ether proto 0x8906 or ether proto 0x8914"], stderr=subprocess.PIPE, text=True)
        self.children.append(tcpdump)
        while "listening on" not in (line := tcpdump.stderr.readline()):
            self.assertNotEqual(line, "", "tcpdump ended")
        return file, tcpdump

    def judge(self, watched):
        if watched is None:
            return
        file, tcpdump = watched
        time.sleep(0.5)  # what it holds back
        tcpdump.send_signal(signal.SIGINT)
        self.finish(tcpdump)
        self.judge_file(file)

    def judge_file(self, file):
        self.assertEqual(fabric.faults_of(file), "")
        self.assertGreater(len(fabric.frames_of(file, FC_VI)), 5 * SIZE // 2112)

    # --- transfers

    def test_vn2vn(self):
        left, right = self.ethernet("left", "vn2vn"), self.ethernet("right", "vn2vn")
        watched = self.watch("left", self.world.pair["left"])
        self.copy_at_all_levels(left, right)
        self.judge(watched)

    def test_through_the_fcf(self):
        service = self.start_fabric()
        left, right = self.ethernet("left", "fabric"), self.ethernet("right", "fabric")
        watched = self.watch("left", self.world.to_switch["left"])
        service.capture(str(self.path("fabric.pcapng")))
        self.copy_at_all_levels(left, right)
        fabric.wait_for(lambda: not service.vn_ports(), "both processes logged out at their ends")
        self.assertEqual(service.end_capture(), 0)
        self.judge(watched)
        self.judge_file(self.path("fabric.pcapng"))
        self.assertEqual(service.stop(), 0)

    def test_between_the_local_fabric_and_ethernet(self):
        service = self.start_fabric()
        for left, right in (("local", "ethernet"), ("ethernet", "local")):
            host = "right" if left == "local" else "left"
            watched = self.watch(host, self.world.to_switch[host])
            capture = f"{left}.pcapng"
            service.capture(str(self.path(capture)))
            self.copy_at_all_levels(self.place(left, "left"), self.place(right, "right"))
            fabric.wait_for(lambda: not service.vn_ports(), "the process on Ethernet logged out at its end")
            self.assertEqual(service.end_capture(), 0)
            self.judge(watched)
            self.judge_file(self.path(capture))
        self.assertEqual(service.stop(), 0)

    # --- the FCF dies

    def begin_endless_transfer(self, left, right):
        with open(self.source, "wb") as file:
            file.truncate(64 << 30)  # sparse, and more than is copied until then
        receiver = self.vicp("right", right, "--listen", self.target)
        sender = self.vicp("left", left, self.source, "right:")
        fabric.wait_for(lambda: any(re.match(r"out\.vicp-", name) and self.path(name).stat().st_size > 1 << 20
                                    for name in os.listdir(self.folder.name)), "the transfer is under way")
        return sender, receiver

    def lose_the_fcf(self, left, right):
        service = self.start_fabric()
        children = self.begin_endless_transfer(left, right)
        service.kill()
        start = time.monotonic()
        for child in children:
            status, _, err = self.finish(child)
            self.assertEqual(status, 1, err)
            self.assertNotEqual(err, "")
        print(f"both ends were told after {time.monotonic() - start:.1f} s", file=sys.stderr)
        self.assertFalse(self.target.exists())
        self.source.write_bytes(random.Random(1).randbytes(SIZE))
        service.start()
        self.copy(left, right)
        self.assertEqual(service.stop(), 0)

    def test_the_fcf_is_killed_amid_a_transfer(self):
        self.lose_the_fcf(self.ethernet("left", "fabric"), self.ethernet("right", "fabric"))

    def test_the_fcf_is_killed_amid_a_transfer_from_the_local_fabric(self):
        self.lose_the_fcf(self.local("left"), self.ethernet("right", "fabric"))

    # --- what cannot be

    def test_open_says_why(self):
        for lines, reason in (('transport: fcoe\n  interface: nosuch0', "VINIC: nosuch0: interface: No such device"),
                              ('transport: fcoe\n  interface: lo', "VINIC: lo: is no Ethernet interface")):
            if KIND == "cables" and os.geteuid() != 0:
                continue  # packet sockets are refused before that
            status, _, err = self.finish(self.vicp("left", ((), self.nic("left", lines)), self.source, "right:"))
            self.assertEqual(status, 1)
            self.assertIn(reason, err)
        path = self.nic("left", f'transport: fcoe\n  interface: "{hosts.Cables().pair["left"]}"')
        path.write_text(path.read_text().replace("open: 60s", "open: 2s"))
        status, _, err = self.finish(self.vicp("left", ((), path), self.source, "right:"))
        self.assertEqual(status, 1)
        self.assertIn("no FCF shows itself", err)


if __name__ == "__main__":
    reason = fabric.missing_for_captures()
    try:
        hosts.Namespaces().remove() if KIND == "namespaces" else None
    except hosts.Unavailable as unavailable:
        reason = unavailable
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    del sys.argv[1:4]
    unittest.main(verbosity=2)
