"""VI over TCP by hand, segment by segment, each of which a test may break. Nothing here comes from wire/: the octets are those of
draft-dicecco-vitcp-01 and of the rulings; vitcp_bytes_test.py compares them with what wire/ writes."""

import struct
from dataclasses import dataclass, replace

SEND, RDMA_WRITE, READ_REQUEST, READ_RESPONSE, NOP, CONNECT_REQUEST, CONNECT_ACCEPT, CONNECT_REJECT, CONNECT_NO_MATCH = range(9)
END, IMMEDIATE, TRANSMIT_ERROR = 0x80, 0x40, 0x20
UNRELIABLE, DELIVERY, RECEPTION = 1, 2, 4
RDMA_WRITES, RDMA_READS, FLOW_CONTROL, PEER_TO_PEER = 8, 16, 32, 64
CRC_OPTION, MARKER_OPTION, END_OF_OPTIONS = b"\0\1\0\4", b"\0\2\0\4", b"\0\0"
CLIENT, SERVER = True, False
FIRST_NUMBER = {CLIENT: 0x100, SERVER: 0xFFFFFFFE}  # of the connection segments


def _crc_table() -> list:
    table = []
    for octet in range(256):
        for _ in range(8):
            octet = octet >> 1 ^ (0x82608EDB if octet & 1 else 0)
        table.append(octet)
    return table


_TABLE = _crc_table()


def crc(octets: bytes) -> bytes:
    """VI-TCP 3.6, ruling V-20: DB710641h, the least significant bit of each octet first; in the trailer's order."""
    state = 0xFFFFFFFF
    for octet in octets:
        state = state >> 8 ^ _TABLE[(state ^ octet) & 0xFF]
    return struct.pack("<I", state ^ 0xFFFFFFFF)


@dataclass
class Segment:
    """One segment; what a test breaks is one of these values."""
    type: int
    client: bool = CLIENT     # who sends it
    number: int = 0
    payload: bytes = b""
    flags: int = END
    offset: int = 0
    immediate: int = 0
    ack: int = 0
    posted: int = 0
    error: int = 0            # Remote Error Code
    rdma: tuple = ()          # address, handle, length
    ce: bytes = b""           # CE header and options
    crc: bool = False         # there is a trailer
    crc_xor: int = 0          # what a fault did to it
    version: int = 1
    length: object = None     # Segment Length, if it is not that of the octets
    after: float = 1e-6       # seconds since the segment before
    alone: bool = False       # begins a TCP segment

    def octets(self) -> bytes:
        rdma = struct.pack(">QII", *self.rdma) if self.rdma else b""
        behind = rdma + self.ce + self.payload
        length = self.length if self.length is not None else 24 + len(behind) + (4 if self.crc else 0)
        header = struct.pack(">BBHIIIIHH", self.version, self.flags | self.type, length, self.offset, self.immediate, self.number,
                             self.ack, self.posted, self.error)
        covered = header + behind
        if not self.crc:
            return covered
        return covered + bytes(octet ^ self.crc_xor for octet in crc(covered))


def ce_header(attributes: int, calling=b"client", called=b"service", mtu=0x100000, window=4, options=b"", lengths=None) -> bytes:
    calling_length, called_length = lengths or (len(calling), len(called))
    return (struct.pack(">HHI", attributes, calling_length, mtu) + calling.ljust(64, b"\0") +
            struct.pack(">HH", window, called_length) + called.ljust(64, b"\0") + options)


def content(total: int) -> bytes:
    return bytes(i * 7 % 251 for i in range(total))


