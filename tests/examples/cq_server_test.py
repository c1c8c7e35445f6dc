#!/usr/bin/env python3
"""A hundred clients of one server through one completion queue: nothing is lost, killed clients are noticed, nothing leaks.

usage: cq_server_test.py FOLDER_OF_PROGRAMS [--sanitized]

--sanitized: fewer processes, since each of them is many times slower; what they reside in says nothing of leaks.
"""

import random
import re
import signal
import sys
import threading
import time
import unittest
from pathlib import Path

import local_fabric

local_fabric.LocalFabric.folder_of_programs = Path(sys.argv.pop(1))
SANITIZED = sys.argv[1:2] == ["--sanitized"] and bool(sys.argv.pop(1))
CLIENTS, MESSAGES = (20, 200) if SANITIZED else (100, 1000)


def counters(line):
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)}


class CqServer(local_fabric.LocalFabric):
    def start_server(self, *words):
        """The process; its lines gather in self.lines."""
        server = self.start("cq_server", "--server", *words)
        self.lines = []
        self.reader = threading.Thread(target=self.read, args=(server,), daemon=True)
        self.reader.start()
        return server

    def read(self, server):
        for line in server.stdout:
            self.lines.append(line)

    def counted(self, server):
        """The last counters, after the server ended well."""
        server.wait(timeout=local_fabric.ENOUGH_S)
        self.reader.join(timeout=local_fabric.ENOUGH_S)
        self.assertEqual((server.returncode, server.stderr.read()), (0, ""))
        self.assertTrue(self.lines[-1].startswith("end "), self.lines[-3:])
        return counters(self.lines[-1])

    def wait_until(self, condition, what):
        deadline = time.monotonic() + local_fabric.ENOUGH_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}: {self.lines[-3:]}")
            time.sleep(0.02)

    def latest(self):
        lines = [line for line in self.lines if " created=" in line]
        return counters(lines[-1]) if lines else {}

    def start_client(self, number, *words):
        # A hundred connect at once, maybe beside other load, and the server takes one after another.
        return self.start("cq_server", "server", "--patience", local_fabric.ENOUGH_S, *words, node=f"client{number}")

    def test_hundred_clients_lose_nothing(self):
        server = self.start_server("--clients", CLIENTS)
        clients = [self.start_client(number % 10, "-n", MESSAGES) for number in range(CLIENTS)]
        for client in clients:
            self.assertEqual(self.good(client), f"{MESSAGES} messages answered\n")
        end = self.counted(server)
        self.assertEqual((end["finished"], end["lost"], end["wrong"]), (CLIENTS, 0, 0))
        self.assertEqual(end["messages"], CLIENTS * MESSAGES)
        self.assertEqual(end["created"] - end["destroyed"], 1)  # the one that waits for the next client

    def test_killed_clients_are_noticed_and_others_served(self):
        chance = random.Random(3)
        server = self.start_server()
        # Those to be killed never come to an end by themselves.
        doomed = {self.start_client(number % 10, "-n", 10**9, "--pace", 500) for number in range(CLIENTS // 2)}
        others = [self.start_client(number % 10, "-n", MESSAGES) for number in range(CLIENTS // 2)]
        self.wait_until(lambda: self.latest().get("created", 0) > CLIENTS, "all clients connected")
        for client in chance.sample(sorted(doomed, key=lambda process: process.pid), len(doomed)):
            client.send_signal(signal.SIGKILL)
            time.sleep(chance.random() / 20)
        for client in others:
            self.good(client)
        self.wait_until(lambda: self.latest()["finished"] + self.latest()["lost"] >= CLIENTS, "every end noticed")
        server.send_signal(signal.SIGTERM)
        end = self.counted(server)
        self.assertEqual((end["finished"], end["lost"], end["wrong"]), (len(others), len(doomed), 0))
        self.assertEqual(end["created"] - end["destroyed"], 1)
        self.assertEqual(len([line for line in self.lines if "lost after" in line]), len(doomed))

    @unittest.skipIf(SANITIZED, "a sanitizer keeps what was freed; LeakSanitizer looks for leaks")
    def test_memory_stays_when_clients_come_and_are_killed(self):
        server = self.start_server()
        resident = []
        for wave in range(1, 6):
            clients = [self.start_client(number, "-n", 10**9) for number in range(20)]
            self.wait_until(lambda wave=wave: self.latest().get("created", 0) > 20 * wave, "the wave has connected")
            for client in clients:
                client.kill()
                client.wait()
            self.wait_until(lambda wave=wave: self.latest()["destroyed"] >= 20 * wave, "the wave is buried")
            resident.append(self.latest()["rss_kib"])
        server.send_signal(signal.SIGTERM)
        end = self.counted(server)
        self.assertEqual((end["lost"], end["created"] - end["destroyed"]), (100, 1))
        # A leak of one client's slots alone would be 20 x 24 x 320 bytes per wave, 600 KiB over the last four.
        self.assertLess(resident[-1] - resident[1], 400, resident)


if __name__ == "__main__":
    unittest.main(verbosity=2)
