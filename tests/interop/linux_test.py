#!/usr/bin/env python3
"""Linux' own FCoE initiator, in a guest under QEMU, with our FCF and with our VN2VN port. Ethernet in UDP datagrams, no root.

One guest for all; the steps build on each other, in the order of their names.
usage: linux_test.py FABRICD PROBE VICP GUEST_FOLDER       exit status 77: skipped, the reason is printed
"""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from pathlib import Path

import fabric
import guest

FABRICD, PROBE, VICP, GUEST_FOLDER = sys.argv[1:5]
SKIPPED = 77
FKA_PERIOD_MS = 2000
ONLINE = r"host state=Online id=0x0*([1-9a-f][0-9a-f]*)"
RSCN, LS_ACC = 0x61, 0x02


class Linux(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="fcvi-interop-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.far, cls.own = guest.free_udp_ports(2)
        cls.interface = f"udp:{cls.own}:{cls.far}"
        cls.runtime = os.path.join(cls.folder.name, "run")
        cls.fabric = fabric.Fabric(FABRICD, cls.runtime, "--fcoe", cls.interface, "--fka-period", str(FKA_PERIOD_MS))
        cls.addClassCleanup(cls.fabric.end)
        cls.fabric.start()
        cls.linux = guest.Guest(GUEST, cls.far, cls.own)
        cls.addClassCleanup(cls.linux.end)

    def probe(self, *words):
        environment = {**os.environ, "FCVI_RUNTIME_DIR": self.runtime}
        return subprocess.Popen([PROBE, *words], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def n_port_id(self):
        return re.search(ONLINE, self.linux.show_until(ONLINE)).group(1)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def counted(self, name, wanted):
        return len(fabric.frames_of(self.path(name), wanted))

    def test_1_logs_in_and_registers(self):
        self.fabric.capture(self.path("login.pcapng"))
        self.linux.wait_for("^GUEST ready")
        self.linux.ask("start fabric 2500", "^GUEST started")
        n_port_id = self.n_port_id()
        port = fabric.wait_for(lambda: next((p for p in self.fabric.vn_ports() if p["node_name"]), None), "it registered")
        self.assertEqual(int(port["n_port_id"].rstrip("h"), 16), int(n_port_id, 16))
        shown = self.linux.show()
        self.assertRegex(shown, r"fcf .* selected=1")
        self.assertIn("mfs=2112", shown)
        type(self).id = n_port_id

    # A second port appears: Linux registered for state changes (SCR), and accepts the RSCN.
    def test_2_answers_our_questions_and_receives_an_rscn(self):
        probe = self.probe("fabric", self.id)
        said, _ = probe.communicate(timeout=fabric.PATIENCE_S)
        self.assertEqual(probe.returncode, 0, said)
        for question in ("PLOGI", "ECHO", "ADISC", "RNID"):
            self.assertIn(f"{question} good", said)
        time.sleep(1)  # what may still come of it
        self.assertEqual(self.fabric.end_capture(), 0)
        self.assertEqual(fabric.faults_of(self.path("login.pcapng")), "")
        from_linux, to_linux = f"fc.s_id == {dotted(self.id)}", f"fc.d_id == {dotted(self.id)}"
        self.assertGreater(self.counted("login.pcapng", f"fcels.opcode == {RSCN:#x} && {to_linux}"), 0)
        exchange = f"fc.s_id == ff.ff.fd && fcels.opcode == {RSCN:#x}"
        rscns = fields("login.pcapng", self, exchange, "fc.ox_id")
        accepted = fields("login.pcapng", self, f"{from_linux} && fc.d_id == ff.ff.fd && fcels.opcode == {LS_ACC:#x}", "fc.ox_id")
        self.assertTrue(set(rscns) & set(accepted), (rscns, accepted))
        # Our answer to its PRLI keeps it quiet.
        self.assertLess(self.counted("login.pcapng", f"{from_linux} && fcels.opcode == 0x20"), 5)

    def test_3_stays_logged_in_over_keep_alives(self):
        before = self.fabric.status()["fcoe"]["interfaces"][0]
        time.sleep(4 * FKA_PERIOD_MS / 1000)  # without keep-alives it would be logged out after 2.5 periods
        after = self.fabric.status()["fcoe"]["interfaces"][0]
        self.assertGreaterEqual(after["fip_in"] - before["fip_in"], 2)
        self.assertEqual([port["n_port_id"] for node in after["enodes"] for port in node["vn_ports"]],
                         [port["n_port_id"] for node in before["enodes"] for port in node["vn_ports"]])
        self.assertRegex(self.linux.show(), ONLINE)

    # FC-VI ports in the same fabric are not disturbed by the Linux port, nor is it by them.
    def test_4_fc_vi_traffic_goes_on_beside_it(self):
        source, target = Path(self.path("in")), Path(self.path("out"))
        source.write_bytes(os.urandom(1 << 20) * 16)
        for level in ("unreliable", "delivery", "reception"):
            target.unlink(missing_ok=True)
            receiver = self.vicp("right", "--listen", target)
            sender = self.vicp("left", "-l", level, source, "right:")
            for process in (sender, receiver):
                _, err = process.communicate(timeout=fabric.PATIENCE_S)
                self.assertEqual((process.returncode, err), (0, ""), level)
            self.assertEqual(zlib.crc32(target.read_bytes()), zlib.crc32(source.read_bytes()), level)
        self.assertRegex(self.linux.show(), ONLINE)

    def vicp(self, node, *words):
        environment = {**os.environ, "FCVI_RUNTIME_DIR": self.runtime, "FCVI_NODE": node,
                       "FCVI_CONFIG": str(guest.HERE.parent / "support" / "patient_nic.yaml")}
        return subprocess.Popen([VICP, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_5_logs_in_again_after_the_fcf_was_killed(self):
        self.fabric.kill()
        self.fabric.start()
        fabric.wait_for(lambda: any(port["node_name"] for port in self.fabric.vn_ports()), "it logged in and registered again")
        self.linux.show_until(ONLINE)

    def test_6_logs_out_cleanly(self):
        self.fabric.capture(self.path("logout.pcapng"))
        self.linux.ask("destroy", "^GUEST destroyed")
        fabric.wait_for(lambda: not self.fabric.vn_ports(), "it is logged out")
        self.assertEqual(self.fabric.end_capture(), 0)
        self.assertEqual(fabric.faults_of(self.path("logout.pcapng")), "")
        # By its LOGO inside FIP, not because nothing was heard of it.
        self.assertGreater(self.counted("logout.pcapng", "fip.opcode == 2 && fcels.opcode == 0x05"), 0)
        self.assertEqual(self.fabric.stop(), 0)

    def test_7_vn2vn_ports_log_in_to_each_other(self):
        probe = self.probe("vn2vn", self.interface)
        self.linux.ask("start vn2vn 2500", "^GUEST started")
        shown = self.linux.show_until(r"rport id=\S+ state=Online wwpn=0x3000000000700be1")
        self.assertRegex(shown, ONLINE)
        said, _ = probe.communicate(timeout=fabric.PATIENCE_S)
        self.assertEqual(probe.returncode, 0, said)
        for question in ("NEIGHBOUR", "PLOGI", "ECHO", "ADISC", "RNID"):
            self.assertIn(f"{question} good", said)


def dotted(n_port_id):
    """As Wireshark writes it: 010200 is 01.02.00."""
    return ".".join(n_port_id.zfill(6)[i:i + 2] for i in (0, 2, 4))


def fields(name, case, wanted, field):
    shown = subprocess.run(["tshark", "-o", "fc.reassemble:FALSE", "-Y", wanted, "-T", "fields", "-e", field, "-r", case.path(name)],
                           capture_output=True, text=True, timeout=fabric.PATIENCE_S)
    return shown.stdout.split()


if __name__ == "__main__":
    try:
        if fabric.missing_for_captures():
            raise guest.Unavailable(fabric.missing_for_captures())
        GUEST = guest.build(GUEST_FOLDER)
    except guest.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    del sys.argv[1:5]
    unittest.main(verbosity=2, failfast=True)
