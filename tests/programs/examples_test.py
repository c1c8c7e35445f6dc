#!/usr/bin/env python3
"""The example programs do what they say, with a hundred clients, and when clients are killed.

usage: examples_test.py FOLDER_OF_THE_EXAMPLES
"""

import os
import random
import re
import sys
import time
import unittest
from pathlib import Path

from local_fabric import LocalFabricTest

EXAMPLES = Path(sys.argv.pop(1))
CLIENTS, MESSAGES = 100, 1000


class Examples(LocalFabricTest):
    TIMEOUT = 240

    def program(self, name):
        return EXAMPLES / name

    def serve(self, name, *words):
        server = self.start("server", self.program(name), "serve", *words)
        if name != "ping_pong":
            self.assertEqual(server.stdout.readline(), "serving\n")
        return server

    def test_ping_pong(self):
        self.serve("ping_pong")
        for size in (1, 8, 65536, 1048576):
            status, out, err = self.run_to_end("client", self.program("ping_pong"), "server", 50, size)
            self.assertEqual((status, err), (0, ""), size)
            self.assertRegex(out, rf"^50 messages of {size} bytes: half a round trip takes [0-9.]+ us")

    def test_peer_to_peer_in_either_order_and_at_once(self):
        for pause in (0.3, 0):
            first = self.start("one", self.program("peer_to_peer"), "two", f"meeting{pause}", 200)
            time.sleep(pause)
            second = self.start("two", self.program("peer_to_peer"), "one", f"meeting{pause}", 200)
            results = [self.finish(first), self.finish(second)]
            for status, out, err in results:
                self.assertEqual((status, err), (0, ""))
                self.assertIn(f"sum of 200 numbers: {sum(i * i for i in range(1, 201))}", out)

    def test_files_by_rdma(self):
        shared = Path(self.folder.name, "shared")
        shared.mkdir()
        self.serve("file_server", shared)
        here, back = Path(self.folder.name, "here"), Path(self.folder.name, "back")
        for size in (0, 1, 1048576 - 4096, 5_000_001):
            here.write_bytes(random.Random(size).randbytes(size))
            status, out, err = self.run_to_end("client", self.program("file_server"), "put", "server", here, "file")
            self.assertEqual((status, out, err), (0, f"file: {size} bytes stored\n", ""))
            status, out, err = self.run_to_end("client", self.program("file_server"), "get", "server", "file", back)
            self.assertEqual((status, out, err), (0, f"file: {size} bytes fetched\n", ""))
            self.assertTrue(back.read_bytes() == here.read_bytes())
        for name in ("missing", "../secret", ""):
            status, _, err = self.run_to_end("client", self.program("file_server"), "get", "server", name, back)
            self.assertEqual(status, 1, name)
            self.assertNotEqual(err, "")

    def counts(self, server):
        server.terminate()
        status, out, err = self.finish(server)
        self.assertEqual((status, err), (0, ""))
        return [int(number) for number in re.findall(r"\d+", out)]

    def test_a_hundred_clients_on_one_completion_queue_lose_nothing(self):
        server = self.serve("cq_server")
        clients = [self.start(f"client{i % 10}", self.program("cq_server"), "client", "server", MESSAGES) for i in range(CLIENTS)]
        for client in clients:
            self.assertEqual(self.finish(client), (0, f"{MESSAGES} messages answered\n", ""))
        self.assertEqual(self.counts(server), [CLIENTS, CLIENTS, 0, CLIENTS * MESSAGES, 0])

    def memory_kib(self, process):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def test_killed_clients_are_noticed_and_nothing_leaks(self):
        chance = random.Random(7)
        server = self.serve("cq_server")
        killed = 0
        for wave in range(5):
            clients = [self.start(f"client{i}", self.program("cq_server"), "client", "server", 10_000_000) for i in range(20)]
            keeps = self.start("steady", self.program("cq_server"), "client", "server", MESSAGES)
            time.sleep(0.5)
            chance.shuffle(clients)
            for client in clients:
                client.kill()
                time.sleep(chance.random() * 0.02)
            killed += len(clients)
            self.assertEqual(self.finish(keeps), (0, f"{MESSAGES} messages answered\n", ""))
            if wave == 0:
                self.end_children_but(server)
                used = self.memory_kib(server)
        self.end_children_but(server)
        grown = self.memory_kib(server) - used
        self.assertLess(grown, 8192, "KiB of the server after waves of killed clients")
        came, finished, died, _, damaged = self.counts(server)
        self.assertEqual((finished, damaged), (5, 0))
        self.assertEqual(came, finished + died)
        self.assertGreater(died, 0)
        self.assertLessEqual(died, killed)

    def end_children_but(self, server):
        for child in self.children:
            if child is not server:
                child.communicate()

    def test_usage(self):
        for name in ("ping_pong", "file_server", "peer_to_peer", "cq_server"):
            self.assertEqual(self.run_to_end("client", self.program(name))[0], 2)
            status, out, _ = self.run_to_end("client", self.program(name), "--help")
            self.assertEqual(status, 0)
            self.assertIn(f"usage: {name}", out)


if __name__ == "__main__":
    os.environ.pop("FCVI_NODE", None)
    unittest.main()
