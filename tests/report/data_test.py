#!/usr/bin/env python3
"""What a report holds, without a browser: the same bytes each time; of each frame the fields that decode prints, at places
where the bytes have their values; a failed expectation with what was seen.

usage: data_test.py FCVI_SIM SOURCE_DIR
"""

import base64
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import machine_owners  # noqa: E402

SIMULATOR, SOURCE = "", Path()


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text), -15) if text else b""


def lists_of(piece: dict) -> list:
    """[shape, values...] of each list: the values stand by shape and field."""
    taken, out = {}, []
    for shape in piece["shapes"]:
        at = taken.get(shape, 0)
        taken[shape] = at + 1
        out.append([shape, *(column[at] for column in piece["columns"][str(shape)])])
    return out


def numbers_of(piece: str) -> list:
    """The lists of each frame: nothing stands for the next new one, whose number comes first in the piece."""
    first, *lines = piece.splitlines()
    new = itertools.count(int(first))
    return [[int(number) if number else next(new) for number in line.split(",")] for line in lines]


def frames_of(pieces: list, lengths: list) -> list:
    """The bytes of each frame: to its first 64 those of the frame before it in the piece that is as long are added."""
    out = []
    for k, piece in enumerate(pieces):
        before, at = {}, 0
        for length in lengths[1000 * k:1000 * (k + 1)]:
            frame = bytearray(piece[at:at + length])
            for i, byte in enumerate(before.get(length, b"")[:64]):
                frame[i] = (frame[i] + byte) % 256
            before[length] = bytes(frame)
            out.append(bytes(frame))
            at += length
        assert at == len(piece), (k, at, len(piece))
    return out


class Data:
    """The data of a page, taken apart as its scripts do."""

    def __init__(self, path: Path):
        self.page = path.read_text(encoding="utf-8")
        self.head, self.frames = json.loads(self.element("head")), json.loads(unpacked(self.element("frames")))
        for column in ("number", "text"):
            self.frames[column] = list(itertools.accumulate(self.frames[column]))
        self.lists = [one for piece in self.pieces("field_lists") for one in lists_of(json.loads(piece))]
        self.of_frames = [line for piece in self.pieces("lists_of_frames") for line in numbers_of(piece.decode())]
        self.bytes = frames_of(self.pieces("bytes"), self.frames["kept"])
        self.rows, self.series = (json.loads(unpacked(self.element(name)) or "null") for name in ("rows", "series"))

    def pieces(self, name: str) -> list:
        return [unpacked(line) for line in self.element(name).splitlines()]

    def element(self, name: str) -> str:
        return re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', self.page, re.DOTALL).group(1)

    def __len__(self):
        return len(self.frames["number"])

    def frame_bytes(self, i: int) -> bytes:
        return self.bytes[i]

    def fields(self, i: int) -> list:
        """(path, value, offset, bytes, mask) of each field, from the outside to the inside."""
        out = []
        for number in self.of_frames[i]:
            shape, *values = self.lists[number]
            values = iter(values)

            def walk(field, path):
                name, offset, size, mask, below = (*field, *[0, 0, 0, []][len(field) - 1:])
                out.append((path + (name,), next(values), offset, size, mask))
                for one in below:
                    walk(one, path + (name,))
            walk(self.frames["shapes"][shape], ())
        return out


def sent_by_a_service_at(capture: bytes, message: bytes) -> bytes:
    """The capture, with a frame of the login server marked as seen where it left: the first that has those bytes."""
    at = 0
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        if kind == 6 and message in capture[at:at + size]:
            flags = capture.index(b"\x02\x00\x04\x00\x01\x00\x00\x00", at, at + size) + 4  # epb_flags: received
            return capture[:flags] + b"\x02" + capture[flags + 1:]
        at += size
    raise AssertionError(f"no frame with {message.hex()}")


