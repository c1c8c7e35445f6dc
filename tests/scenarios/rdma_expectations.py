#!/usr/bin/env python3
"""Each expectation of a stream of RDMA fails where it is wrong, and says what came instead; each mistake in a scenario is told; TCP's
segmentation changes no result.

usage: rdma_expectations.py FCVI_SIM SCENARIOS [unittest's options]
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FCVI_SIM, SCENARIOS = "", Path()
STREAM = """
name: t
topology: {kind: tcp}
ports: [{name: a}, {name: b}]
workloads:
  - name: w
    client: a
    server: b
    rdma:
      client_private_data: x
      regions:
        - {name: source, at: client, bytes: 3000, content: random, rights: [remote_read]}
        - {name: inbox, at: server, bytes: 3000, rights: [local_write, remote_invalidate]}
        - {name: sink, at: server, bytes: 3000, rights: [remote_write, remote_invalidate]}
        - {name: copy, at: server, bytes: 3000, rights: [local_write]}
      operations:
        - {operation: send, from: source, to: inbox, solicited_event: true, invalidate: sink %(send)s}
        - {operation: rdma_read, by: server, from: source, to: copy %(read)s}
      expect: {%(expect)s}
faults: [%(faults)s]
expectations: {%(expectations)s}
"""
# Wrong, and what `run` says of it.
WRONG_EXPECTATIONS = {
    "client_start: TimedOut": "client's start-up: expected TimedOut, got connected",
    "server_start: none": "server's start-up: expected none, got connected",
    "client_end: lost": "client's end: expected lost, got closed",
    "server_end: given_up": "server's end: expected given_up, got closed",
    "server_private_data: y": "server's private data: expected y, got x",
    "terminate: {by: server, layer: llp, code: 2}": "server's error: expected LLP/MPA/MPA CRC does not match (2, 0, 02h), got no error",
    "server_completions: []": "server's completions: expected no more than 0, got receive success, 3,000 bytes",
    "server_completions: [{operation: receive, bytes: 1}]": "expected receive success, 1 bytes, got receive success, 3,000 bytes",
    "server_completions: [{operation: receive, solicited_event: false}]": "no solicited event, got receive success, 3,000 bytes, solicited",
    "server_completions: [{operation: receive, invalidated: inbox}]": "invalidated inbox, got receive success",
    "server_completions: [{operation: receive, count: 2}]": "completion 2 (",
    "server_completions: [{operation: receive, at: {min: 1s}}]": "at least 1.000 s, got receive success",
    "client_completions: [{operation: send, status: flushed}]": "expected Send flushed, got Send success",
    "contents: [{region: sink, equals: source}]": "region sink",
    "contents: [{region: copy, unchanged: true}]": "region copy",
    "contents: [{region: copy, sha256: '00'}]": "expected SHA-256 00, got SHA-256 ",
}
WRONG_SCENARIOS = {
    "rdma: {framing: tcp}": "framing: expected one of mpa, ift",
    "rdma: {framing: ift, markers: both}": "markers: is of MPA, and framing is ift",
    "rdma: {operations: [{operation: send, from: nothing}]}": "from: ",
    "rdma: {regions: [{name: r, at: server, bytes: 1}], operations: [{operation: send, from: r}]}": "expected a region of the client",
    "rdma: {regions: [{name: r, at: client, bytes: 1}, {name: r, at: client, bytes: 1}]}": "two regions have the name",
    "rdma: {operations: [{operation: rdma_write}]}": 'needs the key "from"',
    "rdma: {operations: [{operation: wait}]}": 'needs the key "for"',
    "rdma: {tcp_port: 8474}": "VI over TCP listens at port 8474 of b",
    "rdma: {operations: [{operation: close, status: flushed}]}": "status: expected an operation that completes",
    "rdma: {operations: [{operation: close, for: 1s}]}": "for: expected operation wait",
    "rdma: {operations: [{operation: terminate, placed: all}]}": "placed: expected operation send, rdma_write or rdma_read",
    "rdma: {regions: [{name: r, at: client, bytes: 8}], operations: [{operation: invalidate, invalidate: r, solicited_event: true}]}": "solicited_event: expected operation send",
    "rdma: {revision: 1, rtr: [send]}": "rtr: expected revision 2",
    "rdma: {expect: {terminate: [{by: server, layer: ddp, code: 9}, {by: server, layer: llp, code: 2}]}}": "expected one of each end",
    "rdma: {regions: [{name: r, at: client, bytes: 64MiB}], operations: [" + ", ".join(["{operation: send, from: r}"] * 15) + "]}":
        "are more than 1,073,741,824 bytes",
    "rdma: {operations: [" + ", ".join(["{operation: send, repeat: 10000}"] * 11) + "]}": "more than 100,000 operations",
    "rdma: {}, reliability: reliable_delivery": "reliability: is of connections of VIs",
}


def run(*words):
    return subprocess.run([FCVI_SIM, *map(str, words)], capture_output=True, text=True, timeout=120)


class Streams(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rdma-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "s.yaml")

    def simulate(self, *options, **parts):
        empty = dict(send="", read="", expect="", faults="", expectations="")
        self.path.write_text(STREAM % {**empty, **parts})
        done = run("run", "--check", self.path, *options)
        return done.returncode, done.stdout + done.stderr

    def test_right(self):
        for expect in ("", "server_private_data: x", "contents: [{region: copy, equals: source}, {region: sink, unchanged: true}]",
                       "server_completions: [{operation: receive, bytes: 3000, invalidated: sink}, {operation: rdma_read}]"):
            status, text = self.simulate(expect=expect)
            self.assertEqual(status, 0, text)

    def test_wrong_expectations_fail(self):
        for expect, said in WRONG_EXPECTATIONS.items():
            with self.subTest(expect):
                status, text = self.simulate(expect=expect)
                self.assertEqual(status, 1, text)
                self.assertIn(said, text)

    def test_operations_fail(self):
        for parts, said in (({"send": ", status: flushed"}, "operation 0 (Send): expected 1 flushed, got 0 flushed, then success"),
                            ({"read": ", placed: nothing"}, "operation 1 (RDMA Read): data: expected nothing placed, got changed octets"),
                            ({"expectations": "segments: {Send: 1}"}, "segments Send: expected exactly 1, got 0"),
                            ({"expectations": "discards: 1"}, "refused segments and streams: expected exactly 1, got 0"),
                            ({"faults": "{action: drop, message: Send}"}, "action: expected"),
                            ({"faults": "{action: reset, message: Send}"}, "no segment matched")):
            with self.subTest(said):
                status, text = self.simulate(**parts)
                self.assertNotEqual(status, 0, text)
                self.assertIn(said, text)

    def test_mistakes_are_told(self):
        head = "name: t\ntopology: {kind: tcp}\nports: [{name: a}, {name: b}]\nworkloads: [{name: w, client: a, server: b, %s}]\n"
        for rdma, said in WRONG_SCENARIOS.items():
            with self.subTest(rdma):
                self.path.write_text(head % rdma)
                done = run("check", self.path)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(said, done.stderr)

    def test_segmentation_changes_nothing(self):
        results = set()
        for topology in ("tcp_segment=1460", "tcp_segment=7", "receive_buffer=100", "tcp_segments=drawn"):
            path = self.path.with_suffix(".json")
            status, text = self.simulate("--set", f"topology.{topology}", "--json", path, expect="contents: [{region: copy, equals: source}]")
            self.assertEqual(status, 0, text)
            ends = json.loads(path.read_text())["workloads"][0]
            results.add(json.dumps([ends[end]["completions"] for end in ("client", "server")]))
        self.assertEqual(len(results), 1, results)


if __name__ == "__main__":
    FCVI_SIM, SCENARIOS = sys.argv[1], Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
