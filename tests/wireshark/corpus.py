"""Broken frames and conversations, each with the violations that it must raise, and no others; and good ones, which raise none."""

from dataclasses import replace

from conversation import (CLIENT, CONNECTION_ID, END, FIRST, INITIATIVE, LAST, OFFSET, RECEPTION, RELIABLE, RESPONDER, SEND_RESP, SERVER,
                          UNASSIGNED, UNRELIABLE, WRITE_RESP, WRITE_RQST, Conversation, address)

CASES = {}   # name -> (maker of a Conversation, violations)
GOOD = {}    # name -> maker


def case(name: str, violations, maker) -> None:
    assert name not in CASES, name
    CASES[name] = (maker, {violations} if isinstance(violations, str) else set(violations))


def good(name: str, maker) -> None:
    assert name not in GOOD, name
    GOOD[name] = maker


def connected(level=RECEPTION, **more) -> Conversation:
    return Conversation(level, **more).connect()


def one(level=RECEPTION, total=100, **more) -> Conversation:
    return connected(level, **more).message("m", total)


def long(level=RECEPTION, **more) -> Conversation:
    """Five frames in three Sequences."""
    return connected(level, **more).message("m", 5000)


def in_header(talk: Conversation, name: str, offset: int, layout: str, *values) -> Conversation:
    return talk.change(name, lambda frame: frame.device_header(offset, layout, *values))


def in_payload(talk: Conversation, name: str, offset: int, layout: str, *values) -> Conversation:
    return talk.change(name, lambda frame: frame.in_payload(offset, layout, *values))


def f_ctl(talk: Conversation, name: str, set_bits=0, clear=0) -> Conversation:
    return talk.change(name, lambda frame: replace(frame, f_ctl=(frame.f_ctl | set_bits) & ~clear))


def flags(talk: Conversation, name: str, value: int) -> Conversation:
    return talk.change(name, lambda frame: frame.flags(value))


# ---- good ones
for _level, _name in ((UNRELIABLE, "unreliable delivery"), (RELIABLE, "reliable delivery"), (RECEPTION, "reliable reception")):
    good(f"Send, {_name}", lambda level=_level: one(level).message("n", 5000).message("o", 0).disconnect())
    good(f"RDMA Write, {_name}", lambda level=_level: connected(level).message("m", 5000, WRITE_RQST, immediate=0x1234).disconnect())
good("RDMA Read, reliable delivery", lambda: connected(RELIABLE).read("r", 5000).message("m", 10).disconnect())
good("RDMA Read, reliable reception", lambda: connected().read("r", 5000).message("m", 10).disconnect())
good("both ends send", lambda: one().message("n", 3000, port=SERVER).message("o", 10, port=SERVER).disconnect(port=SERVER))
good("the capture begins in a message", lambda: long(login=False).drop("rqst", "resp1", "resp2", "resp3", "m.0", "m.1").message("n", 10))
good("the capture begins before an answer",
     lambda: long(login=False).drop("rqst", "resp1", "resp2", "resp3", "m.0", "m.1", "m.2", "m.3", "m.4").message("n", 10))
good("the capture begins in a Read", lambda: connected(login=False).read("r", 5000)
     .drop("rqst", "resp1", "resp2", "resp3", "r", "r.resp.0").message("n", 10))
good("the capture begins in a set-up", lambda: Conversation(login=False).connect().drop("rqst").message("n", 10))
good("the capture begins after the set-up", lambda: connected(login=False).drop("rqst", "resp1", "resp2", "resp3")
     .message("n", 5000).message("o", 5000, port=SERVER).disconnect())
good("refused", lambda: in_payload(in_header(flags(Conversation().connect(), "resp1", 1), "resp1", 12, ">I", 0x040000), "resp1", 8,
                                   ">I", UNASSIGNED).drop("resp2", "resp3"))
good("retried", lambda: Conversation().connect().drop("resp2", "resp3").connect(True, "again.", CONNECTION_ID + 1).message("m", 10))
good("an error in a response", lambda: flags(one(), "m.resp", 0x03))
good("a Read that fails", lambda: flags(connected().read("r", 1000), "r.resp.0", 0x05).set("r.resp.0", payload=b""))
good("out of order on a fabric that does not keep it", lambda: long(UNRELIABLE, in_order=False).message("n", 10).move("m.1", "n.0"))
good("messages overtake on a fabric that does not keep the order",
     lambda: one(UNRELIABLE, in_order=False).message("n", 10).move("m.0", "n.0"))
