#!/usr/bin/env python3
"""Programs that were written for rdma-core's verbs run unmodified, two processes over the loopback interface.

usage: programs_test.py IWARP_RUN [CASE...]
"""

# Connections are over MPA unless a case says otherwise.

import os
import sys
import tempfile
import unittest
from pathlib import Path

import programs

IWARP_RUN = Path(sys.argv.pop(1))
HOST = "127.0.0.1"


IFT = "framing: ift\n"
SCTP = "framing: sctp\n"


def config(text):
    """A configuration file, for the life of the program. Skips a test that needs SCTP where the build has none."""
    if SCTP in text and "IWARP_WITHOUT_SCTP" in os.environ:
        raise unittest.SkipTest("this build has no SCTP (libusrsctp-dev)")
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
    with file:
        file.write(text)
    unittest.addModuleCleanup(Path(file.name).unlink)
    return file.name


class Programs(unittest.TestCase):
    def need(self, *names):
        missing = programs.missing(*names)
        if missing:
            self.skipTest(f"there is no {' and no '.join(missing)} on this machine (tools/setup --test installs them)")

    def good(self, port, server, client, **configs):
        self.need(server[0], client[0])
        (server_status, server_text), (client_status, client_text) = programs.pair(IWARP_RUN, port, server, client, **configs)
        self.assertEqual(client_status, 0, f"{client}\n{client_text}\n--- server\n{server_text}")
        self.assertEqual(server_status, 0, f"{server}\n{server_text}\n--- client\n{client_text}")
        return server_text, client_text


class Rping(Programs):
    def rping(self, host=HOST, options=(), **configs):
        port = programs.free_port()
        common = ["-a", host, "-p", port, "-C", 5, "-v", *options]
        _, text = self.good(port, ["rping", "-s", *common], ["rping", "-c", *common], **configs)
        self.assertEqual(text.count("ping data: rdma-ping-"), 5, text)

    def test_ping(self):
        self.rping()

    def test_ping_over_ipv6(self):
        self.rping("::1")

    def test_ping_of_60000_octets(self):
        self.rping(options=["-S", 60000])

    def test_ping_without_crc(self):
        plain = config("crc: false\n")
        self.rping(server_config=plain, client_config=plain)

    def test_ping_with_markers(self):
        marked = config("markers: true\n")
        self.rping(server_config=marked, client_config=marked)

    def test_ping_of_revision_1(self):
        self.rping(client_config=config("revision: 1\n"))

    def test_ping_over_ift(self):
        ift = config(IFT)
        self.rping(server_config=ift, client_config=ift)

    def test_ping_over_ift_and_ipv6(self):
        ift = config(IFT)
        self.rping("::1", ["-S", 60000], server_config=ift, client_config=ift)

    def test_ping_over_ift_without_crc(self):
        ift = config(IFT + "crc: false\n")
        self.rping(options=["-S", 60000], server_config=ift, client_config=ift)

    def test_ping_over_sctp(self):
        sctp = config(SCTP)
        self.rping(server_config=sctp, client_config=sctp)

    def test_ping_over_sctp_and_ipv6(self):
        sctp = config(SCTP)
        self.rping("::1", ["-S", 60000], server_config=sctp, client_config=sctp)

    def test_ping_over_sctp_that_is_not_enhanced(self):
        self.rping(server_config=config(SCTP), client_config=config(SCTP + "revision: 1\n"))

    def test_a_server_that_comes_late(self):
        self.come_late()

    def test_a_server_that_comes_late_over_sctp(self):
        self.come_late(SCTP)

    def come_late(self, framing=""):
        self.need("rping")
        port = programs.free_port()
        common = ["-a", HOST, "-p", port, "-C", 1, "-v"]
        client = programs.Run(IWARP_RUN, "rping", "-c", *common, config=config(framing + "refused_retry: 60s\n"))
        self.addCleanup(client.end)
        programs.time.sleep(0.3)
        server = programs.Run(IWARP_RUN, "rping", "-s", *common, config=config(framing))
        self.addCleanup(server.end)
        self.assertEqual(client.wait(), 0, client.text())
        self.assertIn("ping data: rdma-ping-0", client.text())


