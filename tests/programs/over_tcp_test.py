#!/usr/bin/env python3
"""VI over TCP between processes, as users run them: processes that are killed, or exit at once, the port service killed, a
port that others have, many connections, idle processes, and a program with NICs of two transports.

usage: over_tcp_test.py FOLDER [--rounds N] [--seed N]      FOLDER has vicp, viping, fcvi-perf, idiom_relay, ...
"""

import json
import os
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

from local_fabric import NODES, LocalFabricTest, option, tcp_hosts

FOLDER = Path(sys.argv.pop(1)).resolve()
PORTD, PERF, VIPING, VICP = (str(FOLDER / name) for name in ("vitcp-portd", "fcvi-perf", "viping", "vicp"))
NUMBERED, RELAY, FORKS, LAST_WORDS, BURSTS, ATTRIBUTES = (
    str(FOLDER / f"idiom_{name}") for name in ("numbered", "relay", "forks", "last_words", "bursts", "attributes"))
BYTES = 64


ROUNDS = option("--rounds", 12)
SEED = option("--seed", 1)


def ticks(process):
    """CPU time of a process, in clock ticks."""
    words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def memory_kib(process):
    """Of a process, what is there."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text(encoding="utf-8"))[1])


def header_of(kind, length, version=1, number=7):
    """Of a segment of a raw peer (VI-TCP 3.2)."""
    return struct.pack(">BBHIIIIHH", version, kind, length, 0, 0, number, 0, 10, 0)


def state_of(process):
    """"T": stopped."""
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]


class OverTcp(LocalFabricTest):
    TCP_TIMEOUTS = "{open: 60s, close: 3600s}"  # whoever waits for that does not end in time

    def portds(self):
        """Of this test's runtime directory."""
        status, out, _ = self.run_to_end("left", PORTD, "status")
        return [int(number) for number in re.findall(r"vitcp-portd at .*: process (\d+)", out)] if status == 0 else []

    def say(self, child, word):
        self.assertEqual(child.stdout.readline(), word + "\n", child.poll())

    def pair(self, count, size, level, pause_ms=0):
        """A sink on the right and a source on the left, connected; the files of each."""
        arrived, complete = (os.path.join(self.folder.name, name) for name in ("arrived", "complete"))
        for path in (arrived, complete):
            if os.path.exists(path):
                os.remove(path)
        sink = self.start("right", NUMBERED, "sink", "VINIC", "numbers", level, count, size, arrived, pause_ms)
        source = self.start("left", NUMBERED, "source", "VINIC", "right:numbers", level, count, size, complete)
        self.say(sink, "connected")
        self.say(source, "connected")
        return sink, source, arrived, complete

    def expect_arrived(self, arrived, complete, size):
        """Each message that was acknowledged is where it belongs. How many they are."""
        (count,) = struct.unpack("=Q", Path(complete).read_bytes())
        with open(arrived, "rb") as file:
            data = file.read(count * size)
        numbers = memoryview(data).cast("Q")
        words = size // 8
        for number in range(count):
            self.assertEqual((numbers[number * words], numbers[(number + 1) * words - 1]), (number + 1, number + 1))
        return count

    # --- processes that end

    def one_dies(self, chance):
        sink, source, arrived, complete = self.pair(1 << 20, BYTES, "reception")
        time.sleep(chance.uniform(0, 0.3))
        if chance.random() < 0.3:
            for service in self.portds():  # connections do not notice, and another takes over
                os.kill(service, signal.SIGKILL)
            time.sleep(0.05)
            self.assertEqual((sink.poll(), source.poll()), (None, None))
        victim, other = chance.sample([sink, source], 2)
        victim.kill()
        victim.wait()  # its memory may be large: until here it has not ended
        ended = time.monotonic()
        self.say(other, "lost")
        late = time.monotonic() - ended
        self.finish(other)
        return late, self.expect_arrived(arrived, complete, BYTES)

    # Time-outs are an hour: who is told, is told by the connection.
    def test_killed_processes(self):
        latest, most = 0, 0
        for number in range(ROUNDS):
            with self.subTest(round=number, seed=SEED):
                try:
                    late, count = self.one_dies(random.Random(SEED * 1_000_003 + number))
                    latest, most = max(latest, late), max(most, count)
                finally:
                    self.end_children()
                    self.children.clear()
        print(f"{ROUNDS} rounds: the other end knew after {latest:.3f} s at the latest; up to {most} messages acknowledged")
        self.assertGreater(most, 0)
        # Within a second where the processes get a core when they need one.
        self.assertLess(latest, 1 if os.getloadavg()[0] <= 2 * os.cpu_count() else 10)

    # What was reported as sent arrives, though the process is gone before the other end takes it.
    def test_exit_right_after_the_last_completion(self):
        for level in ("delivery", "reception"):
            sink, source, arrived, complete = self.pair(60, 65536, level, 300)
            self.say(source, "all")
            self.assertEqual(self.finish(source)[0], 0)
            self.say(sink, "all")
            self.finish(sink)
            self.assertEqual(self.expect_arrived(arrived, complete, 65536), 60)

    # The peer is stopped: what completed last is not even with the kernel, and the program has to stay for it.
    def test_exit_while_the_peer_does_not_read(self):
        memory = os.path.join(self.folder.name, "memory")
        sink = self.start("right", LAST_WORDS, "sink", "writes", memory)
        source = self.start("left", LAST_WORDS, "source", "right:writes")
        self.say(sink, "connected")
        self.say(source, "connected")
        sink.send_signal(signal.SIGSTOP)
        self.wait_for(lambda: state_of(sink.pid) == "T", "the sink did not stop")
        source.send_signal(signal.SIGUSR1)
        complete = int(source.stdout.readline())
        time.sleep(0.3)  # without a goodbye it has ended by now
        sink.send_signal(signal.SIGCONT)
        self.say(sink, "lost")
        self.assertEqual(self.finish(source), (0, "", ""))
        self.finish(sink)
        self.assertGreater(complete, 64)
        with open(memory, "rb") as file:
            self.assertTrue(file.read(complete * 4096) == b"x" * (complete * 4096))

    def test_fork(self):
        self.assertEqual(self.run_to_end("left", FORKS, "VINIC"), (0, "", ""))

    def test_killed_port_service_is_replaced(self):
        server = self.start("right", VIPING, "--listen")
        self.wait_for(lambda: self.portds(), "no service was started")
        before = self.portds()
        for service in before:
            os.kill(service, signal.SIGKILL)
        status, out, err = self.run_to_end("left", VIPING, "-q", "-i", "0.01", "-c", 5, "right")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("5 received", out)
        self.assertIsNone(server.poll())
        self.assertFalse(set(before) & set(self.portds()))

    # --- what a NIC tells

    def nics(self):
        status, out, _ = self.run_to_end("left", PORTD, "status", "--json")
        return [one for one in json.loads(out) if "nic" in one] if status == 0 else []

    def asking_peer(self, address, port):
        """A socket that asked a viping for a connection, and the type of the answer (VI-TCP 3.2)."""
        request = header_of(0x85, 24 + 140) + struct.pack(">HHI64sHH64s", 2, 0, 1 << 20, b"", 0, 6, b"viping")
        peer = socket.create_connection((address, port))
        peer.sendall(request)
        return peer, peer.recv(24, socket.MSG_WAITALL)[1] & 31

    def connected_peer(self, address, port, other=None):
        """Of a viping that listens there, as soon as it waits. None: it answered with this `other` type."""
        for _ in range(1000):
            peer, answer = self.asking_peer(address, port)
            if answer == 6:  # ConnectAccept
                return peer
            peer.close()
            if answer == other:
                return None
            time.sleep(0.01)
        raise self.failureException("nobody waits")

    # What a connected peer did wrong is counted by its NIC, and the service's status tells, whoever has the port.
    def test_counters_of_established_connections(self):
        for listen in ("shared", "own"):
            address = tcp_hosts.own_addresses(1)[0]
            port = tcp_hosts.free_port(address)
            config = self.configuration_at(port, listen=listen)
            server = self.start("left", VIPING, "--listen", FCVI_CONFIG=config)
            self.assertIn("answering", server.stdout.readline())
            with self.connected_peer(address, port) as peer:
                self.assertEqual([(one["connected"], one["refused"]["version"]) for one in self.nics()], [(1, 0)])
                peer.sendall(header_of(0x80, 24, version=9))
                while peer.recv(4096):
                    pass
            (nic,) = self.nics()
            self.assertEqual((nic["nic"], nic["process_id"], nic["port"], nic["addresses"]), ("VINIC", server.pid, port, [address]))
            self.assertEqual((nic["connections"], nic["refused"]["version"], nic["refused"]["crc"]), (1, 1, 0))
            _, out, _ = self.run_to_end("left", PORTD, "status")
            self.assertIn(f"NIC VINIC of process {server.pid} (viping): ", out)
            self.assertRegex(out, r"  refused:\n(    no_match: \d+\n)?    version: 1\n")
            server.kill()
            server.wait()
            self.wait_for(lambda: "NIC" not in self.run_to_end("left", PORTD, "status")[1], "it is told of still")
            self.run_to_end("left", PORTD, "stop")

    # Peers that come and go, and one that sends without reading, leave a server no larger than it was. They announce
    # messages of 1 MiB and send none.
    def test_memory_of_a_server_with_hostile_peers(self):
        address = tcp_hosts.own_addresses(1)[0]
        port = tcp_hosts.free_port(address)
        server = self.start("left", VIPING, "--listen", FCVI_CONFIG=self.configuration_at(port))
        self.assertIn("answering", server.stdout.readline())  # and what it prints of 250 clients fits a pipe
        if re.search("lib[alt]san", Path(f"/proc/{server.pid}/maps").read_text(encoding="utf-8")):
            self.skipTest("a sanitizer keeps what was freed")
        before = memory_kib(server.pid)
        for _ in range(200):
            self.connected_peer(address, port).close()
        after = memory_kib(server.pid)
        with self.connected_peer(address, port) as peer:
            peer.settimeout(1)
            sends = b"".join(header_of(0x80, 1024, number=8 + i) + b"y" * 1000 for i in range(64))
            try:
                for _ in range(200):
                    peer.sendall(sends)
            except OSError:
                pass  # it broke the rules, and was shut out
            last = memory_kib(server.pid)
        print(f"memory of the server: {before} KiB, after 200 connections {after}, with a peer that never reads {last}")
        self.assertLess(last - before, 8192)
        self.assertIsNone(server.poll())

    # viping(1): the messages of all clients take at most 512 MiB. When clients have gone there is room again.
    def test_clients_that_announce_large_messages(self):
        address = tcp_hosts.own_addresses(1)[0]
        port = tcp_hosts.free_port(address)
        server = self.start("left", VIPING, "--listen", FCVI_CONFIG=self.configuration_at(port))
        self.assertIn("answering", server.stdout.readline())
        peers = []
        while peer := self.connected_peer(address, port, other=7):  # ConnectReject
            peers.append(peer)
        self.assertEqual(len(peers), 512 // 8 - 1)  # eight of 1 MiB, and what stands around them
        for peer in peers:
            peer.close()

        def takes_one_more():
            peer = self.connected_peer(address, port, other=7)
            return peer is not None and not peer.close()

        self.wait_for(takes_one_more, "the memory of clients that went is still taken")

    # While many are under way, several small messages go with one system call.
    def test_small_messages_share_system_calls(self):
        bursts = self.start("left", BURSTS, "VINIC")
        sent = int(bursts.stdout.readline())
        (nic,) = self.nics()
        print(f"{sent} messages with {nic['writes']} system calls")
        self.assertEqual(nic["messages_sent"], sent)
        self.assertLess(nic["writes"], sent / 2)

    # --- the port

    def configuration_at(self, port, **more):
        nic = {"addresses": f"[{tcp_hosts.own_addresses(1)[0]}]", "port": port, "timeouts": "{open: 1s}", **more}
        return tcp_hosts.write_configuration(self.folder.name, "own", {"VINIC": nic})

    def refused(self, config):
        status, _, err = self.run_to_end("left", VIPING, "--listen", FCVI_CONFIG=config)
        self.assertEqual(status, 1)
        return err

    def test_port_of_another_program(self):
        address = tcp_hosts.own_addresses(1)[0]
        with socket.create_server((address, 0)) as other:
            port = other.getsockname()[1]
            err = self.refused(self.configuration_at(port))
            self.assertIn(f"cannot listen at {address}:{port}: the port is in use by another program of yours", err)
            self.assertIn("give this NIC another port", err)
            err = self.refused(self.configuration_at(port, listen="own"))
            self.assertIn(f"cannot listen at {address}:{port}: address in use; another process has the port", err)
            # Whoever only connects needs none.
            status, _, err = self.run_to_end("left", VIPING, "-t", "0.2", "-c", "1", address,
                                             FCVI_CONFIG=self.configuration_at(port, listen="none"))
            self.assertEqual((status, "cannot listen" in err), (1, False))

    @unittest.skipIf(os.geteuid() != 0, "only the superuser can start a program of another user")
    def test_port_of_another_user(self):
        address = tcp_hosts.own_addresses(1)[0]
        listen = ("import os, socket, sys; os.setuid(65534); one = socket.create_server((sys.argv[1], 0)); "
                  "print(one.getsockname()[1], flush=True); sys.stdin.read()")
        with subprocess.Popen([sys.executable, "-c", listen, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as other:
            port = int(other.stdout.readline())
            err = self.refused(self.configuration_at(port))
            other.stdin.close()
        self.assertIn(f"cannot listen at {address}:{port}: the port is in use by a program of user 65534", err)

    # --- many

    def test_thousand_connections_in_one_process(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2500
        if soft < wanted and hard != resource.RLIM_INFINITY and hard < wanted:
            self.skipTest(f"a process may have {hard} open files only")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        try:
            status, out, err = self.run_to_end("left", PERF, "send_lat", "--threads", "-q", 1000, "-n", 4000, "-e",
                                               "--check", "--json", "--timeout", 100)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["results"][0]["errors"], 0)

    # VI-DG 4.5, VI-TCP 3.3: each attribute of the NIC, exactly; the program tries its limits.
    def test_nic_attributes(self):
        config = Path(self.folder.name, "attributes.yaml")
        ours = Path(self.configurations["one"]).read_text(encoding="utf-8").replace("VINIC", "VITCP0")
        config.write_text(ours, encoding="utf-8")
        address = re.search(r"addresses: \[([0-9.]+)", ours)[1]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
        try:
            status, out, err = self.run_to_end("one", ATTRIBUTES, "VITCP0", FCVI_CONFIG=str(config))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual((status, err), (0, ""))
        told = dict(line.split(" ") for line in out.splitlines())
        largest = 0x7FFFF000  # what an int keeps of it is as large (configuration.hpp)
        self.assertEqual(told, {name: str(value) for name, value in {
            "Name": "VITCP0", "NicAddressLen": 16, "LocalNicAddress": "0" * 20 + "ffff" + socket.inet_aton(address).hex(),
            "HardwareVersion": 0, "ProviderVersion": 1, "ThreadSafe": 1,
            "MaxDiscriminatorLen": 64, "NativeMTU": 65535 - 24, "ReliabilityLevelSupport": 7, "RDMAReadSupport": 6,
            "MaxVI": 200 - 32, "MaxDescriptorsPerQueue": 4096, "MaxSegmentsPerDesc": 1024, "MaxCQ": 4096,
            "MaxCQEntries": 1 << 20, "MaxTransferSize": largest, "MaxPtags": 1 << 17, "MaxRegisterRegions": 1 << 20,
            "MaxRegisterBlockBytes": 0xFF << 32 | largest, "MaxRegisterBytes": 0x3FFF << 32 | largest}.items()})

    # Each VI needs a file when it is connected. MaxVI says so: all that it promises can be connected.
    def test_open_files_limit_the_vis(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (96, hard))
        try:
            server = self.start("right", PERF, "--server")
            words = ("left", PERF, "send_lat", "right", "-n", 64, "-q")
            status, _, err = self.run_to_end(*words, 64)  # of 96 files 32 are for others
            self.assertEqual(status, 2)
            self.assertIn("the NIC has 63 VIs beside that of the control connection", err)
            self.assertEqual(self.run_to_end(*words, 63)[::2], (0, ""))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertIsNone(server.poll())
        server.terminate()
        server.wait()

    # Pollers and waiters, eight processes on one core.
    def test_more_processes_than_cores(self):
        core = min(os.sched_getaffinity(0))
        clients = []
        for node in NODES[1:]:
            options = ["-e"] if node in ("right", "bob") else []
            clients.append(self.start(node, "taskset", "-c", core, PERF, "send_lat", "-n", 300, "--check", "--json", *options))
        for client in clients:
            status, out, err = self.finish(client)
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(json.loads(out)["results"][0]["errors"], 0)

    def test_idle_processes_use_no_cpu(self):
        sink, source, _, _ = self.pair(1, BYTES, "delivery", 4000)
        self.say(source, "all")
        waiting = self.start("alice", VIPING, "--listen")
        self.wait_for(lambda: len(self.portds()) >= 2, "no service was started")
        processes = [sink.pid, waiting.pid, *self.portds()]
        time.sleep(0.5)
        before = [ticks(process) for process in processes]
        time.sleep(1)
        used = [ticks(process) - one for process, one in zip(processes, before)]
        self.assertLessEqual(max(used), os.sysconf("SC_CLK_TCK") // 20, used)  # a poller would have them all

    # --- two transports

    def test_file_from_the_fabric_to_tcp(self):
        fabric = {"FCVI_CONFIG": os.path.join(self.folder.name, "fabric.yaml")}
        Path(fabric["FCVI_CONFIG"]).write_text("nics: [{name: VINIC, transport: local, timeouts: {open: 60s}}]\n", encoding="utf-8")
        both = os.path.join(self.folder.name, "both.yaml")
        tcp = Path(self.configurations["one"]).read_text(encoding="utf-8").replace("VINIC", "VITCP0")
        Path(both).write_text(tcp + "  - {name: VINIC, transport: local, timeouts: {open: 60s}}\n", encoding="utf-8")
        source, target = Path(self.folder.name, "in"), Path(self.folder.name, "out")
        for level in ("delivery", "reception"):
            source.write_bytes(random.Random(7).randbytes(5_000_001))
            target.unlink(missing_ok=True)
            receiver = self.start("right", VICP, "-q", "--listen", target)
            relay = self.start("one", RELAY, "VINIC", "vicp", "VITCP0", "right", "vicp", FCVI_CONFIG=both)
            self.assertEqual(self.run_to_end("left", VICP, "-q", "-l", level, "-t", 60, source, "one:", **fabric), (0, "", ""))
            self.assertEqual(self.finish(receiver), (0, "", ""))
            self.assertEqual(self.finish(relay), (0, "", ""))
            self.assertTrue(target.read_bytes() == source.read_bytes(), level)


if __name__ == "__main__":
    unittest.main()
