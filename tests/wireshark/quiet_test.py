#!/usr/bin/env python3
"""Where nobody asks for more than the line of a frame, the plugin keeps only the headers of short messages (track_short.lua). What is
wrong among them is found all the same: conversations of short messages, each changed in one place, give the same lines and the same
expert items as where the fields are asked for, and in a second pass the same fields.

usage: quiet_test.py PLUGIN
"""

import sys
from dataclasses import replace
from pathlib import Path

import capture_file
from conversation import CLIENT, RECEPTION, SERVER, UNRELIABLE, WRITE_RQST, Conversation
from tshark import Tshark, skip_without_tshark, workspace

LINK_TYPES = (capture_file.ETHERNET, capture_file.FC_WITH_DELIMITERS, capture_file.FC)
SHORT = 8  # messages of each direction
FIELDS = ["frame.number", "fcvi.connection", "fcvi.connection.open", "fcvi.connection.level", "fcvi.msg_id", "fcvi.message.frames",
          "fcvi.message.bytes", "fcvi.message.frame", "fcvi.message.complete", "fcvi.request_in", "fcvi.response_in", "fcvi.time",
          "fcvi.same_frame", "fcvi.aborts", "fcvi.violation"]


def short_messages(level, login=True) -> Conversation:
    """Requests of both ports, two open at a time; the last response comes before the Disconnect."""
    talk = Conversation(level=level, login=login)
    talk.connect()
    for port, name, opcode in ((CLIENT, "c", 0), (SERVER, "s", WRITE_RQST)):
        for i in range(SHORT):
            talk.message(f"{name}{i}", 64 if i < 4 else 61 + i % 4, opcode=opcode, port=port)
    if level == RECEPTION:
        for name in ("c", "s"):
            for i in range(0, SHORT - 1, 2):
                talk.move(f"{name}{i}.resp", after=f"{name}{i + 1}.0")
    talk.disconnect(last_msg=SHORT)
    return talk


def changed(level, name, **values):
    return short_messages(level).set(name, **values)


def device(level, name, offset, layout, *values):
    return short_messages(level).change(name, lambda frame: frame.device_header(offset, layout, *values))


def both_ends(level, late=0):
    """Each frame as sent and as received; the latter after `late` others."""
    talk = short_messages(level)
    sent = [replace(frame, outbound=True) for frame in talk.list()]
    received = [replace(frame, outbound=False) for frame in talk.list()]
    frames = []
    for i in range(len(sent) + late):
        frames += sent[i:i + 1] + (received[i - late:i - late + 1] if i >= late else [])
    return frames


