#!/usr/bin/env python3
"""A station on a raw socket at fcvi-fabricd --fcoe, that does before its FLOGI what Linux and iPXE do: a VLAN request, a solicitation to
all FCFs, a keep-alive, then FLOGI inside FIP. Between two network namespaces.

usage: raw_peer_test.py FABRICD VIPING      exit status 77: skipped, the reason is printed
"""

import ctypes
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path

import fabric
import hosts

FABRICD, VIPING = sys.argv[1:3]
SKIPPED = 77
ETH_P_ALL, ETH_P_8021Q, FCOE, FIP = 0x0003, 0x8100, 0x8906, 0x8914
SOL_PACKET, PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 263, 8, 0x10
FP, SP = 0x8000, 0x4000
DISCOVERY, LINK_SERVICE, CONTROL, VLAN = 1, 2, 3, 4
ADVERTISEMENT, REPLY, CLEAR, NOTIFICATION = (DISCOVERY, 2), (LINK_SERVICE, 2), (CONTROL, 2), (VLAN, 2)
ALL_FCF = bytes.fromhex("011018010002")
LS_RJT, LS_ACC = 1, 2
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


class Received:
    """A frame, its tag taken off."""

    def __init__(self, frame, control):
        self.at = time.monotonic()
        self.frame = frame
        self.vlan = 0
        for level, kind, data in control:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, tci = struct.unpack_from("=I", data)[0], struct.unpack_from("=H", data, 16)[0]
                self.vlan = tci & 0xFFF if status & TP_STATUS_VLAN_VALID else 0
        self.source, self.ether_type = frame[6:12], struct.unpack_from("!H", frame, 12)[0]
        self.fip = struct.unpack_from("!HxB", frame, 16) if self.ether_type == FIP else None

    def descriptors(self):
        """Type and content of each."""
        at, end = 24, 24 + 4 * struct.unpack_from("!H", self.frame, 20)[0]
        while at < end:
            kind, words = self.frame[at], self.frame[at + 1]
            yield kind, self.frame[at + 2:at + 4 * words]
            at += 4 * words


class Station:
    """An ENode by hand."""

    mac = bytes.fromhex("02abcd000001")
    node_name, port_name = bytes.fromhex("100002abcd000001"), bytes.fromhex("200002abcd000001")

    def __init__(self, namespace, interface):
        self.socket = socket_within(namespace, interface)
        self.heard = []
        self.vlan = 0
        self.ox_id = 0

    def send(self, destination, ether_type, content, source=None, vlan=None):
        vlan = self.vlan if vlan is None else vlan
        tag = struct.pack("!HH", ETH_P_8021Q, vlan) if vlan else b""
        frame = destination + (source or self.mac) + tag + struct.pack("!H", ether_type) + content
        frame = frame.ljust(60, b"\0") if ether_type == FIP else frame
        try:
            self.socket.send(frame)
        except OSError:  # that the link was down meanwhile is told once
            self.socket.send(frame)

    def fip(self, destination, operation, subcode, flags, *descriptors, vlan=None):
        body = b"".join(descriptors)
        self.send(destination, FIP, struct.pack("!BxHxBHH", 0x10, operation, subcode, len(body) // 4, flags) + body, vlan=vlan)

    def hear(self, seconds, until=lambda received: False):
        """The first that `until` is true of; None: there was none. All are kept."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.socket], [], [], left)[0]:
                break
            try:
                frame, control, _, address = self.socket.recvmsg(4096, 256)
            except OSError:  # the interface is down
                time.sleep(0.01)
                continue
            if address[2] == socket.PACKET_OUTGOING or len(frame) < 24:
                continue
            received = Received(frame, control)
            if received.ether_type not in (FIP, FCOE):
                continue
            self.heard.append(received)
            if until(received):
                return received
        return None

    def count(self, kind):
        return sum(received.fip == kind for received in self.heard)

    # --- what it says

    def mac_descriptor(self, mac=None):
        return b"\x02\x02" + (self.mac if mac is None else mac)

    def request_vlans(self):
        self.fip(ALL_FCF, VLAN, 1, FP, self.mac_descriptor())

    def solicit(self, flags=FP):
        """The MAC address of the FCF that answers."""
        self.fip(ALL_FCF, DISCOVERY, 1, flags, self.mac_descriptor(), b"\x04\x03\0\0" + self.node_name, struct.pack("!BBH", 6, 1, 2158))
        solicited = self.hear(5, lambda received: received.fip == ADVERTISEMENT and received.frame[0:6] == self.mac)
        return solicited.source if solicited else None

    def keep_alive(self, fcf):
        self.fip(fcf, CONTROL, 1, FP, self.mac_descriptor())

    def header(self, d_id, s_id):
        self.ox_id += 1
        return struct.pack("!IIIIHHI", 0x22000000 | d_id, s_id, 0x01290000, 0, self.ox_id, 0xFFFF, 0)

    def login(self, command):
        """FLOGI or PLOGI: class 3 only, data fields of 2112 bytes."""
        class_3 = struct.pack("!HHHHHHHH", 0x8800, 0, 0, 2112, 0, 255, 1, 0)
        common = struct.pack("!HHHHHHI", 0x2020, 0, 0x8800 if command == 3 else 0, 2112, 255, 0x1F, 2000)
        return struct.pack("!I", command << 24) + common + self.port_name + self.node_name + bytes(32) + class_3 + bytes(32)

    def log_in(self, fcf, flags=FP, proposed=bytes(6), seconds=fabric.PATIENCE_S):
        """FLOGI inside FIP; the answer's first byte and the N_Port_ID that it grants, None: there was no answer."""
        frame = self.header(0xFFFFFE, 0) + self.login(4)
        self.fip(fcf, LINK_SERVICE, 1, flags, struct.pack("!BBxx", 7, 1 + len(frame) // 4) + frame, self.mac_descriptor(proposed))
        reply = self.hear(seconds, lambda received: received.fip == REPLY)
        if reply is None:
            return None
        content = dict(reply.descriptors())[7][2:]
        return content[24], int.from_bytes(content[1:4], "big")

    def fcoe(self, fcf, own, frame):
        crc = struct.pack("<I", zlib.crc32(frame))
        self.send(fcf, FCOE, bytes(13) + b"\x2e" + frame + crc + b"\x42\0\0\0", source=b"\x0e\xfc\x00" + own.to_bytes(3, "big"))


class RawPeer(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-interop-")
        self.addCleanup(self.folder.cleanup)
        self.world = hosts.Namespaces()
        self.addCleanup(self.world.remove)
        self.station = Station(self.world.names["left"], "uplink")
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
