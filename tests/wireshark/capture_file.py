"""Captures of the frames of conversation.py: pcapng with FCoE frames and their direction, pcap of link types 224 and 225."""

import struct
import zlib
from pathlib import Path

ETHERNET, FC, FC_WITH_DELIMITERS = 1, 224, 225
SOF_I3, SOF_N3 = 0x2E, 0x36
# As ordered sets: those of class 3, EOF with the running disparity of a link that just began.
SOF_SETS = {SOF_I3: b"\xbc\xb5\x56\x56", SOF_N3: b"\xbc\xb5\x36\x36"}
EOF_SETS = {0x41: b"\xbc\x95\xd5\xd5", 0x42: b"\xbc\x95\x75\x75", 0x49: b"\xbc\x8a\xd5\xd5", 0x50: b"\xbc\x95\xf5\xf5"}
OUTBOUND, INBOUND = 2, 1


def sof_of(frame) -> int:
    return SOF_I3 if frame.seq_cnt == 0 or frame.f_ctl & 1 << 21 and frame.seq_cnt == 0 else SOF_N3


def crc(frame, fc: bytes) -> int:
    return zlib.crc32(fc) & 0xFFFFFFFF ^ (0x100 if frame.crc_error else 0)


def fcoe(frame, vlan=None) -> bytes:
    fc = frame.fc()
    mac = [b"\x0e\xfc\0" + struct.pack(">I", port)[1:] for port in (frame.d_id, frame.s_id)]
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, vlan)
    return (mac[0] + mac[1] + tag + b"\x89\x06" + bytes(13) + bytes([sof_of(frame)]) + fc + struct.pack("<I", crc(frame, fc)) +
            bytes([frame.eof, 0, 0, 0]))


def delimited(frame) -> bytes:
    fc = frame.fc()
    return SOF_SETS[sof_of(frame)] + fc + struct.pack("<I", crc(frame, fc)) + EOF_SETS.get(frame.eof, EOF_SETS[0x42])


def bytes_of(frame, link_type: int, vlan=None) -> bytes:
    if link_type == ETHERNET:
        return fcoe(frame, vlan)
    return frame.fc() if link_type == FC else delimited(frame)


def write(path, frames, link_type=ETHERNET, snap_length=None, vlan=None) -> Path:
    """pcapng: only that tells directions. Times in nanoseconds."""
    def block(kind: int, body: bytes) -> bytes:
        length = len(body) + 12
        return struct.pack("<II", kind, length) + body + struct.pack("<I", length)

    out = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
           block(1, struct.pack("<HHI", link_type, 0, 0) + struct.pack("<HHB3x", 9, 1, 9) + bytes(4))]
    at = 1_000_000_000
    for frame in frames:
        at += round(frame.after * 1e9)
        data = bytes_of(frame, link_type, vlan)
        kept = data[:frame.snap or snap_length or len(data)]
        options = b""
        if frame.comment:
            comment = frame.comment.encode()
            options += struct.pack("<HH", 1, len(comment)) + comment + bytes(-len(comment) % 4)
        if frame.outbound is not None:
            options += struct.pack("<HHI", 2, 4, OUTBOUND if frame.outbound else INBOUND)
        if frame.missing:
            options += struct.pack("<HHQ", 4, 8, frame.missing)
        if options:
            options += bytes(4)
        out.append(block(6, struct.pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(kept), len(data)) + kept + bytes(-len(kept) % 4) +
                         options))
    Path(path).write_bytes(b"".join(out))
    return Path(path)
