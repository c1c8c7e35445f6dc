"""An ENode by hand, at an FCF: what it says before its FLOGI and after, and what it hears, with the tags."""

import select
import socket
import struct
import time
import zlib

import fabric

ETH_P_8021Q, FCOE, FIP = 0x8100, 0x8906, 0x8914
SOL_PACKET, PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 263, 8, 0x10
FP, SP, AVAILABLE = 0x8000, 0x4000, 0x0004
DISCOVERY, LINK_SERVICE, CONTROL, VLAN = 1, 2, 3, 4
SOLICITATION, ADVERTISEMENT, REPLY, CLEAR, NOTIFICATION = (DISCOVERY, 1), (DISCOVERY, 2), (LINK_SERVICE, 2), (CONTROL, 2), (VLAN, 2)
ALL_ENODE, ALL_FCF = bytes.fromhex("011018010001"), bytes.fromhex("011018010002")
LS_RJT, LS_ACC = 1, 2


class Received:
    """A frame, its tag taken off. `priority` is the tag's, None where there was none."""

    def __init__(self, frame, tci):
        self.at = time.monotonic()
        self.frame = frame
        self.vlan, self.priority = (0, None) if tci is None else (tci & 0xFFF, tci >> 13)
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
    """An ENode by hand, on a packet socket."""

    def __init__(self, made, number=1):
        self.socket = made
        self.become(number)
        self.heard = []
        self.vlan = 0
        self.ox_id = 0

    def become(self, number):
        self.mac = bytes.fromhex("02abcd") + number.to_bytes(3, "big")
        self.node_name, self.port_name = b"\x10\0" + self.mac, b"\x20\0" + self.mac

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

    def receive(self):
        """A frame and what the kernel took off as its tag, None: nothing; no frame for one's own."""
        frame, control, _, address = self.socket.recvmsg(4096, 256)
        if address[2] == socket.PACKET_OUTGOING:
            return b"", None
        for level, kind, data in control:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, tci = struct.unpack_from("=I", data)[0], struct.unpack_from("=H", data, 16)[0]
                return frame, tci if status & TP_STATUS_VLAN_VALID else None
        return frame, None

    def hear(self, seconds, until=lambda received: False):
        """The first that `until` is true of; None: there was none. All are kept."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.socket], [], [], left)[0]:
                break
            try:
                frame, tci = self.receive()
            except OSError:  # the interface is down
                time.sleep(0.01)
                continue
            if len(frame) < 24:
                continue
            received = Received(frame, tci)
            if received.ether_type not in (FIP, FCOE):
                continue
            self.heard.append(received)
            if until(received):
                return received
        return None

    def drain(self):
        """What came and was not heard is nobody's."""
        while select.select([self.socket], [], [], 0)[0]:
            self.socket.recv(10_000)
        self.heard.clear()

    def count(self, kind):
        return sum(received.fip == kind for received in self.heard)

    # --- what it says

    def mac_descriptor(self, mac=None):
        return b"\x02\x02" + (self.mac if mac is None else mac)

    def request_vlans(self):
        self.fip(ALL_FCF, VLAN, 1, FP, self.mac_descriptor())

    def ask_for_fcfs(self, flags=FP):
        self.fip(ALL_FCF, DISCOVERY, 1, flags, self.mac_descriptor(), b"\x04\x03\0\0" + self.node_name, struct.pack("!BBH", 6, 1, 2158))

    # As an FCF that nobody asked.
    def advertise(self):
        fabric_descriptor = b"\x05\x04\0\0" + b"\0\x0e\xfc\0" + self.node_name
        self.fip(ALL_ENODE, DISCOVERY, 2, FP | AVAILABLE, b"\x01\x01\0\x80", self.mac_descriptor(), b"\x04\x03\0\0" + self.node_name,
                 fabric_descriptor, b"\x0c\x02\0\0" + struct.pack("!I", 90_000))

    def solicit(self, flags=FP):
        """The MAC address of the FCF that answers."""
        self.ask_for_fcfs(flags)
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

    def ask_to_log_in(self, fcf, flags=FP, proposed=bytes(6)):
        frame = self.header(0xFFFFFE, 0) + self.login(4)
        self.fip(fcf, LINK_SERVICE, 1, flags, struct.pack("!BBxx", 7, 1 + len(frame) // 4) + frame, self.mac_descriptor(proposed))

    def log_in(self, fcf, flags=FP, proposed=bytes(6), seconds=fabric.PATIENCE_S):
        """FLOGI inside FIP; the answer's first byte and the N_Port_ID that it grants, None: there was no answer."""
        self.ask_to_log_in(fcf, flags, proposed)
        reply = self.hear(seconds, lambda received: received.fip == REPLY)
        if reply is None:
            return None
        content = dict(reply.descriptors())[7][2:]
        return content[24], int.from_bytes(content[1:4], "big")

    def fcoe(self, fcf, own, frame):
        crc = struct.pack("<I", zlib.crc32(frame))
        self.send(fcf, FCOE, bytes(13) + b"\x2e" + frame + crc + b"\x42\0\0\0", source=b"\x0e\xfc\x00" + own.to_bytes(3, "big"))


class CableStation(Station):
    """On a cable of UDP datagrams: they hold the tag where a cable has it."""

    def receive(self):
        frame = self.socket.recv(10_000)
        if frame[12:14] != struct.pack("!H", ETH_P_8021Q):
            return frame, None
        return frame[:12] + frame[16:], struct.unpack_from("!H", frame, 14)[0]
