#!/usr/bin/env python3
"""What a capture does not have is unknown, and not wrong: frames that a snap length cuts, a begin within a message, a program that has
the N_Port_ID of one before. No violation and no error in the plugin, however many frames there are.

usage: cut_test.py PLUGIN
"""

import sys
from dataclasses import replace
from pathlib import Path

import capture_file
from conversation import CLIENT, UNRELIABLE, Conversation
from merged import merged
from tshark import Tshark, skip_without_tshark, workspace

FIELDS = ["frame.number", "fcvi.iu", "fcvi.violation", "fcvi.same_frame", "_ws.lua.error", "_ws.expert.message"]
LINK_TYPES = (capture_file.ETHERNET, capture_file.FC, capture_file.FC_WITH_DELIMITERS)
SNAP_LENGTHS = (1, 13, 20, 30, 48, 52, 60, 68, 80, 96, 128, 256, 400, 600)
ENOUGH = 250  # frames: Lua has 200 calls of C within each other, and each error must not leave one behind


def talk() -> list:
    return Conversation().connect().message("m", 5000).read("r", 3000).message("n", 10).disconnect().list()


def both_ends(frame) -> list:
    return [replace(frame, outbound=True), replace(frame, outbound=False)]


class Test:
    def __init__(self, plugin: str, place):
        self.tshark, self.path, self.failures = Tshark(plugin), Path(place) / "c.pcapng", 0

    def check(self, name: str, frames, *arguments, **more) -> list:
        """The frames' rows; none may have a violation."""
        rows = self.tshark.fields(capture_file.write(self.path, frames, **more), FIELDS, *arguments)
        wrong = [row for row in rows if row["fcvi.violation"] or row["_ws.lua.error"]]
        self.expect(name, len(rows) == len(frames) and not wrong, wrong[:2])
        return rows

    def expect(self, name: str, is_good: bool, about) -> None:
        if not is_good:
            self.failures += 1
            print(f"{name}: {about}")


def cut(test: Test) -> None:
    for link_type in LINK_TYPES:
        frames, _ = merged({snap: [replace(frame, snap=snap) for frame in talk()] for snap in SNAP_LENGTHS})
        test.check(f"cut at {SNAP_LENGTHS}, link type {link_type}", frames, link_type=link_type)


def many(test: Test) -> None:
    """Frames that are cut, and then whole ones."""
    plogi, good = Conversation().frames["plogi"], talk()
    ius = sum(frame.type == 0x58 for frame in good)
    frames, places = merged({snap: [replace(plogi, ox_id=at, snap=snap) for at in range(ENOUGH)] + good for snap in (13, 30, 60, 100)})
    for link_type in LINK_TYPES:
        for arguments in ((), ("-2", "-o", "fc.reassemble:TRUE")):
            rows = test.check(f"{ENOUGH} frames that are cut, link type {link_type} {arguments}", frames, *arguments, link_type=link_type)
            for snap, place in places.items():
                decoded = sum(len(row["fcvi.iu"]) for row in rows[place][ENOUGH:])
                test.expect(f"behind {ENOUGH} frames cut at {snap}, link type {link_type} {arguments}", decoded == ius,
                            f"{decoded} of {ius} FC-VI frames are decoded")


def programs(test: Test) -> None:
    """Two, with the same ids, one after the other."""
    one = Conversation(UNRELIABLE).connect().message("m", 5000).list()
    for name, frames in (("one end", [replace(frame, outbound=frame.s_id == CLIENT) for frame in one]), ("untold", one),
                         ("both ends", [copy for frame in one for copy in both_ends(frame)])):
        rows = test.check(f"two programs, {name}", frames * 2)
        across = [row for row in rows[len(frames):] if row["fcvi.same_frame"] and int(row["fcvi.same_frame"][0]) <= len(frames)]
        test.expect(f"two programs, {name}", not across, across[:2])


def late_receiver(test: Test) -> None:
    """Both ends, from the middle of a message on: its receiver has the first frame when its sender has left the third."""
    talk = Conversation(UNRELIABLE, login=False).connect().message("m", 5000).message("n", 10)
    data = [talk.frames[f"m.{at}"] for at in range(5)] + [talk.frames["n.0"]]
    frames = []
    for at, frame in enumerate(data):
        frames.append(replace(frame, outbound=False))
        if at + 3 < len(data):
            frames.append(replace(data[at + 3], outbound=True))
    test.check("late receiver", frames)


def set_ups_of_high_ports(test: Test) -> None:
    """Two at a time, whose handles differ in the last bit."""
    high, made = {CLIENT: 0xEF0101, 0x010200: 0xEF0200}, []
    for handle in (0x0A, 0x0B):
        talk = Conversation(UNRELIABLE, login=handle == 0x0A)
        talk.ox_ids[CLIENT] += handle
        made.append(talk.connect(client=handle, server=handle + 16, connection_id=0x100 + handle).list())
    frames = made[0][:4] + made[1][:1] + made[0][4:] + made[1][1:]
    test.check("high N_Port_IDs", [replace(frame, s_id=high.get(frame.s_id, frame.s_id), d_id=high.get(frame.d_id, frame.d_id))
                                   for frame in frames])


def main() -> int:
    skip_without_tshark()
    with workspace() as place:
        test = Test(sys.argv[1], place)
        for check in (cut, many, programs, late_receiver, set_ups_of_high_ports):
            check(test)
    print(f"{test.failures} failures")
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
