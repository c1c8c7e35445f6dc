#!/usr/bin/env python3
"""viping answers, counts and prints as ping does.

usage: viping_test.py VIPING
"""

import re
import signal
import sys
import unittest

from local_fabric import LocalFabricTest

VIPING = sys.argv.pop(1)


class Viping(LocalFabricTest):
    def serve(self, *options):
        return self.start("right", VIPING, *options, "--listen")

    def test_three_messages_and_the_statistics(self):
        self.serve()
        status, out, err = self.run_to_end("left", VIPING, "-c", "3", "-i", "0.05", "right")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^VIPING right \([0-9a-f:.]+\) 56 data bytes, Reliable Delivery$")
        for sequence in (1, 2, 3):
            self.assertRegex(lines[sequence], rf"^56 bytes from right: seq={sequence} time=[0-9.]+ ms$")
        self.assertEqual(lines[5], "--- right viping statistics ---")
        self.assertRegex(lines[6], r"^3 messages transmitted, 3 received, 0% message loss, time \d+ms$")
        self.assertRegex(lines[7], r"^rtt min/avg/max/mdev = ([0-9.]+/){3}[0-9.]+ ms$")

    def test_levels_and_sizes(self):
        self.serve()
        for level in ("unreliable", "delivery", "reception"):
            for size in (0, 1, 65536, 1048576):
                status, out, err = self.run_to_end("left", VIPING, "-q", "-f", "-c", "20", "-s", size, "-l", level, "right")
                self.assertEqual((status, err), (0, ""), (level, size))
                self.assertIn("20 messages transmitted, 20 received", out)

    def test_many_clients_at_once(self):
        self.serve("-d", "x")
        clients = [self.start(f"left{i}", VIPING, "-f", "-c", "200", "right:x") for i in range(8)]
        for client in clients:
            status, out, err = self.finish(client)
            self.assertEqual((status, err), (0, ""))
            self.assertIn("200 messages transmitted, 200 received", out)

    def test_an_interrupt_prints_the_statistics(self):
        self.serve()
        client = self.start("left", VIPING, "-i", "30", "right")
        self.assertTrue(client.stdout.readline().startswith("VIPING"))
        self.assertIn("seq=1 ", client.stdout.readline())
        client.send_signal(signal.SIGINT)
        status, out, _ = self.finish(client)
        self.assertEqual(status, 0)
        self.assertIn("1 messages transmitted, 1 received", out)

    def test_a_killed_server_ends_the_client(self):
        server = self.serve()
        client = self.start("left", VIPING, "-i", "0.01", "right")
        self.assertTrue(client.stdout.readline().startswith("VIPING"))
        server.kill()
        status, out, err = self.finish(client)
        self.assertEqual(status, 1)
        self.assertRegex(err, "right: .*")
        self.assertRegex(out, "messages transmitted")

    def test_the_server_ends_by_a_signal(self):
        server = self.serve()
        self.assertTrue(re.match("viping: answering as right", server.stdout.readline()))
        server.terminate()
        self.assertEqual(self.finish(server)[0], 0)

    def test_nobody_answers(self):
        status, _, err = self.run_to_end("left", VIPING, "-t", "3", "left")
        self.assertEqual(status, 1)
        self.assertIn("nobody waits there", err)

    def test_wrong_arguments(self):
        for words in ([], ["a", "b"], ["-c", "0", "a"], ["-c", "x", "a"], ["-s", "1048577", "a"], ["-l", "high", "a"], ["-i", "-1", "a"],
                      ["--listen", "a"], [":x"]):
            status, _, err = self.run_to_end("left", VIPING, *words)
            self.assertEqual(status, 2, words)
            self.assertNotEqual(err, "", words)


if __name__ == "__main__":
    unittest.main()