good("a set-up is aborted", lambda: in_header(in_header(
    Conversation().connect().drop("resp2", "resp3").disconnect(flags=6), "discon", 28, ">I", CONNECTION_ID), "discon.resp", 28, ">I",
    CONNECTION_ID))
good("a frame at three places of its way", lambda: with_direction(one(UNRELIABLE), False).again("m.0").again("m.0"))
good("a vendor's reason code", lambda: one().disconnect(flags=1, status=0xF10000))
good("preference announced and used", lambda: one(pref=0x80).set("m.0", cs_ctl=0x80).set("m.resp", cs_ctl=0x80))
good("another OX_ID for each message, numbers wrap", lambda: wrapped())


good("a damaged frame at one place, a good one at another", lambda: with_direction(one(UNRELIABLE).again("m.0").set(
    "m.0", crc_error=True), False))
good("a damaged set-up and its retry", lambda: Conversation().connect().set("rqst", crc_error=True).drop("resp1", "resp2", "resp3")
     .connect(False, "again."))
good("a lost set-up and its retry", lambda: lost(Conversation().connect(), "rqst", "fault: lost: silence").drop("resp1", "resp2", "resp3")
     .connect(True, "again.", CONNECTION_ID + 1))
good("lost answers of a set-up and its retry", lambda: lost(Conversation().connect(), "resp1", "lost: the link of bob went down")
     .drop("resp2", "resp3").connect(True, "again.", CONNECTION_ID + 1))
good("a lost Disconnect and the next", lambda: lost(connected().disconnect(), "discon", "fault: lost").drop("discon.resp").disconnect("next"))
good("retried under a new login", lambda: Conversation().connect().drop("resp1", "resp2", "resp3").again("plogi", ox_id=0x0F01)
     .connect(True, "again.", CONNECTION_ID + 1).message("m", 10))
good("a lost login leaves what was before", lambda: one(UNRELIABLE).again("plogi", ox_id=0x0F01, comment="fault: lost")
     .again("plogi", ox_id=0x0F02, crc_error=True).message("n", 10))
good("what a comment says is not always that it was lost", lambda: long(UNRELIABLE).set("m.1", comment="fault: delayed by 1 ms").set(
    "m.2", comment="losing").set("m.3", comment="waits: bob takes no frames now"))


good("a set-up in several frames", lambda: connected().split("rqst").split("resp1").message("m", 10).disconnect())


def lost(talk: Conversation, name: str, comment: str) -> Conversation:
    return talk.set(name, comment=comment)


GAP = "4 frames are missing before this one: they came faster than they were written"


def behind_gap(talk: Conversation, name: str) -> Conversation:
    return talk.set(name, missing=4)


# ---- behind a gap all may be: other set-ups, Disconnects, messages
good("a gap in a message", lambda: behind_gap(long(UNRELIABLE).drop("m.1", "m.2"), "m.3").message("n", 10))
good("a gap in a Read", lambda: behind_gap(connected().read("r", 5000).drop("r.resp.1", "r.resp.2"), "r.resp.3").message("m", 10))
good("a gap before an answer", lambda: behind_gap(connected().message("m", 10).message("n", 10).drop("n.0"), "n.resp").message("o", 10))
good("messages in a gap", lambda: behind_gap(one().message("n", 10).message("o", 10).drop("n.0", "n.resp"), "o.0").disconnect(last_msg=2))
good("a set-up in a gap", lambda: behind_gap(connected().drop("rqst", "resp1", "resp2", "resp3").message("m", 10), "m.0").disconnect())
good("a part of a set-up in a gap", lambda: behind_gap(connected().drop("resp1"), "resp2").message("m", 10))
good("a first try in a gap", lambda: behind_gap(Conversation().connect(True), "rqst").message("m", 10))
good("a Disconnect's request in a gap", lambda: behind_gap(connected().disconnect().drop("discon"), "discon.resp"))
good("another port has the handle behind a gap", lambda: behind_gap(one(UNRELIABLE).message("n", 10).set("n.0", s_id=0x010300), "n.0"))
good("another connection of another level has the handle behind a gap", lambda: at_level(behind_gap(connected(RELIABLE, flags=0).message(
    "m", 10), "m.0"), RECEPTION).message("n", 10, WRITE_RQST).read("r", 10))