class Talk:
    """Makes the segments of one connection; `segments` has them by name, in order."""

    def __init__(self, level=RECEPTION, crc=False, attributes=RDMA_WRITES | RDMA_READS, posted=100, piece=1000, window=4, mtu=0x100000,
                 first=None, server_attributes=None):
        self.level, self.crc, self.piece, self.window, self.mtu = level, crc, piece, window, mtu
        self.attributes = {CLIENT: attributes, SERVER: attributes if server_attributes is None else server_attributes}
        self.segments = {}
        self.number = dict(first or FIRST_NUMBER)  # of the last message
        self.posted = {CLIENT: posted, SERVER: posted}
        self.acked = {CLIENT: 0, SERVER: 0}        # what each tells in Message ACK

    def add(self, name: str, type: int, client: bool, **values) -> Segment:
        assert name not in self.segments, name
        made = Segment(type, client, **dict(dict(number=self.number[client], ack=self.acked[client], posted=self.posted[client] & 0xFFFF,
                                                 crc=self.crc), **values))
        self.segments[name] = made
        return made

    def request(self, name="rqst", options=None, **values) -> "Talk":
        options = options if options is not None else CRC_OPTION + END_OF_OPTIONS if self.crc else b""
        ce = ce_header(self.level | self.attributes[CLIENT], mtu=self.mtu, window=self.window, options=options)
        self.add(name, CONNECT_REQUEST, CLIENT, **dict(dict(ce=ce, ack=0, alone=True), **values))
        return self

    def accept(self, name="accept", options=None, **values) -> "Talk":
        options = options if options is not None else CRC_OPTION + END_OF_OPTIONS if self.crc else b""
        ce = ce_header(self.level | self.attributes[SERVER], mtu=self.mtu, window=self.window, options=options)
        self.acked = {CLIENT: self.number[SERVER], SERVER: self.number[CLIENT]}
        self.add(name, CONNECT_ACCEPT, SERVER, **dict(dict(ce=ce, alone=True), **values))
        return self

    def connect(self) -> "Talk":
        return self.request().accept()

    def next_number(self, client: bool) -> int:
        self.number[client] = (self.number[client] + 1) & 0xFFFFFFFF
        return self.number[client]

    def _data(self, name, type, client, number, total, piece, **values) -> None:
        data = content(total)
        pieces = [data[at:at + piece] for at in range(0, total, piece)] or [b""]
        for at, part in enumerate(pieces):
            flags = (END if at + 1 == len(pieces) else 0) | values.get("more", 0)
            others = {key: value for key, value in values.items() if key != "more"}
            self.add(f"{name}.{at}", type, client, number=number, payload=part, flags=flags, offset=at * piece, **others)

    def message(self, name: str, total: int, type=SEND, client=CLIENT, immediate=None, ack=True, piece=None, **values) -> "Talk":
        """Send or RDMA Write: `name`.0, `name`.1, ...; at Reliable Reception `name`.ack."""
        number = self.next_number(client)
        if type == RDMA_WRITE:
            values.setdefault("rdma", (0x11000000E000, 0x77, total))
        if immediate is not None:
            values.update(more=IMMEDIATE, immediate=immediate)
        self._data(name, type, client, number, total, piece or self.piece, **values)
        if ack and self.level == RECEPTION:
            self.ack(name + ".ack", not client, number)
        return self

    def ack(self, name: str, client: bool, number: int, **values) -> "Talk":
        self.acked[client] = number
        self.add(name, NOP, client, **values)
        return self

    def nop(self, name: str, client=CLIENT, **values) -> "Talk":
        self.add(name, NOP, client, **values)
        return self

    def refuse(self, name="no", type=CONNECT_REJECT, **values) -> "Talk":
        self.add(name, type, SERVER, **dict(dict(crc=False, alone=True), **values))
        return self

    def read(self, name: str, total: int, client=CLIENT, answer=True, **values) -> "Talk":
        """`name`, and the response `name`.resp.0, ..."""
        number = self.next_number(client)
        self.add(name, READ_REQUEST, client, number=number, rdma=(0x11000000E000, 0x77, total), **values)
        return self.respond(name, total, client) if answer else self

    def respond(self, name: str, total: int, client=CLIENT, **values) -> "Talk":
        self._data(name + ".resp", READ_RESPONSE, not client, self.segments[name].number, total, self.piece, **values)
        return self

    # ---- changes
    def set(self, name: str, **values) -> "Talk":
        self.segments[name] = replace(self.segments[name], **values)
        return self

    def drop(self, *names: str) -> "Talk":
        for name in names:
            del self.segments[name]
        return self

    def again(self, name: str, **values) -> "Talk":
        """One more segment at the end, made from another."""
        copies = sum(1 for key in self.segments if key.startswith(name + "+"))
        self.segments[f"{name}+{copies}"] = replace(self.segments[name], **values)
        return self

    def move(self, name: str, after: str) -> "Talk":
        segment = self.segments.pop(name)
        order = {}
        for key, value in self.segments.items():
            order[key] = value
            if key == after:
                order[name] = segment
        self.segments = order
        return self

    def list(self) -> list:
        return list(self.segments.values())
