"""FC-VI conversations made by hand, frame by frame, and captures of them: pcapng with FCoE frames and their direction, pcap of
link types 224 and 225. Nothing here comes from wire/: the bytes are those of the standard's tables."""

import struct
from dataclasses import dataclass, replace

CLIENT, SERVER = 0x010100, 0x010200  # N_Port_IDs
CLIENT_HANDLE, SERVER_HANDLE = 0x0A, 0x0B
CONNECTION_ID = 0x4FC4E15D
UNASSIGNED = 0xFFFFFFFF
UNRELIABLE, RELIABLE, RECEPTION = 1, 2, 3

SEND_RQST, WRITE_RQST, READ_RQST = 0x00, 0x01, 0x02
SEND_RESP, WRITE_RESP, READ_RESP = 0x08, 0x09, 0x0A
CONNECT_RQST, DISCONNECT_RQST = 0x10, 0x12
CONNECT_RESP1, CONNECT_RESP2, CONNECT_RESP3, DISCONNECT_RESP = 0x18, 0x19, 0x1A, 0x1B
R_CTL = {SEND_RQST: 0x01, WRITE_RQST: 0x01, READ_RQST: 0x06, SEND_RESP: 0x07, WRITE_RESP: 0x07, READ_RESP: 0x01, CONNECT_RQST: 0x02,
         DISCONNECT_RQST: 0x02, CONNECT_RESP1: 0x03, CONNECT_RESP2: 0x03, CONNECT_RESP3: 0x03, DISCONNECT_RESP: 0x03}

RESPONDER, FIRST, LAST, END, INITIATIVE, OFFSET = 1 << 23, 1 << 21, 1 << 20, 1 << 19, 1 << 16, 1 << 3
OTHER = {CLIENT: SERVER, SERVER: CLIENT}


@dataclass
class Frame:
    """A frame; what a test breaks is one of these values."""
    s_id: int
    d_id: int
    r_ctl: int
    f_ctl: int
    payload: bytes = b""       # behind the Device_Header
    device: bytes = b""        # the Device_Header
    type: int = 0x58
    df_ctl: int = 0
    seq_id: int = 1
    seq_cnt: int = 0
    ox_id: int = 0x1000
    rx_id: int = 0xFFFF
    parameter: int = 0
    cs_ctl: int = 0
    outbound: object = None    # True, False; None: the capture does not tell
    eof: int = 0x42
    after: float = 1e-6        # seconds since the frame before
    crc_error: bool = False
    comment: str = ""          # of the capture
    missing: int = 0           # frames that were not captured before this one
    snap: int = 0              # so many bytes of the packet were captured; 0: all

    def device_header(self, offset: int, layout: str, *values) -> "Frame":
        """The same with other values in its Device_Header."""
        device = bytearray(self.device)
        struct.pack_into(layout, device, offset, *values)
        return replace(self, device=bytes(device))

    def flags(self, flags: int) -> "Frame":
        return self.device_header(5, ">B", flags)

    def in_payload(self, offset: int, layout: str, *values) -> "Frame":
        payload = bytearray(self.payload)
        struct.pack_into(layout, payload, offset, *values)
        return replace(self, payload=bytes(payload))

    def fc(self) -> bytes:
        data = self.device + self.payload
        fill = -len(data) % 4
        return struct.pack(">IIIBBHHHI", self.r_ctl << 24 | self.d_id, self.cs_ctl << 24 | self.s_id,
                           self.type << 24 | self.f_ctl | fill, self.seq_id, self.df_ctl, self.seq_cnt, self.ox_id, self.rx_id,
                           self.parameter) + data + bytes(fill)


def fcvi(opcode: int, s_id: int, d_id: int, f_ctl: int, handle: int, *, flags=0, msg_id=0, device_parameter=0, rmt_va=0,
         memory=0, last=0, **more) -> Frame:
    """`device_parameter`: FCVI_PARAMETER; `last`: FCVI_TOT_LEN or FCVI_CONNECTION_ID; `more`: of the frame header."""
    size = 16 if opcode in (SEND_RESP, WRITE_RESP) else 32
    device = struct.pack(">IBBHIIQII", handle, opcode, flags, 0, msg_id, device_parameter, rmt_va, memory, last)[:size]
    return Frame(s_id, d_id, R_CTL[opcode], f_ctl | OFFSET, device=device, df_ctl=1 if size == 16 else 2, **more)


def address(host: bytes, discriminator: bytes, length=16) -> bytes:
    return struct.pack(">HBB", 0, 16, length) + bytes(10) + b"\xff\xff" + host + discriminator.ljust(128, b"\0")


CLIENT_ADDRESS, SERVER_ADDRESS = address(b"\x0a\0\0\1", b"client"), address(b"\x0a\0\0\2", b"service")


def connect_payload(handle: int, local: bytes, remote: bytes, level: int, flags=3, largest=0xFFFFFFFF, depth=31, pref=0) -> bytes:
    attributes = struct.pack(">HBBI", 0, level, flags, largest) + struct.pack(">B3xIIII", pref, 0, 0, 0, depth) + bytes(4)
    return struct.pack(">IHHI", 0, 0, 1, handle) + local + remote + attributes