good("answers open behind a gap", lambda: behind_gap(connected(depth=0).message("m", 10, answer=False).message("n", 10), "n.0"))
good("the fabric's words of a gap", lambda: long(UNRELIABLE).drop("m.1", "m.2").set("m.3", comment=GAP).message("n", 10))
good("the fabric's words of a gap before a frame that waits", lambda: long(UNRELIABLE).drop("m.1").set(
    "m.2", comment=GAP + "; delayed: waited 3.000 ms until bob took it"))


def at_level(talk: Conversation, level: int) -> Conversation:
    talk.level = level
    return talk


def wrapped() -> Conversation:
    talk = connected(UNRELIABLE, login=False).drop("rqst", "resp1", "resp2", "resp3")
    talk.sent[CLIENT] = 0xFFFFFFFE
    talk.message("m", 10)
    talk.sent[CLIENT] = -1
    return talk.message("n", 10)


# ---- one frame
case("opcode 07h", "unknown_opcode", lambda: in_header(one(UNRELIABLE), "m.0", 4, ">B", 0x07))
case("opcode 11h", "unknown_opcode", lambda: in_header(one(UNRELIABLE), "m.0", 4, ">B", 0x11))
case("cut within the Device_Header", "truncated", lambda: one(UNRELIABLE).change(
    "m.0", lambda frame: replace(frame, payload=b"", device=frame.device[:20])))
case("cut before the opcode", "truncated", lambda: one(UNRELIABLE).change(
    "m.0", lambda frame: replace(frame, payload=b"", device=frame.device[:4])))
