"""Broken segments and connections of VI over TCP, each with the violations that it must raise, and no others; and good ones, which
raise none."""

from dataclasses import replace

from vitcp_talk import (CLIENT, CONNECT_ACCEPT, CONNECT_NO_MATCH, CONNECT_REJECT, CRC_OPTION, DELIVERY, END, END_OF_OPTIONS, FLOW_CONTROL,
                        IMMEDIATE, MARKER_OPTION, NOP, PEER_TO_PEER, RDMA_READS, RDMA_WRITE, RDMA_WRITES, READ_REQUEST, RECEPTION, SEND, SERVER,
                        TRANSMIT_ERROR, UNRELIABLE, Talk, ce_header)

CASES = {}   # name -> (maker of a Talk, violations)
GOOD = {}    # name -> maker


def case(name: str, violations, maker) -> None:
    assert name not in CASES, name
    CASES[name] = (maker, {violations} if isinstance(violations, str) else set(violations))


def good(name: str, maker) -> None:
    assert name not in GOOD, name
    GOOD[name] = maker


def connected(level=RECEPTION, **more) -> Talk:
    return Talk(level, **more).connect()


def one(level=RECEPTION, total=100, **more) -> Talk:
    return connected(level, **more).message("m", total)


def long(level=RECEPTION, **more) -> Talk:
    """A Send of five segments."""
    return connected(level, **more).message("m", 5000)


def write(level=RECEPTION, **more) -> Talk:
    """An RDMA Write of three segments."""
    return connected(level, **more).message("m", 3000, RDMA_WRITE)


def with_ce(talk: Talk, name: str, attributes=None, **values) -> Talk:
    """A connection segment with another CE header."""
    client = talk.segments[name].client
    attributes = talk.level | talk.attributes[client] if attributes is None else attributes
    values.setdefault("mtu", talk.mtu)
    values.setdefault("window", talk.window)
    return talk.set(name, ce=ce_header(attributes, **values))


def with_bits(talk: Talk, name: str, set_bits=0, clear=0) -> Talk:
    return talk.set(name, flags=(talk.segments[name].flags | set_bits) & ~clear)


# ---- good ones
for _level, _name in ((UNRELIABLE, "unreliable"), (DELIVERY, "reliable delivery"), (RECEPTION, "reliable reception")):
    for _crc in (False, True):
        _how = dict(level=_level, crc=_crc)
        _more = ", CRC" if _crc else ""
        good(f"Send, {_name}{_more}", lambda how=_how: one(**how).message("n", 5000).message("o", 0).message("p", 3000, client=SERVER))
        good(f"RDMA Write, {_name}{_more}", lambda how=_how: connected(**how).message("m", 5000, RDMA_WRITE, immediate=0x1234))
        good(f"RDMA Read, {_name}{_more}", lambda how=_how: connected(**how).read("r", 5000).message("m", 10).read("s", 0, client=SERVER))
good("reads between the segments of a message", lambda: connected().read("r", 3000, client=SERVER, answer=False).message("m", 3000)
     .respond("r", 3000, SERVER).move("r.resp.0", "m.0").move("r.resp.1", "m.1"))
good("NOPs between the segments of a message", lambda: long().nop("nop").move("nop", "m.2"))
good("an ACK for many", lambda: connected().message("m", 10, ack=False).message("n", 10, ack=False).message("o", 10))
good("an ACK in a message", lambda: connected().message("m", 10, ack=False).message("n", 10, client=SERVER, ack=False)
     .set("n.0", ack=0x101).nop("done", SERVER, ack=0x101))
good("an error ends the ACKs", lambda: one().message("n", 10, ack=False).ack("error", SERVER, 0x102, error=2)
     .message("o", 10, ack=False).nop("after", SERVER, ack=0xDEAD))
