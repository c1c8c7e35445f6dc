#!/usr/bin/env python3
"""Linux' own software iWARP (siw), in a guest under QEMU, with Debian's verbs programs at both ends: there upon the kernel, here
under iwarp-run. TCP in between is QEMU's; no root.

usage: siw_test.py IWARP_RUN GUEST_FOLDER CLASS...        exit status 77: skipped, the reason is printed
"""

import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "siw"), str(HERE.parent / "verbs")]
import peer
import programs

IWARP_RUN, GUEST_FOLDER = sys.argv[1:3]
SKIPPED = 77


# siw that is asked misses a message that comes at once (ruling M-5): on a busy machine, in a guest under emulation, also after 50 ms.
DELAYED = "first_fpdu_delay: 300ms\n"


class Siw(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = programs.free_port()
        cls.guest = peer.Guest(GUEST, cls.port)
        cls.addClassCleanup(cls.guest.end)
        cls.folder = tempfile.TemporaryDirectory(prefix="iwarp-interop-")
        cls.addClassCleanup(cls.folder.cleanup)

    def config(self, text):
        file = Path(self.folder.name, "config.yaml")
        file.write_text(text, encoding="utf-8")
        return file

    def ours_asks(self, client, server, text="{}\n", wanted=0):
        """Our client's text; `server` runs in the guest."""
        self.guest.run(f"({server} >/tmp/server 2>&1; echo status $? >>/tmp/server) & "
                       f"for i in $(seq 40); do netstat -ltn | grep -q :{self.port} && break; sleep 0.2; done; sleep 0.5")
        run = programs.Run(IWARP_RUN, *client, config=self.config(text))
        status = run.wait()
        there = self.guest.run(f"sleep 1; cat /tmp/server; killall {server.split()[0]} 2>/dev/null")[1]
        self.assertEqual(status == 0, wanted == 0, f"{run.text()}\n--- guest\n{there}")
        return run.text()

    def ours_answers(self, server, client, port, text="{}\n", excuse=None):
        """The guest's text; `excuse`: with that in it, its program may fail."""
        run = programs.Run(IWARP_RUN, *server, config=self.config(text))
        self.addCleanup(run.end)
        for _ in range(500):
            if programs.listens(port, run.process) or run.process.poll() is not None:
                break
            programs.time.sleep(0.02)
        status, there = self.guest.run(f"timeout 60 {client}")
        if excuse is None or excuse not in there:
            self.assertEqual(status, 0, f"{there}\n--- ours\n{run.text()}")
        self.assertEqual(run.wait(), 0, run.text())
        return there

    def rping_asks(self, text="", options=()):
        text += DELAYED
        words = ["rping", "-c", "-a", "127.0.0.1", "-p", self.port, "-C", 3, "-v", *options]
        shown = self.ours_asks(words, f"rping -s -a 10.0.2.15 -p {self.port} -C 3 {' '.join(map(str, options))}", text)
        self.assertEqual(shown.count("ping data: rdma-ping-"), 3, shown)

    def rping_answers(self, text="{}\n", options=()):
        port, tail = programs.free_port(), " ".join(map(str, options))
        shown = self.ours_answers(["rping", "-s", "-a", "127.0.0.1", "-p", port, "-C", 3, *options],
                                  f"rping -c -a 10.0.2.2 -p {port} -C 3 -v {tail}", port, text)
        self.assertEqual(shown.count("ping data: rdma-ping-"), 3, shown)


class Short(Siw):
    """What every run of the tests can afford."""

    def test_rping_asks(self):
        self.rping_asks()

    def test_rping_answers(self):
        self.rping_answers()


class Rping(Siw):
    def test_asks_without_crc(self):
        self.rping_asks("crc: false\n")

    def test_answers_without_crc(self):
        self.rping_answers("crc: false\n")

    def test_asks_with_60000_octets(self):
        self.rping_asks(options=["-S", 60000])

    def test_answers_with_60000_octets(self):
        self.rping_answers(options=["-S", 60000])

    def test_asks_without_peer_to_peer(self):
        self.rping_asks("peer_to_peer: false\n")

    def test_a_request_for_markers_is_rejected_and_told(self):
        shown = self.ours_asks(["rping", "-c", "-a", "127.0.0.1", "-p", self.port, "-C", 1],
                               f"rping -s -a 10.0.2.15 -p {self.port} -C 1", "markers: true\n", wanted=1)
        self.assertIn("RDMA_CM_EVENT_REJECTED", shown)


class Ids(Siw):
    def test_ucmatose_answers(self):
        port = programs.free_port()
        shown = self.ours_answers(["ucmatose", "-b", "127.0.0.1", "-p", port, "-c", 4], f"ucmatose -s 10.0.2.2 -p {port} -c 4", port,
                                  PATIENT)
        self.assertIn("return status 0", shown)

    def test_ucmatose_asks(self):
        for connections in (1, 4):
            shown = self.ours_asks(["ucmatose", "-s", "127.0.0.1", "-p", self.port, "-c", connections],
                                   f"ucmatose -p {self.port} -c {connections}", PATIENT)
            self.assertIn("return status 0", shown)

    def rdma_client(self, text):
        shown = self.ours_asks(["rdma_client", "-s", "127.0.0.1", "-p", self.port], f"rdma_server -p {self.port}", text)
        self.assertIn("rdma_client: end 0", shown)

    def test_rdma_client_asks(self):
        self.rdma_client(PATIENT)

    def test_rdma_client_asks_with_revision_1(self):
        self.rdma_client(PATIENT + "revision: 1\n")

    def test_rdma_server_answers(self):
        port = programs.free_port()
        shown = self.ours_answers(["rdma_server", "-p", port], f"rdma_client -s 10.0.2.2 -p {port}", port)
        self.assertIn("rdma_client: end 0", shown)

    def test_devices_of_both_ends_are_of_one_kind(self):
        ours = programs.Run(IWARP_RUN, "ibv_devinfo", "-d", "iw_lo")
        self.assertEqual(ours.wait(), 0, ours.text())
        status, theirs = self.guest.run("ibv_devinfo -d siw0")
        self.assertEqual(status, 0, theirs)
        for text in (ours.text(), theirs):
            self.assertIn("iWARP (1)", text)
            self.assertIn("PORT_ACTIVE (4)", text)


class Measurement(Siw):
    def measure_asks(self, program, *options):
        tail = " ".join(map(str, options))
        shown = self.ours_asks([program, "-R", "-F", "-p", self.port, *options, "127.0.0.1"],
                               f"{program} -R -F -p {self.port} {tail}", PATIENT)
        self.assertRegex(shown, RESULTS)

    def measure_answers(self, program, *options):
        port, tail = programs.free_port(), " ".join(map(str, options))
        # Its last message is complete, siw says, in error (2), when our program ends at once: ours has that message, and has answered it.
        shown = self.ours_answers([program, "-R", "-F", "-p", port, *options], f"{program} -R -F -p {port} {tail} 10.0.2.2", port, PATIENT,
                                  excuse="Bad wc status 2")
        self.assertRegex(shown, RESULTS)


# siw that asks waits where its program does (ruling M-28), and perftest's server listens anew for its second connection.
PATIENT = DELAYED + "await_first_fpdu: false\nrefused_retry: 20s\n"
RESULTS = r"#bytes.*\n *4096 +50 "  # and figures behind
MEASURED = ("ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_send_lat", "ib_write_lat", "ib_read_lat")


def add_measurements():
    for program in MEASURED:
        for name in ("asks", "answers"):
            def case(self, program=program, name=name):
                getattr(self, f"measure_{name}")(program, "-s", 4096, "-n", 50)
            setattr(Measurement, f"test_{program}_{name}", case)


if __name__ == "__main__":
    missing = programs.missing("rping", "ib_send_bw")
    try:
        if missing:
            raise peer.Unavailable(f"there is no {missing[0]} on this machine (tools/setup --test installs it)")
        GUEST = peer.build(GUEST_FOLDER)
    except peer.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    add_measurements()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