case("DF_CTL of 16 bytes in a Send", "wrong_device_header", lambda: one(UNRELIABLE).set("m.0", df_ctl=1))
case("DF_CTL of 32 bytes in a response", "wrong_device_header", lambda: one().set("m.resp", df_ctl=2))
case("DF_CTL without a Device_Header", "wrong_device_header", lambda: one(UNRELIABLE).set("m.0", df_ctl=0))
case("R_CTL of a Send", "wrong_r_ctl", lambda: one(UNRELIABLE).set("m.0", r_ctl=0x04))
case("R_CTL of a connect request", "wrong_r_ctl", lambda: connected().set("rqst", r_ctl=0x03))
case("R_CTL of a Read request", "wrong_r_ctl", lambda: connected().read("r", 100).set("r", r_ctl=0x01))
case("reserved bits of word 1", "reserved_bits", lambda: in_header(one(UNRELIABLE), "m.0", 6, ">H", 1))
case("reserved flag of a Send", "reserved_bits", lambda: flags(one(UNRELIABLE), "m.0", 0x80))
case("reserved flag of a response", "reserved_bits", lambda: flags(one(), "m.resp", 0x10))
case("reserved flag of a connect request", "reserved_bits", lambda: flags(connected(), "rqst", 0x81))
case("CONN_INFO in a RESP2", "reserved_bits", lambda: flags(connected(), "resp2", 0x02))
case("reserved flag of a Disconnect", "reserved_bits", lambda: flags(connected().disconnect(), "discon", 0x0A))
case("FCVI_PARAMETER without IMM_DATA", "reserved_bits", lambda: in_header(one(UNRELIABLE), "m.0", 12, ">I", 5))
case("FCVI_PARAMETER in a response", "reserved_bits", lambda: in_header(one(), "m.resp", 12, ">I", 5))
case("FCVI_PARAMETER in a connect request", "reserved_bits", lambda: in_header(connected(), "rqst", 12, ">I", 5))
case("IMM_DATA in a Read request", "reserved_bits", lambda: flags(connected().read("r", 100), "r", 1))
case("FCVI_RMT_VA in a Send", "reserved_bits", lambda: in_header(one(UNRELIABLE), "m.0", 16, ">Q", 4096))
case("FCVI_RMT_VA_HANDLE in a Disconnect", "reserved_bits", lambda: in_header(connected().disconnect(), "discon", 24, ">I", 1))
case("FCVI_MSG_ID in a set-up", "reserved_bits", lambda: in_header(connected(), "resp3", 8, ">I", 1))
case("first byte of a connection status", "reserved_bits", lambda: in_header(connected().disconnect(), "discon.resp", 12, ">I", 0x014B0000))
case("reserved word of a connect payload", "reserved_bits", lambda: in_payload(connected(), "rqst", 0, ">I", 1))
case("reserved bits before HOST_ADD_LEN", "reserved_bits", lambda: in_payload(connected(), "resp1", 12, ">H", 1))
case("reserved FCVI_ATTR_FLAGS", "reserved_bits", lambda: in_payload(connected(), "rqst", 308 + 3, ">B", 0x07))
case("last word of the attributes", "reserved_bits", lambda: in_payload(connected(), "rqst", 336, ">I", 9))
case("a Send of the responder", "wrong_f_ctl", lambda: f_ctl(connected(UNRELIABLE).message("m", 10), "m.0", RESPONDER))
case("a connect request without Sequence Initiative", "wrong_f_ctl", lambda: f_ctl(connected(), "rqst", clear=INITIATIVE))
case("a RESP1 without Sequence Initiative", "wrong_f_ctl", lambda: f_ctl(connected(), "resp1", clear=INITIATIVE))
case("a RESP3 without Last_Sequence", "wrong_f_ctl", lambda: f_ctl(connected(), "resp3", clear=LAST))
case("a response without Last_Sequence", "wrong_f_ctl", lambda: f_ctl(one(), "m.resp", clear=LAST))
case("a Read request without Sequence Initiative", "wrong_f_ctl", lambda: f_ctl(connected().read("r", 100), "r", clear=INITIATIVE))
case("a Disconnect's answer without End_Sequence", "wrong_f_ctl", lambda: f_ctl(connected().disconnect(), "discon.resp", clear=END))
case("data without a relative offset", "wrong_f_ctl", lambda: f_ctl(one(UNRELIABLE), "m.0", clear=OFFSET))
case("Last_Sequence where a response is owed", "wrong_f_ctl", lambda: f_ctl(one(), "m.0", LAST, INITIATIVE))
case("Sequence Initiative where there is no response", "wrong_f_ctl", lambda: f_ctl(one(RELIABLE), "m.0", INITIATIVE, LAST))
case("the last bytes, but not the last frame", "wrong_f_ctl", lambda: f_ctl(one(UNRELIABLE), "m.0", clear=LAST | END))
case("a Send without First_Sequence", "wrong_f_ctl", lambda: f_ctl(one(UNRELIABLE), "m.0", clear=FIRST))
case("First_Sequence in a response", "wrong_f_ctl", lambda: f_ctl(one(), "m.resp", FIRST))
case("Last_Sequence in a connect request", "wrong_f_ctl", lambda: f_ctl(connected(), "rqst", LAST))
case("data behind a response", "wrong_payload_length", lambda: one().set("m.resp", payload=bytes(8)))
case("data behind a RESP2", "wrong_payload_length", lambda: connected().set("resp2", payload=bytes(4)))
case("data behind a Read request", "wrong_payload_length", lambda: connected().read("r", 100).set("r", payload=bytes(64)))
case("data behind a Disconnect", "wrong_payload_length", lambda: connected().disconnect().set("discon", payload=bytes(4)))
case("a short connect payload", "wrong_payload_length", lambda: Conversation().connect().drop("resp1", "resp2", "resp3").change(
    "rqst", lambda frame: replace(frame, payload=frame.payload[:336])))
case("CONN_INFO without the info", "wrong_payload_length", lambda: flags(
    Conversation().connect().drop("resp1", "resp2", "resp3"), "rqst", 0x09))
case("info without CONN_INFO", "wrong_payload_length", lambda: Conversation().connect().drop("resp1", "resp2", "resp3").change(
    "rqst", lambda frame: replace(frame, payload=frame.payload + bytes(256))))
case("a message shorter than FCVI_TOT_LEN", "wrong_payload_length", lambda: one(UNRELIABLE).change(
    "m.0", lambda frame: replace(frame, payload=frame.payload[:96])))
case("data in a Read that failed", "wrong_payload_length", lambda: flags(connected().read("r", 100), "r.resp.0", 0x05))
case("RESP_ERR without a cause", "wrong_error_flags", lambda: flags(one(), "m.resp", 0x01))
case("a cause without RESP_ERR", "wrong_error_flags", lambda: flags(one(), "m.resp", 0x08))
case("reason code 00h", "wrong_reason", lambda: in_header(flags(connected().disconnect(), "discon", 3), "discon", 12, ">I", 0))
case("reason code 4Ch", "wrong_reason", lambda: connected().disconnect(response_status=0x4C0000))
case("a set-up's reason in a Disconnect", "wrong_reason", lambda: connected().disconnect(response_status=0x040000))
case("a Disconnect's reason in a RESP1", "wrong_reason", lambda: in_payload(in_header(flags(
    Conversation().connect().drop("resp2", "resp3"), "resp1", 1), "resp1", 12, ">I", 0x400000), "resp1", 8, ">I", UNASSIGNED))