class Conversation:
    """Makes the frames of two ports; `frames` has them by name, in order."""

    def __init__(self, level=RECEPTION, login=True, in_order=True, data_bytes=1024, **attributes):
        self.level, self.data_bytes, self.attributes = level, data_bytes, attributes
        self.frames = {}
        self.ox_ids, self.seq_ids = {CLIENT: 0x1000, SERVER: 0x2000}, {CLIENT: 0, SERVER: 0}
        self.sent = {CLIENT: 0, SERVER: 0}  # messages
        if login:
            self.login(in_order)

    def add(self, name: str, frame: Frame) -> Frame:
        assert name not in self.frames, name
        self.frames[name] = frame
        return frame

    def new_exchange(self, port: int) -> int:
        self.ox_ids[port] += 1
        return self.ox_ids[port]

    def new_sequence(self, port: int) -> int:
        self.seq_ids[port] = self.seq_ids[port] % 255 + 1
        return self.seq_ids[port]

    def login(self, in_order=True) -> None:
        options = 0x8800 if in_order else 0x8000
        flogi = bytearray(116)
        flogi[0] = 0x02
        struct.pack_into(">I", flogi, 12, 10000)  # R_A_TOV
        struct.pack_into(">H", flogi, 68, options)
        self.add("flogi_acc", Frame(0xFFFFFE, CLIENT, 0x23, 0x990000, bytes(flogi), type=0x01))
        plogi = bytes([0x03]) + bytes(115)
        self.add("plogi", Frame(CLIENT, SERVER, 0x22, 0x290000, plogi, type=0x01, ox_id=0x0F00))
        self.add("plogi_acc", Frame(SERVER, CLIENT, 0x23, 0x990000, bytes([0x02]) + bytes(115), type=0x01, ox_id=0x0F00))

    def connect(self, retry=False, prefix="", connection_id=CONNECTION_ID, client=CLIENT_HANDLE, server=SERVER_HANDLE) -> "Conversation":
        ox_id = self.new_exchange(CLIENT)
        to_server = dict(s_id=CLIENT, d_id=SERVER, ox_id=ox_id, last=connection_id)
        to_client = dict(s_id=SERVER, d_id=CLIENT, ox_id=ox_id, rx_id=0x9000, last=connection_id)
        again_1, again_2 = (0x10, 4) if retry else (0, 0)
        own = connect_payload(client, CLIENT_ADDRESS, SERVER_ADDRESS, self.level, **self.attributes)
        other = connect_payload(server, SERVER_ADDRESS, CLIENT_ADDRESS, self.level, **self.attributes)
        self.add(prefix + "rqst", fcvi(CONNECT_RQST, f_ctl=FIRST | END | INITIATIVE, handle=UNASSIGNED, flags=again_1 | 1,
                                       seq_id=self.new_sequence(CLIENT), payload=own, **to_server))
        self.add(prefix + "resp1", fcvi(CONNECT_RESP1, f_ctl=RESPONDER | END | INITIATIVE, handle=UNASSIGNED, flags=again_2,
                                        seq_id=self.new_sequence(SERVER), payload=other, **to_client))
        self.add(prefix + "resp2", fcvi(CONNECT_RESP2, f_ctl=END | INITIATIVE, handle=server, flags=again_2, seq_cnt=1,
                                        seq_id=self.new_sequence(CLIENT), **dict(to_server, rx_id=0x9000)))
        self.add(prefix + "resp3", fcvi(CONNECT_RESP3, f_ctl=RESPONDER | LAST | END, handle=client, flags=again_2, seq_cnt=1,
                                        seq_id=self.new_sequence(SERVER), **to_client))
        return self

    def _data(self, opcode, s_id, handle, ox_id, total, first_flag, end_flags, message, name, frames_each=2):
        """The frames of a request or Read response, an IU for each `frames_each`."""
        content = bytes(i * 7 % 251 for i in range(total))
        pieces = [content[i:i + self.data_bytes] for i in range(0, total, self.data_bytes)] or [b""]
        seq_id = 0
        for i, piece in enumerate(pieces):
            if i % frames_each == 0:
                seq_id = self.new_sequence(s_id)
            last, ends = i + 1 == len(pieces), i + 1 == len(pieces) or i % frames_each == frames_each - 1
            f_ctl = (first_flag if i < frames_each else 0) | (END if ends else 0) | (end_flags if last else 0)
            if opcode == READ_RESP:
                f_ctl |= RESPONDER
            self.add(f"{name}.{i}", fcvi(opcode, s_id, OTHER[s_id], f_ctl, handle, seq_id=seq_id, seq_cnt=i, ox_id=ox_id,
                                         rx_id=0x9000 if opcode == READ_RESP else 0xFFFF, parameter=i * self.data_bytes,
                                         payload=piece, eof=0x42 if ends else 0x41, **message))

    def message(self, name: str, total: int, opcode=SEND_RQST, port=CLIENT, answer=True, immediate=None, ends=True, **more) -> "Conversation":
        """Send or RDMA Write, with its response at Reliable Reception."""
        self.sent[port] += 1
        handle = SERVER_HANDLE if port == CLIENT else CLIENT_HANDLE
        message = dict(msg_id=self.sent[port], last=total, **more)
        if opcode == WRITE_RQST:
            message.update(rmt_va=0x11000000E000, memory=0x77)
        if immediate is not None:
            message.update(flags=1, device_parameter=immediate)
        answered = self.level == RECEPTION
        ox_id = self.new_exchange(port)
        self._data(opcode, port, handle, ox_id, total, FIRST, INITIATIVE if answered else LAST, message, name)
        if answered and answer:
            self.respond(name, opcode + 8, port, ox_id, self.sent[port])
        return self

    def respond(self, name, opcode, port, ox_id, msg_id, flags=0) -> None:
        handle = CLIENT_HANDLE if port == CLIENT else SERVER_HANDLE
        other = OTHER[port]
        self.add(name + ".resp", fcvi(opcode, other, port, RESPONDER | LAST | END, handle, flags=flags, msg_id=msg_id, ox_id=ox_id,
                                      rx_id=0x9000, seq_id=self.new_sequence(other)))

    def read(self, name: str, total: int, port=CLIENT) -> "Conversation":
        self.sent[port] += 1
        handle, own = (SERVER_HANDLE, CLIENT_HANDLE) if port == CLIENT else (CLIENT_HANDLE, SERVER_HANDLE)
        where = dict(rmt_va=0x11000000E000, memory=0x77, last=total, msg_id=self.sent[port])
        ox_id = self.new_exchange(port)
        self.add(name, fcvi(READ_RQST, port, OTHER[port], FIRST | END | INITIATIVE, handle, seq_id=self.new_sequence(port),
                            ox_id=ox_id, **where))
        self._data(READ_RESP, OTHER[port], own, ox_id, total, 0, LAST, where, name + ".resp")
        return self

    def disconnect(self, name="discon", port=CLIENT, last_msg=0, flags=2, status=0, response_flags=None, response_status=0x4B0000) -> "Conversation":
        handle, own = (SERVER_HANDLE, CLIENT_HANDLE) if port == CLIENT else (CLIENT_HANDLE, SERVER_HANDLE)
        ox_id = self.new_exchange(port)
        self.add(name, fcvi(DISCONNECT_RQST, port, OTHER[port], FIRST | END | INITIATIVE, handle, flags=flags, msg_id=last_msg,
                            device_parameter=status, ox_id=ox_id, seq_id=self.new_sequence(port)))
        self.add(name + ".resp", fcvi(DISCONNECT_RESP, OTHER[port], port, RESPONDER | LAST | END, own,
                                      flags=(flags & 6 | 1) if response_flags is None else response_flags, msg_id=last_msg,
                                      device_parameter=response_status, ox_id=ox_id, rx_id=0x9000,
                                      seq_id=self.new_sequence(OTHER[port])))
        return self

    # ---- changes
    def change(self, name: str, how) -> "Conversation":
        self.frames[name] = how(self.frames[name])
        return self

    def set(self, name: str, **values) -> "Conversation":
        return self.change(name, lambda frame: replace(frame, **values))

    def drop(self, *names: str) -> "Conversation":
        for name in names:
            del self.frames[name]
        return self

    def again(self, name: str, **values) -> "Conversation":
        """One more frame at the end, made from another."""
        copies = sum(1 for key in self.frames if key.startswith(name + "+"))
        self.frames[f"{name}+{copies}"] = replace(self.frames[name], **values)
        return self

    def move(self, name: str, after: str) -> "Conversation":
        frame = self.frames.pop(name)
        order = {}
        for key, value in self.frames.items():
            order[key] = value
            if key == after:
                order[name] = frame
        self.frames = order
        return self

    def split(self, name: str, bytes_each=128) -> "Conversation":
        """A set-up IU in several frames, `name`.0 and so on; what its sender sends next has the SEQ_CNT behind them."""
        whole, order = self.frames[name], {}
        pieces = [whole.payload[at:at + bytes_each] for at in range(0, len(whole.payload), bytes_each)]
        for key, frame in self.frames.items():
            if key == name:
                for i, piece in enumerate(pieces):
                    last = i + 1 == len(pieces)
                    order[f"{name}.{i}"] = replace(whole, payload=piece, parameter=i * bytes_each, seq_cnt=i, eof=0x42 if last else 0x41,
                                                   f_ctl=whole.f_ctl if last else whole.f_ctl & ~(END | INITIATIVE))
            else:
                order[key] = replace(frame, seq_cnt=len(pieces)) if key == {"rqst": "resp2", "resp1": "resp3"}[name] else frame
        self.frames = order
        return self

    def list(self) -> list:
        return list(self.frames.values())

