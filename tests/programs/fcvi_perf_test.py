#!/usr/bin/env python3
"""fcvi-perf measures every operation in every way, checks what it moved, prints what programs can read, and ends when the
other end does. No speed is asserted.

usage: fcvi_perf_test.py FCVI_PERF
"""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from local_fabric import OVER_TCP, LocalFabricTest

PERF = sys.argv.pop(1)
PATIENT = ("--timeout", "60")
LATENCIES, BANDWIDTHS = ("send_lat", "write_lat", "read_lat"), ("send_bw", "write_bw", "read_bw")


class FcviPerf(LocalFabricTest):
    def measure(self, *words, node="one", **more):
        status, out, err = self.run_to_end(node, PERF, *words, *PATIENT, **more)
        self.assertEqual((status, err), (0, ""), words)
        return out

    def result(self, *words, **more):
        document = json.loads(self.measure(*words, "--json", **more))
        self.assertEqual(document["program"], "fcvi-perf")
        self.assertEqual([one["errors"] for one in document["results"]], [0] * len(document["results"]))
        return document

    def test_each_operation_checks_its_content(self):
        for test in LATENCIES + BANDWIDTHS:
            for level in ("unreliable", "delivery", "reception"):
                if level == "unreliable" and test.startswith("read"):
                    continue
                document = self.result(test, "-n", 60, "-s", 5000, "--check", "-c", level)
                self.assertEqual((document["test"], document["check"]), (test, True))
                self.assertEqual([one["iterations"] for one in document["results"]], [60])

    def test_waiting_and_completion_queues(self):
        for test in LATENCIES + BANDWIDTHS:
            for ways in (("-e",), ("--cq",), ("-e", "--cq")):
                document = self.result(test, "-n", 50, "--check", *ways)
                self.assertEqual(document["completion"], "waiting" if "-e" in ways else "polling")

    def test_many_connections_and_both_directions(self):
        for test in LATENCIES:
            self.result(test, "-n", 50, "-q", 4, "--check")
        for test in BANDWIDTHS:
            for ways in ((), ("-e",)):
                document = self.result(test, "-n", 50, "-q", 3, "-b", "--check", *ways)
                self.assertEqual(document["results"][0]["iterations"], 100)

    def test_depths(self):
        for depths in (("-t", 1, "-r", 1), ("-t", 1, "-r", 7), ("-t", 100, "-r", 3), ("-t", 3, "-r", 100)):
            self.result("send_bw", "-n", 150, "-s", 100, "--check", *depths)

    def test_rdma_writes_with_immediate_data(self):
        for test in ("write_lat", "write_bw"):
            self.assertTrue(self.result(test, "-n", 50, "--check", "--write_with_imm")["immediate"])

    def test_the_smallest_and_the_largest_message(self):
        for test in LATENCIES + BANDWIDTHS:
            for size in (1, 16777216):
                self.result(test, "-n", 2, "-s", size, "--check", "--warm-up", 1)

    def test_threads_and_the_loop_back_nic(self):
        for nic in ("VINIC", "VILO"):
            for test in LATENCIES + BANDWIDTHS:
                document = self.result(test, "-n", 40, "--threads", "-d", nic, "--check")
                self.assertEqual((document["ends"], document["nic"]), ("threads", nic))

    def test_latencies_are_in_order(self):
        one = self.result("send_lat", "-n", 200, "-H")["results"][0]
        self.assertLessEqual(one["min_us"], one["p50_us"])
        self.assertLessEqual(one["p50_us"], one["p99_us"])
        self.assertLessEqual(one["p99_us"], one["p999_us"])
        self.assertLessEqual(one["p999_us"], one["max_us"])
        self.assertGreater(one["min_us"], 0)
        self.assertEqual(sum(count for _, count in one["histogram_ns"]), 200)

    def test_a_duration(self):
        began = time.monotonic()
        one = self.result("send_bw", "-D", 0.2, "-s", 100)["results"][0]
        self.assertGreaterEqual(time.monotonic() - began, 0.2)
        self.assertGreater(one["iterations"], 0)
        self.assertGreater(one["messages_per_s"], 0)

    def test_a_sweep_as_table_csv_and_plot(self):
        sizes = [2**power for power in range(11)]
        plot = os.path.join(self.folder.name, "sweep.svg")
        for test, column in (("send_lat", "p50_us"), ("send_bw", "megabytes_per_s")):
            rows = list(csv.DictReader(io.StringIO(self.measure(test, "-a", "-s", 1024, "-n", 10, "--csv", "--svg", plot))))
            self.assertEqual([int(row["bytes"]) for row in rows], sizes)
            self.assertTrue(all(float(row[column]) > 0 for row in rows))
            drawing = ElementTree.parse(plot).getroot()
            self.assertEqual(drawing.tag, "{http://www.w3.org/2000/svg}svg")
            for line in drawing.iter("{http://www.w3.org/2000/svg}polyline"):
                self.assertEqual(len(line.get("points").split()), len(sizes))
        table = self.measure("write_lat", "-a", "-s", 4, "-n", 10).splitlines()
        self.assertRegex(table[0], "^write_lat: Reliable Delivery, polling, two processes$")
        self.assertRegex(table[2], r"^ *#bytes +#iterations +min +p50 +p99 +p99.9 +max +mean$")
        self.assertEqual([line.split()[:2] for line in table[3:]], [["1", "10"], ["2", "10"], ["4", "10"]])

    def test_a_plot_that_cannot_be_written_is_told_before_anything_is_measured(self):
        for path in (self.folder.name, os.path.join(self.folder.name, "no", "plot.svg")):
            status, out, err = self.run_to_end("one", PERF, "send_lat", "-n", "5", "--svg", path, *PATIENT)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("--svg", err)

    def test_sizes_with_a_unit(self):
        for word, size in (("1k", 1024), ("64KiB", 65536), ("2m", 2097152)):
            self.assertEqual(self.result("write_bw", "-n", 2, "-s", word)["results"][0]["bytes"], size)

    def test_bits(self):
        bytes_a_s, bits = (self.measure("send_bw", "-n", 5, *words).splitlines()[1].split() for words in ((), ("--report_gbits",)))
        self.assertEqual((bytes_a_s[2], bits[2]), ("MB/s", "Gb/s"))

    def test_the_histogram_of_the_table(self):
        lines = [line.split() for line in self.measure("send_lat", "-n", 200, "-H").splitlines()[4:]]
        self.assertEqual(sum(int(line[2]) for line in lines), 200)
        self.assertEqual(lines[-1][3], "100.000")

    def test_a_server_says_what_it_ignores(self):
        server = self.start("bob", PERF, "--server", "--once", "-s", 8, "-e", "--json")
        self.measure("send_lat", "-n", 5, "bob", node="alice")
        status, _, err = self.finish(server)
        self.assertEqual((status, err), (0, "fcvi-perf: --server: the client says what is measured; ignored here: --size --events --json\n"))

    def test_a_nic_that_is_not_there(self):
        for words in (("send_lat", "-d", "NOSUCH"), ("--server", "-d", "NOSUCH")):
            status, out, err = self.run_to_end("one", PERF, *words)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("there is no VI NIC NOSUCH", err)

    def test_a_nic_within_the_process_and_two_processes(self):
        status, _, err = self.run_to_end("one", PERF, "send_lat", "-d", "VILO", "--timeout", "0.2")
        self.assertEqual(status, 1)
        self.assertIn("--threads", err)

    def test_a_server_of_several_clients(self):
        server = self.start("bob", PERF, "--server", "-p", "speed")
        self.assertEqual(server.stdout.readline(), "fcvi-perf: serving as bob:speed\n")
        for words in (("send_lat", "bob:speed"), ("read_bw", "-p", "speed", "bob")):
            self.assertEqual(self.result(*words, "-n", 30, node="alice")["ends"], "hosts")
        server.terminate()
        self.assertEqual(self.finish(server)[0], 0)

    def test_a_server_of_one_client(self):
        server = self.start("bob", PERF, "--server", "--once")
        self.measure("write_bw", "-n", 30, "bob", node="alice")
        self.assertEqual(self.finish(server)[::2], (0, ""))

    def test_a_killed_client_leaves_the_server(self):
        server = self.start("bob", PERF, "--server")
        server.stdout.readline()
        for test in ("send_bw", "write_lat", "read_bw"):
            client = self.start("alice", PERF, test, "-D", "600", "bob", *PATIENT)
            client.stdout.readline()
            time.sleep(0.3)
            client.kill()
            client.wait()
            self.measure("send_lat", "-n", 10, "bob", node="alice")
        server.terminate()
        self.assertEqual(self.finish(server)[0], 0)

    def test_a_killed_server_ends_the_client(self):
        for test in LATENCIES + BANDWIDTHS:
            for ways in ((), ("-e",)):
                client = self.start("one", PERF, test, "-D", "600", *ways, *PATIENT)
                client.stdout.readline()
                self.wait_for(lambda: children_of(client.pid), "the server end")
                time.sleep(0.3)
                for child in children_of(client.pid):
                    os.kill(child, signal.SIGKILL)
                status, _, err = self.finish(client)
                self.assertEqual(status, 1, (test, ways))
                self.assertTrue(err.startswith("fcvi-perf: "), err)

    def test_a_stopped_server_ends_the_client(self):
        for ways in ((), ("-e",)):
            client = self.start("one", PERF, "send_lat", "-D", "600", "--timeout", "5", *ways)
            client.stdout.readline()
            self.wait_for(lambda: children_of(client.pid), "the server end")
            time.sleep(0.3)
            stopped = children_of(client.pid)
            for child in stopped:
                os.kill(child, signal.SIGSTOP)
            status, _, err = self.finish(client)
            for child in stopped:
                self.wait_for(lambda child=child: not os.path.exists(f"/proc/{child}") or is_zombie(child), "its child ends")
            self.assertEqual(status, 1, err)

    def test_nobody_serves(self):
        self.start("bob", PERF, "--server", "-p", "other").stdout.readline()
        status, _, err = self.run_to_end("alice", PERF, "send_lat", "bob", "--timeout", "0.5")
        self.assertEqual(status, 1)
        self.assertIn("bob: nobody waits there", err)

    def test_what_the_server_refuses(self):
        config = os.path.join(self.folder.name, "small.yaml")
        with open(config, "w", encoding="utf-8") as file:
            usual = "fabric_idle_time: 1s\nnics:\n  - {name: VINIC, transport: local, timeouts: {open: 60s}}\n"
            if OVER_TCP:
                usual = Path(self.configurations["bob"]).read_text(encoding="utf-8")
            file.write(usual.replace("timeouts", "limits: {max_descriptors_per_queue: 64}, timeouts"))
        server = self.start("bob", PERF, "--server", FCVI_CONFIG=config)
        server.stdout.readline()
        status, _, err = self.run_to_end("alice", PERF, "send_bw", "-t", "100", "bob", *PATIENT)
        self.assertEqual(status, 2)
        self.assertIn("--tx-depth: the NIC has room for 48", err)
        self.measure("send_bw", "-t", "20", "bob", node="alice")

    def test_wrong_arguments(self):
        for words, named in (([], "TEST"), (["ping"], "TEST"), (["send_lat", "-s", "0"], "--size"),
                             (["send_lat", "-s", "16777217"], "--size"), (["send_lat", "-s", "x"], "--size"),
                             (["send_lat", "-n", "0"], "--iters"), (["send_lat", "-n", "5", "-D", "1"], "--duration"),
                             (["send_lat", "-t", "5"], "--tx-depth"), (["send_bw", "-t", "0"], "--tx-depth"),
                             (["send_bw", "-r", "0"], "--rx-depth"), (["send_bw", "-t", "9999"], "--tx-depth"),
                             (["send_bw", "-q", "0"], "--qp"), (["send_lat", "-b"], "--bidirectional"),
                             (["send_lat", "-c", "best"], "--connection"), (["read_lat", "-c", "unreliable"], "--connection"),
                             (["send_lat", "--write_with_imm"], "--write_with_imm"), (["send_bw", "-H"], "--report-histogram"),
                             (["send_lat", "-H", "--csv"], "--report-histogram"), (["send_lat", "--report_gbits"], "--report_gbits"),
                             (["send_lat", "-s", "2x"], "--size"), (["send_lat", "-s", "32m"], "--size"),
                             (["send_bw", "-s", "16777216", "-q", "1000"], "--size"), (["send_lat", "--cpus", "a"], "--cpus"),
                             (["send_lat", "--cpus", "0,"], "--cpus"), (["send_lat", "--cpus", "1023"], "--cpus"), (["send_lat", "--cpus", "0,1023"], "--cpus"),
                             (["--server", "send_lat"], "--server"), (["send_lat", "--threads", "bob"], "--threads"),
                             (["send_lat", "--once"], "--once"), (["send_lat", "--csv", "--json"], "--csv"),
                             (["send_lat", ":x"], "HOST"), (["send_lat", "--port", ""], "--port"),
                             (["send_lat", "--bogus"], "--bogus"), (["send_lat", "--timeout", "0"], "--timeout")):
            status, out, err = self.run_to_end("one", PERF, *words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertIn(named, err, words)

    def test_help_and_version(self):
        status, out, _ = self.run_to_end("one", PERF, "--help")
        self.assertEqual(status, 0)
        for option in ("--size", "--iters", "--duration", "--tx-depth", "--rx-depth", "--qp", "--bidirectional", "--events", "--svg"):
            self.assertIn(option, out)
        self.assertTrue(re.match(r"fcvi-perf \d", self.run_to_end("one", PERF, "--version")[1]))


def children_of(pid):
    found = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout
    return [int(line.split()[0]) for line in found.splitlines() if "fcvi-perf" in line]


def is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


if __name__ == "__main__":
    unittest.main()