good("ACKs have no meaning", lambda: one(DELIVERY).nop("n", SERVER, ack=0x7777, error=1))
good("refused", lambda: Talk().request().refuse())
good("nobody waits", lambda: Talk(crc=True).request().refuse(type=CONNECT_NO_MATCH, crc=True))
good("options", lambda: Talk().request(options=MARKER_OPTION + b"\0\7\0\6\xAB\xCD" + END_OF_OPTIONS).accept(options=MARKER_OPTION).message("m", 10))
good("a CRC that is not granted", lambda: Talk().request(options=CRC_OPTION + END_OF_OPTIONS, crc=True).accept().message("m", 10))
good("peer-to-peer", lambda: connected(attributes=RDMA_READS | PEER_TO_PEER).message("m", 10))
good("a smaller MTU is agreed", lambda: with_ce(connected(), "accept", mtu=5000).message("m", 5000))
good("flow control", lambda: connected(attributes=FLOW_CONTROL, posted=1).message("m", 10).nop("more", SERVER, posted=2).message("n", 10, posted=1)
     .set("n.ack", posted=2))
good("no receive is posted", lambda: connected(UNRELIABLE, posted=0).message("m", 10).message("n", 10))
good("posted, across the wrap", lambda: connected(attributes=FLOW_CONTROL, posted=0).nop("a", SERVER, posted=65535).message("m", 10, ack=False)
     .nop("b", SERVER, posted=0, ack=0x101).message("n", 10, ack=False).nop("c", SERVER, posted=1, ack=0x102))
good("a Transmit Error", lambda: with_bits(long(), "m.4", TRANSMIT_ERROR))
good("a refused read", lambda: connected().read("r", 3000, answer=False).respond("r", 0, more=TRANSMIT_ERROR))
good("the capture begins in a message", lambda: long().drop("rqst", "accept", "m.0", "m.1").message("n", 10))
good("the capture begins in a message, CRC", lambda: long(crc=True).drop("rqst", "accept", "m.0", "m.1").message("n", 10))
good("the capture begins in a read", lambda: connected().read("r", 3000).drop("rqst", "accept", "r", "r.resp.0").message("n", 10))
good("the capture begins before an ACK", lambda: one().drop("rqst", "accept", "m.0").message("n", 10))
good("the capture begins before the answer", lambda: one().drop("rqst"))

# ---- one segment
case("version", "wrong_version", lambda: one().set("m.0", version=2))
case("version of a request", "wrong_version", lambda: Talk().request(version=2).refuse())
case("type 9", "unknown_type", lambda: one().set("m.0", type=9))
case("type 31", "unknown_type", lambda: one().set("m.0", type=31))
case("too short for its header", "wrong_length", lambda: one().set("m.0", length=23))
case("length 0", "wrong_length", lambda: one().set("m.0", length=0))
case("too short for the RDMA header", "wrong_length", lambda: one().message("n", 0, RDMA_WRITE).set("n.0", rdma=()))
case("too short for the CE header", "wrong_length", lambda: Talk().request().set("rqst", ce=bytes(139)))
case("NOP with data", "wrong_length", lambda: one().nop("nop", payload=b"data!"))
case("NOP with a CRC that was not agreed", "wrong_length", lambda: one().nop("nop", crc=True))
case("NOP without CRC", "wrong_length", lambda: one(crc=True).nop("nop", crc=False))
case("read request with data", "wrong_length", lambda: one().read("r", 10).set("r", payload=b"x"))
case("reject with data", "wrong_length", lambda: Talk().request().refuse(payload=b"x"))
case("CRC of a Send", "bad_crc", lambda: long(crc=True).set("m.2", crc_xor=1))
case("CRC of a NOP", "bad_crc", lambda: one(crc=True).nop("nop", crc_xor=0x80))
case("CRC of a request", "bad_crc", lambda: one(crc=True).set("rqst", crc_xor=1))
case("CRC of a reject", "bad_crc", lambda: Talk().request().refuse(crc=True, crc_xor=1))
case("the capture begins in a message, bad CRC", "bad_crc", lambda: long(crc=True).drop("rqst", "accept", "m.0").set("m.3", crc_xor=1))
case("a message without CRC", "bad_crc", lambda: one(crc=True).message("n", 100, crc=False))
case("reserved bits of the error code", "reserved_bits", lambda: one().nop("nop", error=0x80))
case("reserved attributes", "reserved_bits", lambda: with_ce(one(), "rqst", RECEPTION | RDMA_WRITES | RDMA_READS | 0x80))
case("reserved attributes of the accept", "reserved_bits", lambda: with_ce(one(), "accept", RECEPTION | RDMA_WRITES | RDMA_READS | 0x8000))
case("immediate data of a NOP", "wrong_flags", lambda: one().nop("nop", flags=END | IMMEDIATE))
case("immediate data of a response", "wrong_flags", lambda: with_bits(connected().read("r", 10), "r.resp.0", IMMEDIATE))
case("read request that does not end", "wrong_flags", lambda: connected().read("r", 10).set("r", flags=0))
case("immediate data that a read request has none of", "wrong_immediate", lambda: connected().read("r", 10).set("r", immediate=1))
case("offset of a read request", "wrong_offset", lambda: connected().read("r", 10).set("r", offset=1))
case("offset of a request", "wrong_offset", lambda: one().set("rqst", offset=4))

