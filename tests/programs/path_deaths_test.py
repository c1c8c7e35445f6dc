#!/usr/bin/env python3
"""Processes that are killed or stopped amid traffic through shared memory: the other end notices, nothing hangs, what was
not killed is whole, the next run starts clean, and the service keeps no memory or open file of them.

usage: path_deaths_test.py FCVI_PERF [--rounds N] [--seed N]
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

from local_fabric import LocalFabricTest, option

PERF = sys.argv.pop(1)


ROUNDS = option("--rounds", 12)
SEED = option("--seed", 1)


class PathDeaths(LocalFabricTest):
    def fabricd(self):
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except (OSError, NotADirectoryError):
                continue
            if words[0].endswith(b"fcvi-fabricd") and self.runtime.encode() in words:
                return int(entry)
        return 0

    def open_files(self):
        folder = f"/proc/{self.fabricd()}/fd"
        return [os.readlink(os.path.join(folder, number)) for number in os.listdir(folder)]

    def begin(self, chance):
        server = self.start("bob", PERF, "--server", "--once", "--timeout", 20)
        words = [PERF, chance.choice(["send_bw", "write_bw", "send_lat"]), "bob", "-D", 1, "-s",
                 chance.choice([8, 3000, 65536]), "-c", chance.choice(["delivery", "reception"]), "--check", "--json",
                 "--timeout", 20] + chance.choice([[], ["-e"], ["--cq"]])
        return server, self.start("alice", *words)

    def kill_one(self, chance, server, client):
        time.sleep(chance.uniform(0.2, 1.0))
        victim, other = chance.sample([server, client], 2)
        victim.kill()
        self.finish(victim)
        if other is server:
            self.wait_for(lambda: self.has_ended(server), "the server does not notice the end of its client")
        status, _, _ = self.finish(other)
        self.assertGreaterEqual(status, 0, "a signal ended the other end")

    def has_ended(self, server):
        """A server whose client was killed before it had connected waits for another, as it should: here that one is."""
        if server.poll() is None:
            self.run_to_end("alice", PERF, "send_lat", "bob", "-n", 10, "--timeout", 1)
        return server.poll() is not None

    def stop_one(self, chance, server, client):
        time.sleep(chance.uniform(0.2, 1.0))
        victim = chance.choice([server, client])
        if victim.poll() is None:
            victim.send_signal(signal.SIGSTOP)
            time.sleep(chance.uniform(0.01, 0.5))
            victim.send_signal(signal.SIGCONT)
        status, out, err = self.finish(client)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["results"][0]["errors"], 0)
        self.finish(server)

    def test_killed_and_stopped_processes(self):
        self.run_to_end("alice", PERF, "send_lat", "-n", 10)  # starts the service
        before = len(self.open_files())
        for number in range(ROUNDS):
            chance = random.Random(SEED * 1_000_003 + number)
            with self.subTest(round=number, seed=SEED):
                ends = self.begin(chance)
                try:
                    chance.choice([self.kill_one, self.stop_one])(chance, *ends)
                finally:
                    self.end_children()
                    self.children.clear()
        status, out, err = self.run_to_end("alice", PERF, "send_bw", "-n", 500, "-s", 65536, "--check", "--json")
        self.assertEqual((status, err), (0, ""))
        self.wait_for(lambda: len(self.open_files()) <= before, "the service keeps open files")
        self.assertEqual([name for name in self.open_files() if "memfd" in name], [])


if __name__ == "__main__":
    import unittest
    unittest.main()
