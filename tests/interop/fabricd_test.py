#!/usr/bin/env python3
"""fcvi-fabricd --fcoe as an administrator meets it: what it refuses and why, how long it stays, whose place it takes, which
of two FCFs hosts use, what status tells. Over cables of UDP datagrams, no privileges.

usage: fabricd_test.py FABRICD VIPING
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import fabric
import guest
import station

FABRICD, VIPING = sys.argv[1:3]


class Fcf(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-interop-")
        self.addCleanup(self.folder.cleanup)
        self.host, self.port = guest.free_udp_ports(2)

    def path(self, name):
        return str(Path(self.folder.name, name))

    def service(self, *options, runtime="run"):
        service = fabric.Fabric(FABRICD, self.path(runtime), *options, log=self.path("log"))
        self.addCleanup(service.end)
        return service

    def fcf(self, *options, runtime="run"):
        return self.service("--fcoe", f"udp:{self.port}:{self.host}", *options, runtime=runtime)

    def run_to_end(self, *words, runtime="run"):
        ended = subprocess.run([FABRICD, "--runtime-directory", self.path(runtime), *words], capture_output=True, text=True,
                               timeout=fabric.PATIENCE_S)
        return ended.returncode, ended.stderr

    def environment(self, runtime="run", more="", open_time="60s"):
        """Of a program on the cable's other end."""
        nic = Path(self.path("nics.yaml"))
        nic.write_text(f'nics:\n- name: VINIC\n  transport: fcoe\n  interface: "udp:{self.host}:{self.port}"\n{more}'
                       f"  timeouts: {{open: {open_time}, name_service: 60s, name_appears: 60s}}\n")
        return {**os.environ, "FCVI_RUNTIME_DIR": self.path(runtime), "FCVI_NODE": "host", "FCVI_CONFIG": str(nic),
                "FCVI_FABRICD": FABRICD}

    def answering(self, **more):
        """A program that stays: viping --listen."""
        program = subprocess.Popen([VIPING, "--listen"], env=self.environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(self.end, program)
        return program

    @staticmethod
    def end(program):
        program.kill()
        program.communicate()

    def test_what_cannot_be_is_told_by_name(self):
        for words, status, reason in ((("--fcoe", "nosuch0"), 1, "nosuch0: interface: No such device"),
                                      (("--fcoe", "lo"), 1, "lo: is no Ethernet interface"),
                                      (("--fcoe", "a/b"), 2, "expected an interface's name"),
                                      (("--fcoe", "udp:1"), 2, "expected an interface's name"),
                                      (("--fcoe", "udp:1:2", "--mtu", "1499"), 2, "--mtu"),
                                      (("--fcoe", "udp:1:2", "--fka-period", "499"), 2, "--fka-period"),
                                      (("--fcoe", "udp:1:2", "--vlan", "0"), 2, "--vlan"),
                                      (("--fcoe", "udp:1:2", "--vlan", "4095"), 2, "--vlan"),
                                      (("--fcoe", "udp:1:2", "--priority", "256"), 2, "--priority"),
                                      (("--fcoe", "udp:1:2", "--fc-map", "0EFD00"), 2, "expected 0EFC00 to 0EFCFF")):
            if status == 1 and os.geteuid() != 0:
                reason = "needs CAP_NET_RAW" if words[1] != "nosuch0" else "nosuch0"
            given, err = self.run_to_end(*words)
            self.assertEqual(given, status, words)
            self.assertIn(reason, err)

    def test_a_port_that_is_taken_is_told(self):
        self.fcf().start()
        status, err = self.run_to_end("--fcoe", f"udp:{self.port}:{self.host}", runtime="other")
        self.assertEqual(status, 1)
        self.assertIn("Address already in use", err)

    def test_it_stays_without_links(self):
        service = self.fcf("--idle-seconds", "1")
        service.start()
        time.sleep(2)
        self.assertIsNotNone(service.status())
        self.assertEqual(service.stop(), 0)

    # One that a program started by itself holds the place: it gives way. One with --fcoe does not.
    def test_it_takes_the_place_of_one_without_ethernet(self):
        plain = self.service()
        plain.start()
        service = self.fcf()
        service.start()
        fabric.wait_for(lambda: "fcoe" in (service.status() or {}), "the one with Ethernet serves")
        self.assertEqual(plain.process.wait(fabric.PATIENCE_S), 0)
        status, err = self.run_to_end("--fcoe", f"udp:{self.host}:{self.port}")
        self.assertEqual(status, 1)
        self.assertIn("another fcvi-fabricd", err)

    # The signal finds the capture at its work, with frames to read and to write: it is not lost.
    def test_a_capture_is_interrupted_while_it_writes(self):
        service = self.service()
        service.start()
        nic = Path(self.path("local.yaml"))
        nic.write_text("nics: [{name: VINIC, transport: local, timeouts: {open: 60s, name_service: 60s, name_appears: 60s}}]\n")
        environment = {**self.environment(), "FCVI_CONFIG": str(nic)}
        listener = subprocess.Popen([VIPING, "--listen"], env={**environment, "FCVI_NODE": "right"}, stdout=subprocess.DEVNULL)
        self.addCleanup(listener.wait)
        self.addCleanup(listener.kill)
        for number in range(10):
            capture = Path(self.path(f"{number}.pcapng"))
            service.capture(str(capture))
            subprocess.run([VIPING, "-q", "-f", "-c", "100", "-s", "65536", "-t", "60", "-W", "60", "right"], check=True,
                           env={**environment, "FCVI_NODE": "left"}, stdout=subprocess.DEVNULL, timeout=fabric.PATIENCE_S)
            status, err = service.end_capture(), service.capture_errors
            self.assertEqual(status, 0)
            self.assertNotIn("ends here", err)  # all that was captured came
            self.assertGreater(capture.stat().st_size, 100 * 65536)

    def test_status_tells_of_interfaces_hosts_and_ports(self):
        service = self.fcf("--mtu", "1500", "--fc-map", "0EFC07", "--priority", "7", "--fka-period", "700")
        service.start()
        program = self.answering(more="  mtu: 1500\n")  # the same everywhere, or full frames do not come through
        port = fabric.wait_for(lambda: next((port for port in service.vn_ports() if port["addresses"]), None), "it registered")
        fcoe = service.status()["fcoe"]
        self.assertEqual((fcoe["fc_map"], fcoe["priority"], fcoe["period_ms"]), ("0EFC07", 7, 700))
        self.assertEqual((fcoe["interfaces"][0]["mtu"], fcoe["interfaces"][0]["up"]), (1500, True))
        self.assertTrue(port["mac"].startswith("0e:fc:07:"))
        shown = subprocess.run([*service.words, "status"], capture_output=True, text=True, timeout=fabric.PATIENCE_S).stdout
        for text in ("FC-MAP 0EFC07, priority 7, FKA period 700 ms", "MTU 1500, up", port["port_name"], port["addresses"][0], "ENode"):
            self.assertIn(text, shown)
        # A clean stop clears the link: the port is there again as soon as another one runs, without waiting for silence.
        self.assertEqual(service.stop(), 0)
        service.start()
        fabric.wait_for(lambda: service.vn_ports(), "it logs in again")
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.wait(fabric.PATIENCE_S), 0)
        fabric.wait_for(lambda: not service.vn_ports(), "it logged out at its end")

    # At the level that it has by default: who logs in and out, and who may not, with the reason.
    def test_log_tells_of_logins_logouts_and_rejections(self):
        service = self.fcf("--allow", "02:00:00:00:00:01")
        service.start()
        log = Path(self.path("log"))
        program = self.answering(more="  mac: 02:00:00:00:00:01\n")
        port = fabric.wait_for(lambda: next((port for port in service.vn_ports() if port["addresses"]), None), "it registered")
        self.assertIn("FC-VI", port["fc4_types"])
        self.assertRegex(log.read_text(), rf"info: udp:\S+: ENode 02:00:00:00:00:01 N_Port \S+ {port['port_name']} logged in \(FLOGI\)")
        program.send_signal(signal.SIGTERM)
        program.wait(fabric.PATIENCE_S)
        fabric.wait_for(lambda: not service.vn_ports(), "it logged out")
        self.assertRegex(log.read_text(), rf"ENode 02:00:00:00:00:01 N_Port \S+ {port['port_name']} logged out \(LOGO\)")
        refused = subprocess.run([VIPING, "nobody"], env=self.environment(more="  mac: 02:00:00:00:00:02\n", open_time="3s"),
                                 capture_output=True, text=True, timeout=fabric.PATIENCE_S)
        self.assertIn("grants no login", refused.stderr)
        self.assertRegex(log.read_text(), r"ENode 02:00:00:00:00:02 rejected \(not allowed to log in\)")
        self.assertGreater(service.status()["fcoe"]["interfaces"][0]["discarded"]["not allowed to log in"], 0)

    def status_text(self):
        return subprocess.run([FABRICD, "--runtime-directory", self.path("run"), "status"], capture_output=True, text=True,
                              timeout=fabric.PATIENCE_S).stdout

    def station_at(self, own, other):
        """By hand at one end of the cable."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(made.close)
        made.bind(("127.0.0.1", own))
        made.connect(("127.0.0.1", other))
        return station.CableStation(made)

    @staticmethod
    def kernel_drops(port):
        """Of the UDP socket that is bound to that port, as the kernel tells everybody."""
        for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[1].split(":")[1], 16) == port:
                return int(fields[-1])
        raise AssertionError(f"nobody has UDP port {port}")

    def lose_frames(self, process, own, other):
        """It does not read while its kernel's buffer overflows. How many were lost."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
            flood.bind(("127.0.0.1", own))
            os.kill(process.pid, signal.SIGSTOP)
            try:
                while self.kernel_drops(other) == 0:
                    for _ in range(100):
                        flood.sendto(bytes(2000), ("127.0.0.1", other))
                return self.kernel_drops(other)
            finally:
                os.kill(process.pid, signal.SIGCONT)

    # What the kernel had no room for is told with what helps: larger buffers, and PFC for the priority that the frames have.
    def test_losses_are_told_with_what_helps(self):
        service = self.fcf("--ethernet-priority", "5")
        service.start()
        lost = self.lose_frames(service.process, self.host, self.port)
        fabric.wait_for(lambda: service.status()["fcoe"]["interfaces"][0]["kernel_drops"] == lost, "they are counted")
        hint = (rf"the kernel lost {lost} frames for lack of buffers: raise net\.core\.rmem_max, or run with CAP_NET_ADMIN; and against "
                r"losses in NIC and switch have priority flow control \(PFC, 802\.1Qbb\) for priority 5 at both ends of each link")
        self.assertRegex(self.status_text(), rf"(?m)^  {hint}$")
        fabric.wait_for(lambda: "the kernel lost" in Path(self.path("log")).read_text(), "it is logged")
        self.assertRegex(Path(self.path("log")).read_text(), rf"warning: udp:\S+: {hint}")

    def test_losses_of_a_host_are_told_with_what_helps(self):
        program = self.answering(more="  ethernet_priority: 6\n")
        fabric.wait_for(lambda: self.service().nics(), "it has a NIC")
        self.assertNotIn("PFC", self.status_text())
        lost = self.lose_frames(program, self.port, self.host)
        fabric.wait_for(lambda: self.service().nics()[0]["kernel_drops"] == lost, "they are counted")
        self.assertRegex(self.status_text(), rf"(?m)^  the kernel lost {lost} frames .*\(PFC, 802\.1Qbb\) for priority 6 at both ends")

    # 802.1Q: what a host sends has the priority of FCoE, or the one of its configuration (ruling 240).
    def test_tags_of_a_host_have_the_priority(self):
        switch = self.station_at(self.port, self.host)
        for more, priority in (("", 3), ("  ethernet_priority: 5\n", 5)):
            program = self.answering(more="  vlan: 100\n" + more)
            asked = switch.hear(fabric.PATIENCE_S, lambda received, priority=priority: received.priority == priority)
            self.assertIsNotNone(asked, more)
            self.assertEqual((asked.vlan, asked.fip), (100, station.SOLICITATION))
            self.end(program)
            self.assertEqual({received.priority for received in switch.heard}, {priority})
            switch.drain()

    # Nobody's solicitations and FLOGIs are answered beyond the rate; status says how many were not (ruling 239).
    def test_status_tells_of_stations_that_ask_too_often(self):
        service = self.fcf("--requests-per-second", "1")
        service.start()
        host = self.station_at(self.host, self.port)
        fcf = host.solicit()

        def taken():
            return service.status()["fcoe"]["interfaces"][0]["fip_in"]

        def unanswered():
            return service.status()["fcoe"]["interfaces"][0]["discarded"].get("asked too often", 0)
        self.assertEqual(unanswered(), 0)
        for number, ask in ((2, host.ask_for_fcfs), (3, lambda: host.ask_to_log_in(fcf))):
            before, came = unanswered(), taken()
            host.become(number)
            for _ in range(50):
                ask()
            fabric.wait_for(lambda came=came: taken() == came + 50, "all came")
            self.assertGreater(unanswered(), before)
        self.assertIn(f"  discarded, asked too often: {unanswered()}\n", self.status_text())

    # One host more than an FCF remembers, none of which ever said more than FLOGI: the oldest makes room.
    def test_status_tells_of_evictions(self):
        service = self.fcf("--fka-period", "90000")  # nobody's silence ends a login here
        service.start()
        host = self.station_at(self.host, self.port)
        fcf = host.solicit()
        for number in range(1, 1024 + 1):
            host.become(number)
            self.assertEqual(host.log_in(fcf)[0], station.LS_ACC)
        interface = service.status()["fcoe"]["interfaces"][0]
        self.assertEqual((interface["evicted"], len(interface["enodes"])), (0, 1024))
        self.assertNotIn("made room", self.status_text())
        host.become(1025)
        self.assertEqual(host.log_in(fcf)[0], station.LS_ACC)
        interface = service.status()["fcoe"]["interfaces"][0]
        self.assertEqual((interface["evicted"], len(interface["enodes"])), (1, 1024))
        self.assertNotIn("02:ab:cd:00:00:01", [node["mac"] for node in interface["enodes"]])
        self.assertIn("  hosts that made room for others: 1\n", self.status_text())

    # ... and one FCF more than a host remembers.
    def test_status_of_a_host_tells_of_evictions(self):
        self.answering()
        fabric.wait_for(lambda: self.service().nics(), "it has a NIC")
        switch = self.station_at(self.port, self.host)
        for count, evicted in ((32, 0), (33, 1)):
            for number in range(1, count + 1):
                switch.become(number)
                switch.advertise()
            fabric.wait_for(lambda: self.service().nics()[0]["fcfs_known"] == 32, "it knows as many as it can")
            fabric.wait_for(lambda evicted=evicted: self.service().nics()[0]["evicted"] >= evicted, "evictions are counted")
            self.assertEqual("made room for others" in self.status_text(), evicted > 0)
        self.assertRegex(self.status_text(), r"(?m)^  made room for others: \d+$")

    # Frames of a host a second, by what passed in the last 5 to 10 seconds.
    def test_status_tells_of_rates(self):
        service = self.fcf("--fka-period", "90000")
        service.start()
        host = self.station_at(self.host, self.port)
        fcf = host.solicit()
        _, own = host.log_in(fcf)

        def ask_and_look():
            host.fcoe(fcf, own, host.header(0xFFFFFA, own) + host.login(3))
            node = service.status()["fcoe"]["interfaces"][0]["enodes"][0]
            return node if node["frames_in_per_second"] > 0 and node["frames_out_per_second"] > 0 else None
        node = fabric.wait_for(ask_and_look, "the rates are known")
        # Known over at least a second: no more per second than there were at all.
        self.assertLessEqual(node["frames_in_per_second"], node["frames_in"])
        self.assertLessEqual(node["frames_out_per_second"], node["frames_out"])
        self.assertRegex(self.status_text(), r"ENode 02:ab:cd:00:00:01, .* frames in \((?!0\.0)\d+\.\d/s\), \d+ out \((?!0\.0)\d+\.\d/s\)")

    # A host needs no service of its own: each process tells of its NIC.
    def test_status_of_a_host(self):
        service = self.fcf(*("--fka-period", "500"))
        service.start()
        program = self.answering()
        port = fabric.wait_for(lambda: next((port for port in service.vn_ports() if port["addresses"]), None), "it registered")
        fcf = service.status()["fcoe"]
        nic = fabric.wait_for(lambda: next((nic for nic in service.nics() if nic["fcf"]["keep_alives_sent"] > 2), None), "keep-alives go")
        self.assertEqual((nic["process_id"], nic["program"], nic["mode"], nic["state"]), (program.pid, "viping", "fabric", "LoggedIn"))
        self.assertEqual((nic["fpma"], nic["n_port_id"], nic["port_name"]), (port["mac"], port["n_port_id"], port["port_name"]))
        self.assertEqual((nic["fcf"]["mac"], nic["fcf"]["switch_name"]), (fcf["interfaces"][0]["mac"], fcf["switch_name"]))
        self.assertEqual((nic["fcf"]["keep_alives_wanted"], nic["fcf"]["fka_period_ms"]), (True, 500))
        self.assertGreater(nic["fip_in"], 0)
        # Times that pass between two questions on a busy machine: shown once, they are right.
        fabric.wait_for(lambda: any(nic["fcf"]["heard_ms_ago"] < 2 * 500 for nic in service.nics()), "the FCF was heard just now")
        fabric.wait_for(lambda: service.status()["fcoe"]["interfaces"][0]["enodes"][0]["silent_ms"] < 3 * 500, "the ENode was heard just now")
        shown = subprocess.run([*service.words, "status"], capture_output=True, text=True, timeout=fabric.PATIENCE_S).stdout
        for text in (f"NIC of viping (process {program.pid})", f"FPMA {port['mac']}", f"FCF {nic['fcf']['mac']}", "every 500 ms", "heard"):
            self.assertIn(text, shown)
        service.kill()
        fabric.wait_for(lambda: "fcf" not in service.nics()[0], "it lost its FCF")  # and tells so, though no service runs
        self.end(program)
        self.assertEqual(service.nics(), [])
        self.assertEqual([name for name in os.listdir(self.path("run")) if name.startswith("nic.")], [])  # what the kill left is gone

    def test_frames_that_are_none_are_counted_by_reason(self):
        service = self.fcf()
        service.start()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as host:
            host.bind(("127.0.0.1", self.host))
            mac = bytes.fromhex(service.status()["fcoe"]["interfaces"][0]["mac"].replace(":", ""))
            for frame in (b"", b"x", mac + bytes(6) + b"\x08\x00", mac + bytes(6) + b"\x89\x06" + bytes(20),
                          mac + bytes(6) + b"\x89\x06" + bytes(60), mac + bytes(6) + b"\x89\x14" + bytes(40), bytes(9000)):
                host.sendto(frame, ("127.0.0.1", self.port))
        interface = fabric.wait_for(lambda: (lambda found: found if sum(found["discarded"].values()) >= 6 else None)(
            service.status()["fcoe"]["interfaces"][0]), "all are counted")
        self.assertEqual(interface["discarded"]["not FCoE"], 3)
        self.assertEqual(interface["discarded"]["truncated"], 1)
        self.assertEqual(interface["discarded"]["unknown SOF"], 1)
        self.assertEqual(interface["discarded"]["bad FIP message"], 1)
        self.assertEqual(service.stop(), 0)

    # Who answers a VLAN Request names VLANs on which nobody is: VipOpenNic says which.
    def test_vlans_that_are_offered_are_told(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as switch:
            switch.bind(("127.0.0.1", self.port))
            switch.settimeout(fabric.PATIENCE_S)
            host = subprocess.Popen([VIPING, "nobody"], env=self.environment(open_time="5s"), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
            self.addCleanup(self.end, host)
            while True:
                request = switch.recv(2500)
                if request[12:14] == b"\x89\x14" and request[16:20] == b"\x00\x04\x00\x01":
                    break
            mac = bytes.fromhex("02fcf0000001")
            descriptors = b"\x02\x02" + mac + b"\x0e\x01\x00\x64" + b"\x0e\x01\x00\xc8"
            answer = request[6:12] + mac + b"\x89\x14" + bytes.fromhex("1000" "0004" "0002" "0004" "0001") + descriptors
            switch.sendto(answer.ljust(60, b"\0"), ("127.0.0.1", self.host))
            _, err = host.communicate(timeout=fabric.PATIENCE_S)
        self.assertIn("no FCF shows itself", err)
        self.assertIn("neither on VLAN 100, 200, where FCoE is said to be offered", err)

    # Tags in datagrams: the program asks, is told the VLAN, and logs in there.
    def test_a_host_follows_the_vlan(self):
        service = self.fcf("--vlan", "100")
        service.start()
        program = self.answering()
        fabric.wait_for(lambda: service.vn_ports(), "it logs in")
        self.assertEqual(service.status()["fcoe"]["vlan"], 100)
        program.send_signal(signal.SIGTERM)
        self.assertEqual(program.wait(fabric.PATIENCE_S), 0)

    # The host is told to use one FCF only; the other one shows itself in vain.
    def test_a_host_uses_the_fcf_that_it_was_told(self):
        service = self.fcf()
        service.start()
        name = service.status()["fcoe"]["switch_name"]
        stranger = self.answering(more="  fcf: 10:00:00:00:00:00:00:99\n")
        time.sleep(2)
        self.assertEqual(service.vn_ports(), [])
        self.end(stranger)
        self.answering(more=f"  fcf: {name}\n")
        fabric.wait_for(lambda: service.vn_ports(), "it logs in")


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main(verbosity=2)
