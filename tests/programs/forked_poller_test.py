#!/usr/bin/env python3
"""A child of a program that polls shared memory polls a NIC of its own. usage: forked_poller_test.py FORKED_POLLER"""

import sys
import unittest

from local_fabric import LocalFabricTest

PROGRAM = sys.argv.pop(1)


class ForkedPoller(LocalFabricTest):
    def test_child_polls_a_nic_of_its_own(self):
        self.assertEqual(self.run_to_end("alice", PROGRAM), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
