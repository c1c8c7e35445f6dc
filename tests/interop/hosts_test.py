#!/usr/bin/env python3
"""FC-VI file transfers over FCoE: VN2VN between two hosts, through fcvi-fabricd as the FCF, and between a process on its local
fabric and a host on Ethernet; at all reliability levels. Then the FCF is killed amid transfers.

usage: hosts_test.py namespaces|cables FABRICD VICP VIPING      exit status 77: skipped, the reason is printed
"""

import os
import random
import signal
import subprocess
import sys
import time

import fabric
import hosts
import transfers
from transfers import KIND, SIZE

LEVELS = ("unreliable", "delivery", "reception")
FC_VI = "fc.type == 0x58"


class Hosts(transfers.Transfers):
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
            file.truncate(4 << 30)  # sparse, more than is copied until then, and the receiver reserves as much
        return self.begin_transfer(left, right)

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
    transfers.run_tests(fabric.missing_for_captures())
