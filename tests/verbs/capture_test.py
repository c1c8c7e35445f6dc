#!/usr/bin/env python3
"""What verbs programs send, as Wireshark's MPA, DDP and RDMAP dissectors read it, over IFT with our plugin in front of the
latter two, and over SCTP its own: well formed, each CRC right, as many FPDUs, frames or chunks as the program makes.

usage: capture_test.py IWARP_RUN IFT_PLUGIN [CASE...]        exit status 77: skipped, the reason is printed
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import programs

IWARP_RUN, PLUGIN = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
HOST, SKIPPED = "127.0.0.1", 77
WRONG = "_ws.malformed || iwarp_mpa.bad_length || iwarp_ddp.rsvd != 0"


class Capture:
    """The TCP segments, or UDP packets, of a port of the loopback interface."""

    def __init__(self, port, protocol="tcp"):
        self.folder = tempfile.TemporaryDirectory(prefix="iwarp-capture-")
        self.file = Path(self.folder.name, "tcp.pcap")
        words = ["tcpdump", "-i", "lo", "--immediate-mode", "-U", "-B", "65536", "-w", self.file, protocol, "port", str(port)]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        self.begun = any("listening on" in line for line in self.process.stderr)  # it says no more, or ends

    def end(self):
        programs.time.sleep(0.5)  # the last segments are on their way to tcpdump
        self.process.terminate()
        self.process.communicate()

    def read(self, *options):
        # The octets of a Send are its program's; tshark takes some for RPC.
        words = ["tshark", "-X", f"lua_script:{PLUGIN}", "--disable-protocol", "rpcordma", "-r", self.file, *options]
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=programs.PATIENCE_S).stdout


def capture_or_skip(port, protocol="tcp"):
    capture = Capture(port, protocol)
    if capture.begun:
        return capture
    raise unittest.SkipTest("tcpdump may not capture on lo (root, or CAP_NET_RAW)")


class Captures(unittest.TestCase):
    def captured(self, server, client, port, config=None):
        """How many FPDUs, or of IFT (`config` says so) frames, there were."""
        capture = capture_or_skip(port)
        try:
            (server_status, server_text), (client_status, client_text) = programs.pair(
                IWARP_RUN, port, server, client, config, config)
        finally:
            capture.end()
        self.addCleanup(capture.folder.cleanup)
        self.assertEqual((server_status, client_status), (0, 0), f"{server_text}\n{client_text}")
        self.assertEqual(capture.read("-Y", WRONG), "")
        self.assertNotIn("Bad CRC32", capture.read("-V"))
        if config is None:
            return len(capture.read("-T", "fields", "-e", "iwarp_mpa.ulpdulength").replace(",", "\n").split())
        self.assertNotIn("wrong", capture.read("-T", "fields", "-e", "ift.crc.status"))
        self.assertEqual(len(capture.read("-Y", "ift.adaption").splitlines()), 2)
        self.assertNotEqual(capture.read("-Y", "iwarp_rdma.control_field"), "")  # Wireshark's own
        return len(capture.read("-T", "fields", "-e", "ift.header_size").replace(",", "\n").split())

    def test_rping(self):
        port, pings = programs.free_port(), 20
        common = ["-a", HOST, "-p", port, "-C", pings]
        # The RTR indication; then for each ping three Sends of the advertisements and "go", RDMA Read Request and Response,
        # RDMA Write, and the Send behind it.
        self.assertEqual(self.captured(["rping", "-s", *common], ["rping", "-c", *common], port), 1 + 7 * pings)

    def test_rping_over_ift(self):
        port, pings = programs.free_port(), 20
        common = ["-a", HOST, "-p", port, "-C", pings]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("framing: ift\n")
            config.flush()
            counted = self.captured(["rping", "-s", *common], ["rping", "-c", *common], port, config.name)
        self.assertEqual(counted, 7 * pings)  # no RTR indication

    @unittest.skipIf("IWARP_WITHOUT_SCTP" in os.environ, "this build has no SCTP (libusrsctp-dev)")
    def test_rping_over_sctp(self):
        port, pings = programs.free_port(), 20
        common = ["-a", HOST, "-p", port, "-C", pings]
        capture = capture_or_skip(port, "udp")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("framing: sctp\n")
            config.flush()
            try:
                ends = programs.pair(IWARP_RUN, port, ["rping", "-s", *common], ["rping", "-c", *common], config.name, config.name)
            finally:
                capture.end()
        self.addCleanup(capture.folder.cleanup)
        self.assertEqual([status for status, _ in ends], [0, 0], ends)
        sctp = ["-d", f"udp.port=={port},sctp", "-o", "sctp.checksum:CRC 32c"]
        self.assertEqual(capture.read(*sctp, "-Y", "_ws.malformed || sctp.checksum.status != 1 || sctp.data_u_bit == 0"), "")
        self.assertEqual(capture.read(*sctp, "-Y", "sctp", "-T", "fields", "-e", "sctp.adaptation_layer_indication").split(),
                         ["0x00000001"] * 2)  # DDP's, of INIT and INIT-ACK (RFC 5043 5.1)
        chunks = set()  # those that are sent again count once
        for line in capture.read(*sctp, "-Y", "sctp.data_tsn_raw", "-T", "fields", "-e", "sctp.srcport", "-e", "sctp.data_tsn_raw", "-e",
                                 "sctp.data_payload_proto_id").splitlines():
            sender, numbers, protocols = line.split("\t")
            chunks |= {(sender, *pair) for pair in zip(numbers.split(","), protocols.split(","))}
        of_protocol = [protocol for _, _, protocol in chunks]
        self.assertEqual(of_protocol.count("16"), 7 * pings)  # segments; no RTR indication
        self.assertGreaterEqual(of_protocol.count("17"), 3)  # Enhanced Initiate, Enhanced Accept, a Terminate, or both ends'
        self.assertEqual(len(of_protocol), of_protocol.count("16") + of_protocol.count("17"))

    def test_latency_of_sends(self):
        port, sends = programs.free_port(), 100
        common = ["-R", "-F", "-p", port, "-s", 64, "-n", sends]
        counted = self.captured(["ib_send_lat", *common], ["ib_send_lat", *common, HOST], port)
        self.assertGreaterEqual(counted, 2 * sends + 2)  # and what perftest tells itself


if __name__ == "__main__":
    missing = programs.missing("rping", "ib_send_lat", "tcpdump", "tshark")
    if missing:
        print(f"skipped: there is no {missing[0]} on this machine (tools/setup --test installs it)")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
