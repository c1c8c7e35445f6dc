#!/usr/bin/env python3
"""Threads of a program are cancelled while they use a NIC on the local fabric, where the library writes to sockets.

usage: cancelled_callers_test.py HANDLER_EXIT
"""

import sys
import unittest
from pathlib import Path

from local_fabric import LocalFabricTest

HANDLER_EXIT = sys.argv.pop(1)
TWO_HOSTS = """nics:
  - {name: VINIC0, node_name: left, timeouts: {open: 60s}}
  - {name: VINIC1, node_name: right, timeouts: {open: 60s}}
"""


class CancelledCallers(LocalFabricTest):
    def test_the_library_stays_usable(self):
        configuration = Path(self.folder.name, "nics.yaml")
        configuration.write_text(TWO_HOSTS)
        status, out, err = self.run_to_end("left", HANDLER_EXIT, "caller", FCVI_CONFIG=str(configuration))
        self.assertEqual((status, out), (0, ""), err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