case("a reserved explanation", "wrong_reason", lambda: connected().disconnect(response_status=0x4B0100))
case("CONN_MODE 0", "wrong_mode", lambda: flags(connected(), "rqst", 0))
case("CONN_MODE 3", "wrong_mode", lambda: flags(connected(), "rqst", 3))
case("FCVI_REVISION 2", "wrong_revision", lambda: in_payload(connected(), "rqst", 6, ">H", 2))
case("HOST_ADD_LEN 4", "wrong_address", lambda: in_payload(connected(), "rqst", 14, ">B", 4))
case("DISCRIM_LEN 15", "wrong_address", lambda: in_payload(connected(), "rqst", 163, ">B", 15))
case("DISCRIM_LEN 129", "wrong_address", lambda: in_payload(connected(), "resp1", 15, ">B", 129))
case("FCVI_RELIABILITY_LVL 0", "wrong_level", lambda: in_payload(Conversation().connect().drop("resp1", "resp2", "resp3"), "rqst",
                                                                 310, ">B", 0))
case("FCVI_RELIABILITY_LVL 4", "wrong_level", lambda: in_payload(Conversation().connect().drop("resp1", "resp2", "resp3"), "rqst",
                                                                 310, ">B", 4))
case("FCVI_PREF 40h", "wrong_qos", lambda: in_payload(connected(), "rqst", 316, ">B", 0x40))
case("a bandwidth", "wrong_qos", lambda: in_payload(connected(), "resp1", 320, ">I", 1000000))
case("PREF that was not announced", "wrong_preference", lambda: one(UNRELIABLE).set("m.0", cs_ctl=0x80))
case("PREF announced and not used", "wrong_preference", lambda: one(UNRELIABLE, pref=0x80))

case("PREF in a set-up", "wrong_preference", lambda: connected(pref=0x80).set("resp3", cs_ctl=0x80))
case("PREF in a response that was not announced", "wrong_preference", lambda: one().set("m.resp", cs_ctl=0x80))
case("PREF announced and not used in a Read response", "wrong_preference", lambda: connected(pref=0x80).read("r", 100).set("r", cs_ctl=0x80))
case("three faults of one frame", {"wrong_r_ctl", "reserved_bits", "unknown_handle"}, lambda: in_header(in_header(
    one(UNRELIABLE).set("m.0", r_ctl=0x04), "m.0", 6, ">H", 1), "m.0", 0, ">I", 99))

# ---- set-up and Disconnect
case("a frame of a connect request is missing", "seq_cnt_gap", lambda: connected().split("rqst").drop("rqst.1").message("m", 10))
case("the last frame of a connect request is missing", "seq_cnt_gap", lambda: connected().split("rqst").drop("rqst.2").message("m", 10))
case("a frame of a RESP1 is missing", "seq_cnt_gap", lambda: connected().split("resp1").drop("resp1.1").message("m", 10))
case("the relative offset of a connect request jumps", "offset_gap", lambda: connected().split("rqst").set(
    "rqst.1", parameter=132).message("m", 10))
case("SEQ_ID changes within a connect request", "wrong_seq_id", lambda: connected().split("rqst").set("rqst.1", seq_id=99))
case("SEQ_CNT of a RESP2", "seq_cnt_gap", lambda: connected().set("resp2", seq_cnt=7))
case("SEQ_CNT of a Disconnect", "seq_cnt_gap", lambda: connected().disconnect().set("discon", seq_cnt=4))
case("a RESP1 with a discriminator of another length", "wrong_answer", lambda: in_payload(connected(), "resp1", 15, ">B", 17))
case("RETRY in a RESP1 only", "wrong_retry", lambda: flags(connected(), "resp1", 4))
case("RETRY in a RESP2 only", "wrong_retry", lambda: flags(connected(), "resp2", 4))
case("RETRY in a RESP3 only", "wrong_retry", lambda: flags(connected(), "resp3", 4))
case("RETRY missing in a RESP1", "wrong_retry", lambda: flags(
    Conversation().connect().drop("resp2", "resp3").connect(True, "again.", CONNECTION_ID + 1), "again.resp1", 0))
