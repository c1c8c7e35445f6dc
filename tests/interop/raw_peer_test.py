#!/usr/bin/env python3
"""A station on a raw socket at fcvi-fabricd --fcoe, that does before its FLOGI what Linux and iPXE do: a VLAN request, a solicitation to
all FCFs, a keep-alive, then FLOGI inside FIP. Between two network namespaces.

usage: raw_peer_test.py FABRICD VIPING      exit status 77: skipped, the reason is printed
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import fabric
import hosts
from station import CLEAR, FCOE, FIP, FP, LS_ACC, LS_RJT, NOTIFICATION, PACKET_AUXDATA, REPLY, SOL_PACKET, SP, Station

FABRICD, VIPING = sys.argv[1:3]
SKIPPED = 77
ETH_P_ALL = 0x0003
CLONE_NEWNET = 0x40000000


def socket_within(namespace, interface):
    """A packet socket on an interface of another network namespace; this thread stays in its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", "rb") as own, open(f"/run/netns/{namespace}", "rb") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET) != 0:
            raise hosts.Unavailable(f"setns: {os.strerror(ctypes.get_errno())}")
        try:
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            made.bind((interface, ETH_P_ALL))
        finally:
            libc.setns(own.fileno(), CLONE_NEWNET)
    made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    return made


