#!/usr/bin/env python3
"""fcvi-sim replay in a mutation build: with one row of one table changed it names the first frame that differs.

usage: mutation_test.py FCVI_SIM SCENARIOS [unittest arguments]
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FCVI_SIM, SCENARIOS = sys.argv[1:3]
del sys.argv[1:3]

# The row and how it is changed; whose capture of which figure; what is said of the first frame, and which message that is.
CHANGED = (
    ("connect_originator/AwaitResp1/Resp1Received/Accepted/drop SendAccept", "figure-C.1-client-server-setup", "client",
     r"frame (\d+) at \S+ s is not sent now", "FCVI_CONNECT_RESP2"),
    ("connect_originator/AwaitResp1/SetupErrorDetected/none/drop AbortExchange", "figure-C.4-retried", "client",
     r"frame (\d+) at \S+ s is not sent now", "ABTS"),
    ("connect_originator/AwaitRetryAbort/AbortFinished/none/remove", "figure-C.3-retried", "client",
     r"frame (\d+) at \S+ s is not sent now", "FCVI_CONNECT_RQST"),
    ("connect_responder/AwaitDecision/AcceptRequested/none/drop SendAccept", "figure-C.1-client-server-setup", "server",
     r"frame (\d+) at \S+ s is not sent now", "FCVI_CONNECT_RESP1"),
    ("connect_responder/AwaitResp2Accepted/Resp2Received/Accepted/remove", "figure-C.1-client-server-setup", "server",
     r"frame (\d+) at \S+ s is not sent now", "FCVI_CONNECT_RESP3"),
    ("disconnect_originator/AwaitResponse/ResponseTimeout/none/remove", "figure-D.1-retried", "local",
     r"frame (\d+) at \S+ s is not sent now", "FCVI_DISCONNECT_RQST"),
    ("disconnect_originator/AwaitResponseRetry/ResponseReceived/none/drop CompleteSuccess", "figure-D.1-retried", "local",
     r"frame (\d+) at \S+ s is different now", "FCVI_DISCONNECT_RESP"),
    ("disconnect_responder/Established/RqstReceived/!AbortsSetup && !ConnectionIdKnown/drop Accept", "figure-C.1-client-server-setup",
     "server", r"frame (\d+) at \S+ s is not sent now", "FCVI_DISCONNECT_RESP"),
    ("message_responder/Expecting/WholeMessageReceived/ConsumesDescriptor && !NeedsResponse/drop ExpectNextMessage",
     "figure-C.1-client-server-setup", "client", r"frame (\d+) at \S+ s is different now", "FCVI_DISCONNECT_RQST"),
    ("address_resolution/Unresolved/ResolveRequested/NameServerAvailable/drop QueryNameServer", "figure-C.1-client-server-setup",
     "client", r"frame (\d+) at \S+ s is not sent now", "GID_IPP"),
    ("address_resolution/QueryingNameServer/NameServerAccepted/HasAddresses/drop ReportResolved", "figure-C.1-client-server-setup",
     "client", r"frame (\d+) at \S+ s is not sent now", "PLOGI"),
    ("port_login/LoggedOut/LoginReceived/none/drop AcceptLogin", "figure-D.1-retried", "remote",
     r"frame (\d+) at \S+ s is not sent now", "LS_ACC to PLOGI"),
    ("port_login/LoggedIn/LogoutRequested/none/drop SendLogout", "figure-D.1-retried", "local",
     r"frame (\d+) at \S+ s is not sent now", "LOGO"),
    ("port_registration/Registering/Answered/!MoreToRegister && WantsStateChanges/drop GoToStateChanges", "figure-D.1-retried", "local",
     r"a frame is sent now at \S+ s, before frame (\d+) at .*", "SCR"),
)


class Mutation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="fcvi-replay-")
        cls.addClassCleanup(cls.folder.cleanup)

    def replay(self, path, port, mutant=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FCVI_MUTATION")}
        if mutant:
            environment["FCVI_MUTATION"] = mutant
        return subprocess.run([FCVI_SIM, "replay", str(path), "--as", port], capture_output=True, text=True, env=environment)

    def test_a_changed_row(self):
        for mutant, figure, port, first_line, message in CHANGED:
            path = Path(self.folder.name, figure + ".pcapng")
            subprocess.run([FCVI_SIM, "run", str(Path(SCENARIOS, figure + ".yaml")), "--capture", str(path)], check=True,
                           stdout=subprocess.DEVNULL)
            decoded = subprocess.run([FCVI_SIM, "decode", str(path)], check=True, capture_output=True, text=True).stdout.splitlines()
            with self.subTest(mutant=mutant):
                same = self.replay(path, port)
                self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
                changed = self.replay(path, port, mutant)
                self.assertEqual((changed.returncode, changed.stderr), (1, ""), changed.stdout)
                named = re.fullmatch(first_line, changed.stdout.splitlines()[0])
                self.assertIsNotNone(named, changed.stdout)
                frame = decoded[int(named[1]) - 1]
                self.assertIn(message, frame)
                self.assertIn(f" {port}", frame)


if __name__ == "__main__":
    unittest.main()
