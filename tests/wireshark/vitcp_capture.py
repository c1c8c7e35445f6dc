"""Captures of the segments of vitcp_talk.py: pcapng with Ethernet, IPv4 or IPv6, and TCP around the octets, with handshake, ACKs,
close, and checksums as they have to be."""

import struct
from dataclasses import dataclass, replace
from pathlib import Path

from vitcp_talk import CLIENT, SERVER

PORT, CLIENT_PORT = 8474, 40000
FIN, SYN, RST, PSH, ACK, URG = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
START = {CLIENT: 0xFFFFF000, SERVER: 0x00000400}  # TCP sequence numbers of the SYNs: one wraps
WINDOW = 65535


@dataclass
class Packet:
    """One TCP segment."""
    client: bool
    seq: int                # of the first octet
    ack: int
    payload: bytes = b""
    flags: int = ACK
    urgent: int = 0
    names: tuple = ()       # of the VI segments that begin in it
    after: float = 1e-6
    snap: int = 0           # so many octets of the packet were captured; 0: all
    ports: tuple = (CLIENT_PORT, PORT)
    host: int = 1           # last part of the client's address


class Tcp:
    """The packets of one TCP connection."""

    def __init__(self, handshake=True, mss=1460, join=False, ports=(CLIENT_PORT, PORT), host=1):
        self.next, self.packets, self.mss, self.join = dict(START), [], mss, join
        self.more = dict(ports=ports, host=host)
        if handshake:
            self.packet(CLIENT, flags=SYN)
            self.packet(SERVER, flags=SYN | ACK)
            self.packet(CLIENT)
        else:
            self.next = {side: (seq + 1) & 0xFFFFFFFF for side, seq in START.items()}

    def packet(self, client: bool, payload=b"", flags=ACK, **values) -> Packet:
        ack = self.next[not client] if flags & ACK else 0
        made = Packet(client, self.next[client], ack, payload, flags, **self.more, **values)
        self.packets.append(made)
        self.next[client] = (made.seq + len(payload) + (1 if flags & (SYN | FIN) else 0)) & 0xFFFFFFFF
        return made

    def octets(self, client: bool, data: bytes, names=(), after=1e-6) -> None:
        """In pieces of at most `mss`. `names`: (offset, name) of what begins in them."""
        for at in range(0, len(data), self.mss):
            piece = data[at:at + self.mss]
            here = tuple(name for offset, name in names if at <= offset < at + len(piece))
            self.packet(client, piece, ACK | PSH, names=here, after=after if at == 0 else 1e-6)

    def talk(self, talk) -> "Tcp":
        """The segments of a Talk: each begins a TCP segment, or, with `join`, those of one side fill them."""
        waiting, names = b"", []
        items = list(talk.segments.items())
        for at, (name, segment) in enumerate(items):
            names.append((len(waiting), name))
            waiting += segment.octets()
            follows = items[at + 1][1] if at + 1 < len(items) else None
            if self.join and follows and follows.client == segment.client and not follows.alone and not segment.alone:
                continue
            self.octets(segment.client, waiting, names, segment.after)
            waiting, names = b"", []
        return self

    def close(self) -> "Tcp":
        self.packet(CLIENT, flags=FIN | ACK)
        self.packet(SERVER, flags=FIN | ACK)
        self.packet(CLIENT)
        return self


def packets_of(talk, close=True, **how) -> list:
    tcp = Tcp(**how).talk(talk)
    return (tcp.close() if close else tcp).packets


# ---- the octets of a packet
def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def addresses(packet: Packet, ipv6: bool) -> tuple:
    prefix = bytes.fromhex("20010db8") + bytes(11) if ipv6 else bytes([10, 0, 0])
    client, server = prefix + bytes([packet.host]), prefix + b"\xfe"
    return (client, server) if packet.client else (server, client)


def tcp_octets(packet: Packet, source: bytes, destination: bytes) -> bytes:
    ports = packet.ports if packet.client else packet.ports[::-1]
    options = b"\2\4" + struct.pack(">H", 1460) if packet.flags & SYN else b""
    length = 20 + len(options) + len(packet.payload)

    def made(total: int) -> bytes:
        return struct.pack(">HHIIBBHHH", *ports, packet.seq, packet.ack, (20 + len(options)) // 4 << 4, packet.flags, WINDOW, total,
                           packet.urgent) + options + packet.payload

    pseudo = struct.pack(">BBH", 0, 6, length) if len(source) == 4 else struct.pack(">I3xB", length, 6)
    return made(checksum(source + destination + pseudo + made(0)))


def bytes_of(packet: Packet, ipv6=False) -> bytes:
    source, destination = addresses(packet, ipv6)
    tcp = tcp_octets(packet, source, destination)
    macs = [b"\2\0\0\0\0" + address[-1:] for address in (destination, source)]
    if ipv6:
        return macs[0] + macs[1] + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, len(tcp), 6, 64) + source + destination + tcp
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + source + destination
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return macs[0] + macs[1] + b"\x08\x00" + header + tcp


def write(path, packets, ipv6=False, snap_length=None) -> Path:
    """pcapng, times in nanoseconds."""
    def block(kind: int, body: bytes) -> bytes:
        length = len(body) + 12
        return struct.pack("<II", kind, length) + body + struct.pack("<I", length)

    out = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
           block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3x", 9, 1, 9) + bytes(4))]
    at = 1_000_000_000
    for packet in packets:
        at += round(packet.after * 1e9)
        data = bytes_of(packet, ipv6)
        kept = data[:packet.snap or snap_length or len(data)]
        out.append(block(6, struct.pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(kept), len(data)) + kept + bytes(-len(kept) % 4)))
    Path(path).write_bytes(b"".join(out))
    return Path(path)


def moved(packets: list, at: int, by: int) -> list:
    """The packet at `at` comes `by` later."""
    rest = packets[:at] + packets[at + 1:]
    return rest[:at + by] + [packets[at]] + rest[at + by:]


def repeated(packets: list, at: int, by: int) -> list:
    """The packet at `at` comes once more, `by` later."""
    return packets[:at + by] + [replace(packets[at])] + packets[at + by:]