class RawPeer(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-interop-")
        self.addCleanup(self.folder.cleanup)
        self.world = hosts.Namespaces()
        self.addCleanup(self.world.remove)
        self.station = Station(socket_within(self.world.names["left"], "uplink"))
        self.addCleanup(self.station.socket.close)

    def start(self, *options):
        service = fabric.Fabric(FABRICD, str(Path(self.folder.name, "run")), "--fcoe", "left", "--fcoe", "right", *options,
                                prefix=self.world.prefix("switch"))
        self.addCleanup(service.end)
        service.start()
        return service

    def set_link(self, state):
        hosts.run(*self.world.prefix("left"), "ip", "link", "set", "uplink", state)

    def nothing_was_cleared_or_told(self):
        self.station.hear(2.5)  # longer than the period of keep-alives
        self.assertEqual(self.station.count(CLEAR), 0)
        self.assertEqual(self.station.count(NOTIFICATION), 0)

    def test_as_linux_does(self):
        self.start()
        begin = time.monotonic()
        fcf = self.station.solicit()
        self.assertIsNotNone(fcf)
        self.station.keep_alive(fcf)
        command, n_port_id = self.station.log_in(fcf)
        print(f"logged in after {time.monotonic() - begin:.3f} s", file=sys.stderr)
        self.assertEqual((command, n_port_id >> 16), (LS_ACC, 1))
        self.assertEqual(self.station.count(REPLY), 1)  # nothing had to be asked again
        self.station.keep_alive(fcf)
        self.nothing_was_cleared_or_told()

    def test_as_ipxe_does(self):
        self.start()
        self.station.request_vlans()
        fcf = self.station.solicit(FP | SP)
        self.assertIsNotNone(fcf)
        self.station.keep_alive(fcf)
        command, _ = self.station.log_in(fcf, FP | SP, self.station.mac)
        self.assertEqual(command, LS_ACC)
        self.assertEqual(self.station.count(REPLY), 1)  # nothing had to be asked again
        self.station.keep_alive(fcf)
        self.nothing_was_cleared_or_told()

    # Longer than the FCF waits for keep-alives: the login is over when the link is back.
    def test_after_the_link_flapped(self):
        service = self.start("--fka-period", "500")
        fcf = self.station.solicit()
        self.assertEqual(self.station.log_in(fcf)[0], LS_ACC)
        self.set_link("down")
        fabric.wait_for(lambda: not service.vn_ports(), "the login is over")
        self.set_link("up")
        begin = time.monotonic()
        while (fcf := self.station.solicit()) is None:
            self.assertLess(time.monotonic() - begin, fabric.PATIENCE_S)
        self.station.heard.clear()
        self.station.keep_alive(fcf)
        self.assertEqual(self.station.log_in(fcf)[0], LS_ACC)
        ended = threading.Event()
        def stay_alive():  # status may take longer than the 1.25 s of silence that end the login
            while not ended.wait(0.1):
                self.station.keep_alive(fcf)
        alive = threading.Thread(target=stay_alive)
        alive.start()
        try:
            self.station.hear(0.8)
            self.assertEqual(len(service.vn_ports()), 1)
        finally:
            ended.set()
            alive.join()
        self.assertEqual(self.station.count(CLEAR), 0)

    def test_plogi_to_an_absent_service_is_rejected(self):
        self.start()
        fcf = self.station.solicit()
        _, own = self.station.log_in(fcf)
        self.station.fcoe(fcf, own, self.station.header(0xFFFFFA, own) + self.station.login(3))
        answer = self.station.hear(2, lambda received: received.ether_type == FCOE and received.frame[28] == 0x23)
        self.assertIsNotNone(answer)
        self.assertEqual(answer.frame[33:36], b"\xff\xff\xfa")
        self.assertEqual((answer.frame[52], answer.frame[57]), (LS_RJT, 0x0B))

    # A FLOGI that wants no address of the fabric is told that it gets none.
    def test_flogi_for_own_addresses_only_is_rejected(self):
        service = self.start()
        self.assertEqual(self.station.log_in(self.station.solicit(), SP, self.station.mac)[0], LS_RJT)
        self.assertEqual(service.vn_ports(), [])

    def test_vlan_is_told_and_served(self):
        service = self.start("--vlan", "100")
        self.station.request_vlans()
        told = self.station.hear(2, lambda received: received.fip == NOTIFICATION)
        self.assertIsNotNone(told)
        self.assertEqual([content for kind, content in told.descriptors() if kind == 14], [b"\0\x64"])
        self.assertEqual(told.vlan, 0)  # where it was asked
        self.assertIsNone(self.station.log_in(told.source, seconds=0.5))  # FCoE is not served there
        self.station.vlan = 100
        fcf = self.station.solicit()
        self.assertEqual(fcf, told.source)
        self.station.keep_alive(fcf)
        self.assertEqual(self.station.log_in(fcf)[0], LS_ACC)
        self.station.hear(2.5)
        self.assertEqual(self.station.count(CLEAR), 0)
        self.assertEqual({received.vlan for received in self.station.heard if received.fip != NOTIFICATION}, {100})
        self.assertEqual(service.status()["fcoe"]["vlan"], 100)

    # 802.1Q: FIP and FCoE go with the priority that switches have for FCoE, or with the one that was said (ruling 240).
    def test_tags_have_the_priority(self):
        self.station.vlan = 100
        for options, priority in (((), 3), (("--ethernet-priority", "5"), 5)):
            service = self.start("--vlan", "100", *options)
            self.station.drain()  # the end of another one
            fcf = self.station.solicit()
            _, own = self.station.log_in(fcf)
            self.station.fcoe(fcf, own, self.station.header(0xFFFFFA, own) + self.station.login(3))
            self.assertIsNotNone(self.station.hear(fabric.PATIENCE_S, lambda received: received.ether_type == FCOE))
            self.assertEqual({(received.ether_type, received.priority) for received in self.station.heard}, {(FIP, priority), (FCOE, priority)})
            self.assertEqual(service.status()["fcoe"]["interfaces"][0]["priority"], priority)
            self.assertEqual(service.stop(), 0)

    # Our programs: one is told by the FCF, the other by its configuration. No VLAN interface is there.
    def test_programs_follow_the_vlan(self):
        service = self.start("--vlan", "100")
        programs = {}
        for host, more in (("left", ""), ("right", "  vlan: 100\n")):
            nic = Path(self.folder.name, f"{host}.yaml")
            nic.write_text(f"nics:\n- name: VINIC\n  transport: fcoe\n  interface: uplink\n{more}"
                           "  timeouts: {open: 60s, name_service: 60s, name_appears: 60s}\n")
            programs[host] = {**os.environ, "FCVI_RUNTIME_DIR": str(Path(self.folder.name, "run")), "FCVI_NODE": host,
                              "FCVI_CONFIG": str(nic), "FCVI_FABRICD": FABRICD}
        listener = subprocess.Popen([*self.world.prefix("left"), VIPING, "--listen"], env=programs["left"], stdout=subprocess.DEVNULL)
        self.addCleanup(listener.wait)
        self.addCleanup(listener.kill)
        fabric.wait_for(lambda: service.vn_ports(), "the first is logged in")
        pinged = subprocess.run([*self.world.prefix("right"), VIPING, "-q", "-c", "10", "-s", "60000", "left"], env=programs["right"],
                                capture_output=True, text=True, timeout=fabric.PATIENCE_S)
        self.assertEqual(pinged.returncode, 0, pinged.stderr)
        self.station.hear(1)
        seen = {received.vlan for received in self.station.heard if received.ether_type == FCOE}
        self.assertEqual(seen, {100})
        listener.send_signal(signal.SIGTERM)
        self.assertEqual(listener.wait(fabric.PATIENCE_S), 0)


if __name__ == "__main__":
    try:
        hosts.Namespaces().remove()
    except hosts.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    del sys.argv[1:3]
    unittest.main(verbosity=2)