class Ids(Programs):
    def ucmatose(self, **configs):
        port = programs.free_port()
        _, text = self.good(port, ["ucmatose", "-b", HOST, "-p", port, "-c", 4], ["ucmatose", "-s", HOST, "-p", port, "-c", 4],
                            **configs)
        self.assertIn("test complete", text)
        self.assertIn("return status 0", text)

    def client_and_server(self, **configs):
        port = programs.free_port()
        server, client = self.good(port, ["rdma_server", "-p", port], ["rdma_client", "-s", HOST, "-p", port], **configs)
        self.assertIn("rdma_server: end 0", server)
        self.assertIn("rdma_client: end 0", client)

    def test_ucmatose_connects_and_disconnects(self):
        self.ucmatose()

    def test_ucmatose_over_ift(self):
        ift = config(IFT)
        self.ucmatose(server_config=ift, client_config=ift)

    def test_ucmatose_over_sctp(self):
        sctp = config(SCTP)
        self.ucmatose(server_config=sctp, client_config=sctp)

    def test_rdma_client_and_server(self):
        self.client_and_server()

    def test_rdma_client_and_server_over_ift(self):
        ift = config(IFT)
        self.client_and_server(server_config=ift, client_config=ift)

    def test_rdma_client_and_server_over_sctp(self):
        sctp = config(SCTP)
        self.client_and_server(server_config=sctp, client_config=sctp)

    def test_ends_that_do_not_agree_on_the_framing_refuse(self):
        self.need("rping")
        port = programs.free_port()
        common = ["-a", HOST, "-p", port, "-C", 1]
        server = programs.Run(IWARP_RUN, "rping", "-s", *common)
        self.addCleanup(server.end)
        programs.wait_for_listener(port, server.process)
        client = programs.Run(IWARP_RUN, "rping", "-c", *common, config=config(IFT))
        self.assertNotEqual(client.wait(), 0)
        self.assertIn("RDMA_CM_EVENT_REJECTED", client.text())

    def test_a_port_where_nobody_listens_refuses(self):
        self.need("rping")
        for framing in ("", SCTP):
            with self.subTest(framing=framing):
                client = programs.Run(IWARP_RUN, "rping", "-c", "-a", HOST, "-p", programs.free_port(), "-C", 1, config=config(framing))
                self.assertNotEqual(client.wait(), 0)
                self.assertIn("RDMA_CM_EVENT_REJECTED", client.text())


class Devices(Programs):
    def test_the_loopback_interface_is_a_device(self):
        self.need("ibv_devinfo")
        run = programs.Run(IWARP_RUN, "ibv_devinfo", "-v", "-d", "iw_lo")
        self.assertEqual(run.wait(), 0, run.text())
        self.assertIn("iWARP", run.text())
        self.assertIn("PORT_ACTIVE", run.text())

    def test_a_configuration_names_the_interfaces(self):
        self.need("ibv_devices")
        run = programs.Run(IWARP_RUN, "ibv_devices", config=config("interfaces: [lo]\n"))
        self.assertEqual(run.wait(), 0, run.text())
        self.assertEqual(run.text().count("iw_"), 1, run.text())

    def test_a_wrong_configuration_is_told(self):
        self.need("ibv_devices")
        run = programs.Run(IWARP_RUN, "ibv_devices", config=config("revision: 7\n"))
        run.wait()
        self.assertIn("revision", run.text())

    def test_no_datagrams(self):
        self.need("udaddy")
        run = programs.Run(IWARP_RUN, "udaddy", "-b", HOST)
        self.assertNotEqual(run.wait(), 0)


class Measurement(Programs):
    framing = ""

    # perftest's server listens anew between its connections, and its client's own second try ends with a fault (docs/verbs.md).
    def setUp(self):
        same = config(self.framing + "refused_retry: 20s\n")
        self.configs = {"server_config": same, "client_config": same}

    def measure(self, program, *options):
        port = programs.free_port()
        common = ["-R", "-p", port, "-F", *options]
        _, text = self.good(port, [program, *common], [program, *common, HOST], **self.configs)
        self.assertIn("#bytes", text)

    def test_send_bandwidth(self):
        self.measure("ib_send_bw", "-s", 4096, "-n", 200)

    def test_sends_into_a_shared_receive_queue(self):
        self.measure("ib_send_bw", "-s", 4096, "-n", 200, "--use-srq")  # of one queue pair: docs/verbs.md

    def test_read_bandwidth_by_events(self):
        # Not ib_send_bw: now and then its sender sleeps without having sent all (docs/verbs.md).
        self.measure("ib_read_bw", "-s", 4096, "-n", 200, "-e")

    def test_send_latency_by_events(self):
        self.measure("ib_send_lat", "-s", 8, "-n", 200, "-e")

    def test_write_bandwidth(self):
        self.measure("ib_write_bw", "-s", 65536, "-n", 100)

    def test_read_bandwidth(self):
        self.measure("ib_read_bw", "-s", 65536, "-n", 100)

    def test_send_latency(self):
        self.measure("ib_send_lat", "-s", 8, "-n", 200)

    def test_write_latency(self):
        self.measure("ib_write_lat", "-s", 8, "-n", 200)

    def test_read_latency(self):
        self.measure("ib_read_lat", "-s", 8, "-n", 200)

    def test_several_queue_pairs_in_both_directions(self):
        self.measure("ib_write_bw", "-s", 4096, "-n", 200, "-b", "-q", 4)


class MeasurementOverIft(Measurement):
    framing = IFT


class MeasurementOverSctp(Measurement):
    framing = SCTP


if __name__ == "__main__":
    unittest.main(verbosity=2)
