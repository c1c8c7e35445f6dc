#!/usr/bin/env python3
"""ping_pong, peer_to_peer, file_server and word_count between processes with different and with the same node name.

usage: pairs_test.py FOLDER_OF_PROGRAMS
"""

import random
import sys
import unittest
from pathlib import Path

import local_fabric

local_fabric.LocalFabric.folder_of_programs = Path(sys.argv.pop(1))


class PingPong(local_fabric.LocalFabric):
    def test_every_level(self):
        for level in ("unreliable", "delivery", "reception"):
            server = self.start("ping_pong", "--server", "--once", "--level", level)
            client = self.start("ping_pong", "server", "-n", 200, "-s", 3000, "--level", level, node="client")
            self.assertIn("200 rounds of 3000 bytes", self.good(client))
            self.assertIn("300 messages answered", self.good(server))

    def test_same_node_and_polling(self):
        server = self.start("ping_pong", "--server", "other name", "--once", "--poll")
        client = self.start("ping_pong", "localhost:other name", "-n", 50, "-s", 0, "--poll")
        self.assertIn("50 rounds of 0 bytes", self.good(client))
        self.good(server)

    def test_host_that_is_unknown(self):
        client = self.start("ping_pong", "no-such-host.invalid")
        errors = client.communicate(timeout=local_fabric.ENOUGH_S)[1]
        self.assertEqual(client.returncode, 1)
        self.assertIn("no-such-host.invalid", errors)

    def test_wrong_use(self):
        for program in ("ping_pong", "peer_to_peer", "file_server", "cq_server", "word_count"):
            self.assertIn("usage: " + program, self.good(self.start(program, "--help")))
            for words in ([], ["--level", "high", "host"], ["--what"], ["a", "b", "c", "d", "e"]):
                process = self.start(program, *words)
                self.assertIn("usage: " + program, process.communicate(timeout=local_fabric.ENOUGH_S)[1])
                self.assertEqual(process.returncode, 2, words)


class PeerToPeer(local_fabric.LocalFabric):
    def test_peers_meet(self):
        for level in ("delivery", "reception"):
            ann = self.start("peer_to_peer", "bob", "-n", 500, "--level", level, node="ann")
            bob = self.start("peer_to_peer", "ann", "-n", 500, "--level", level, node="bob")
            self.assertIn("500 messages exchanged with bob", self.good(ann))
            self.assertIn("500 messages exchanged with ann", self.good(bob))

    def test_two_pairs_at_two_meeting_points(self):
        peers = [self.start("peer_to_peer", f"{there}:{meeting}", node=here)
                 for meeting in ("first", "second") for here, there in (("ann", "bob"), ("bob", "ann"))]
        for peer in peers:
            self.good(peer)

    def test_peer_that_never_comes(self):
        # Herself: a node that is there, and where nobody else asks for her.
        ann = self.start("peer_to_peer", "ann", "-t", 1, node="ann")
        errors = ann.communicate(timeout=local_fabric.ENOUGH_S)[1]
        self.assertEqual((ann.returncode, errors), (1, "peer_to_peer: ann: timed out\n"))


class FileServer(local_fabric.LocalFabric):
    def test_several_clients_get_and_put(self):
        served, own = Path(self.folder.name, "served"), Path(self.folder.name, "own")
        served.mkdir()
        own.mkdir()
        content = [random.Random(size).randbytes(size) for size in (0, 1, 262_144, 3_000_001)]
        for number, data in enumerate(content):
            (served / f"get{number}").write_bytes(data)
            (own / f"put{number}").write_bytes(data)
        server = self.start("file_server", "--server", "--clients", 2 * len(content), served)
        clients = []
        for number in range(len(content)):
            clients.append(self.start("file_server", "get", "server", f"get{number}", own / f"got{number}", node=f"c{number}"))
            clients.append(self.start("file_server", "put", "server", own / f"put{number}", f"stored{number}", node=f"c{number}"))
        for client in clients:
            self.good(client)
        self.good(server)
        for number, data in enumerate(content):
            self.assertEqual((own / f"got{number}").read_bytes(), data)
            self.assertEqual((served / f"stored{number}").read_bytes(), data)

    def test_names_that_are_not_served(self):
        served = Path(self.folder.name, "served")
        served.mkdir()
        server = self.start("file_server", "--server", "--clients", 3, served)
        for name, complaint in (("missing", "no such file"), ("../served", "not allowed"), (".hidden", "not allowed")):
            client = self.start("file_server", "get", "server", name, Path(self.folder.name, "copy"), node="client")
            self.assertIn(complaint, client.communicate(timeout=local_fabric.ENOUGH_S)[1])
            self.assertEqual(client.returncode, 1)
        self.good(server)


class WordCount(local_fabric.LocalFabric):
    def test_texts_are_counted(self):
        server = self.start("word_count", "--server", "--clients", 2)
        self.assertEqual(self.good(self.start("word_count", "server", "how many words", node="client")), "3\n")
        self.assertEqual(self.good(self.start("word_count", "server", "", node="client")), "0\n")
        self.assertEqual(self.good(server), "2 texts answered\n")

    def test_text_too_long(self):
        server = self.start("word_count", "--server", "--clients", 1)
        client = self.start("word_count", "server", "x" * 1001, node="client")
        errors = client.communicate(timeout=local_fabric.ENOUGH_S)[1]
        self.assertEqual((client.returncode, errors), (1, "word_count: the question: invalid parameter\n"))
        self.good(server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