case("RETRY missing in a second try", "wrong_retry", lambda: Conversation().connect().drop("resp2", "resp3").connect(
    False, "again.", CONNECTION_ID + 1))
case("RETRY in the first try", "wrong_retry", lambda: Conversation().connect(True))
case("the same FCVI_CONNECTION_ID in a second try", "wrong_connection_id", lambda: Conversation().connect().drop(
    "resp2", "resp3").connect(True, "again."))
case("FCVI_CONNECTION_ID of a RESP1", "wrong_connection_id", lambda: in_header(connected(), "resp1", 28, ">I", 7))
case("FCVI_CONNECTION_ID of a RESP3", "wrong_connection_id", lambda: in_header(connected(), "resp3", 28, ">I", 7))
case("FCVI_CONNECTION_ID FFFFFFFFh", "wrong_connection_id", lambda: Conversation().connect(connection_id=UNASSIGNED))
case("FCVI_CONNECTION_ID of a Disconnect", "wrong_connection_id", lambda: in_header(in_header(
    connected().disconnect(), "discon", 28, ">I", 7), "discon.resp", 28, ">I", 7))
case("FCVI_CONNECTION_ID of a Disconnect's answer", "wrong_connection_id", lambda: in_header(
    connected().disconnect(), "discon.resp", 28, ">I", 7))
case("FCVI_HANDLE in a connect request", "wrong_handle", lambda: in_header(connected(), "rqst", 0, ">I", 1))
case("FCVI_HANDLE in a RESP1", "wrong_handle", lambda: in_header(connected(), "resp1", 0, ">I", 1))
case("FCVI_HANDLE of a RESP2", "wrong_handle", lambda: in_header(connected(), "resp2", 0, ">I", 1))
case("FCVI_HANDLE of a RESP3", "wrong_handle", lambda: in_header(connected(), "resp3", 0, ">I", 1))
case("FCVI_RQST_HANDLE is unassigned", "wrong_handle", lambda: in_payload(
    Conversation().connect().drop("resp1", "resp2", "resp3"), "rqst", 8, ">I", UNASSIGNED))
case("accepted without a handle", "wrong_handle", lambda: in_payload(
    Conversation().connect().drop("resp2", "resp3"), "resp1", 8, ">I", UNASSIGNED))
case("refused with a handle", "wrong_handle", lambda: in_header(flags(
    Conversation().connect().drop("resp2", "resp3"), "resp1", 1), "resp1", 12, ">I", 0x040000))
case("a message to FFFFFFFFh", "wrong_handle", lambda: in_header(one(UNRELIABLE), "m.0", 0, ">I", UNASSIGNED))
case("FCVI_HANDLE of a response", "wrong_handle", lambda: in_header(one(), "m.resp", 0, ">I", 1))
case("FCVI_HANDLE of a Disconnect's answer", "wrong_handle", lambda: in_header(connected().disconnect(), "discon.resp", 0, ">I", 1))
case("a RESP1 with other addresses", "wrong_answer", lambda: connected().change(
    "resp1", lambda frame: frame.in_payload(12, "148s", address(b"\x0a\0\0\3", b"service"))))
case("a RESP1 with another discriminator", "wrong_answer", lambda: connected().change(
    "resp1", lambda frame: frame.in_payload(12, "148s", address(b"\x0a\0\0\2", b"other"))))
case("accepted with another reliability level", "wrong_answer", lambda: in_payload(connected(), "resp1", 310, ">B", RELIABLE))
case("VI_APP_DISCON of a Disconnect's answer", "wrong_answer", lambda: connected().disconnect(response_flags=1))
case("FCVI_MSG_ID of a response", "wrong_answer", lambda: in_header(one(), "m.resp", 8, ">I", 9))
case("FCVI_RMT_VA of a Read response", "wrong_answer", lambda: in_header(connected().read("r", 100), "r.resp.0", 16, ">Q", 1))
case("FCVI_RMT_VA_HANDLE of a Read response", "wrong_answer", lambda: in_header(connected().read("r", 100), "r.resp.0", 24, ">I", 1))
case("a message to an unknown handle", "unknown_handle", lambda: in_header(one(UNRELIABLE), "m.0", 0, ">I", 99))
case("a message before any set-up", "unknown_handle", lambda: Conversation(UNRELIABLE).message("m", 10))
case("a Disconnect of an unknown handle", "unknown_handle", lambda: in_header(
    connected().disconnect().drop("discon.resp"), "discon", 0, ">I", 99))