def with_comments(capture: bytes, comments: dict) -> bytes:
    """The capture, with a comment at each record that `comments` names by its number, instead of its own."""
    out, at, record = b"", 0, 0
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        block = capture[at:at + size]
        record += kind == 6
        if kind == 6 and record in comments:
            kept = struct.unpack_from("<I", block, 20)[0]
            body = block[8:28 + kept + -kept % 4]
            text = comments[record].encode()
            body += struct.pack("<HH", 1, len(text)) + text + bytes(-len(text) % 4) + bytes(4)
            block = struct.pack("<II", 6, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
        out, at = out + block, at + size
    return out


def snapped(capture: bytes, records: list, length: int) -> bytes:
    """The capture, with those records cut to that many bytes."""
    out, at, record = b"", 0, 0
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        block = capture[at:at + size]
        record += kind == 6
        if kind == 6 and record in records:
            kept = struct.unpack_from("<I", block, 20)[0]
            options = block[28 + kept + -kept % 4:-4]
            body = block[8:20] + struct.pack("<I", length) + block[24:28 + length] + bytes(-length % 4) + options
            block = struct.pack("<II", 6, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
        out, at = out + block, at + size
    return out


LOST, FAULT, NOTE = 1, 2, 64


class ReportData(unittest.TestCase):
    def decode(self, capture: Path) -> list:
        lines = subprocess.run([SIMULATOR, "decode", "--json", capture], capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in lines.splitlines()]

    def report(self, capture: Path, *options, expect=0) -> Data:
        page = self.place / "of_capture.html"
        result = subprocess.run([SIMULATOR, "report", capture, "-o", page, *options], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, expect, result.stderr)
        return Data(page)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.place = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_scenario(self, name: str, *options, expect=0) -> Data:
        page = self.place / "page.html"
        result = subprocess.run([SIMULATOR, "run", SOURCE / "tools/scenarios" / name, "--report", page, *options],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, expect, result.stderr)
        return Data(page)

    def test_same_seed_same_bytes(self):
        """Two runs write the same page, and so do two reports of a capture."""
        pages = [self.run_scenario("first_connection.yaml", "--capture", self.place / "c.pcapng").page for _ in range(2)]
        self.assertEqual(pages[0], pages[1])
        made = []
        for name in ("a.html", "b.html"):
            subprocess.run([SIMULATOR, "report", self.place / "c.pcapng", "-o", self.place / name], check=True, stdout=subprocess.DEVNULL)
            made.append((self.place / name).read_bytes())
        self.assertEqual(made[0], made[1])

    def test_report_changes_no_capture(self):
        """A run with a report writes the capture that it writes without one."""
        self.run_scenario("first_connection.yaml", "--capture", self.place / "with.pcapng")
        subprocess.run([SIMULATOR, "run", SOURCE / "tools/scenarios/first_connection.yaml", "--capture", self.place / "without.pcapng"],
                       check=True, stdout=subprocess.DEVNULL)
        self.assertEqual((self.place / "with.pcapng").read_bytes(), (self.place / "without.pcapng").read_bytes())

    def test_fields_are_those_of_decode(self):
        """Each frame has the fields and values of decode --json; none is missing, none is added."""
        data = self.run_scenario("first_connection.yaml", "--capture", self.place / "c.pcapng")
        lines = subprocess.run([SIMULATOR, "decode", "--json", self.place / "c.pcapng"], capture_output=True, text=True, check=True).stdout
        decoded = {frame["frame"]: frame for frame in map(json.loads, lines.splitlines())}
        self.assertGreater(len(data), 20)
        for i, number in enumerate(data.frames["number"]):
            leaves = {}
            for path, value, *_ in data.fields(i):
                if path[0] != "Capture" and value:
                    leaves.setdefault(path[-1] or "text", []).append(value)
            wanted = {}

            def collect(name, value):
                if isinstance(value, dict):
                    for key, below in value.items():
                        collect(name if key == "value" else key, below)
                elif isinstance(value, list):
                    for one in value:
                        collect(name, one)
                else:
                    wanted.setdefault(name, []).append(value)
            collect("", decoded[number]["fields"])
            self.assertEqual({k: sorted(v) for k, v in leaves.items()}, {k: sorted(filter(None, v)) for k, v in wanted.items() if any(v)}, number)
            self.assertEqual(data.frames["texts"][data.frames["text"][i]], decoded[number]["summary"])

    def test_each_record_is_a_row_or_a_copy(self):
        """Of every figure and more: no record is left out, no violation that decode finds, and no comment. All expectations are told."""
        capture = self.place / "c.pcapng"
        names = sorted(path.relative_to(SOURCE / "tools/scenarios") for path in (SOURCE / "tools/scenarios/fc-vi").glob("figure-*.yaml"))
        names += [Path("first_connection.yaml"), Path("farp.yaml"), Path("peer_to_peer.yaml"), Path("two_paths.yaml")]
        repeated = 0
        for name in names:
            with self.subTest(name=name):
                data, records = self.run_scenario(name, "--capture", capture), self.decode(capture)
                self.assertEqual(data.frames["total"], len(records))
                self.assertEqual(len(data) + data.frames["copies"], len(records))
                self.assertEqual(data.frames["without_header"] + data.head["left_out"], 0)
                self.assertEqual(sum(verdict["conditions"] for verdict in data.head["verdicts"]), data.head["checked"])
                violations = {violation["name"] for record in records for violation in record.get("violations", [])}
                self.assertEqual({remark[1] for remark in data.frames["remarks"]} - {"fault", "note"}, violations)
                comments = {comment for record in records for comment in record.get("comments", [])}
                self.assertEqual({remark[2] for remark in data.frames["remarks"] if remark[1] in ("fault", "note")}, comments)
                repeated += "repeated_answer" in violations
        self.assertGreater(repeated, 0)

    def test_frames_of_services_are_not_taken_for_copies(self):
        """As in a capture of FCoE: one answer of the fabric is seen where it leaves, the others only where they arrive."""
        whole = self.place / "c.pcapng"
        self.run_scenario("first_connection.yaml", "--capture", whole)
        records = self.decode(whole)
        mixed = self.place / "mixed.pcapng"
        mixed.write_bytes(sent_by_a_service_at(whole.read_bytes(), bytes.fromhex("00fffffc01")))
        services = [record for record in records if record["s_id"] == "FFFFFC"]
        self.assertGreater(len(services), 4)
        data = self.report(mixed)
        self.assertEqual(len(data) + data.frames["copies"], len(records))
        shown = set(data.frames["number"])
        self.assertLessEqual({record["frame"] for record in services}, shown)
        drawn = subprocess.run([SIMULATOR, "ladder", mixed, "--text"], capture_output=True, text=True, check=True).stdout
        of_whole = subprocess.run([SIMULATOR, "ladder", whole, "--text"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sum("LS_ACC to PLOGI" in line for line in drawn.splitlines()), sum("LS_ACC to PLOGI" in line for line in of_whole.splitlines()))

    def test_each_fault_has_its_own_frames(self):
        """Three faults with the same words: each tells the frames that it hit, and no frame of another."""
        data = self.run_scenario("fc-vi/figure-B.1-class-2-reliable.yaml")
        rules = data.head["faults"]
        self.assertGreater(len(rules), len({rule["note"] for rule in rules}))
        hit = [[remark[0] for remark in data.frames["remarks"] if remark[1] == "fault" and remark[3] == k] for k in range(len(rules))]
        for rule, frames in zip(rules, hit):
            self.assertTrue(0 < len(frames) <= rule["times"], (rule, len(frames)))
        self.assertEqual(sum(map(len, hit)), sum(remark[1] == "fault" for remark in data.frames["remarks"]))
        self.assertEqual(len({frozenset(frames) for frames in hit}), len(rules))

    def test_comments_of_a_live_capture(self):
        """What fcvi-fabricd says of a frame: discarded and lost are faults, and the frame did not arrive; all else is a note."""
        whole = self.place / "c.pcapng"
        self.run_scenario("first_connection.yaml", "--capture", whole)
        first = [record["frame"] for record in self.decode(whole) if record["s_id"] == "010100" and record["direction"] == "sent"][:5]
        comments = dict(zip(first, ("delayed: waited 1.500 ms until bob took it", "discarded by the fabric, unroutable: no port has its D_ID; delayed",
                                    "lost: the link of bob went down", "losttoo", "way mark: message data are not here")))
        commented = self.place / "commented.pcapng"
        commented.write_bytes(with_comments(whole.read_bytes(), comments))
        data = self.report(commented)
        flags = [data.frames["flags"][data.frames["number"].index(number)] & (LOST | FAULT | NOTE) for number in first]
        self.assertEqual(flags, [NOTE, LOST | FAULT, LOST | FAULT, NOTE, NOTE])
        drawn = subprocess.run([SIMULATOR, "ladder", commented, "--text"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sum("x─" in line or "─x" in line for line in drawn.splitlines()), 2)

    def test_places_hold_the_values(self):
        """A field shown as a hexadecimal or decimal number has that number in its bytes and bits."""
        data = self.run_scenario("first_connection.yaml")
        checked = set()
        for i in range(len(data)):
            bytes_ = data.frame_bytes(i)
            for path, value, offset, size, mask in data.fields(i):
                found = re.match(r"([0-9A-F]+)h\b|(\d+)$", value)
                if not found or not size or size > 8 or offset + size > len(bytes_) or path[-1] == "data_bytes":
                    continue
                number = int.from_bytes(bytes_[offset:offset + size], "big")
                if mask:
                    number = (number & mask) >> ((mask & -mask).bit_length() - 1)
                self.assertIn(number, {int(found.group(1) or found.group(2), 16), int(found.group(1) or found.group(2), 16 if found.group(1) else 10)},
                              (data.frames["number"][i], path, value))
                checked.add(path)
        # Of each layer, and of messages that are described in words: a name server's, a login.
        for path in [("FC", "ox_id"), ("FC", "f_ctl"), ("FCVI_CONNECT_RQST", "handle"), ("FCVI_SEND_RQST", "tot_len")]:
            self.assertIn(path, checked)
        for path in [("LOGIN", "receive_data_field_size"), ("RIPP_ID", "preamble", "revision"), ("LOGIN", "class_3", "service_options")]:
            self.assertIn(path, checked)

    def test_failed_expectation_with_what_was_seen(self):
        """A run that fails tells which expectation, what was expected, and what was seen instead."""
        scenario = (SOURCE / "tools/scenarios/first_connection.yaml").read_text(encoding="utf-8")
        self.assertIn("expectations:\n", scenario)
        mine = self.place / "fails.yaml"
        mine.write_text(scenario.replace("expectations:\n", "expectations:\n  duration: 1ns\n"), encoding="utf-8")
        data = self.run_scenario(mine, expect=1)
        failed = [verdict for verdict in data.head["verdicts"] if not verdict["held"]]
        self.assertEqual([verdict["what"] for verdict in failed], ["simulated time"])
        self.assertIn("1 ns", failed[0]["expected"])
        self.assertTrue(failed[0]["got"])
        self.assertEqual(data.head["failed"], 1)

    def test_rows_have_clauses(self):
        """Each row that fired is one of a table in the golden pages, with its clause."""
        data = self.run_scenario("first_connection.yaml")
        tables = data.rows["tables"]
        machines = {row[0] for row in tables}
        self.assertLessEqual({"connect_originator", "connect_responder", "vi_endpoint"}, machines)
        for machine, source, event, target, clause, times, kept in tables:
            self.assertTrue(0 < kept <= times)
            golden = "".join(page.read_text(encoding="utf-8") for page in (SOURCE / "state_machines/golden").glob(f"{machine}*"))
            for word in (source, event, target, clause.split(",")[0]):
                self.assertIn(word, golden, (machine, source, event))

    def test_each_change_of_state_has_its_row(self):
        """At the time and port of each change a row of vi_endpoint fired that leads there (to Disconnecting, which counts as Error)."""
        data = self.run_scenario("first_connection.yaml")
        at = itertools.accumulate(data.rows["step"])
        fired = [(time, data.head["places"][place][0], data.rows["tables"][row]) for time, place, row in zip(at, data.rows["place"], data.rows["row"])]
        self.assertGreater(len(data.head["states"]), 3)
        for change in data.head["states"]:
            there = [row[3] for time, place, row in fired if (time, place, row[0]) == (change["at"], change["port"], "vi_endpoint")]
            self.assertTrue({change["to"], {"Error": "Disconnecting"}.get(change["to"])} & set(there), (change, there))
        self.assertEqual([place[1] for place in data.head["places"][:2]], [0, 1])  # lanes

    def machines_of(self, name: str) -> dict:
        """Of a run: the machines whose rows fired, each with the places where they did."""
        data = self.run_scenario(name)
        out = {}
        self.assertEqual(sum(row[6] for row in data.rows["tables"]), len(data.rows["row"]))
        self.assertTrue(all(step >= 0 for step in data.rows["step"]))
        for place, row in zip(data.rows["place"], data.rows["row"]):
            out.setdefault(data.rows["tables"][row][0], set()).add(data.head["places"][place][0])
        return out

    def test_every_machine_of_a_run_is_told(self):
        """Each table of state_machines/ that has an owner, at its place; those of FIP run on Ethernet interfaces only, and
        no simulation has RDMA over TCP yet."""
        switched = self.machines_of("first_connection.yaml")
        loop = self.machines_of("topology/private-loop-lip.yaml")
        validated = self.machines_of("topology/fabric-nos-unchanged.yaml")
        peers = self.machines_of("peer_to_peer.yaml")
        over_tcp = self.machines_of("vi-tcp/first_connection.yaml")
        tcp_peers = self.machines_of("vi-tcp/peer_to_peer.yaml")
        runs = (switched, loop, validated, peers, over_tcp, tcp_peers)
        told = {name: places for one in runs for name, places in one.items()}
        tables = {path.stem for path in (SOURCE / "state_machines/golden").glob("*.puml")}
        driven = {name for name in tables if not name.startswith("fip_")} - machine_owners.OWNERLESS
        rdma = {owner.machine for owner in machine_owners.owners(SOURCE) if "iwarp" in owner.file.relative_to(SOURCE).parts}
        self.assertEqual(driven - rdma - set(told), set())
        # Both ends of a link, and both sides of an Exchange with a service of the fabric.
        self.assertEqual(len(switched["link_port"]), 3)
        self.assertEqual(switched["exchange"], switched["link_port"])
        self.assertEqual(loop["loop_port"], loop["vi_endpoint"])
        self.assertNotIn("link_port", loop)
        self.assertEqual(over_tcp["vitcp_sender"], {"client", "server"})
        self.assertEqual((over_tcp["vitcp_active"], over_tcp["vitcp_passive"]), ({"client"}, {"server"}))

    def test_text_cannot_leave_its_element(self):
        """A name in a capture that looks like HTML stays text."""
        scenario = (SOURCE / "tools/scenarios/first_connection.yaml").read_text(encoding="utf-8")
        mine = self.place / "evil.yaml"
        mine.write_text(re.sub(r"^name:.*$", "name: '</script><b>x'", scenario, flags=re.MULTILINE), encoding="utf-8")
        data = self.run_scenario(mine)
        self.assertEqual(data.head["title"], "</script><b>x")
        self.assertNotIn("</script><b>x", data.page)

    def test_broken_capture_ends_the_page_there(self):
        """A capture that is cut gives a page of what comes before, which says so, and exit status 2."""
        self.run_scenario("first_connection.yaml", "--capture", self.place / "c.pcapng")
        whole = (self.place / "c.pcapng").read_bytes()
        (self.place / "cut.pcapng").write_bytes(whole[:len(whole) * 2 // 3])
        result = subprocess.run([SIMULATOR, "report", self.place / "cut.pcapng", "-o", self.place / "cut.html"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        data = Data(self.place / "cut.html")
        self.assertGreater(len(data), 0)
        self.assertTrue(data.head["broken"])

    def test_capture_from_a_pipe_and_page_to_standard_output(self):
        """A named pipe is read once, as a file is; -o - prints the page and nothing else."""
        capture, pipe = self.place / "c.pcapng", self.place / "pipe" / "c.pcapng"
        self.run_scenario("first_connection.yaml", "--capture", capture)
        page = self.report(capture).page
        pipe.parent.mkdir()
        os.mkfifo(pipe)
        command = [SIMULATOR, "report", pipe, "-o", "-"]
        with subprocess.Popen(["cp", capture, pipe]) as writer:
            try:
                piped = subprocess.run(command, capture_output=True, check=True, timeout=60, cwd=self.place).stdout
                self.assertEqual(writer.wait(), 0)
            finally:
                writer.kill()
        self.assertEqual(piped.decode(), page)
        self.assertFalse((self.place / "-").exists())

    def test_records_without_a_header_are_counted(self):
        """Frames that a snap length cut within their header: the page tells how many, and without any other there is none."""
        capture, cut = self.place / "c.pcapng", self.place / "cut.pcapng"
        self.run_scenario("first_connection.yaml", "--capture", capture)
        whole = capture.read_bytes()
        every = [record["frame"] for record in self.decode(capture)]
        cut.write_bytes(snapped(whole, every[:5], 40))
        data = self.report(cut)
        self.assertEqual(data.frames["without_header"], 5)
        self.assertEqual(len(data) + data.frames["copies"] + 5, len(every))
        cut.write_bytes(snapped(whole, every, 40))
        result = subprocess.run([SIMULATOR, "report", cut, "-o", self.place / "none.html"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{len(every)} records are neither", result.stderr)

    def test_vi_over_tcp(self):
        """Each packet in which VI segments end, and each SYN, FIN and RST, is a row, with the words of the ladder; others are counted.
        The lanes are the ports of the run, and of its capture their addresses."""
        capture, scenario = self.place / "tcp.pcapng", self.place / "tcp.yaml"
        scenario.write_text("name: tcp\ntopology: {kind: tcp, tcp_segment: 700}\nports: [{name: alice}, {name: bob}]\nworkloads:\n"
                            "  - {name: w, client: alice, server: bob, transfers: [{operation: send, data: {random: 3000}}]}\n", encoding="utf-8")
        run = self.run_scenario(scenario, "--capture", capture)
        self.assertEqual([lane[0] for lane in run.frames["lanes"]], ["alice", "bob"])
        data, frames = self.report(capture), self.decode(capture)
        self.assertEqual(data.frames["text"], run.frames["text"])
        self.assertEqual(len(data) + data.frames["without_header"], len(frames))
        self.assertGreater(data.frames["without_header"], 3)  # in which a message goes on
        texts = [data.frames["texts"][text] for text in data.frames["text"]]
        drawn = subprocess.run([SIMULATOR, "ladder", capture, "--columns", "10000"], capture_output=True, text=True, check=True).stdout
        for word in ("SYN", "SYN ACK", "ConnectRequest ", "ConnectAccept ", "Send ", "FIN"):
            self.assertTrue(any(text.startswith(word) for text in texts), (word, texts[:9]))
            self.assertIn(word.strip(), drawn)
        self.assertEqual(set(data.frames["connection"]), {1})
        for i, number in enumerate(data.frames["number"]):
            paths = {path: value for path, value, *_ in data.fields(i)}
            self.assertEqual(paths[("TCP", "octets")], str(frames[number - 1]["fields"]["TCP"]["octets"]))

    def test_most_frames(self):
        """--frames leaves later frames out, and the page can tell how many records there are."""
        self.run_scenario("first_connection.yaml", "--capture", self.place / "c.pcapng")
        subprocess.run([SIMULATOR, "report", self.place / "c.pcapng", "--frames", "7", "-o", self.place / "few.html"], check=True, stdout=subprocess.DEVNULL)
        data = Data(self.place / "few.html")
        self.assertEqual(len(data), 7)
        self.assertGreater(data.head["left_out"], 0)


if __name__ == "__main__":
    SIMULATOR, SOURCE = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1], verbosity=2)
