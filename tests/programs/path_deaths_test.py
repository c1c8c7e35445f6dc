#!/usr/bin/env python3
"""Processes that are killed or stopped amid traffic through shared memory, in both directions: an end, or the service. Who
is left notices at once, nothing hangs, what arrived is whole and in order, the next run starts clean, and nobody keeps a
segment or an open file. Nothing that was acknowledged at Reliable Reception is lost, and nothing of a killed sender's Sends that
a ring took at Reliable Delivery. When the service dies, Sends that were complete at Reliable Delivery may be lost: both hear of it.

usage: path_deaths_test.py WITNESS FCVI_PERF [--rounds N] [--seed N]
"""

import collections
import json
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

from local_fabric import LocalFabricTest, option

WITNESS, PERF = sys.argv.pop(1), sys.argv.pop(1)
ROUNDS = option("--rounds", 40)
SEED = option("--seed", 1)
HEADER, WINDOW, PLACES = 4096, 16, 32  # of witness.c
RING_BYTES = 1 << 20  # no other memory between processes is as large
NOTICED_S = 5  # at once, on a machine with other load; the protocol's own time-outs are longer
Counts = collections.namedtuple("Counts", "acknowledged taken wrong sent")


def ticks(process):
    """CPU time of a process, in clock ticks."""
    words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


class End:
    """A process of the pair, and its file."""

    def __init__(self, test, role, path):
        self.test, self.role, self.path, self.child = test, role, path, None

    def run(self, *words):
        node, name = ("bob", "deaths") if self.role == "server" else ("alice", "bob:deaths")
        self.child = self.test.start_talking(node, WITNESS, self.role, name, *words)

    def counts(self):
        with open(self.path, "rb") as file:
            return Counts(*struct.unpack("=4Q", file.read(32)))

    def place(self, number, size):
        with open(self.path, "rb") as file:
            file.seek(HEADER + number % PLACES * size)
            return file.read(size)

    def says(self, word, patience_s):
        """Its next line, if one comes in that time."""
        ready, _, _ = select.select([self.child.stdout], [], [], patience_s)
        return bool(ready) and self.child.stdout.readline() == word + "\n"

    def rings(self):
        """How many pairs of rings it has mapped."""
        sizes = []
        for line in Path(f"/proc/{self.child.pid}/maps").read_text(encoding="utf-8").splitlines():
            if "memfd:fcvi" in line:
                begin, end = (int(word, 16) for word in line.split()[0].split("-"))
                sizes.append(end - begin)
        return sum(size >= RING_BYTES for size in sizes)


