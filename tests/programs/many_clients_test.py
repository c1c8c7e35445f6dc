#!/usr/bin/env python3
"""Many clients of one server, all of one host name, on the local fabric: a ring for each pair that talks and for no other,
as large as docs/architecture.md says, and who waits takes no processor time.

usage: many_clients_test.py MANY_CLIENTS FCVI_FABRICD [--clients N]
"""

import json
import os
import sys
import time
import unittest
from pathlib import Path

from local_fabric import LocalFabricTest, option

PROGRAM, FABRICD = sys.argv.pop(1), sys.argv.pop(1)
CLIENTS = option("--clients", 100)
PAIR_BYTES = 2_600_000  # what runs of 64 KiB messages use of two rings of 512 slots, their ends, the doorbell of the other


def status_value(pid, name):
    """Bytes, of a line of /proc/PID/status."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def processes_of(folder):
    """Those that were started for this test: their environment names its runtime directory."""
    wanted, found = f"FCVI_RUNTIME_DIR={folder}".encode(), []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if wanted in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                found.append(int(entry))
        except OSError:
            continue
    return found


class ManyClients(LocalFabricTest):
    def test_memory_and_time_of_those_who_wait(self):
        server = self.start("one", PROGRAM, CLIENTS)
        self.assertEqual(server.stdout.readline(), "all are there\n", server.poll())
        shared = status_value(server.pid, "RssShmem")
        self.assertGreater(shared, CLIENTS * 2_000_000, "all of the slabs was used")
        self.assertLess(shared, CLIENTS * PAIR_BYTES)
        processes = processes_of(self.runtime)
        self.assertGreaterEqual(len(processes), CLIENTS + 1)
        most = max(status_value(pid, "RssShmem") for pid in processes if pid != server.pid)
        self.assertLess(most, PAIR_BYTES, "a client asks all ports of the host for a connection, and talks to one")
        time.sleep(0.5)  # those that spin before they sleep
        before = cpu_seconds(processes)
        time.sleep(1)
        self.assertLess(cpu_seconds(processes) - before, 0.1, "of all of them, in a second")
        server.kill()

    # Pairs beyond the most that there may be talk by way of the service; no memory is taken for them.
    def test_no_more_pairs_than_there_may_be(self):
        most, clients = 8, 12
        self.assertEqual(self.run_to_end("one", FABRICD, "--daemonize", "--max-paths", most)[0], 0)
        server = self.start("one", PROGRAM, clients)
        self.assertEqual(server.stdout.readline(), "all are there\n", server.poll())
        _, out, _ = self.run_to_end("one", FABRICD, "status", "--json")
        status = json.loads(out)
        self.assertEqual(status["paths"], most)
        self.assertGreaterEqual(status["paths_refused"], clients - most)
        self.assertLess(status_value(server.pid, "RssShmem"), most * PAIR_BYTES)
        server.kill()
        server.wait()
        self.assertEqual(self.run_to_end("one", FABRICD, "stop")[0], 0)


if __name__ == "__main__":
    unittest.main()
