#!/usr/bin/env python3
"""Servers outlive clients that are gone before they answer, and of which no RSCN tells: FC-VI 8.6.3 a) leaves the VI in the
Error state when nobody answers its FCVI_DISCONNECT_RQST. VN2VN on a hub that takes a client off when it has said goodbye.

usage: leavers_test.py FOLDER_OF_PROGRAMS
"""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import fabric
import guest
import hub

PROGRAMS = Path(sys.argv.pop(1))
SERVER, LEAVER, NEXT = 0, 1, 2  # the hub's ends
LOGGED_OUT_S = 60  # R_A_TOV is 10 s; the ABTS and the one after it wait so long each


class Leavers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-interop-")
        self.addCleanup(self.folder.cleanup)
        ports = guest.free_udp_ports(6)
        self.cables = [(ports[2 * end], ports[2 * end + 1]) for end in range(3)]
        self.hub = hub.Hub(self.cables)
        self.addCleanup(self.hub.end)
        self.children = []
        self.addCleanup(self.end_children)
        self.gone = False

    def end_children(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()

    def start(self, end, *words):
        far, own = self.cables[end]
        nic = Path(self.folder.name, f"{end}.yaml")
        # No retry of a disconnect takes long, and no look-up fails because the machine has much to do.
        nic.write_text(f'nics:\n- name: VINIC\n  transport: fcoe\n  mode: vn2vn\n  interface: "udp:{own}:{far}"\n'
                       "  timeouts: {open: 60s, ulp: 300ms, farp: 2s, name_service: 60s}\n")
        environment = {**os.environ, "FCVI_RUNTIME_DIR": os.path.join(self.folder.name, "run"), "FCVI_NODE": f"node{end}",
                       "FCVI_CONFIG": str(nic)}
        program = PROGRAMS / words[0]
        child = subprocess.Popen([program, *map(str, words[1:])], env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def finish(self, child):
        """What the library warns of because of our `ulp` (ruling 217) is no error."""
        out, err = child.communicate(timeout=fabric.PATIENCE_S)
        err = "".join(line for line in err.splitlines(True) if "timeouts.ulp is 300.000 ms; FC-VI 8.3" not in line)
        return child.returncode, out, err

    def take_leaver_off(self):
        """The leaver is told that its disconnect was heard; after that nothing passes between it and the server."""
        def rule(frame, source, target):
            passes = not (self.gone and {source, target} == {SERVER, LEAVER})
            self.gone |= source == SERVER and target == LEAVER and hub.is_disconnect_response(frame)
            return passes
        self.hub.rule = rule

    def succeed(self, server, end, *words):
        """A client that comes up before the server and it know each other (VN2VN) tries again."""
        def done():
            status, _, err = self.finish(self.start(end, *words))
            return None if "reach" in err and server.poll() is None else (status, err)
        self.assertEqual(fabric.wait_for(done, "the client is served"), (0, ""), self.end_of(server))

    def end_of(self, server):
        return "it serves on" if server.poll() is None else self.finish(server)

    def serve_a_leaver_and_another(self, server_words, client_words):
        server = self.start(SERVER, *server_words)
        self.take_leaver_off()
        self.succeed(server, LEAVER, *client_words)
        self.assertTrue(self.gone)
        self.succeed(server, NEXT, *client_words)
        time.sleep(2)  # twice 300 ms and more: the disconnect has failed by now
        self.succeed(server, NEXT, *client_words)
        return server

    def test_viping(self):
        server = self.serve_a_leaver_and_another(("viping", "--listen"), ("viping", "-t", 60, "-W", 60, "-c", 2, "-i", 0.01, "node0"))
        server.terminate()
        status, _, err = self.finish(server)
        self.assertEqual((status, err), (0, ""))

    # Its beacons are heard still, but it answers nothing: not the disconnect, nor ABTS, twice. FC-VI C.3 rule 3 b), FC-FS: second-level
    # recovery logs it out, and with the login what the server keeps for it ends.
    def test_viping_logs_a_silent_client_out(self):
        server = self.start(SERVER, "viping", "--listen")
        beacons, logouts = [], []
        def rule(frame, source, target):
            cut = self.gone and {source, target} == {SERVER, LEAVER}
            self.gone |= source == SERVER and target == LEAVER and hub.is_disconnect_response(frame)
            if source == LEAVER and hub.is_beacon(frame):
                beacons.append(frame)
            if cut and source == SERVER and hub.is_logo(frame):
                logouts.append(frame)
            return not cut
        self.hub.rule = rule
        self.succeed(server, LEAVER, "viping", "-t", 60, "-W", 60, "-c", 9, "-i", 1, "node0")
        self.assertTrue(self.gone and beacons)
        end = time.monotonic() + LOGGED_OUT_S
        while not logouts and time.monotonic() < end:
            self.hub.send(beacons[-1], SERVER)
            time.sleep(1)
        self.assertTrue(logouts)
        self.succeed(server, NEXT, "viping", "-t", 60, "-W", 60, "-c", 2, "-i", 0.01, "node0")
        server.terminate()
        self.assertEqual(self.finish(server)[0], 0)

    def test_ping_pong(self):
        self.serve_a_leaver_and_another(("ping_pong", "--server"), ("ping_pong", "-n", 5, "node0"))

    def test_cq_server(self):
        server = self.serve_a_leaver_and_another(("cq_server", "--server"), ("cq_server", "-n", 5, "node0"))
        server.terminate()
        status, out, err = self.finish(server)
        self.assertEqual((status, err), (0, ""), out)

    def test_file_server(self):
        served = Path(self.folder.name, "served")
        served.mkdir()
        (served / "file").write_bytes(b"content")
        self.serve_a_leaver_and_another(("file_server", "--server", served),
                                        ("file_server", "get", "node0", "file", Path(self.folder.name, "copy")))
        self.assertEqual(Path(self.folder.name, "copy").read_bytes(), b"content")

    # Nothing was begun for one that leaves before it has said what it brings.
    def test_vicp(self):
        source, target = Path(self.folder.name, "in"), Path(self.folder.name, "out")
        source.write_bytes(b"content")
        receiver = self.start(SERVER, "vicp", "--listen", target)
        self.take_leaver_off()
        def left():
            status, _, err = self.finish(self.start(LEAVER, "viping", "-t", 60, "-W", 0.1, "-c", 1, "node0:vicp"))
            return status == 1 and "reach" not in err
        fabric.wait_for(left, "somebody came who is no sender")
        self.assertTrue(self.gone)
        self.succeed(receiver, NEXT, "vicp", "-t", 60, source, "node0:")
        status, out, err = self.finish(receiver)
        self.assertEqual((status, target.read_bytes()), (0, b"content"), (out, err))
        self.assertRegex(err, "connection lost; waiting for another sender")


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=False)