case("a message of another port's connection", "unknown_handle", lambda: one(UNRELIABLE).set("m.0", s_id=0x010300))
case("a message of before a new login", "unknown_handle", lambda: one(UNRELIABLE).again("plogi", ox_id=0x0F01).message("n", 10))
case("a response without a request", "no_request", lambda: one().set("m.resp", ox_id=0x7777))
case("a Write response to a Send", "no_request", lambda: in_header(one(), "m.resp", 4, ">B", WRITE_RESP))
case("a RESP1 without a request", "no_request", lambda: Conversation().connect().drop("rqst", "resp2", "resp3"))
case("a RESP2 without a RESP1", "no_request", lambda: Conversation().connect().drop("resp1", "resp3"))
case("a RESP3 without a RESP2", "no_request", lambda: Conversation().connect().drop("resp2"))
case("a Disconnect's answer without a request", "no_request", lambda: connected().disconnect().drop("discon"))
case("a Read response without a request", "no_request", lambda: connected().read("r", 100).drop("r"))
case("answered twice", "repeated_answer", lambda: one().again("m.resp", seq_id=99))
case("RESP1 twice", "repeated_answer", lambda: connected().again("resp1", seq_id=99))
case("RESP2 twice", "repeated_answer", lambda: connected().again("resp2", seq_id=99))
case("a Disconnect answered twice", "repeated_answer", lambda: connected().disconnect().again("discon.resp", seq_id=99))
case("a message after the sender's Disconnect", "after_disconnect", lambda: connected(UNRELIABLE).disconnect().message("m", 10))
case("a message after the answer to a Disconnect", "after_disconnect",
     lambda: connected(UNRELIABLE).disconnect().message("m", 10, port=SERVER))

# ---- messages
case("a frame is missing", "seq_cnt_gap", lambda: long(UNRELIABLE).drop("m.2"))
case("the first frame is missing", "seq_cnt_gap", lambda: long(UNRELIABLE).drop("m.0"))
case("two frames changed places", "seq_cnt_gap", lambda: long(UNRELIABLE).move("m.1", "m.2"))
case("a frame of a Read is missing", "seq_cnt_gap", lambda: connected().read("r", 5000).drop("r.resp.2"))
case("SEQ_CNT begins at 5", "seq_cnt_gap", lambda: one(UNRELIABLE).set("m.0", seq_cnt=5))
case("the relative offset jumps", {"offset_gap", "beyond_length"}, lambda: long(UNRELIABLE).set("m.4", parameter=4100))
case("the relative offset goes back", "offset_gap", lambda: connected(UNRELIABLE).message("m", 5120).set("m.2", parameter=1024))
case("the relative offset begins at 100", {"offset_gap", "beyond_length"}, lambda: one(UNRELIABLE).set("m.0", parameter=100))
case("the relative offset of a Read jumps", "offset_gap", lambda: connected().read("r", 5000).set("r.resp.2", parameter=2000))
case("SEQ_ID changes within a Sequence", "wrong_seq_id", lambda: long(UNRELIABLE).set("m.1", seq_id=77))
case("a message number is left out", "message_order", lambda: one(UNRELIABLE).message("n", 10).message("o", 10).drop("n.0"))
case("the first message is 2", "message_order", lambda: in_header(one(UNRELIABLE), "m.0", 8, ">I", 2))
case("message numbers go back", "message_order", lambda: one(UNRELIABLE).message("n", 10).again("m.0", ox_id=0x1800, seq_id=50))
case("two messages changed places", "message_order", lambda: one(UNRELIABLE).message("n", 10).move("m.0", "n.0"))
case("a message ends early", "message_incomplete", lambda: long(UNRELIABLE).message("n", 10).drop("m.3", "m.4"))
case("a message is incomplete after R_A_TOV", "message_incomplete", lambda: long(UNRELIABLE, in_order=False).message(
    "n", 10).drop("m.2").set("n.0", after=11.0))
case("FCVI_TOT_LEN changes within a message", "message_changed", lambda: in_header(long(UNRELIABLE), "m.2", 28, ">I", 6000))
case("FCVI_RMT_VA changes within a message", "message_changed", lambda: in_header(
    connected().message("m", 5000, WRITE_RQST), "m.1", 16, ">Q", 0x22000000))