def variants() -> dict:
    """name -> frames"""
    made = {}
    for level in (UNRELIABLE, RECEPTION):
        for login in (True, False):
            made[f"good {level} {login}"] = short_messages(level, login=login).list()
        made[f"begins later {level}"] = short_messages(level, login=False).list()[7:]
        made[f"both ends {level}"] = both_ends(level)
        made[f"both ends, late {level}"] = both_ends(level, 3)
        made[f"both ends, last {level}"] = both_ends(level, 40)
        names = [f"{who}{i}.0" for who in "cs" for i in (3, 5, 6)]
        if level == RECEPTION:
            names += [f"{who}{i}.resp" for who in "cs" for i in (3, 4, 5)]
        for name in names:
            other = name.replace("3.", "1.")
            made[f"without {name} {level}"] = short_messages(level).drop(name).list()
            made[f"{name} twice {level}"] = short_messages(level).again(name).list()
            made[f"{name} later {level}"] = short_messages(level).move(name, after="s7.0").list() if name[0] == "c" else []
            made[f"{name} CRC {level}"] = changed(level, name, crc_error=True).list()
            made[f"{name} EOF {level}"] = changed(level, name, eof=0x49).list()
            made[f"{name} lost {level}"] = changed(level, name, comment="fault: lost").list()
            made[f"{name} after missing {level}"] = changed(level, name, missing=3).list()
            made[f"{name} cut {level}"] = changed(level, name, snap=60).list()
            made[f"{name} SEQ_CNT {level}"] = changed(level, name, seq_cnt=3).list()
            made[f"{name} offset {level}"] = changed(level, name, parameter=16).list()
            made[f"{name} OX_ID {level}"] = changed(level, name, ox_id=0x1fff).list()
            made[f"{name} OX_ID of another {level}"] = changed(level, name, ox_id=short_messages(level).frames[other].ox_id).list()
            made[f"{name} CS_CTL {level}"] = changed(level, name, cs_ctl=0x80).list()
            made[f"{name} handle {level}"] = device(level, name, 0, ">I", 0x77).list()
            made[f"{name} flags {level}"] = device(level, name, 5, ">B", 0x04).list()
            made[f"{name} reserved {level}"] = device(level, name, 6, ">H", 1).list()
            made[f"{name} id {level}"] = device(level, name, 8, ">I", 77).list()
            made[f"{name} id before {level}"] = device(level, name, 8, ">I", 2).list()
            made[f"{name} parameter {level}"] = device(level, name, 12, ">I", 5).list()
            if name.endswith(".0"):
                made[f"{name} address {level}"] = device(level, name, 16, ">Q", 0x1234_0000_0000_5678).list()
                made[f"{name} length {level}"] = device(level, name, 28, ">I", 1000).list()
        disconnected = short_messages(level)
        made[f"disconnect before {level}"] = disconnected.move("discon", after="c5.0").list()
        made[f"two logins {level}"] = short_messages(level).list() * 2
        long = short_messages(level)
        long.message("long", 3000)
        made[f"long at the end {level}"] = long.list()
        made[f"long begins before {level}"] = long.move("long.0", after="s5.0").list()
    return {name: frames for name, frames in made.items() if frames}


def lines(tshark, capture, *options) -> list:
    return tshark.run(capture, "-z", "expert", *options).splitlines()


def shown_as_data(tshark, capture, *options) -> int:
    """Wireshark's dissector of data gets the payload of short messages, but only where nobody sees it."""
    quiet, asked = (tshark.run(capture, *options, "-Y", display).splitlines() for display in ("data", "data && (frame || fcvi)"))
    found = sorted(set(quiet) ^ set(asked))
    for line in found[:10]:
        print(f"{' '.join(options)} -Y data: in one of both: {line}")
    return len(found)


def main() -> int:
    skip_without_tshark()
    tshark, failures, all_variants = Tshark(sys.argv[1]), 0, variants()
    with workspace() as place:
        # All in one capture, one after the other (each has its login); the lines tell which one differs.
        for link_type in LINK_TYPES:
            frames, names = [], []
            for name, some in all_variants.items():
                frames += some
                names += [name] * len(some)
            capture = capture_file.write(Path(place) / "all.pcapng", frames, link_type)
            quiet, asked = lines(tshark, capture), lines(tshark, capture, "-Y", "frame || fcvi.violation")
            both = [("line", quiet, asked)]
            found = [tshark.fields(capture, FIELDS, "-2", display=display) for display in ("frame", "frame || fcvi.violation")]
            both.append(("fields", *found))
            for what, one, other in both:
                assert len(one) > len(frames) - 1, (what, len(one))
                for i in range(max(len(one), len(other))):
                    got, wanted = one[i] if i < len(one) else None, other[i] if i < len(other) else None
                    if got != wanted:
                        failures += 1
                        print(f"{names[i] if i < len(names) else 'expert items'}: {what} {i + 1}: {got}, asked for {wanted}")
            # Each conversation over one of the link types.
            some = [frames for at, frames in enumerate(all_variants.values()) if at % len(LINK_TYPES) == LINK_TYPES.index(link_type)]
            capture_file.write(capture, sum(some, []), link_type)
            failures += shown_as_data(tshark, capture) + shown_as_data(tshark, capture, "-2", "-R", "frame")
            print(f"link type {link_type}: {len(all_variants)} conversations, {len(frames)} frames, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
