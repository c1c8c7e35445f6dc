#!/usr/bin/env python3
"""fcvi-fabricd capture: from now on, of the last seconds, of one port, at both ends, into a pipe whose reader goes; and
the file that the service writes by itself when something failed. What it writes Wireshark reads.

usage: capture_test.py FCVI_FABRICD VIPING FCVI_PERF
"""

import fcntl
import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest
from pathlib import Path

from local_fabric import LocalFabricTest

FABRICD, VIPING, PERF = sys.argv[1:4]
del sys.argv[1:4]

FIELDS = ("frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction", "fc.s_id", "fc.d_id", "fc.ox_id",
          "fc.rx_id", "fc.r_ctl", "fc.seq_cnt", "frame.cap_len", "frame.len", "frame.comment")


class Capture(LocalFabricTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("tshark"):
            self.skipTest("there is no tshark")

    # --- steps

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, node, *words, **more):
        return super().start(node, *words, FCVI_FABRICD=FABRICD, **more)

    def command(self, *words):
        return self.run_to_end("operator", FABRICD, *words)

    def status(self):
        status, out, err = self.command("status", "--json")
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def serve(self, node="bob"):
        server = self.start(node, VIPING, "-t", 60, "--listen")
        self.ping(1, to=node)
        return server

    def ping(self, count=3, to="bob", node="alice"):
        status, out, err = self.run_to_end(node, VIPING, "-t", 60, "-W", 60, "-c", count, "-i", 0.01, to)
        self.assertEqual((status, err), (0, ""), out)

    def capture(self, *words):
        capture = self.start("operator", FABRICD, "capture", *words)
        self.wait_for(lambda: self.status()["captures"] > 0, "the capture begins")
        return capture

    def capture_by(self, by, *words):
        capture = self.start("operator", by, FABRICD, "capture", *words)
        self.wait_for(lambda: self.status()["captures"] > 0, "the capture begins")
        return capture

    def size(self):
        """Of the capture that grows."""
        path = self.file("a.pcapng")
        return os.path.getsize(path) if os.path.exists(path) else 0

    def log(self):
        with open(os.path.join(self.runtime, "fabricd.log")) as log:
            return log.read()

    def end(self, capture):
        capture.send_signal(signal.SIGINT)
        status, _, err = self.finish(capture)
        self.assertEqual(status, 0, err)
        return err

    # --- what is in a file

    def frames(self, path, wanted=""):
        """A dictionary for each frame; fails if Wireshark finds one malformed."""
        tshark = ["tshark", "-r", path, "-o", "fc.reassemble:FALSE"]
        bad = subprocess.run([*tshark, "-Y", "_ws.malformed || fcoe.crc.status==0"], capture_output=True, text=True,
                             timeout=self.TIMEOUT)
        self.assertEqual((bad.returncode, bad.stdout), (0, ""), bad.stderr)
        words = [word for field in FIELDS for word in ("-e", field)]
        shown = subprocess.run([*tshark, "-Y", wanted, "-T", "fields", "-E", "separator=|", *words], capture_output=True,
                               text=True, timeout=self.TIMEOUT)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return [dict(zip(FIELDS, line.split("|"))) for line in shown.stdout.splitlines()]

    def comments(self, path):
        return [frame["frame.comment"] for frame in self.frames(path) if frame["frame.comment"]]

    @staticmethod
    def identities(frames):
        """What tells a frame from all others of a short capture; way marks are all alike."""
        keys = ("fc.s_id", "fc.d_id", "fc.ox_id", "fc.rx_id", "fc.r_ctl", "fc.seq_cnt", "frame.len")
        return [tuple(frame[key] for key in keys) for frame in frames if frame["fc.r_ctl"] != "0xf0"]

    def judge_once(self, frames):
        """As sent, or, of what the fabric says, as received; no frame of a port twice."""
        received = [frame for frame in frames if frame["frame.packet_flags_direction"].endswith("1")]
        self.assertEqual([frame for frame in received if not frame["fc.s_id"].startswith("ff.ff.")], [])
        seen = {}
        for frame in frames:
            identity, time = (frame["frame.interface_name"], *self.identities([frame])), float(frame["frame.time_epoch"])
            if frame["fc.r_ctl"] != "0xf0":
                # An OX_ID comes again, for another request, when its Exchange has rested.
                self.assertGreater(time - seen.get(identity, 0), 0.1, identity)
                seen[identity] = time

    def name_of(self, process):
        return next(f'{port["name"]} (process {port["process_id"]})' for port in self.status()["ports"]
                    if port["process_id"] == process)

    # --- from now on

    # Two programs talk: each frame is there once, whole, as it was sent, in the order of time.
    def test_each_frame_is_there_once_and_whole(self):
        self.serve()
        capture = self.capture("-w", self.file("a.pcapng"))
        self.ping(5)
        told = self.end(capture)
        frames = self.frames(self.file("a.pcapng"))
        self.assertIn(f"{len(frames)} frames", told)
        self.assertGreater(len(frames), 20)
        self.assertEqual([frame["frame.cap_len"] for frame in frames], [frame["frame.len"] for frame in frames])
        self.judge_once(frames)
        times = [float(frame["frame.time_epoch"]) for frame in frames]
        self.assertEqual(times, sorted(times))
        self.assertLess(abs(times[0] - time.time()), 600)

    # Whoever looks for how things begin starts the capture first: it waits for the fabric, and says so.
    def test_waits_for_the_first_program(self):
        capture = self.start("operator", FABRICD, "capture", "-w", self.file("a.pcapng"))
        line = capture.stderr.readline()
        self.assertRegex(line, r"^no fcvi-fabricd runs for .* yet; waiting for the first program")
        server = self.start("bob", VIPING, "-t", 60, "--listen")
        self.wait_for(lambda: self.command("status")[0] == 0 and self.status()["captures"] > 0, "the capture begins")
        self.ping(2)
        self.end(capture)
        # The first program's own login is there, too, though the service began with it.
        self.assertEqual(len(self.frames(self.file("a.pcapng"), "fc.s_id == 00.00.00 && fcels.opcode == 4")), 2)
        self.assertIsNone(server.poll())

    # Interrupted before there is anything: nothing is left behind, and what was has to be there already.
    def test_wait_for_the_first_program_can_be_ended(self):
        capture = self.start("operator", FABRICD, "capture", "-w", self.file("a.pcapng"))
        capture.stderr.readline()
        capture.send_signal(signal.SIGINT)
        status, _, err = self.finish(capture)
        self.assertEqual((status, err), (1, "fcvi-fabricd: interrupted\n"))
        self.assertEqual(os.listdir(self.folder.name), [os.path.basename(self.runtime)] if os.path.exists(self.runtime) else [])
        status, _, err = self.command("capture", "--last", "10s", "-w", self.file("a.pcapng"))
        self.assertEqual(status, 1)
        self.assertIn("no fcvi-fabricd runs for", err)

    # Both ends: what went from port to port is there twice, as sent and as received.
    def test_both_ends_have_each_frame_twice(self):
        self.serve()
        capture = self.capture("-w", self.file("a.pcapng"), "--both-ends")
        self.ping(5)
        self.end(capture)
        between = self.frames(self.file("a.pcapng"), "fc.s_id != ff.ff.fc && fc.d_id != ff.ff.fc && fc.s_id != ff.ff.fd && "
                              "fc.d_id != ff.ff.fd && fc.s_id != ff.ff.fe && fc.d_id != ff.ff.fe")
        between = [frame for frame in between if "discarded" not in frame["frame.comment"]]
        self.assertGreater(len(between), 10)
        sent = [frame for frame in between if frame["frame.packet_flags_direction"].endswith("2")]
        received = [frame for frame in between if frame["frame.packet_flags_direction"].endswith("1")]
        self.assertEqual(len(sent) + len(received), len(between))
        self.assertEqual(sorted(self.identities(sent)), sorted(self.identities(received)))

    # --port: frames from and to that port, and of no other; others keep their memory.
    def test_one_port(self):
        self.serve("bob")
        carol = self.start("carol", VIPING, "-t", 60, "--listen")
        self.ping(1, to="carol")
        self.assertIsNone(carol.poll())
        chosen = self.name_of(carol.pid)
        address = next(port["n_port_id"] for port in self.status()["ports"] if port["process_id"] == carol.pid)
        capture = self.capture("-w", self.file("a.pcapng"), "--port", carol.pid)
        self.ping(3, to="bob")
        self.ping(3, to="carol")
        self.end(capture)
        frames = self.frames(self.file("a.pcapng"))
        self.assertGreater(len(frames), 5)
        dotted = ".".join(address[at:at + 2].lower() for at in (0, 2, 4))
        for frame in frames:
            self.assertIn(dotted, (frame["fc.s_id"], frame["fc.d_id"]))
        self.assertIn(chosen, {frame["frame.interface_name"] for frame in frames})

    # --port with what nobody is called: a capture of what was is refused, one of what comes begins with a warning.
    def test_unknown_port(self):
        self.serve()
        for name in ("typo", "7fffff"):
            status, _, err = self.command("capture", "-w", self.file("a.pcapng"), "--last", "600s", "--port", name)
            self.assertEqual(status, 1, err)
            self.assertIn(f"there is no such port: {name}", err)
            self.assertEqual(glob.glob(self.file("a.pcapng*")), [])
        capture = self.capture("-w", self.file("b.pcapng"), "--port", "bob", "--port", "typo")
        self.assertIn("there is no such port now: ", self.end(capture))

    # --port with an N_Port_ID, as any program writes it.
    def test_port_by_address(self):
        server = self.serve()
        address = next(port["n_port_id"] for port in self.status()["ports"] if port["process_id"] == server.pid)
        dotted = ".".join(address[at:at + 2] for at in (0, 2, 4))
        counts = []
        for name in (address, address.lower(), "0x" + address, dotted):
            status, _, err = self.command("capture", "-w", self.file("a.pcapng"), "--last", "600s", "--port", name)
            self.assertEqual(status, 0, err)
            counts.append(len(self.frames(self.file("a.pcapng"))))
        self.assertEqual(len(set(counts)), 1, counts)
        self.assertGreater(counts[0], 10)

    # -c: it ends by itself.
    def test_count_ends_it(self):
        self.serve()
        capture = self.capture("-w", self.file("a.pcapng"), "-c", 7)
        self.ping(3)
        self.assertEqual(self.finish(capture)[0], 0)
        self.assertEqual(len(self.frames(self.file("a.pcapng"))), 7)

    # -w -: frames come at once; a reader that goes, and a capture that is killed, harm nobody.
    def test_standard_output_and_readers_that_go(self):
        self.serve()
        reader = subprocess.Popen([FABRICD, "capture", "-w", "-"], env=self.environment("operator"), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.addCleanup(reader.stdout.close)
        self.addCleanup(reader.stderr.close)
        self.assertEqual(reader.stdout.read(4), b"\x0a\x0d\x0d\x0a")  # before any frame passed
        reader.stdout.close()
        self.wait_for(lambda: self.ping(1) or reader.poll() is not None, "it ends with its reader")
        self.assertEqual(reader.returncode, 0)
        killed = self.capture("-w", self.file("a.pcapng"))
        self.ping(1)
        killed.kill()
        self.finish(killed)
        stopped = self.capture("-w", self.file("b.pcapng"))
        stopped.send_signal(signal.SIGSTOP)
        self.ping(20)
        stopped.kill()
        self.finish(stopped)
        self.wait_for(lambda: self.status()["captures"] == 0, "captures end with their readers")
        self.ping(1)

    # A process is killed while a capture runs: its last frame, long written, is there once more, and says so.
    def test_killed_process_is_told_of(self):
        server = self.serve()
        name = self.name_of(server.pid)
        capture = self.capture("-w", self.file("a.pcapng"))
        self.ping(3)
        server.kill()
        server.wait()
        self.wait_for(lambda: len(self.status()["ports"]) == 0, "the service noticed")
        self.end(capture)
        wanted = f"the last frame of {name}, shown before: its process was killed by signal 9"
        self.assertEqual(sum(wanted in comment for comment in self.comments(self.file("a.pcapng"))), 1)
        status, _, err = self.command("capture", "-w", self.file("b.pcapng"), "--last", "600s")
        self.assertEqual(status, 0, err)
        told = [comment for comment in self.comments(self.file("b.pcapng")) if "the last frame of" in comment]
        self.assertEqual(len(told), 1, told)
        self.assertNotIn("shown before", told[0])

    # --- its end

    # SIGHUP, of a terminal that goes, ends it as Ctrl-C does; nothing else is left.
    def test_hangup_ends_it(self):
        self.serve()
        capture = self.capture("-w", self.file("a.pcapng"))
        self.ping(3)
        capture.send_signal(signal.SIGHUP)
        self.assertEqual(self.finish(capture)[0], 0)
        self.assertGreater(len(self.frames(self.file("a.pcapng"))), 10)
        self.assertEqual(glob.glob(self.file("*.part")), [])

    # While it goes on the file has what passed, as whole records; and there is no other.
    def test_file_can_be_read_while_it_grows(self):
        self.serve()
        capture = self.capture("-w", self.file("a.pcapng"))
        self.ping(3)
        self.wait_for(lambda: self.size() > 2000, "frames are written")
        before = len(self.frames(self.file("a.pcapng")))
        self.assertGreater(before, 0)
        self.assertEqual(glob.glob(self.file("*.part")), [])
        self.end(capture)
        self.assertGreaterEqual(len(self.frames(self.file("a.pcapng"))), before)

    # Who starts it with nohup wants it to stay.
    def test_ignored_hangup_does_not_end_it(self):
        self.serve()
        capture = self.capture_by("nohup", "-w", self.file("a.pcapng"))
        capture.send_signal(signal.SIGHUP)
        self.ping(3)
        self.assertEqual(self.status()["captures"], 1)
        self.end(capture)

    # The service is killed: what came until then is in the file, and the status says that there is no more.
    def test_killed_service_ends_it(self):
        self.serve()
        capture = self.capture("-w", self.file("a.pcapng"))
        self.ping(3)
        self.wait_for(lambda: self.size() > 2000, "frames are written")
        os.kill(self.status()["process_id"], signal.SIGKILL)
        status, _, err = self.finish(capture)
        self.assertEqual(status, 1, err)
        self.assertIn("the service ended", err)
        self.assertGreater(len(self.frames(self.file("a.pcapng"))), 10)

    # The service does not answer: the second signal ends the capture, and what came is there.
    def test_second_signal_ends_it_without_the_service(self):
        self.serve()
        capture = self.capture("-w", self.file("a.pcapng"))
        self.ping(3)
        self.wait_for(lambda: self.size() > 2000, "frames are written")
        service = self.status()["process_id"]
        os.kill(service, signal.SIGSTOP)
        self.addCleanup(os.kill, service, signal.SIGCONT)
        capture.send_signal(signal.SIGINT)
        capture.send_signal(signal.SIGTERM)
        status, _, err = self.finish(capture)
        self.assertEqual(status, 1, err)
        self.assertIn("interrupted", err)
        self.assertGreater(len(self.frames(self.file("a.pcapng"))), 10)

    # Its reader does not read: the second signal ends the capture.
    def test_second_signal_ends_it_without_its_reader(self):
        self.serve()
        capture = self.capture("-w", "-")
        fcntl.fcntl(capture.stdout, fcntl.F_SETPIPE_SZ, 4096)
        self.ping(200)
        time.sleep(0.2)  # it writes, and waits for its reader
        capture.send_signal(signal.SIGINT)
        capture.send_signal(signal.SIGTERM)
        self.assertEqual(capture.wait(timeout=self.TIMEOUT), 1)
        self.children.remove(capture)  # its output is no text
        capture.stdout.close()
        capture.stderr.close()

    # A file that cannot be created is told before the service is asked for anything; there is none here.
    def test_file_is_tried_first(self):
        status, _, err = self.command("capture", "-w", self.file("no/such/folder"))
        self.assertEqual(status, 2, err)

    # A FIFO is written to, and stays one.
    def test_into_a_fifo(self):
        self.serve()
        os.mkfifo(self.file("fifo"))
        reader = subprocess.Popen(["cat", self.file("fifo")], stdout=subprocess.PIPE)
        self.addCleanup(reader.stdout.close)
        capture = self.capture("-w", self.file("fifo"))
        self.ping(3)
        self.end(capture)
        got = reader.communicate(timeout=self.TIMEOUT)[0]
        with open(self.file("a.pcapng"), "wb") as file:
            file.write(got)
        self.assertGreater(len(self.frames(self.file("a.pcapng"))), 10)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.file("fifo")).st_mode))

    # --- what was

    # Nobody captured when it happened: control frames are there whole; data that went through memory are not, which way
    # marks and the comment of the file say.
    def test_last_seconds(self):
        self.serve()
        self.ping(30)
        status, out, err = self.command("capture", "-w", self.file("a.pcapng"), "--last", "600s")
        self.assertEqual((status, out), (0, ""), err)
        frames = self.frames(self.file("a.pcapng"))
        self.assertIn(f"{len(frames)} frames", err)
        self.assertGreater(len(frames), 20)
        # Set-ups, too: else no message behind them would be of a known connection.
        self.assertEqual([frame for frame in frames if frame["frame.cap_len"] != frame["frame.len"]], [])
        self.assertTrue(any("way mark" in comment for comment in self.comments(self.file("a.pcapng"))))
        self.judge_once(frames)
        status, _, err = self.command("capture", "-w", self.file("b.pcapng"), "--last", "1ns")
        self.assertEqual((status, self.frames(self.file("b.pcapng"))), (0, []), err)

    # Data frames that the service has are there with their beginning, and the file says how long they were.
    def test_last_seconds_without_paths(self):
        server = self.start("svc", FABRICD, "--no-paths", "--history-frames", 2000)
        self.wait_for(lambda: "process_id" in self.command("status", "--json")[1], "the service runs")
        self.start("bob", PERF, "--server", "--once", "--timeout", 60)
        status, _, err = self.run_to_end("alice", PERF, "send_bw", "bob", "-n", 100, "-s", 65536, "--timeout", 60)
        self.assertEqual(status, 0, err)
        status, _, err = self.command("capture", "-w", self.file("a.pcapng"), "--last", "600s")
        self.assertEqual(status, 0, err)
        frames = self.frames(self.file("a.pcapng"))
        cut = [frame for frame in frames if int(frame["frame.cap_len"]) < int(frame["frame.len"])]
        self.assertGreater(len(cut), 50)
        self.assertEqual({frame["frame.cap_len"] for frame in cut}, {"156"})
        self.assertLessEqual(len(frames), 2000)
        self.assertIn("no more is kept", err)
        self.assertEqual(self.status()["history_frames"], 2000)
        self.assertGreater(self.status()["history_seconds"], 0)
        self.assertIn("kept for capture --last: 2000 frames of ", self.command("status")[1])
        self.assertIsNone(server.poll())

    # --last with -c: the latest ones. Without a frame the summary says so in words.
    def test_last_frames_of_a_count(self):
        self.serve()
        self.ping(3)
        def times(name, *words):
            status, _, err = self.command("capture", "-w", self.file(name), "--last", "600s", *words)
            self.assertEqual(status, 0, err)
            return [frame["frame.time_epoch"] for frame in self.frames(self.file(name))]

        def captured_in_peace():  # what others still say of the end of viping comes meanwhile, or not
            got[:] = times("all"), times("five", "-c", 5)
            return got[0] == times("again")

        got = []
        self.wait_for(captured_in_peace, "no more frames")
        self.assertEqual(got[1], got[0][-5:])
        status, _, err = self.command("capture", "-w", self.file("none"), "--last", "1ns")
        self.assertIn("no frames of all ports", err)

    # A slow reader misses frames: the next one that it gets says how many, and so do the statistics of its interface.
    def test_missing_frames_leave_a_mark(self):
        self.start("svc", FABRICD, "--no-paths")
        self.wait_for(lambda: "process_id" in self.command("status", "--json")[1], "the service runs")
        self.start("bob", PERF, "--server", "--once", "--timeout", 60)
        capture = self.capture("-w", self.file("a.pcapng"))
        capture.send_signal(signal.SIGSTOP)
        status, _, err = self.run_to_end("alice", PERF, "send_bw", "bob", "-n", 1000, "-s", 32768, "--timeout", 60)
        self.assertEqual(status, 0, err)
        capture.send_signal(signal.SIGCONT)
        self.wait_for(lambda: self.size() > 16 << 20, "what waited is written")
        self.serve("carl")
        told = self.end(capture)
        missing = int(re.search(r"(\d+) frames are missing", told)[1])
        self.assertGreater(missing, 1000)
        marks = [comment for comment in self.comments(self.file("a.pcapng")) if "are missing before this one" in comment]
        self.assertEqual(sum(int(comment.split()[0]) for comment in marks), missing, marks)
        self.assertGreater(Path(self.file("a.pcapng")).read_bytes().count(b"\5\0\0\0\50\0\0\0"), 0)

    # --- failures

    # A process is killed: a second later there is a file that says so, with its last frame and what became of others'.
    def test_killed_process_leaves_a_file(self):
        server = self.serve()
        name = self.name_of(server.pid)
        server.kill()
        pattern = os.path.join(self.runtime, "failures", "failure-*.pcapng")
        self.wait_for(lambda: glob.glob(pattern), "a file about the failure")
        server.wait()
        (path,) = glob.glob(pattern)
        self.wait_for(lambda: self.status()["failure_files"] == 1, "the service counts it")
        self.assertIn("files about failures: 1 written, 0 could not be", self.command("status")[1])
        self.assertTrue(any(f"the last frame of {name}: its process was killed by signal 9" in comment
                            for comment in self.comments(path)), self.comments(path))
        about = subprocess.run(["capinfos", "-k", path], capture_output=True, text=True, timeout=self.TIMEOUT)
        if about.returncode == 0:
            self.assertIn(f"{name}: its process was killed by signal 9", about.stdout)

    # What fails in the pause after a file is named in the next one, each; the end of the service does not wait for it.
    def test_failures_in_a_pause_are_named(self):
        self.serve()
        names = []
        pattern = os.path.join(self.runtime, "failures", "failure-*.pcapng")
        for node in ("one", "two", "three"):
            server = self.start(node, VIPING, "-t", 60, "--listen")
            self.ping(1, to=node)
            names.append(self.name_of(server.pid))
            server.kill()
            server.wait()
            self.wait_for(lambda: glob.glob(pattern), "a file about the failure")
        self.wait_for(lambda: len(self.status()["ports"]) == 1, "the service noticed")
        self.assertEqual(self.command("stop")[0], 0)
        told = b"".join(Path(path).read_bytes() for path in glob.glob(pattern))
        self.assertEqual([name for name in names if f"{name}: its process was killed".encode() not in told], [])
        self.assertNotIn(b"more failures", told)

    # Files that others wrote into that folder stay.
    def test_others_files_stay(self):
        folder = self.file("shared")
        os.mkdir(folder)
        others = {f"failure-2020010{i}-000000.000000000{end}" for i in range(1, 8) for end in (".pcapng", "-0.pcapng")}
        for name in others:
            Path(folder, name).touch()
        server = self.start("bob", VIPING, "-t", 60, "--listen", FCVI_FAILURE_FOLDER=folder)
        self.wait_for(lambda: self.command("status")[0] == 0 and self.status()["ports"], "the server is there")
        server.kill()
        server.wait()
        self.wait_for(lambda: not self.status()["ports"], "the service noticed")
        self.assertEqual(self.command("stop")[0], 0)
        self.assertEqual(len(set(os.listdir(folder)) - others), 1)
        self.assertEqual(others - set(os.listdir(folder)), set())

    # Without memory for a copy of the frames they are lost; the service goes on.
    def test_failure_without_memory(self):
        self.serve()
        victim = self.start("victim", VIPING, "-t", 60, "--listen")
        self.ping(1, to="victim")
        service = self.status()["process_id"]
        self.ping(1000, to="victim")
        with open(f"/proc/{service}/statm") as file:
            pages = int(file.read().split()[0])
        limit = pages * resource.getpagesize() + (128 << 10)
        resource.prlimit(service, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        victim.kill()
        victim.wait()
        self.wait_for(lambda: "frames until then" in self.log(), "the service tells")
        self.assertEqual(self.status()["process_id"], service)
        self.ping(3)

    # Programs that end as they should leave none, and nor does a service that may write none.
    def test_no_failure_leaves_no_file(self):
        self.serve()
        self.ping(3)
        self.command("stop")
        self.assertEqual(glob.glob(os.path.join(self.runtime, "failures", "*")), [])

    # The folder is configurable, also for a service that a program starts.
    def test_folder_of_failures(self):
        folder = self.file("elsewhere")
        server = self.start("bob", VIPING, "-t", 60, "--listen", FCVI_FAILURE_FOLDER=folder)
        self.wait_for(lambda: self.command("status")[0] == 0 and self.status()["ports"], "the server is there")
        server.kill()
        self.wait_for(lambda: server.poll() is not None, "it is killed")
        self.wait_for(lambda: not self.status()["ports"], "the service noticed")
        self.command("stop")  # what is due is written before the end
        self.wait_for(lambda: glob.glob(os.path.join(folder, "failure-*.pcapng")), "a file there")

    # --- refusals

    def test_bad_options(self):
        self.serve()
        for words in (["capture"], ["capture", "-w", "x", "--last", "10"], ["capture", "-w", "x", "-c", "0"]):
            self.assertEqual(self.command(*words)[0], 2, words)
        status, _, err = self.command("capture", "-w", self.file("no/such/folder"))
        self.assertEqual(status, 2, err)


if __name__ == "__main__":
    unittest.main()
