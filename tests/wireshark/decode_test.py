#!/usr/bin/env python3
"""What the plugin shows: every flag and reason code by its name, all fields with their values, connections, requests and responses
with their times, whole messages, over every carrier; FARP and the name server's requests about IP addresses; statistics.

usage: decode_test.py PLUGIN
"""

import re
import struct
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import capture_file
from conversation import (CLIENT, CONNECTION_ID, END, FIRST, INITIATIVE, RELIABLE, SERVER, UNRELIABLE, WRITE_RQST, Conversation,
                          Frame, fcvi)
from merged import merged
from tshark import Tshark, skip_without_tshark, tables, workspace

PLUGIN = ""


def content(total: int) -> str:
    return bytes(i * 7 % 251 for i in range(total)).hex()


class Decoding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tshark, cls.place = Tshark(PLUGIN), workspace()
        cls.tables = tables(PLUGIN)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def rows(self, talk, names, *arguments, link_type=capture_file.ETHERNET, display="", **how):
        frames = talk.list() if isinstance(talk, Conversation) else talk
        capture = capture_file.write(Path(self.place.name) / "c.pcapng", frames, link_type, **how)
        rows = self.tshark.fields(capture, names + ["_ws.lua.error", "_ws.malformed"], *arguments, display=display)
        for row in rows:
            self.assertEqual((row["_ws.lua.error"], row["_ws.malformed"]), ([], []))
        return rows

    def row_of(self, talk, name, names, *arguments, **how):
        """The row of the frame that the conversation knows by that name."""
        return self.rows(talk, names, *arguments, **how)[list(talk.frames).index(name)]

    def text(self, talk, *arguments, **how) -> str:
        frames = talk.list() if isinstance(talk, Conversation) else talk
        capture = capture_file.write(Path(self.place.name) / "c.pcapng", frames, **how)
        return self.tshark.run(capture, *arguments)

    # Every code of FC-VI Table 12 in the answer to a Disconnect.
    def test_reason_codes(self):
        named = dict(re.findall(r'\[(\d+)\]=\{name="([^"]*)",use="[a-z]*"\}', self.tables))
        self.assertEqual(len(named), 20 + 16)
        frames, places = merged({code: Conversation().connect().disconnect(response_status=int(code) << 16).list() for code in named})
        rows = self.rows(frames, ["fcvi.status.reason", "_ws.col.Info"])
        for code, name in named.items():
            row = rows[places[code]][-1]
            self.assertEqual(int(row["fcvi.status.reason"][0], 0), int(code))
            shown = "unknown" if name == "Vendor Unique Error" else name
            self.assertEqual(row["_ws.col.Info"], [f"FCVI_DISCONNECT_RESP {shown}"])

    def test_reason_code_in_words(self):
        talk = Conversation().connect().disconnect(response_status=0x4A0000)
        self.assertIn("Connection Does Not Exist (0x4a)", self.text(talk, "-V"))

    # Every flag of every IU, set and not set.
    def test_flags(self):
        ius = re.findall(r'^\[(\d+)\]=\{name="(\w+)".*?flags=\{(.*)\}\},$', self.tables, re.MULTILINE)
        self.assertEqual(len(ius), 12)
        shown = [(int(opcode), name, flag, int(value)) for opcode, name, listed in ius
                 for flag, value in re.findall(r'\{name="(\w+)",value=(\d+)\}', listed)]
        self.assertEqual(len(shown), 3 * 1 + 3 * 4 + 4 + 3 * 3 + 2 * 3)
        frames, _ = merged({at: [fcvi(opcode, CLIENT, SERVER, FIRST | END, 1, flags=value, payload=bytes(340))]
                            for at, (opcode, _, _, value) in enumerate(shown)})
        texts = re.split(r"(?m)^Frame \d+: ", self.text(frames, "-V"))[1:]
        self.assertEqual(len(texts), len(shown))
        for text, (_, name, flag, value) in zip(texts, shown):
            mode = {"CLIENT_SERVER": "client_server", "PEER_TO_PEER": "peer_to_peer"}.get(flag)
            self.assertIn(f"CONN_MODE: {mode} ({value})" if mode else f"{flag}: True", text, name)
            self.assertRegex(text, rf"FCVI_FLAGS: 0x{value:02x} \({flag}\)")

    # The Device_Header's words, one value each.
    def test_fields_of_a_write(self):
        frame = fcvi(WRITE_RQST, CLIENT, SERVER, FIRST | END | INITIATIVE, 0x01020304, flags=1, msg_id=0x05060708,
                     device_parameter=0x090A0B0C, rmt_va=0x1112131415161718, memory=0x191A1B1C, last=5, payload=b"hello")
        names = ["handle", "opcode", "flags", "msg_id", "parameter", "immediate_data", "rmt_va", "rmt_va_handle", "tot_len", "data"]
        row = self.rows([frame], [f"fcvi.{name}" for name in names] + ["_ws.col.Info"])[0]
        values = [row[f"fcvi.{name}"][0] for name in names]
        self.assertEqual([int(value, 0) for value in values[:-1]],
                         [0x01020304, 1, 1, 0x05060708, 0x090A0B0C, 0x090A0B0C, 0x1112131415161718, 0x191A1B1C, 5])
        self.assertEqual(bytes.fromhex(values[-1]), b"hello")
        self.assertEqual(row["_ws.col.Info"], [f"FCVI_WRITE_RQST msg {0x05060708}, at 131415161718h, imm 090A0B0Ch"])

    def test_fields_of_a_set_up(self):
        talk = Conversation(RELIABLE, depth=4, largest=70000, pref=0x80, flags=2).connect()
        prefix = "fcvi.connect."
        names = ["revision", "handle", "local_address.host", "local_address.host_length", "remote_address.host",
                 "remote_address.discriminator_length", "discriminator", "local_attributes.reliability_level",
                 "local_attributes.rdma_write_enabled", "local_attributes.rdma_read_enabled", "local_attributes.max_transfer_size",
                 "local_attributes.qos.pref", "local_attributes.qos.pipeline_depth"]
        row = self.row_of(talk, "rqst", [prefix + name for name in names] + ["fcvi.connection_id", "_ws.col.Info"])
        values = [row[prefix + name][0] for name in names]
        self.assertEqual(values, ["0x0001", "0x0000000a", "::ffff:10.0.0.1", "16", "::ffff:10.0.0.2", "16", '"service"', "0x02", "1",
                                  "0", "70000", "0x80", "4"])
        self.assertEqual(int(row["fcvi.connection_id"][0], 0), CONNECTION_ID)
        self.assertEqual(row["_ws.col.Info"], ['FCVI_CONNECT_RQST id 4FC4E15Dh, reliable_delivery, "service"'])

    # FCVI_CONNECT_INFO, and a payload in frames of 256 bytes.
    def test_set_up_in_several_frames(self):
        talk = Conversation().connect()
        whole = talk.frames["rqst"]
        data = whole.payload + bytes(range(256))
        pieces = [data[i:i + 224] for i in range(0, len(data), 224)]
        frames = []
        for i, piece in enumerate(pieces):
            last = i + 1 == len(pieces)
            frame = fcvi(0x10, CLIENT, SERVER, FIRST | (END | INITIATIVE if last else 0), 0xFFFFFFFF, flags=9, last=CONNECTION_ID,
                         seq_cnt=i, parameter=224 * i, payload=piece, ox_id=whole.ox_id)
            frames.append(frame)
        talk.set("resp2", seq_cnt=len(pieces))
        frames = talk.list()[:3] + frames + talk.list()[4:]
        for reassemble in ("FALSE", "TRUE"):
            rows = self.rows(frames, ["fcvi.connect.connect_info", "fcvi.violation", "fcvi.connection.discriminator"], "-o",
                             f"fc.reassemble:{reassemble}")
            self.assertEqual([row["fcvi.violation"] for row in rows], [[]] * len(rows))
            self.assertEqual(rows[5]["fcvi.connect.connect_info"], [bytes(range(256)).hex()])
            self.assertEqual(rows[-1]["fcvi.connection.discriminator"], ['"service"'])

    # A message frame shows its connection.
    def test_connection_of_a_message(self):
        talk = Conversation(depth=7).connect().message("m", 3000)
        names = ["connection", "connection.originator", "connection.responder", "connection.discriminator", "connection.level",
                 "connection.window", "connection.open", "connection.setup"]
        row = self.row_of(talk, "m.1", ["fcvi." + name for name in names])
        self.assertEqual([row["fcvi." + name][0] for name in names],
                         ["1", "010100 10.0.0.1, handle 0000000Ah", "010200 10.0.0.2, handle 0000000Bh", '"service"',
                          "reliable_reception", "8", "1", "4"])

    def test_connection_of_its_request(self):
        talk = Conversation().connect()
        self.assertEqual(self.row_of(talk, "rqst", ["fcvi.connection"], "-2")["fcvi.connection"], ["1"])

    # Begun later: both ends are learnt from the response, the level from F_CTL and the response.
    def test_connection_that_was_set_up_before_the_capture(self):
        talk = Conversation(login=False).connect().drop("rqst", "resp1", "resp2", "resp3").message("m", 10).message("n", 10)
        row = self.row_of(talk, "n.0", ["fcvi.connection", "fcvi.connection.originator", "fcvi.connection.responder",
                                        "fcvi.connection.level"])
        self.assertEqual([value[0] for value in list(row.values())[:4]],
                         ["1", "010100, handle 0000000Ah", "010200, handle 0000000Bh", "reliable_reception"])

    def test_connection_that_the_resp1_tells(self):
        talk = Conversation(UNRELIABLE).connect().message("m", 10)
        rows = self.rows(talk, ["fcvi.connection.level"])
        self.assertEqual(rows[-1]["fcvi.connection.level"], ["unreliable_delivery"])

    # In the second pass both ends of the link are there.
    def test_requests_and_responses(self):
        talk = Conversation().connect().message("m", 3000).read("r", 3000).disconnect()
        order = {name: str(i + 1) for i, name in enumerate(talk.frames)}
        names = ["fcvi.request_in", "fcvi.response_in", "fcvi.time"]
        rows = dict(zip(talk.frames, self.rows(talk, names, "-2")))
        pairs = {"rqst": "resp1", "m.0": "m.resp", "m.2": "m.resp", "r": "r.resp.0", "discon": "discon.resp"}
        for request, response in pairs.items():
            self.assertEqual(rows[request]["fcvi.response_in"], [order[response]], request)
        firsts = {"resp1": "rqst", "resp3": "rqst", "m.resp": "m.0", "r.resp.2": "r", "discon.resp": "discon"}
        for response, request in firsts.items():
            self.assertEqual(rows[response]["fcvi.request_in"], [order[request]], response)
        self.assertEqual(rows["m.resp"]["fcvi.time"], ["0.000003000"])

    def test_retry(self):
        talk = Conversation().connect().drop("resp2", "resp3").connect(True, "again.", CONNECTION_ID + 1)
        self.assertEqual(self.row_of(talk, "again.rqst", ["fcvi.retry_of"])["fcvi.retry_of"], ["4"])

    # Both ends of a link in one capture.
    def test_frames_that_are_there_twice(self):
        talk = Conversation().connect().message("m", 3000)
        frames = []
        for frame in talk.list():
            for outbound in (True, False):
                frames.append(Frame(**{**frame.__dict__, "outbound": outbound}))
        rows = self.rows(frames, ["fcvi.same_frame", "fcvi.violation", "fcvi.message.data"])
        self.assertEqual([row["fcvi.violation"] for row in rows], [[]] * len(rows))
        at = 2 * list(talk.frames).index("m.2")
        self.assertEqual(rows[at]["fcvi.same_frame"], [])
        self.assertEqual(rows[at + 1]["fcvi.same_frame"], [str(at + 1)])
        self.assertEqual(rows[at + 1]["fcvi.message.data"], [content(3000)])

    # Messages over frames and IUs, in any order, over every carrier.
    def test_whole_messages(self):
        for link_type in (capture_file.ETHERNET, capture_file.FC, capture_file.FC_WITH_DELIMITERS):
            for reassemble in ("FALSE", "TRUE"):
                for passes in ((), ("-2",)):
                    talk = Conversation().connect().message("m", 5001).read("r", 3002).message("n", 7)
                    rows = dict(zip(talk.frames, self.rows(talk, ["fcvi.message.data", "fcvi.message.frames", "fcvi.message.frame"],
                                                           "-o", f"fc.reassemble:{reassemble}", *passes, link_type=link_type)))
                    self.assertEqual(rows["m.4"]["fcvi.message.data"], [content(5001)])
                    self.assertEqual(rows["m.4"]["fcvi.message.frame"], ["8", "9", "10", "11", "12"])
                    self.assertEqual(rows["m.3"]["fcvi.message.data"], [])
                    self.assertEqual(rows["r.resp.2"]["fcvi.message.data"], [content(3002)])
                    self.assertEqual(rows["n.0"]["fcvi.message.data"], [content(7)])

    def test_message_out_of_order(self):
        talk = Conversation(UNRELIABLE, in_order=False).connect().message("m", 5000).move("m.0", "m.4")
        self.assertEqual(self.row_of(talk, "m.0", ["fcvi.message.data"])["fcvi.message.data"], [content(5000)])

    def test_message_that_is_too_long_to_keep(self):
        talk = Conversation().connect().message("m", 5000)
        row = self.row_of(talk, "m.4", ["fcvi.message.data", "fcvi.message.complete"], "-o", "fcvi.message_limit:4")
        self.assertEqual((row["fcvi.message.data"], row["fcvi.message.complete"]), ([], ["1"]))

    # The end of each frame is not in the capture: header and tracking are there, and no violation.
    def test_frames_that_were_cut(self):
        for link_type, snap in ((capture_file.ETHERNET, 100), (capture_file.FC, 70), (capture_file.FC, 40)):
            talk = Conversation().connect().message("m", 3000)
            rows = self.tshark.fields(capture_file.write(Path(self.place.name) / "c.pcapng", talk.list(), link_type, snap_length=snap),
                                      ["fcvi.violation", "fcvi.msg_id", "_ws.lua.error"], "-o", "fc.reassemble:FALSE")
            self.assertEqual([row["fcvi.violation"] + row["_ws.lua.error"] for row in rows], [[]] * len(rows))
            self.assertEqual(rows[-1]["fcvi.msg_id"], ["1"])

    def test_vlan_and_extended_header(self):
        talk = Conversation().connect()
        self.assertEqual(self.row_of(talk, "resp3", ["fcvi.iu"], vlan=100)["fcvi.iu"], ["FCVI_CONNECT_RESP3"])

    # A frame with EOFni or EOFa is no frame for its receiver.
    def test_frame_that_is_invalid(self):
        talk = Conversation(UNRELIABLE).connect().message("m", 10).message("n", 10)
        frames, places = merged({eof: talk.set("m.0", eof=eof).list() for eof in (0x49, 0x50)})
        for link_type in (capture_file.ETHERNET, capture_file.FC_WITH_DELIMITERS):
            for passes in ((), ("-2",)):
                rows = self.rows(frames, ["fcvi.iu", "fcvi.violation"], *passes, link_type=link_type)
                for place in places.values():
                    of = dict(zip(talk.frames, rows[place]))
                    self.assertEqual(of["m.0"]["fcvi.iu"], ["FCVI_SEND_RQST"])
                    self.assertEqual((of["m.0"]["fcvi.violation"], of["n.0"]["fcvi.violation"]), ([], ["message_order"]))

    def test_abts(self):
        talk = Conversation().connect().message("m", 3000, answer=False)
        first = talk.frames["m.0"]
        talk.add("abts", Frame(CLIENT, SERVER, 0x81, 0x090000, type=0, ox_id=first.ox_id, seq_id=first.seq_id, seq_cnt=3))
        row = self.row_of(talk, "abts", ["_ws.col.Info", "fcvi.aborts"])
        self.assertEqual((row["_ws.col.Info"], row["fcvi.aborts"]), (["ABTS of FCVI_SEND_RQST msg 1"], ["8"]))

    def test_farp(self):
        def ip(last):
            return bytes(10) + b"\xff\xff" + bytes([10, 0, 0, last])
        payload = (bytes([0x54, 0, 0, 0, 0x04]) + CLIENT.to_bytes(3, "big") + bytes([0x02]) + bytes(3) + bytes(range(32)) + ip(1) + ip(2))
        frame = Frame(CLIENT, 0xFFFFFF, 0x22, 0x290000, payload, type=0x01)
        names = ["match.ip_address", "match.port_name", "action.reply", "action.login", "requesting_n_port_id", "requesting_ip",
                 "responding_ip", "requesting_port_name"]
        row = self.rows([frame], ["fcvi.farp." + name for name in names] + ["_ws.col.Info"])[0]
        self.assertEqual([row["fcvi.farp." + name][0] for name in names],
                         ["1", "0", "1", "0", "01.01.00", "::ffff:10.0.0.1", "::ffff:10.0.0.2",
                          "00:01:02:03:04:05:06:07"])
        self.assertIn("10.0.0.2 asked by 10.0.0.1", row["_ws.col.Info"][0])

    def test_name_server(self):
        preamble = struct.pack(">IBBHHHI", 0x01000000, 0xFC, 0x02, 0, 0x021B, 0, 0)
        address = bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 9])
        ripp = Frame(CLIENT, 0xFFFFFC, 0x02, 0x290000, preamble + bytes(1) + CLIENT.to_bytes(3, "big") + address, type=0x20)
        gid = Frame(CLIENT, 0xFFFFFC, 0x02, 0x290000, preamble.replace(b"\x02\x1b", b"\x01\xb1") + address, type=0x20, ox_id=9)
        rows = self.rows([ripp, gid], ["fcvi.ripp_id.port_id", "fcvi.ripp_id.ip_address", "fcvi.gid_ipp.ip_address"])
        self.assertEqual([value[0] for value in list(rows[0].values())[:2]], ["01.01.00", "::ffff:10.0.0.9"])
        self.assertEqual(rows[1]["fcvi.gid_ipp.ip_address"], ["::ffff:10.0.0.9"])

    # A Linux host's captures: FIP, FLOGI, name server. The plugin adds nothing but its name to the layers.
    def test_other_traffic_is_shown_as_without_the_plugin(self):
        captures = sorted((Path(__file__).parents[1] / "data").glob("*.pcap"))
        self.assertTrue(captures)
        for capture in captures:
            texts = [re.sub(r"(?m)^.*\[Protocols in frame: .*$", "", self.tshark.run(capture, "-V", with_plugin=with_plugin))
                     for with_plugin in (False, True)]
            self.assertEqual(*texts)

    # Another protocol that Wireshark does not know is shown as data, as without the plugin.
    def test_other_protocols(self):
        frame = Frame(CLIENT, SERVER, 0x01, FIRST | END, b"whatever it is..", type=0x7B)
        row = self.rows([frame], ["data.data", "fcvi.iu"])[0]
        self.assertEqual((row["data.data"], row["fcvi.iu"]), ([b"whatever it is..".hex()], []))

    # Each whole message becomes a file, once, though it was captured at both ends; also with -q.
    def test_messages_as_files(self):
        talk = Conversation().connect().message("m", 3000).message("n", 10, port=SERVER).read("r", 2000).message("lost", 5000)
        talk.drop("lost.1")
        frames = [replace(frame, outbound=outbound) for frame in talk.list() for outbound in (True, False)]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.text(frames, "-q", "-o", f"fcvi.export:{folder}"), "")
            files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        sizes = {"010100-FCVI_SEND_RQST-1": 3000, "010200-FCVI_SEND_RQST-1": 10, "010200-FCVI_READ_RESP-2": 2000}
        self.assertEqual({name: data.hex() for name, data in files.items()},
                         {f"connection-1-{name}.bin": content(size) for name, size in sizes.items()})

    def test_filters(self):
        talk = Conversation().connect().message("m", 3000).disconnect()
        for display, count in (("fcvi", 10), ("fcvi.msg_id == 1", 4), ("fcvi.flags.conn_sts == 1", 1), ("fcvi.tot_len > 2000", 3),
                               ('fcvi.connection.discriminator == "\\"service\\""', 9), ("fcvi.violation", 0)):
            self.assertEqual(len(self.rows(talk, ["frame.number"], display=display)), count, display)

    # In the middle of a message, where nothing else is asked for: in one pass or two, of a request and of an answer.
    def test_filters_on_frames_in_the_middle(self):
        talk = Conversation().connect().message("m", 20000).read("r", 20000)
        middle = {str(at + 1) for at, name in enumerate(talk.frames) if re.fullmatch(r"(m|r\.resp)\.\d+", name)}
        self.assertEqual(len(middle), 40)
        for display in ("fcvi", "fcvi.handle", "fcvi.msg_id == 1 || fcvi.msg_id == 2", "fcvi.connection == 1",
                        "fcvi.message.bytes > 0", "fcvi.message.frames", "fcvi.iu", "fcvi.data", "fcvi.connection.window"):
            for passes in ((), ("-2",)):
                with self.subTest(display=display, passes=passes):
                    found = self.text(talk, *passes, "-Y", display).splitlines()
                    self.assertLessEqual(middle, {line.split()[0] for line in found})

    # Frames in the middle of a message, which are read in less time than others, in either view: as the others are.
    def test_fields_of_frames_in_the_middle(self):
        talk = Conversation(RELIABLE).connect().message("m", 20000)
        frames = [Frame(**{**frame.__dict__, "outbound": outbound}) for frame in talk.list() for outbound in (True, False)]
        rows = self.rows(frames, ["fcvi.message.bytes", "fcvi.message.frames", "fcvi.same_frame", "fcvi.connection", "fcvi.violation",
                                  "fcvi.tot_len", "_ws.col.Info"])
        at = list(talk.frames).index("m.0")
        for i in range(20):
            sent, received = rows[2 * (at + i)], rows[2 * (at + i) + 1]
            self.assertEqual(sent["fcvi.same_frame"], [])
            self.assertEqual(received["fcvi.same_frame"], [str(2 * (at + i) + 1)])
            for row in (sent, received):
                self.assertEqual(row["fcvi.message.bytes"], [str(min(1024 * (i + 1), 20000))])
                self.assertEqual(row["fcvi.message.frames"], [str(i + 1)])
                self.assertEqual((row["fcvi.connection"], row["fcvi.violation"], row["fcvi.tot_len"]), (["1"], [], ["20000"]))
                self.assertEqual(row["_ws.col.Info"], [f"FCVI_SEND_RQST msg 1 [{1024 * i}+{min(1024, 20000 - 1024 * i)} of 19.5 KiB]"])

    def test_statistics(self):
        talk = Conversation().connect().drop("resp2", "resp3").connect(True, "again.", CONNECTION_ID + 1)
        talk.message("m", 3000).message("n", 10).read("r", 100).disconnect(response_status=0x480000)
        talk.change("n.resp", lambda frame: frame.flags(3))
        text = self.text(talk, "-q", "-o", "fcvi.statistics:TRUE")

        def count(words):
            found = re.search(re.escape(words) + r" +(\d+)", text)
            self.assertIsNotNone(found, words + "\n" + text)
            return int(found.group(1))
        self.assertEqual(count("reliable_reception, FCVI_SEND_RQST"), 2)
        self.assertEqual(count("reliable_reception, FCVI_READ_RQST"), 1)
        self.assertEqual(count("tries"), 2)
        self.assertEqual(count("of them with RETRY"), 1)
        self.assertEqual(count("Protocol Error"), 1)
        self.assertEqual(count("FCVI_SEND_RESP"), 2)
        self.assertRegex(text, r"FCVI_SEND_RQST +2 +0\.000001000 +0\.000002000 +0\.000003000\n")
        self.assertRegex(text, r"answered with an error\n +FCVI_SEND_RQST +1\n")

    # Expert Information names the protocol that Wireshark called: the plugin's, by link type.
    def test_protocol_of_expert_items(self):
        talk = Conversation().connect(True).message("m", 10).drop("m.resp").disconnect()
        talk.change("m.0", lambda frame: frame.flags(0x80))
        for link_type, name in ((capture_file.ETHERNET, "FC-VI"), (capture_file.FC, "FC-VI-FC"),
                                (capture_file.FC_WITH_DELIMITERS, "FC-VI-FCSOF")):
            with self.subTest(link_type=link_type):
                text = self.text(talk, "-q", "-z", "expert", link_type=link_type)
                self.assertRegex(text, rf"(?m)^ +\d+ +\S+ +{name}  \S")

    # What only Wireshark has, menus and windows, with stand-ins for them: the text of each menu.
    def test_menus(self):
        before = Path(self.place.name) / "before.lua"
        before.write_text("""
            function _G.gui_enabled() return true end
            local menus = {}
            function _G.register_menu(name, action) menus[name] = action end
            _G.TextWindow = {new = function(title) return {set = function(_, text) print(title .. "\\n" .. text) end} end}
            local listener = Listener.new("frame")
            function listener.packet() end
            function listener.draw() for _, action in pairs(menus) do action() end end
        """, encoding="utf-8")
        talk = Conversation().connect().message("m", 3000)
        text = self.before_plugin(talk, before, "-q")
        for title in ("Messages by level", "IUs", "Set-ups and retries", "Error codes", "Response times", "Violations"):
            self.assertIn(f"FC-VI: {title}", text)
        self.assertRegex(text, r"reliable_reception, FCVI_SEND_RQST +1\n")

    def before_plugin(self, talk, script, *arguments) -> str:
        """The output with another script that is loaded first."""
        plugin = self.tshark.plugin
        self.tshark.plugin = str(script)
        try:
            return self.text(talk, "-X", f"lua_script:{plugin}", *arguments)
        finally:
            self.tshark.plugin = plugin

    # Wireshark keeps the data when it reads the capture, and shows it later.
    def test_data_is_kept_where_there_is_a_window(self):
        before = Path(self.place.name) / "before.lua"
        before.write_text("function _G.gui_enabled() return true end\nfunction _G.register_menu() end\n", encoding="utf-8")
        text = self.before_plugin(Conversation().connect().message("m", 3000), before, "-2", "-T", "fields", "-e", "fcvi.message.data")
        self.assertIn(content(3000), text.split())


if __name__ == "__main__":
    PLUGIN = sys.argv.pop(1)
    skip_without_tshark()
    unittest.main()