class PathDeaths(LocalFabricTest):
    def start_talking(self, node, *words):
        """As start(), and lives until its standard input ends."""
        child = subprocess.Popen(list(map(str, words)), env=self.environment(node), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.children.append(child)
        return child

    def fabricd(self):
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"fcvi-fabricd") and self.runtime.encode() in words:
                return int(entry)
        return 0

    def service(self):
        """The same, while one runs."""
        pid = self.fabricd()
        self.assertNotEqual(pid, 0)
        return pid

    def open_files(self):
        """Of the service; none if none runs."""
        folder = f"/proc/{self.fabricd()}/fd"
        try:
            return [os.readlink(os.path.join(folder, number)) for number in os.listdir(folder)]
        except OSError:
            return []

    # --- a round

    def make_ends(self):
        """With empty files, for messages of self.size."""
        ends = [End(self, role, os.path.join(self.folder.name, role)) for role in ("server", "client")]
        for end in ends:
            with open(end.path, "wb") as file:
                file.truncate(HEADER + PLACES * self.size)
        return ends

    def begin(self, chance):
        self.size, self.level = chance.choice([8, 3000, 65536]), chance.choice(["delivery", "reception"])
        self.operation = chance.choice(["send", "send", "write"])
        self.size -= self.size % 8
        ends = self.make_ends()
        ends[0].run(self.level, self.operation, self.size, chance.choice(["wait", "poll"]), ends[0].path, ends[1].path)
        ends[1].run(self.level, self.operation, self.size, chance.choice(["wait", "poll"]), ends[1].path, ends[0].path)
        return ends

    def goes_on(self, ends):
        """Both directions move."""
        before = [end.counts().acknowledged for end in ends]
        self.wait_for(lambda: all(end.counts().acknowledged > one for end, one in zip(ends, before)), "no message goes on")

    def stop_one(self, chance, ends):
        """For a moment, in which another may die. Who that is."""
        pids = [end.child.pid for end in ends] + [self.service()]
        stopped, *others = chance.sample(pids, 3)
        os.kill(stopped, signal.SIGSTOP)
        time.sleep(chance.uniform(0.01, 0.3))
        victim = chance.choice(others) if chance.random() < 0.3 else 0
        if victim != 0:
            os.kill(victim, signal.SIGKILL)
            time.sleep(chance.uniform(0, 0.1))
        os.kill(stopped, signal.SIGCONT)
        if victim == 0:
            self.goes_on(ends)
        return victim

    def expect_noticed(self, victim, ends):
        """By who is left."""
        began = time.monotonic()
        for end in ends:
            if end.child.pid != victim:
                self.assertTrue(end.says("lost", NOTICED_S), f"the {end.role} does not notice: {end.child.poll()} {end.counts()}")
        self.latest = max(self.latest, time.monotonic() - began)

    def expect_acknowledged(self, sender, receiver, victim):
        """Reliable Reception (VI-ARCH 2.5.3): complete when the data are in the peer's memory. Of the last messages that is
        looked at here, of the others the receiver did so. At Reliable Delivery, too, a sender's death takes nothing with
        it: what it was told of stands in the ring, and is read."""
        sent, came = sender.counts(), receiver.counts()
        self.assertEqual(came.wrong, 0, "a message was not whole, or not the next one")
        self.assertLessEqual(came.taken, sent.sent + 1)  # died between the post and its count
        self.acknowledged += sent.acknowledged
        if self.operation == "send" and sender.child.pid == victim and self.by_ring:
            self.assertGreaterEqual(came.taken, sent.acknowledged, "acknowledged, and not received")
        if self.level != "reception":
            return
        for number in range(max(0, sent.acknowledged - WINDOW), sent.acknowledged):
            there = receiver.place(number, self.size) == struct.pack("=Q", number + 1) * (self.size // 8)
            self.assertTrue(there, f"message {number} of the {sender.role} was acknowledged and is not there")

    def expect_nothing_kept(self, victim, ends):
        """By ends that live on, then by the service when they have gone, too."""
        for end in ends:
            if end.child.pid != victim:
                self.wait_for(lambda end=end: end.rings() == 0, f"the {end.role} keeps a ring")
                self.assertIsNone(end.child.poll())
                _, err = end.child.communicate(timeout=self.TIMEOUT)  # ends its standard input
                self.assertEqual((end.child.returncode, err), (0, ""))
        self.expect_service_keeps_nothing()

    def expect_service_keeps_nothing(self):
        def keeps_nothing():
            files = self.open_files()
            return len(files) <= self.files_of_service and not any("memfd" in name for name in files)

        self.wait_for(keeps_nothing, "the service keeps open files")

    def one_round(self, chance):
        ends = self.begin(chance)
        if chance.random() < 0.1:  # while they connect: who is left may wait for another
            time.sleep(chance.uniform(0, 0.1))
            chance.choice(ends).child.kill()
            self.end_children()
            return self.expect_service_keeps_nothing()
        for end in ends:
            self.assertTrue(end.says("connected", self.TIMEOUT), end.child.poll())
        self.by_ring = chance.random() < 0.7  # else by the service at first, whose way out is a queue of the process
        if self.by_ring:
            self.wait_for(lambda: all(end.rings() == 1 for end in ends), "no ring is made")
            self.goes_on(ends)
        time.sleep(chance.uniform(0, 0.1))
        victim = self.stop_one(chance, ends) if chance.random() < 0.5 else 0
        if victim == 0:
            victim = chance.choice([ends[0].child.pid, ends[1].child.pid] * 2 + [self.service()])
            os.kill(victim, signal.SIGKILL)
        self.deaths += 1
        self.expect_noticed(victim, ends)
        for end in ends:
            if end.child.pid == victim:
                end.child.wait()
        self.expect_acknowledged(ends[0], ends[1], victim)
        self.expect_acknowledged(ends[1], ends[0], victim)
        return self.expect_nothing_kept(victim, ends)

    def expect_idle(self, end):
        time.sleep(0.3)  # what is under way
        before = ticks(end.child.pid)
        time.sleep(1)
        self.assertLessEqual(ticks(end.child.pid) - before, os.sysconf("SC_CLK_TCK") // 20)

    def test_rdma_into_a_process_that_makes_no_call(self):
        """Its library takes what comes by itself, and no CPU when nothing comes."""
        self.size, self.level, self.operation = 65536, "reception", "write"
        ends = self.make_ends()
        ends[0].run(self.level, self.operation, self.size, "silent", ends[0].path, ends[1].path)
        ends[1].run(self.level, self.operation, self.size, "wait", ends[1].path, ends[0].path)
        for end in ends:
            self.assertTrue(end.says("connected", self.TIMEOUT), end.child.poll())
        self.wait_for(lambda: ends[1].counts().acknowledged > 1000, "RDMA Writes do not arrive")
        self.assertEqual([end.rings() for end in ends], [1, 1])
        os.kill(ends[1].child.pid, signal.SIGSTOP)
        self.expect_idle(ends[0])
        self.assertEqual(ends[0].rings(), 1)
        os.kill(ends[1].child.pid, signal.SIGCONT)
        ends[1].child.kill()
        ends[1].child.wait()
        self.by_ring = True
        self.latest = self.acknowledged = 0
        self.expect_acknowledged(ends[1], ends[0], ends[1].child.pid)
        self.wait_for(lambda: ends[0].rings() == 0, "the silent end keeps a ring")
        self.expect_idle(ends[0])

    def test_killed_and_stopped_processes(self):
        self.run_to_end("alice", PERF, "send_lat", "-n", 10)  # starts the service
        time.sleep(0.5)  # it closes those of that program
        self.files_of_service = len(self.open_files())
        self.latest, self.acknowledged, self.deaths = 0, 0, 0
        for number in range(ROUNDS):
            with self.subTest(round=number, seed=SEED):
                try:
                    self.one_round(random.Random(SEED * 1_000_003 + number))
                finally:
                    self.end_children()
                    self.children.clear()
        print(f"{self.deaths} died amid {self.acknowledged} acknowledged messages; noticed after {self.latest:.3f} s at most")
        status, out, err = self.run_to_end("alice", PERF, "send_bw", "-n", 500, "-s", 65536, "--check", "--json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["results"][0]["errors"], 0)
        self.expect_service_keeps_nothing()


if __name__ == "__main__":
    import unittest
    unittest.main()
