#!/usr/bin/env python3
"""fcvi-ctl on the running fabric: a rule loses exactly the named IU and the program shows the standard's error, links without
rules keep their memory, links with rules get it back without loss or disorder, links go down and come up; what is wrong is
told, and nothing that comes by the control socket ends the service.

usage: fcvi_ctl_test.py FCVI_CTL FCVI_FABRICD VIPING FCVI_PERF
"""

import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

from local_fabric import LocalFabricTest

CTL, FABRICD, VIPING, PERF = sys.argv[1:5]
del sys.argv[1:5]

SOME = 100  # frames that are no message data: way marks, and what follows a login
HELLO, WELCOME, REFUSAL, REQUEST, DONE = 1, 2, 3, 5, 7
VERSION = 5  # fc2_fabric/drivers/link_records.hpp


class Ctl(LocalFabricTest):
    def setUp(self):
        super().setUp()
        self.nic = self.configuration("nic.yaml", "name_appears: 60s")
        self.hasty_nic = self.configuration("hasty.yaml", "name_appears: 0")

    def configuration(self, name, more, where="transport: local"):
        path = Path(self.folder.name, name)
        path.write_text(f"nics:\n- {{name: VINIC, {where}, timeouts: {{open: 60s, name_service: 60s, ulp: 1s, {more}}}}}\n")
        return path

    # --- steps

    def start(self, node, *words, **more):
        return super().start(node, *words, FCVI_FABRICD=FABRICD, **{"FCVI_CONFIG": str(self.nic), **more})

    def ctl(self, *words, status=0):
        ended, out, err = self.run_to_end("operator", CTL, *words)
        self.assertEqual(ended, status, out + err)
        return out + err

    def add(self, *words):
        return self.ctl("fault", "add", *words)

    def rules(self):
        return json.loads(self.ctl("fault", "list", "--json"))

    def status(self):
        return json.loads(self.ctl("status", "--json"))

    def port_of(self, node):
        return next((port for port in self.status()["ports"] if port["node"] == node), None)

    def serve(self, node):
        server = self.start(node, VIPING, "-t", 60, "--listen")
        self.ping(node, "-W", 60)
        return server

    def ping(self, to, *words, node="visitor", count=1):
        """It succeeds."""
        status, out, err = self.run_to_end(node, VIPING, "-t", 60, "-c", count, "-i", 0.01, *words, to)
        self.assertEqual(status, 0, out + err)
        return out

    def finds_nobody(self, name):
        status, out, err = self.run_to_end("visitor", VIPING, "-t", 1, "-c", 1, "-W", 1, name, FCVI_CONFIG=str(self.hasty_nic))
        self.assertEqual(status, 1, out + err)

    def by_service(self, *nodes):
        """Frames that the ports of these nodes have sent and received by the service."""
        ports = [self.port_of(node) for node in nodes]
        return sum(port["frames_in"] + port["frames_out"] for port in ports)

    def stream(self, server, client, *words):
        """A pair that moves messages for as long as it is let, and checks every byte of them."""
        serving = self.start(server, PERF, "--server", "--once", "--timeout", 60)
        running = self.start(client, PERF, "send_bw", server, "-s", 3000, "--check", "--json", "--buffers", 64, "--timeout", 60,
                             *words)
        self.wait_for(lambda: self.paths_of(client) or running.poll() is not None, "the pair has memory")
        return serving, running

    def paths_of(self, node):
        try:
            port = self.port_of(node)
        except AssertionError:  # no service yet
            return 0
        return port["paths"] if port else 0

    def succeeds(self, child):
        status, out, err = self.finish(child)
        self.assertEqual(status, 0, out + err)
        return json.loads(out) if out.startswith(("{", "[")) else out

    # --- rules

    # Of five messages the second is lost: the program misses exactly that one; the rule fired once, and says so.
    def test_exactly_the_second_send_is_lost(self):
        self.serve("bob")
        self.add("action=drop", "message=FCVI_SEND_RQST", "nth=2", "port=alice")
        status, out, err = self.run_to_end("alice", VIPING, "-t", 60, "-l", "unreliable", "-c", 5, "-i", 0.01, "-W", 2, "bob")
        self.assertEqual(status, 1, out + err)
        self.assertIn("5 messages transmitted, 4 received", out)
        self.assertEqual(re.findall(r"seq=(\d) time", out), ["1", "3", "4", "5"])
        self.assertIn("no answer for seq=2", out)
        [rule] = self.rules()
        self.assertEqual((rule["fired"], rule["any_port"], rule["over"]), (1, False, True))
        self.assertIn(rule["matched"], range(2, 6))  # its turn is over: later frames may go past the service again
        self.assertIn(f"fired 1, of {rule['matched']} frames that matched", self.ctl("fault", "list"))

    # At the reliable levels the lost message breaks the connection (VI-ARCH 2.5). At Reliable Reception its own descriptor
    # completes with a transport error; at Reliable Delivery it was sent, and the one behind it tells the receiver.
    def test_reliable_levels_show_the_standards_error(self):
        self.serve("bob")
        self.add("{action: drop, message: FCVI_SEND_RQST, nth: 2, port: alice}", "{action: drop, message: FCVI_SEND_RQST, nth: 4, port: alice}")
        for level, told in (("reception", "viping: bob: transport error"), ("delivery", "viping: bob: connection lost")):
            status, out, err = self.run_to_end("alice", VIPING, "-t", 60, "-l", level, "-c", 5, "-i", 0.01, "-W", 3, "bob")
            self.assertEqual(status, 1, out + err)
            self.assertEqual(re.findall(r"seq=(\d) time", out), ["1"])
            self.assertIn(told, err)
        self.assertEqual([rule["fired"] for rule in self.rules()], [1, 1])
        self.ping("bob")

    # A rule on one link: the frames of another pair do not come to the service, those of the pair with the rule all do.
    def test_links_without_rules_keep_their_memory(self):
        self.stream("bob", "alice", "-D", 3600)
        self.stream("dave", "carol", "-D", 3600)
        self.add("action=drop", "message=ABTS", "port=alice")
        self.assertTrue(self.port_of("alice")["watched"])
        self.assertEqual([self.port_of(node)["paths"] for node in ("alice", "bob")], [0, 0])
        others, own = self.by_service("carol", "dave"), self.by_service("alice", "bob")
        self.wait_for(lambda: self.by_service("alice", "bob") > own + 10000, "all frames of alice pass the service")
        self.assertLess(self.by_service("carol", "dave"), others + SOME)
        self.assertEqual((self.port_of("carol")["paths"], self.port_of("carol")["watched"]), (1, False))
        self.ctl("fault", "clear")
        self.wait_for(lambda: self.paths_of("alice") == 1, "alice and bob have memory again")
        own = self.by_service("alice", "bob")
        time.sleep(0.5)
        self.assertLess(self.by_service("alice", "bob"), own + SOME)

    # A rule whose limit is reached needs its link no more: the pair has its memory back, and the rule is still told of.
    def test_a_spent_rule_gives_the_memory_back(self):
        self.stream("bob", "alice", "-D", 3600)
        self.add("action=delay", "by=1us", "port=alice", "limit=3")
        self.wait_for(lambda: self.rules()[0]["over"] and self.paths_of("alice") == 1, "alice and bob have memory again")
        self.assertEqual(self.rules()[0]["fired"], 3)
        self.assertFalse(self.port_of("alice")["watched"])

    # When `fault add` has returned, no frame goes another way: every later message is judged, the first included.
    def test_rules_hold_from_the_return_of_add(self):
        self.serve("bob")
        alice = self.start("alice", VIPING, "-t", 60, "-l", "unreliable", "-i", 0.001, "-W", 0.2, "bob")
        self.wait_for(lambda: self.paths_of("alice"), "alice has memory")
        self.add("{action: drop, port: alice, message: FCVI_SEND_RQST}")
        heard = self.port_of("bob")["frames_out"]
        self.wait_for(lambda: self.rules()[0]["fired"] >= 3, "messages are lost")
        self.assertEqual(self.port_of("bob")["frames_out"], heard)
        alice.send_signal(signal.SIGINT)
        self.finish(alice)

    # 200 times a rule comes or goes under load, on one link and on all: no message is lost, changed or out of order. (So often on
    # a machine that has nothing else to do.)
    def test_rules_come_and_go_under_load(self):
        server, client = self.stream("bob", "alice", "-D", 12)
        chance = random.Random(1)
        turns = 0
        while turns < 100 and client.poll() is None:
            turn, turns = turns, turns + 1
            self.add("{action: drop, message: ABTS, port: alice}" if turn % 2 else "{action: drop, message: ABTS}")
            time.sleep(chance.uniform(0, 0.01))
            self.ctl("fault", "clear")
            time.sleep(chance.uniform(0, 0.01) if turn % 20 else 1.1)
        self.succeeds(client)
        self.succeeds(server)
        self.assertGreater(turns, 10)

    # A rule that delays each frame comes and goes under load, by hand and by its own end: no message is lost or out of order.
    def test_delays_come_and_go_under_load(self):
        server, client = self.stream("bob", "alice", "-D", 6)
        turns = 0
        while turns < 40 and client.poll() is None:
            turns += 1
            if turns % 2:
                self.add("action=delay", "by=2ms", "port=alice", "direction=both")
                time.sleep(0.05)
            else:
                self.add("action=delay", "by=20ms", "port=alice", "until=20ms")
                time.sleep(0.1)
                self.assertTrue(self.rules()[0]["over"])
            self.ctl("fault", "clear")
        self.assertGreater(turns, 3)
        self.succeeds(client)
        self.succeeds(server)

    # What a long delay holds is there when its rule is cleared.
    def test_clear_hands_over_what_waits(self):
        self.serve("bob")
        self.add("action=delay", "by=1000s", "port=bob", "message=FCVI_SEND_RQST", "direction=received")
        alice = self.start("alice", VIPING, "-t", 60, "-c", 1, "-W", 60, "bob")
        self.wait_for(lambda: self.rules()[0]["fired"], "the message is held back")
        self.ctl("fault", "clear")
        self.succeeds(alice)

    # The first of the words is the first rule, whatever its form.
    def test_order_of_words_is_that_of_rules(self):
        self.serve("bob")
        self.add("action=drop", "port=x", "{action: delay, by: 1ms, port: y}", "action=drop", "port=z")
        self.assertEqual([rule["rule"] for rule in self.rules()],
                         ["{action: drop, port: x}", "{action: delay, by: 1ms, port: y}", "{action: drop, port: z}"])

    # The second example of the manual page: frames are lost, too.
    def test_slow_and_lossy_link(self):
        self.stream("bob", "alice", "-D", 60, "-c", "unreliable")
        self.add("{action: drop, port: alice, probability: 0.001}", "{action: delay, by: 200us, port: alice, direction: both}")
        self.wait_for(lambda: all(rule["fired"] for rule in self.rules()), "both rules fire")

    # What arrives twice was received already: no message is lost or doubled.
    def test_duplicates_do_no_harm(self):
        server, client = self.stream("bob", "alice", "-D", 4, "-c", "reception")
        self.add("{action: duplicate, port: alice, every: 7, message: FCVI_SEND_RESP, direction: received}")
        self.wait_for(lambda: self.rules()[0]["fired"] > 10 or client.poll() is not None, "responses are doubled")
        self.assertGreater(self.rules()[0]["fired"], 10)
        self.succeeds(client)
        self.succeeds(server)

    # --faults: the rules are there before the first program, and again when the service is started again.
    def test_rules_of_the_start(self):
        rules = Path(self.folder.name, "F.yaml")
        rules.write_text("faults:\n- {action: drop, message: FCVI_SEND_RQST, nth: 2, port: alice}\n")
        for _ in range(2):
            self.assertEqual(self.run_to_end("operator", FABRICD, "--daemonize", "--faults", rules)[0], 0)
            [rule] = self.rules()
            self.assertEqual((rule["id"], rule["fired"]), (1, 0))
            self.add("action=drop", "port=nobody")
            self.assertEqual(len(self.rules()), 2)
            self.serve("bob")
            status, out, _ = self.run_to_end("alice", VIPING, "-t", 60, "-l", "unreliable", "-c", 3, "-i", 0.01, "-W", 2, "bob")
            self.assertIn("3 messages transmitted, 2 received", out)
            self.end_children()
            self.run_to_end("operator", FABRICD, "stop")

    # A frame that a fault befell has a comment in a capture.
    def test_capture_says_what_a_rule_did(self):
        self.serve("bob")
        self.add("{action: drop, port: alice, message: FCVI_SEND_RQST, nth: 2}")
        file = os.path.join(self.folder.name, "a.pcapng")
        tap = self.start("operator", CTL, "tap", "alice", "bob", "-w", file)
        self.wait_for(lambda: self.status()["captures"] > 0, "the capture begins")
        self.run_to_end("alice", VIPING, "-t", 60, "-l", "unreliable", "-c", 3, "-i", 0.01, "-W", 1, "bob")
        tap.send_signal(signal.SIGINT)
        status, _, err = self.finish(tap)
        self.assertEqual(status, 0, err)
        self.assertEqual(Path(file).read_bytes().count(b"fault rule 1"), 1)

    # --- links

    # Down: whoever talks with the port notices, it is gone from the fabric and waits; up: it is there as before.
    def test_link_goes_down_and_comes_up(self):
        bob = self.serve("bob")
        self.ctl("link", "bob", "down")
        self.ctl("link", "bob", "down")
        self.assertIsNone(self.port_of("bob"))
        [down] = self.status()["links_down"]
        self.assertIn(f"process {bob.pid}", down)
        self.assertIn("links down: ", self.ctl("status"))
        self.finds_nobody("bob")
        self.assertIsNone(bob.poll())
        self.ctl("link", bob.pid, "up")
        self.ctl("link", bob.pid, "up")
        self.assertEqual(self.status()["links_down"], [])
        self.wait_for(lambda: self.port_of("bob"), "bob has its link")
        self.ping("bob")

    # Under load: the connection is lost at both ends and no process hangs or dies of a signal; the next one works.
    def test_link_goes_down_under_load(self):
        for action in ("down", "reset"):
            server, client = self.stream("bob", "alice", "-D", 60)
            while client.poll() is None:  # once suffices, unless it had not connected yet
                self.run_to_end("operator", CTL, "link", "alice", action)
                time.sleep(0.2)
            for child in (client, server):
                status, out, err = self.finish(child)
                self.assertGreater(status, 0, out + err)
            self.wait_for(lambda: self.status()["links_down"] == [], "a process that has ended has no link")
        self.serve("bob")

    # Reset: down and up again at once; the port has logged in anew.
    def test_link_is_reset(self):
        bob = self.serve("bob")
        before = self.port_of("bob")["uptime_seconds"]
        time.sleep(0.5)
        self.ctl("link", "bob", "reset")
        self.wait_for(lambda: self.port_of("bob") and self.port_of("bob")["logged_in"], "bob has its link")
        self.assertLess(self.port_of("bob")["uptime_seconds"], before + 0.5)
        self.ping("bob")

    # A name that several ports have takes none of them down.
    def test_link_must_be_one(self):
        self.serve("bob")
        self.serve("carol")
        self.assertIn("is not one port but 2: viping[", self.ctl("link", "viping", "down", status=2))
        self.assertEqual(self.status()["links_down"], [])
        self.assertIn('there is no such port: bbo; did you mean "bob"?', self.ctl("link", "bbo", "down", status=2))
        self.assertRegex(self.ctl("link", "nobody", "down", status=2), r"there is no such port: nobody; there are viping\[\d+\].*, viping\[\d+\]")
        self.assertIn('did you mean "down"?', self.ctl("link", "bob", "dwn", status=2))

    # --- Ethernet

    def host(self):
        """An FCF over a cable of UDP datagrams, and a host "ethan" at its other end, which answers. Returns its ENode as
        `status` tells of it, and the FCF's interface."""
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        near, far = (one.getsockname()[1] for one in sockets)
        for one in sockets:
            one.close()
        nic = self.configuration("fcoe.yaml", "name_appears: 60s", f'transport: fcoe, interface: "udp:{far}:{near}"')
        status, _, err = self.run_to_end("operator", FABRICD, "--daemonize", "--fcoe", f"udp:{near}:{far}", "--fka-period", 500)
        self.assertEqual(status, 0, err)
        self.addCleanup(self.run_to_end, "operator", FABRICD, "stop")  # with an interface it stays when nobody uses it
        self.start("ethan", VIPING, "-t", 60, "--listen", FCVI_CONFIG=str(nic))
        self.ping("ethan", "-W", 60)
        return self.e_nodes()[0], f"udp:{near}:{far}"

    def e_nodes(self):
        return self.status()["fcoe"]["interfaces"][0]["enodes"]

    # A rule on an ENode, by each of its names: the host misses exactly that message; as a peer it is found by its address.
    def test_rules_on_ethernet(self):
        e_node, interface = self.host()
        port = e_node["vn_ports"][0]
        for name in (interface, e_node["mac"], port["n_port_id"], port["port_name"]):
            self.ctl("fault", "clear")
            self.add("action=drop", "message=FCVI_SEND_RQST", "nth=2", "direction=received", f"port={name}")
            self.miss_the_second("ethan")
        self.ctl("fault", "clear")
        self.add("action=drop", "message=FCVI_SEND_RQST", "nth=2", "port=alice", f"peer={port['n_port_id']}")
        self.miss_the_second("ethan")
        self.ctl("fault", "clear")
        self.ping("ethan", count=5)

    def miss_the_second(self, to):
        status, out, err = self.run_to_end("alice", VIPING, "-t", 60, "-l", "unreliable", "-c", 3, "-i", 0.01, "-W", 2, to)
        self.assertEqual((status, re.findall(r"seq=(\d) time", out)), (1, ["1", "3"]), out + err)
        self.assertEqual([rule["fired"] for rule in self.rules()], [1])

    # An ENode's link goes down: it is logged out and not heard; an interface: all of it. Up, they are there again.
    def test_links_on_ethernet(self):
        e_node, interface = self.host()
        port = e_node["vn_ports"][0]
        for name, shown in ((e_node["mac"], e_node["mac"]), (port["port_name"], e_node["mac"]), (interface, interface)):
            self.ctl("link", name, "down")
            self.assertIn(shown, " ".join(self.status()["links_down"]))
            self.finds_nobody("ethan")
            self.ctl("link", name, "up")
            self.assertEqual(self.status()["links_down"], [])
            self.wait_for(lambda: self.e_nodes() and self.e_nodes()[0]["vn_ports"], "the host is logged in")
            self.ping("ethan", "-W", 60)
        self.ctl("link", e_node["mac"], "reset")
        self.wait_for(lambda: self.e_nodes() and self.e_nodes()[0]["vn_ports"], "the host is logged in")
        self.ping("ethan", "-W", 60)

    # --- status

    # --watch tells again, until it is interrupted.
    def test_status_is_watched(self):
        self.serve("bob")
        watch = self.start("operator", CTL, "status", "--watch", 1, "--json")
        lines = [watch.stdout.readline() for _ in range(2)]
        self.assertEqual([json.loads(line)["ports"][0]["logged_in"] for line in lines], [True, True])
        watch.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(watch)[0], 0)

    # --watch ends while the service is stopped.
    def test_watch_ends_without_an_answer(self):
        self.serve("bob")
        service = self.status()["process_id"]
        for signal_ in (signal.SIGINT, signal.SIGTERM):
            watch = self.start("operator", CTL, "status", "--watch", 1, "--json")
            watch.stdout.readline()
            os.kill(service, signal.SIGSTOP)
            try:
                time.sleep(1.5)  # it asks again
                watch.send_signal(signal_)
                self.assertEqual(self.finish(watch)[0], 0)
            finally:
                os.kill(service, signal.SIGCONT)

    # --- what is wrong

    # What cannot be written is no success.
    def test_full_disk_is_told(self):
        self.serve("bob")
        self.add("action=drop", "port=x")
        for words in (("status",), ("fault", "list"), ("fault", "list", "--json")):
            with open("/dev/full", "w") as full:
                child = subprocess.run([CTL, *words], stdout=full, stderr=subprocess.PIPE, env=self.environment("operator"), timeout=60)
            self.assertEqual(child.returncode, 1, child.stderr)

    def test_without_a_service(self):
        for words in (("fault", "list"), ("fault", "clear"), ("fault", "add", "action=drop"), ("link", "bob", "down"), ("status",)):
            self.assertIn("no fcvi-fabricd runs for", self.ctl(*words, status=1))
        self.assertFalse(os.path.exists(os.path.join(self.runtime, "fabricd.sock")))

    # Place, what was expected, the nearest name; nothing of what was refused is there.
    def test_mistakes_are_told(self):
        self.serve("bob")
        file = Path(self.folder.name, "bad.yaml")
        file.write_text("- {action: drop}\n- action: drop\n  mesage: ABTS\n")
        for words, told in ((("action=dropp",), 'rule:1:4: action: expected one of drop, '),
                            (("action=drop", "port"), '"port": expected KEY=VALUE'),
                            (("{action: drop",), "rule:"),
                            (("-f", file), f'{file}:3:3: unknown key "mesage" in faults[1]; did you mean "message"?'),
                            (("-f", "/nonexistent"), "/nonexistent: cannot read"),
                            (("-f", "/dev/zero"), "/dev/zero"),
                            ((), "expected either a rule or -f FILE"),
                            (("action=drop", "-f", file), "expected either a rule or -f FILE"),
                            (("action=drop", "port=\x1b"), "rule:1:25: a control character"),
                            (("action=drop", "times=1"), "times: known in scenarios only"),
                            (("action=link_down", "port=bob"), "action: expected one of drop")):
            self.assertIn(told, self.ctl("fault", "add", *words, status=2))
        self.assertIn('there is no rule "7"', self.ctl("fault", "clear", 7, status=2))
        self.assertIn('there is no rule "x"', self.ctl("fault", "clear", "x", status=2))
        self.assertEqual(self.rules(), [])
        self.assertEqual(self.ctl("fault", "list"), "no fault rules\n")
        out = self.run_to_end("operator", FABRICD, "--faults", file)
        self.assertEqual((out[0], f'{file}:3:3: unknown key "mesage"' in out[2]), (2, True), out)
        self.assertEqual(self.run_to_end("operator", FABRICD, "--faults", "/nonexistent")[0], 2)

    # Of some numbers one is wrong: none is cleared.
    def test_clear_is_whole(self):
        self.serve("bob")
        self.add("{action: drop, port: x}", "{action: delay, by: 1ms, port: y}")
        self.ctl("fault", "clear", 1, 3, status=2)
        self.assertEqual([rule["id"] for rule in self.rules()], [1, 2])
        self.ctl("fault", "clear", 1)
        self.assertEqual([rule["id"] for rule in self.rules()], [2])
        self.add("{action: drop, port: z}")
        self.assertEqual([rule["id"] for rule in self.rules()], [2, 3])

    # A process that is stopped does not answer: `add` returns all the same, and says whose frames escape it.
    def test_add_does_not_wait_for_ever(self):
        server, client = self.stream("bob", "alice", "-D", 30)
        client.send_signal(signal.SIGSTOP)
        told = self.add("action=drop", "message=ABTS", "port=bob")
        client.send_signal(signal.SIGCONT)
        self.assertIn("does not answer: some of its frames may still pass the service by", told)
        self.assertIsNone(server.poll())

    # --- hostile requests

    def talk(self, *records):
        """Sends records after a Hello, and gives the kinds of those that come back until the service ends the connection."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(os.path.join(self.runtime, "fabricd.sock"))
            connection.settimeout(self.TIMEOUT)
            answer = b""
            try:
                connection.sendall(self.record(HELLO, b"FCVI" + struct.pack(">HBBI", VERSION, 2, 0, os.getpid()) + b"test"))
                for record in records:
                    connection.sendall(record)
                while part := connection.recv(65536):
                    answer += part
            except ConnectionError:  # it refused before it had read all
                pass
            kinds = []
            while answer:
                kinds.append(answer[0])
                answer = answer[8 + int.from_bytes(answer[4:8], "big"):]
            return kinds

    @staticmethod
    def record(kind, body):
        return struct.pack(">BBBBI", kind, 0, 0, 0, len(body)) + body

    def request(self, body):
        parts = [body[at:at + 4000] for at in range(0, len(body), 4000)] or [b""]
        return [self.record(REQUEST, b"part\n" + part) for part in parts[:-1]] + [self.record(REQUEST, parts[-1])]

    # Whatever a request says: an answer or a refusal, and the service serves on.
    def test_hostile_requests_are_refused(self):
        self.serve("bob")
        chance = random.Random(7)
        bodies = [b"", b"fault-add\n", b"fault-add\nx", b"fault-add\nx\n" + b"[" * 60000, b"fault-add\nx\n" + b"{a: " * 15000,
                  b"fault-add\n" + b"n" * 60000, b"fault-add\nx\n\0\0\0", b"fault-add\nx\n\xff\xfe{", b"fault-clear\n\n\n",
                  b"fault-clear\n99999999999999999999", b"link\n", b"link\n\n", b"link\nbob", b"link\nbob\nDOWN", b"link\n" + b"b" * 60000,
                  b"fault-add\nx\n&a [*a, *a]", b"fault-add\nx\n{action: drop, fields: {seq_cnt: {min: -1}}}", b"fault-list\n", b"fault"]
        bodies += [bytes(chance.randrange(256) for _ in range(200)) for _ in range(20)]
        bodies += [b"fault-add\nx\n" + bytes(chance.choice(b"{}[]:,- \n'\"&*!action drop nth port") for _ in range(300))
                   for _ in range(100)]
        for body in bodies:
            self.assertEqual(self.talk(*self.request(body)), [WELCOME, REFUSAL], body[:80])
        self.assertNotIn(DONE, self.talk(*self.request(b"x" * 200000)))
        self.assertEqual(self.rules(), [])
        self.ping("bob")

    # Connections that ask nothing, or half of it, are ended, and take no place of a port meanwhile.
    def test_idle_connections_end(self):
        self.serve("bob")
        idle = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(80)]
        for one in idle:
            one.connect(os.path.join(self.runtime, "fabricd.sock"))
            one.sendall(self.record(HELLO, b"FCVI" + struct.pack(">HBBI", VERSION, 2, 0, os.getpid()) + b"test"))
            one.sendall(self.record(REQUEST, b"part\nfault"))
        self.ping("bob")
        refused = 0
        for one in idle:
            one.settimeout(60)
            answer = b""
            try:
                while part := one.recv(4096):
                    answer += part
            except ConnectionError:
                pass
            refused += answer[:1] == bytes([REFUSAL])
            one.close()
        self.assertEqual(refused, 80 - 64)
        self.assertEqual(len(self.status()["ports"]), 1)

    # Whoever asks and does not wait for the answer leaves nothing behind.
    def test_clients_that_leave(self):
        bob = self.serve("bob")
        for _ in range(50):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(os.path.join(self.runtime, "fabricd.sock"))
                connection.sendall(self.record(HELLO, b"FCVI" + struct.pack(">HBBI", VERSION, 2, 0, 1) + b"t"))
                connection.sendall(b"".join(self.request(b"fault-add\nx\n{action: drop, message: ABTS, port: bob}")))
        self.wait_for(lambda: self.port_of("bob"), "the service serves")
        self.ctl("fault", "clear")
        self.ping("bob")


if __name__ == "__main__":
    unittest.main(verbosity=2)