# ---- the set-up
case("no level", "wrong_level", lambda: with_ce(Talk().request(), "rqst", 0))
case("two levels", "wrong_level", lambda: with_ce(Talk().request(), "rqst", UNRELIABLE | DELIVERY))
case("calling discriminator", "wrong_discriminator", lambda: with_ce(Talk().request(), "rqst", lengths=(65, 7)))
case("called discriminator", "wrong_discriminator", lambda: with_ce(Talk().request(), "rqst", lengths=(6, 65535)))
case("MTU Size 0", "wrong_mtu", lambda: with_ce(Talk().request(), "rqst", mtu=0))
case("MTU Size above the request", "wrong_mtu", lambda: with_ce(one(), "accept", mtu=0x100001))
case("option of 3 octets", "wrong_option", lambda: Talk().request(options=b"\0\7\0\3"))
case("option beyond the segment", "wrong_option", lambda: Talk().request(options=b"\0\7\0\11\0\0\0\0"))
case("option cut in its type", "wrong_option", lambda: Talk().request(options=MARKER_OPTION + b"\0"))
case("urgent marker with data", "wrong_option", lambda: Talk().request(options=b"\0\2\0\6ab"))
case("CRC that nobody asked for", "wrong_option",
     lambda: Talk().request().accept(options=CRC_OPTION + END_OF_OPTIONS, crc=True).message("m", 10))
case("no End of Option List", "options_without_end", lambda: Talk(crc=True).request(options=CRC_OPTION))
case("no CRC behind the options", "wrong_length", lambda: Talk().request(options=CRC_OPTION + END_OF_OPTIONS))
case("another level in the accept", "wrong_answer", lambda: with_ce(connected(), "accept", DELIVERY | RDMA_READS))
case("peer-to-peer in the accept", "wrong_answer", lambda: with_ce(connected(), "accept", RECEPTION | PEER_TO_PEER))
case("accepts its own request", "wrong_answer", lambda: Talk().request().accept().set("accept", client=CLIENT))
case("second ConnectRequest", "repeated_setup", lambda: one().again("rqst"))
case("second ConnectRequest before the answer", "repeated_setup", lambda: Talk().request().again("rqst"))
case("second ConnectAccept", "repeated_setup", lambda: one().again("accept"))
case("reject of a connection", "repeated_setup", lambda: one().refuse())
case("no match after a reject", "repeated_setup",
     lambda: Talk().request().refuse().refuse("none", CONNECT_NO_MATCH))
case("data without a set-up", "no_request", lambda: one(UNRELIABLE).drop("rqst", "accept"))
case("accept without a request", "no_request", lambda: connected().drop("rqst"))
case("data before the accept", "early_data", lambda: one(UNRELIABLE).move("accept", "m.0"))
case("data of the other end before its accept", "early_data", lambda: connected(UNRELIABLE).message("m", 10, client=SERVER).move("accept", "m.0"))
case("NOP before the accept", "early_data", lambda: Talk().request().nop("nop"))
case("data after a reject", "after_refusal", lambda: Talk().request().refuse().message("m", 10, ack=False))
case("accept after a reject", "repeated_setup", lambda: Talk().request().refuse().accept())

# ---- messages
case("a number is left out", "message_gap", lambda: one(DELIVERY).message("n", 10).message("o", 10).drop("n.0"))
case("a number comes again", "message_gap", lambda: one(DELIVERY).again("m.0"))
case("the first number", "message_gap", lambda: one(DELIVERY).set("rqst", number=7))
case("a read without a number of its own", "message_gap", lambda: one(DELIVERY).read("r", 10, answer=False).set("r", number=0x101))
case("NOP with the next number", "nop_number", lambda: one().nop("nop", number=0x102))
case("a segment is left out", "offset_gap", lambda: long(DELIVERY).drop("m.2"))
case("a segment comes again", "offset_gap", lambda: long(DELIVERY).again("m.2").move("m.2+0", "m.2"))
case("a message begins at 1", "offset_gap", lambda: connected(DELIVERY).message("m", 10).set("m.0", offset=1))
case("a response with a gap", {"offset_gap"}, lambda: connected().read("r", 3000).drop("r.resp.1"))
case("two messages at once", "mixed_messages",
     lambda: connected(DELIVERY).message("m", 2000).message("n", 1000).drop("m.1"))
