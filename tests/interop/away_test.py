#!/usr/bin/env python3
"""The FCF is away for a moment, amid transfers (FC-VI 7.7.5): killed without a word, and started anew before its ENodes give up.
It knows nobody then. With the addresses that they had exchanges and connections go on; with others both sides are told.

What was on its way when it died is lost, for nobody sends a frame of class 3 again. A transfer at Unreliable Delivery sends its
blocks again by itself; at the reliable levels a lost message ends the connection (FC-VI 8.4), so that a transfer survives where
nothing was on its way.

usage: away_test.py namespaces|cables FABRICD VICP VIPING      exit status 77: skipped, the reason is printed
"""

import os
import random
import re
import time

import fabric
import transfers
from transfers import SIZE, VIPING

LONG = 128 << 20
FKA_S = 1


class Away(transfers.Transfers):
    def setUp(self):
        super().setUp()
        self.left, self.right = self.ethernet("left", "fabric"), self.ethernet("right", "fabric")

    def addresses(self):
        """N_Port_IDs by Port_Name."""
        return {port["port_name"]: port["n_port_id"] for port in self.service.vn_ports()}

    def registered(self):
        """The same when both hosts are all that they were: their logins, and their names."""
        return fabric.wait_for(lambda: len([port for port in self.service.vn_ports() if port["addresses"]]) == 2 and self.addresses(),
                               "both hosts are logged in")

    def begin(self):
        """A transfer; the FCF has written down who is logged in, which it does a moment later."""
        self.prepare_long_file()
        self.start_fabric()
        children = self.begin_transfer(self.left, self.right, "-l", "unreliable")
        fabric.wait_for(lambda: len(self.kept().read_text().splitlines()) == 2, "both logins are kept")
        return children

    def kept(self):
        return self.path("run") / "fcf.logins"

    def restart(self, away_s=0.0, meanwhile=lambda: None):
        self.service.kill()
        time.sleep(away_s)
        meanwhile()
        self.service.start()

    def prepare_long_file(self):
        self.source.write_bytes(random.Random(2).randbytes(LONG))

    def expect_whole(self, children):
        for child in children:
            status, _, err = self.finish(child)
            self.assertEqual((status, err), (0, ""), self.lost())
        self.assertTrue(self.target.read_bytes() == self.source.read_bytes())

    def resume(self, away_s):
        children = self.begin()
        self.restart(away_s, meanwhile=lambda: self.assertLess(self.stored(), LONG))
        self.expect_whole(children)  # by the connection that it began with: vicp makes no second one
        self.assertEqual(self.service.stop(), 0)

    # Its ENodes have missed no advertisement yet: the new FCF tells them by Clear Virtual Links that it knows them not.
    def test_a_transfer_goes_on_when_the_fcf_is_back_at_once(self):
        self.resume(0)

    # They missed its advertisements for 2.5 periods, and wait for R_A_TOV (10 s).
    def test_a_transfer_goes_on_when_the_fcf_was_missed(self):
        self.resume(4 * FKA_S)

    # Nothing is on its way between two messages: the connection of the highest level stands, too.
    def test_a_reliable_connection_goes_on(self):
        self.start_fabric()
        listener = self.program(VIPING, "right", self.right, "--listen")
        fabric.wait_for(self.addresses, "the listener is logged in")
        caller = self.program(VIPING, "left", self.left, "-l", "reception", "-c", 2, "-i", 20, "-W", 30, "-t", 60, "right")
        self.assertIn("right", caller.stdout.readline())
        first = caller.stdout.readline()
        before = self.registered()
        fabric.wait_for(lambda: len(self.kept().read_text().splitlines()) == 2, "both logins are kept")
        self.restart()
        self.assertEqual(self.registered(), before)
        self.assertIsNone(caller.poll(), first)
        status, rest, err = self.finish(caller)
        self.assertEqual((status, err), (0, ""), first + rest)
        self.assertIsNone(listener.poll())

    # Each gets the address of the other: all that was between them is over, and both are told (FC-VI 7.7.5, 7.7.1).
    def test_a_transfer_ends_when_addresses_change(self):
        children = self.begin()
        kept = self.kept()

        def exchange():
            lines = [re.fullmatch(r"(\S+ \S+ )(\d+)", line).groups() for line in kept.read_text().splitlines()]
            kept.write_text("".join(f"{who}{number}\n" for (who, _), (_, number) in zip(lines, reversed(lines))))
        start = time.monotonic()
        self.restart(meanwhile=exchange)
        for child in children:
            status, _, err = self.finish(child)
            self.assertEqual(status, 1)
            self.assertNotEqual(err, "")
        print(f"both ends were told after {time.monotonic() - start:.1f} s")
        self.assertFalse(self.target.exists())
        self.source.write_bytes(random.Random(3).randbytes(SIZE))
        self.copy(self.left, self.right)
        self.assertEqual(self.service.stop(), 0)


if __name__ == "__main__":
    transfers.run_tests()
