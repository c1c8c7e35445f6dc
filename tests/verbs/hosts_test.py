#!/usr/bin/env python3
"""Verbs programs of two hosts, network namespaces that a pair of veth joins (MTU 1500): over each framing, IPv4 and IPv6.

usage: hosts_test.py IWARP_RUN        exit status 77: skipped, the reason is printed
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

import programs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import tcp_hosts  # noqa: E402  pylint: disable=wrong-import-position

FRAMINGS = {"mpa": "", "mpa with markers": "markers: true\n", "ift": "framing: ift\n", "sctp": "framing: sctp\n"}
if "IWARP_WITHOUT_SCTP" in os.environ:  # libusrsctp-dev was not there
    del FRAMINGS["sctp"]
NEAR, FAR = {"IPv4": "10.9.0.1", "IPv6": "fd09::1"}, {"IPv4": "10.9.0.2", "IPv6": "fd09::2"}


class Hosts(unittest.TestCase):
    def run_pair(self, name, framing, options, ends):
        """The server here, the client there."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write(FRAMINGS[framing])
            config.flush()
            port = programs.free_port()
            server = [name, *ends[0], "-p", port, *options]
            client = [name, "-p", port, *options, *ends[1]]
            (server_status, server_text), (client_status, client_text) = programs.pair(
                IWARP_RUN, port, server, client, config.name, config.name, client_prefix=OTHER.prefix())
        self.assertEqual((server_status, client_status), (0, 0), f"{server}\n{server_text}\n--- client\n{client_text}")
        return client_text

    def test_rping(self):
        for framing in FRAMINGS:
            for family, address in NEAR.items():
                with self.subTest(framing=framing, family=family):
                    text = self.run_pair("rping", framing, ["-a", address, "-C", 5, "-v", "-S", 20000], (["-s"], ["-c"]))
                    self.assertEqual(text.count("ping data: rdma-ping-"), 5, text)

    def test_write_bandwidth(self):
        for framing in FRAMINGS:
            with self.subTest(framing=framing):
                text = self.run_pair("ib_write_bw", framing, ["-R", "-F", "-s", 65536, "-n", 100], ([], [NEAR["IPv4"]]))
                self.assertIn("#bytes", text)


if __name__ == "__main__":
    missing = programs.missing("rping", "ib_write_bw")
    if missing:
        print(f"skipped: there is no {missing[0]} on this machine (tools/setup --test installs it)")
        sys.exit(tcp_hosts.SKIPPED)
    try:
        tcp_hosts.enter_namespace(__file__, sys.argv[1:])
        OTHER = tcp_hosts.OtherNamespace([f"{NEAR['IPv4']}/24", f"{NEAR['IPv6']}/64"], [f"{FAR['IPv4']}/24", f"{FAR['IPv6']}/64"])
    except tcp_hosts.Unavailable as why:
        print(f"skipped: {why}")
        sys.exit(tcp_hosts.SKIPPED)
    IWARP_RUN = Path(sys.argv.pop(1))
    try:
        unittest.main(verbosity=2)
    finally:
        OTHER.remove()
