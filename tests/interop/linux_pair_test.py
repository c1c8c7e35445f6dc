#!/usr/bin/env python3
"""Two Linux initiators at once at our FCF, in two guests under QEMU: as fast online as with an FCF that says nothing to what comes
before FLOGI, one FLOGI each, logged in to each other, keep-alives for longer than FC-BB-5 lets a VN_Port be silent, a link that
goes and comes back. The steps build on each other, in the order of their names.

usage: linux_pair_test.py FABRICD GUEST_FOLDER       exit status 77: skipped, the reason is printed
"""

import os
import re
import sys
import tempfile
import time
import unittest

import fabric
import guest
import hub

FABRICD, GUEST_FOLDER = sys.argv[1:3]
SKIPPED = 77
MACS = ("52:54:00:fc:f0:11", "52:54:00:fc:f0:12")
FKA_PERIOD_S = 2
KEEP_ALIVES_S = 110  # a VN_Port's own come every 90 s
ROUNDS = 2
ONLINE = r"host state=Online id=0x0*([1-9a-f][0-9a-f]*)"
FLOGI, PLOGI, RSCN = 0x04, 0x03, 0x61
SILENT, OURS = 0, 1


class Pair(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="fcvi-interop-")
        cls.addClassCleanup(cls.folder.cleanup)
        ports = guest.free_udp_ports(6)
        cls.hub = hub.Hub(list(zip(ports[0::2], ports[1::2])))
        cls.addClassCleanup(cls.hub.end)
        cls.fabric = fabric.Fabric(FABRICD, os.path.join(cls.folder.name, "run"), "--fcoe", f"udp:{ports[1]}:{ports[0]}",
                                   "--fka-period", str(1000 * FKA_PERIOD_S))
        cls.addClassCleanup(cls.fabric.end)
        cls.fabric.start()
        cls.guests = []
        for number, mac in enumerate(MACS, 1):
            cls.guests.append(guest.Guest(GUEST, ports[2 * number + 1], ports[2 * number], mac))
            cls.addClassCleanup(cls.guests[-1].end)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def each(self, asked):
        """Of both guests, each from a thread of its own."""
        return fabric.at_once([lambda linux=linux: asked(linux) for linux in self.guests])

    def seconds_until_online(self):
        def start(linux):
            linux.ask("start fabric 2500", "^GUEST started")
            return linux.online_after()
        return self.each(start)

    def seconds_of_both(self, measure):
        """With an FCF that clears no virtual links, for the hub takes that away, and then with ours as it is."""
        self.hub.rule = lambda frame, source, target: not hub.is_clear_virtual_links(frame)
        silent = measure()
        if measure == self.seconds_until_online:
            self.leave()
        self.hub.rule = lambda frame, source, target: True
        ours = measure()
        print(f"{measure.__name__}: {silent} with a silent FCF, {ours} with ours", file=sys.stderr)
        return silent, ours

    def seconds_after_flap(self):
        def flap(linux):
            linux.ask("flap", "^GUEST flapped")
            return linux.online_after()
        return self.each(flap)

    def leave(self):
        self.each(lambda linux: linux.ask("destroy", "^GUEST destroyed"))
        fabric.wait_for(lambda: not self.fabric.vn_ports(), "both are logged out")

    def ids(self):
        return [re.search(ONLINE, linux.show_until(ONLINE)).group(1) for linux in self.guests]

    def await_each_other(self):
        for linux, far in zip(self.guests, reversed(self.n_port_ids)):
            linux.show_until(rf"rport id=0x0*{far} state=Online")

    def captured(self, name, wanted):
        return len(fabric.frames_of(self.path(name), wanted))

    # The best of several rounds: a busy machine delays some, and an FCF that resets its ENodes delays them all, by Linux' 4 s.
    def test_1_are_online_as_fast_as_with_a_silent_fcf(self):
        self.each(lambda linux: linux.wait_for("^GUEST ready"))
        self.fabric.capture(self.path("login.pcapng"))
        rounds = [self.seconds_of_both(self.seconds_until_online)]
        for _ in range(1, ROUNDS):
            self.leave()
            rounds.append(self.seconds_of_both(self.seconds_until_online))
        for number in range(len(MACS)):
            silent, ours = (min(one[mode][number] for one in rounds) for mode in (SILENT, OURS))
            self.assertLessEqual(ours, 1.3 * silent, rounds)
        type(self).n_port_ids = self.ids()
        self.await_each_other()  # their PLOGI is in the capture, however busy the machine is
        for mac in MACS:
            flogis = f"fip.opcode == 2 && fcels.opcode == {FLOGI:#x} && eth.src == {mac}"
            fabric.wait_for(lambda: self.registered() == 2, "both are registered")
            self.assertEqual(self.capture_of(flogis), 2 * ROUNDS)

    def registered(self):
        return sum(1 for port in self.fabric.vn_ports() if port["node_name"])

    def capture_of(self, wanted):
        """What came so far: the capture is ended once, and then only read."""
        if self.fabric.capturing:
            time.sleep(1)  # what may still come
            self.assertEqual(self.fabric.end_capture(), 0)
            self.assertEqual(fabric.faults_of(self.path("login.pcapng")), "")
        return self.captured("login.pcapng", wanted)

    # Whoever is there first hears of the other by an RSCN, and logs in to it.
    def test_2_log_in_to_each_other(self):
        one, other = map(dotted, self.n_port_ids)
        logins = f"fcels.opcode == {PLOGI:#x} && ((fc.s_id == {one} && fc.d_id == {other}) || (fc.s_id == {other} && fc.d_id == {one}))"
        self.assertGreater(self.capture_of(logins), 0)
        self.assertGreater(self.capture_of(f"fcels.opcode == {RSCN:#x} && fc.s_id == ff.ff.fd"), 0)
        self.await_each_other()

    def test_3_stay_logged_in_over_the_keep_alives_of_their_vn_ports(self):
        self.fabric.capture(self.path("alive.pcapng"))
        time.sleep(KEEP_ALIVES_S)
        self.assertEqual(self.ids(), self.n_port_ids)
        self.assertEqual(self.fabric.end_capture(), 0)
        self.assertEqual(fabric.faults_of(self.path("alive.pcapng")), "")
        for mac, n_port_id in zip(MACS, self.n_port_ids):
            by_node = self.captured("alive.pcapng", f"fip.opcode == 3 && fip.ctrl_subcode == 1 && eth.src == {mac}")
            self.assertGreaterEqual(by_node, KEEP_ALIVES_S // FKA_PERIOD_S // 2)
            by_port = f"fip.opcode == 3 && fip.ctrl_subcode == 1 && eth.src == {fpma(n_port_id)}"
            self.assertGreaterEqual(self.captured("alive.pcapng", by_port), 1)
        self.assertEqual(self.captured("alive.pcapng", f"fip.ctrl_subcode == 2 || fcels.opcode == {FLOGI:#x}"), 0)

    # The FCF does not see that a link was away: Linux begins anew and logs in again.
    def test_4_links_that_flap(self):
        self.fabric.capture(self.path("flap.pcapng"))
        rounds = [self.seconds_of_both(self.seconds_after_flap) for _ in range(ROUNDS)]
        one, other = self.ids()
        for linux, far in zip(self.guests, (other, one)):
            linux.show_until(rf"rport id=0x0*{far} state=Online")
        time.sleep(1)  # what may still come
        self.assertEqual(self.fabric.end_capture(), 0)
        self.assertEqual(fabric.faults_of(self.path("flap.pcapng")), "")
        for mac in MACS:
            flogis = f"fip.opcode == 2 && fcels.opcode == {FLOGI:#x} && eth.src == {mac}"
            self.assertEqual(self.captured("flap.pcapng", flogis), 2 * ROUNDS)
        # The FCF that saw no carrier go misses the keep-alives of the former login meanwhile; what it would clear then would make
        # Linux begin once more (ruling 280).
        for number in range(len(MACS)):
            silent, ours = (min(one[mode][number] for one in rounds) for mode in (SILENT, OURS))
            self.assertLessEqual(ours, 1.3 * silent, rounds)

    # The other, which stays, hears that a login ended, and logs in to the one that follows.
    def test_5_a_link_that_flaps_alone(self):
        self.fabric.capture(self.path("alone.pcapng"))
        self.guests[0].ask("flap", "^GUEST flapped")
        self.guests[0].online_after()
        one, other = self.ids()
        for linux, far in zip(self.guests, (other, one)):
            linux.show_until(rf"rport id=0x0*{far} state=Online")
        time.sleep(1)  # what may still come
        self.assertEqual(self.fabric.end_capture(), 0)
        told = f"fcels.opcode == {RSCN:#x} && fc.s_id == ff.ff.fd && fc.d_id == {dotted(other)}"
        self.assertGreater(self.captured("alone.pcapng", told), 0)
        self.assertEqual(self.captured("alone.pcapng", f"fip.opcode == 2 && fcels.opcode == {FLOGI:#x}"), 1)
        self.assertEqual(self.captured("alone.pcapng", "fip.opcode == 3 && fip.ctrl_subcode == 2"), 0)

    def test_6_one_leaves_and_the_other_hears_of_it(self):
        one, other = self.ids()
        self.guests[0].ask("destroy", "^GUEST destroyed")
        fabric.wait_for(lambda: not re.search(rf"rport id=0x0*{one} state=Online", self.guests[1].show()), "the other was told")
        fabric.wait_for(lambda: len(self.fabric.vn_ports()) == 1, "one is logged out")
        self.assertEqual(int(self.fabric.vn_ports()[0]["n_port_id"].rstrip("h"), 16), int(other, 16))


def dotted(n_port_id):
    """As Wireshark writes it: 010200 is 01.02.00."""
    return ".".join(n_port_id.zfill(6)[i:i + 2] for i in (0, 2, 4))


def fpma(n_port_id):
    return "0e:fc:00:" + ":".join(n_port_id.zfill(6)[i:i + 2] for i in (0, 2, 4))


if __name__ == "__main__":
    try:
        if fabric.missing_for_captures():
            raise guest.Unavailable(fabric.missing_for_captures())
        GUEST = guest.build(GUEST_FOLDER)
    except guest.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    del sys.argv[1:3]
    unittest.main(verbosity=2, failfast=True)