case("a read within a message", "mixed_messages", lambda: connected(DELIVERY).message("m", 2000).read("r", 10, answer=False).drop("m.1"))
case("two responses at once", "mixed_messages",
     lambda: connected().read("r", 2000, answer=False).read("s", 2000).respond("r", 2000).drop("r.resp.1").move("r.resp.0", "s.resp.0")
     .drop("s.resp.1"))
case("another type within a message", "message_changed",
     lambda: long(DELIVERY).set("m.2", type=RDMA_WRITE, rdma=(1, 2, 5000)))
case("immediate data that change", "message_changed", lambda: connected().message("m", 3000, immediate=7).set("m.1", immediate=8))
case("immediate data that are gone", "message_changed", lambda: with_bits(connected().message("m", 3000, immediate=7), "m.2", clear=IMMEDIATE))
case("another address", "message_changed", lambda: write().set("m.1", rdma=(0x11000000E001, 0x77, 3000)))
case("another handle", "message_changed", lambda: write().set("m.2", rdma=(0x11000000E000, 0x78, 3000)))
case("another length", "message_changed", lambda: write().set("m.1", rdma=(0x11000000E000, 0x77, 3001)))
case("beyond its length", "wrong_extent", lambda: write().set("m.2", payload=bytes(1001)))
case("ends before its length", "wrong_extent", lambda: with_bits(write(DELIVERY), "m.1", END).drop("m.2"))
case("goes on behind its length", {"wrong_extent"}, lambda: with_bits(write(DELIVERY), "m.2", clear=END))
case("a response that is too long", "wrong_extent", lambda: connected().read("r", 1000, answer=False).respond("r", 999))
case("longer than the MTU Size", "too_large", lambda: with_ce(connected(), "accept", mtu=4999).message("m", 5000))
case("write longer than the MTU Size", "too_large", lambda: with_ce(connected(), "accept", mtu=2999).message("m", 3000, RDMA_WRITE))
case("read longer than the MTU Size", "too_large", lambda: with_ce(connected(), "accept", mtu=99).read("r", 100, answer=False))
case("write that is not enabled", "not_allowed", lambda: connected(server_attributes=RDMA_READS).message("m", 10, RDMA_WRITE))
case("read that is not enabled", "not_allowed", lambda: connected(server_attributes=RDMA_WRITES).read("r", 10))
case("no descriptor is left", "no_descriptor",
     lambda: connected(attributes=FLOW_CONTROL, posted=1).message("m", 10).message("n", 10))
case("no descriptor for immediate data", "no_descriptor",
     lambda: connected(attributes=FLOW_CONTROL | RDMA_WRITES, posted=0).message("m", 10, RDMA_WRITE, immediate=1))
case("posted goes back", "wrong_posted", lambda: one().nop("nop", SERVER, posted=99))
case("more reads than the window", "read_window",
     lambda: connected(window=1).read("r", 10, answer=False).read("s", 10, answer=False).respond("r", 10).respond("s", 10))
case("a read where none may be", "read_window", lambda: connected(window=0).read("r", 10))
case("response without a request", "unknown_read", lambda: connected(DELIVERY).message("m", 10).read("r", 10).set("r.resp.0", number=0x101))
case("response that comes twice", "unknown_read", lambda: connected().read("r", 10).again("r.resp.0"))
case("ACK of what was not sent", "ack_of_unsent", lambda: one().nop("nop", SERVER, ack=0x102))
case("ACK before the first message", "ack_of_unsent", lambda: connected().nop("nop", SERVER, ack=0x101))
case("ACK that goes back", "ack_goes_back", lambda: one().message("n", 10).nop("nop", SERVER, ack=0x101))
case("ACK before the end", "early_ack", lambda: long().move("m.ack", "m.2"))
