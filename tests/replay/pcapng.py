"""Captures of the simulator, changed by hand: blocks of pcapng (little-endian, one section), a list of packets."""

import dataclasses
import gzip
import struct
import zlib
from pathlib import Path

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
OUTBOUND = 2
ETHERNET, FC, FC_WITH_DELIMITERS = 1, 224, 225
# FCoE: Ethernet header, FCoE header up to SOF; then CRC, EOF and reserved bytes.
BEFORE, BEHIND = 14 + 14, 8
SOF_SETS = {0x2E: bytes.fromhex("bcb55656"), 0x36: bytes.fromhex("bcb53636"), 0x2D: bytes.fromhex("bcb55555"),
            0x35: bytes.fromhex("bcb53535")}
EOF_SETS = {0x41: bytes.fromhex("bc95d5d5"), 0x42: bytes.fromhex("bc957575")}


def ended(interface: int, time: int) -> bytes:
    """Statistics of an interface: its capture ended then (isb_endtime)."""
    when = struct.pack("<II", time >> 32, time & 0xFFFFFFFF)
    body = struct.pack("<I", interface) + when + struct.pack("<HH", 3, 8) + when + bytes(4)
    return struct.pack("<II", STATISTICS, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


@dataclasses.dataclass
class Packet:
    interface: int
    time: int          # ticks: nanoseconds
    data: bytes
    options: bytes = b""

    @property
    def sent(self) -> bool:
        return struct.unpack_from("<I", self.options, self.options.index(b"\x02\0\x04\0") + 4)[0] & 3 == OUTBOUND

    def fc(self) -> bytes:
        return self.data[BEFORE:-BEHIND]

    def with_fc(self, fc: bytes) -> "Packet":
        tail = struct.pack("<I", zlib.crc32(fc) & 0xFFFFFFFF) + self.data[-4:]
        return dataclasses.replace(self, data=self.data[:BEFORE] + fc + tail)

    def patched(self, offset: int, value: bytes) -> "Packet":
        """`offset` in the Fibre Channel frame."""
        fc = self.fc()
        return self.with_fc(fc[:offset] + value + fc[offset + len(value):])


@dataclasses.dataclass
class Capture:
    head: bytes        # section header and interfaces
    names: list
    packets: list

    @staticmethod
    def read(path) -> "Capture":
        data, at, capture = Path(path).read_bytes(), 0, Capture(b"", [], [])
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            body = data[at + 8:at + length - 4]
            if kind == PACKET:
                interface, high, low, kept, _ = struct.unpack_from("<IIIII", body)
                end = 20 + kept
                capture.packets.append(Packet(interface, high << 32 | low, body[20:end], body[end + -end % 4:]))
            else:
                capture.head += data[at:at + length]
                if kind == INTERFACE:
                    capture.names.append(option(body[8:], 2).decode())
            at += length
        return capture

    def interface(self, name: str) -> int:
        return self.names.index(name)

    def followed_by(self, other: "Capture", name: str) -> "Capture":
        """`other` begins a second after the end of this one, at interfaces of its own: those of this one, called `name`
        and theirs."""
        joined, first = Capture(self.head, [*self.names], [*self.packets]), len(self.names)
        for one in other.names:
            own = name + one
            joined.head += block(INTERFACE, struct.pack("<HHI", ETHERNET, 0, 0) + text_option(2, own) +
                                 struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0))
            joined.names.append(own)
        shift = self.packets[-1].time + 10**9 - other.packets[0].time
        joined.packets += [dataclasses.replace(packet, interface=packet.interface + first, time=packet.time + shift)
                           for packet in other.packets]
        return joined

    def write(self, path, snap=1 << 18) -> Path:
        """`snap`: so many bytes of each packet."""
        Path(path).write_bytes(self.head + b"".join(block(PACKET, packet_body(packet, snap)) for packet in self.packets))
        return Path(path)


def option(options: bytes, wanted: int) -> bytes:
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, at)
        if code == wanted:
            return options[at + 4:at + 4 + length]
        at += 4 + length + -length % 4
    return b""


def text_option(code: int, text: str) -> bytes:
    data = text.encode()
    return struct.pack("<HH", code, len(data)) + data + bytes(-len(data) % 4)


def with_comment(options: bytes, comment: str) -> bytes:
    """In front of the others."""
    return text_option(1, comment) + options


def block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def packet_body(packet: Packet, snap: int) -> bytes:
    data = packet.data[:snap]
    return (struct.pack("<IIIII", packet.interface, packet.time >> 32, packet.time & 0xFFFFFFFF, len(data), len(packet.data)) +
            data + bytes(-len(data) % 4) + packet.options)


def of_link_type(packet: Packet, link_type: int) -> bytes:
    if link_type == ETHERNET:
        return packet.data
    if link_type == FC:
        return packet.fc()
    crc_and_eof = packet.data[-BEHIND:]
    return SOF_SETS[packet.data[BEFORE - 1]] + packet.fc() + crc_and_eof[:4] + EOF_SETS[crc_and_eof[4]]


def write_pcap(path, packets, link_type: int) -> Path:
    """Knows neither interfaces nor directions. Nanoseconds."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, link_type)]
    for packet in packets:
        data = of_link_type(packet, link_type)
        out.append(struct.pack("<IIII", packet.time // 10**9, packet.time % 10**9, len(data), len(data)) + data)
    Path(path).write_bytes(b"".join(out))
    return Path(path)


def in_fip(packet: Packet) -> Packet:
    """The frame, FLOGI or its accept, as FIP carries it: a Link Service Request or Reply with a descriptor of type 7."""
    fc = packet.fc()
    reply = fc[9] & 0x80 != 0
    frame = struct.pack(">BBxx", 7, (4 + len(fc)) // 4) + fc
    mac = struct.pack(">BB", 2, 2) + bytes.fromhex("0efc00010200")
    body = frame + mac
    header = struct.pack(">BBHBBHH", 0x10, 0, 0x0002, 0, 2 if reply else 1, len(body) // 4, 0)
    return dataclasses.replace(packet, data=packet.data[:12] + b"\x89\x14" + header + body)