case("FCVI_RMT_VA_HANDLE changes within a message", "message_changed", lambda: in_header(
    connected().message("m", 5000, WRITE_RQST), "m.3", 24, ">I", 8))
case("Immediate Data changes within a message", "message_changed", lambda: in_header(
    connected().message("m", 5000, immediate=1), "m.1", 12, ">I", 8))
case("data beyond FCVI_TOT_LEN", "beyond_length", lambda: one(UNRELIABLE).change(
    "m.0", lambda frame: replace(frame, payload=frame.payload + bytes(8))))
case("longer than the receiver takes", "too_large", lambda: one(UNRELIABLE, largest=64))
case("a Read at unreliable delivery", "not_allowed", lambda: connected(UNRELIABLE).read("r", 100))
case("a Read from an endpoint that takes none", "not_allowed", lambda: connected(RELIABLE, flags=2).read("r", 100))
case("a Write to an endpoint that takes none", "not_allowed", lambda: connected(RELIABLE, flags=1).message("m", 10, WRITE_RQST))
case("more open messages than the window", "window", lambda: connected(depth=1).message("m", 10, answer=False).message(
    "n", 10, answer=False).message("o", 10, answer=False))
case("a response at reliable delivery", "unexpected_response", lambda: answered_at(RELIABLE))
case("a response at unreliable delivery", "unexpected_response", lambda: answered_at(UNRELIABLE))
case("a response before the message ends", "early_response", lambda: long().move("m.resp", "m.2"))
case("a Disconnect with a message that was not answered", "early_completion",
     lambda: connected().message("m", 10, answer=False).disconnect(last_msg=1))
case("a Disconnect with a message that never was", "early_completion", lambda: one().disconnect(last_msg=40))

# ---- frames that their receiver discards, or never had: what follows shows the gap
case("a damaged frame of a message", "seq_cnt_gap", lambda: long(UNRELIABLE).set("m.2", crc_error=True))
case("a damaged first frame of a message", "seq_cnt_gap", lambda: long(UNRELIABLE).set("m.0", crc_error=True))
case("a damaged message", "message_order", lambda: one(UNRELIABLE).message("n", 10).message("o", 10).set("n.0", crc_error=True))
case("a damaged frame of a Read", "seq_cnt_gap", lambda: connected().read("r", 5000).set("r.resp.2", crc_error=True))
case("a damaged connect request", "no_request", lambda: connected().set("rqst", crc_error=True).drop("resp2", "resp3"))
case("a damaged RESP1", "no_request", lambda: connected().set("resp1", crc_error=True).drop("resp3"))
case("a damaged response", "window", lambda: connected(depth=0).message("m", 10).message("n", 10).set("m.resp", crc_error=True))
case("a damaged Disconnect", "no_request", lambda: connected().disconnect().set("discon", crc_error=True))
case("damaged beyond understanding", "message_order", lambda: in_header(
    one(UNRELIABLE).message("n", 10).set("m.0", crc_error=True), "m.0", 0, ">I", 0x12345678))
case("a lost frame of a message", "seq_cnt_gap", lambda: lost(long(UNRELIABLE), "m.2", "fault: lost"))
case("a discarded frame of a message", "seq_cnt_gap", lambda: lost(
    long(UNRELIABLE), "m.2", "discarded by the fabric, HeldTooLong: the port that it goes to takes no frames (bob)"))
case("a lost message", "message_order", lambda: lost(one(UNRELIABLE).message("n", 10).message("o", 10), "n.0", "lost: a"))
case("a response to a lost message", "no_request", lambda: lost(one(), "m.0", "fault: lost: partition"))
case("a lost frame behind a gap", "seq_cnt_gap", lambda: behind_gap(long(UNRELIABLE), "m.0").set(
    "m.2", comment="fault: lost"))
case("a frame missing behind a gap", "seq_cnt_gap", lambda: behind_gap(long(UNRELIABLE).drop("m.3"), "m.1"))


def needs_crc(talk: Conversation) -> bool:
    """Link type 224 has none."""
    return any(frame.crc_error for frame in talk.list())


def with_direction(talk: Conversation, outbound: bool) -> Conversation:
    for name in talk.frames:
        talk.set(name, outbound=outbound)
    return talk


def answered_at(level: int) -> Conversation:
    talk = one(level)
    talk.respond("m", SEND_RESP, CLIENT, talk.ox_ids[CLIENT], 1)
    return talk
