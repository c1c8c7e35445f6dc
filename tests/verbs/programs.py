"""Debian's verbs programs, two processes of them, under iwarp-run."""

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import time

PATIENCE_S = 120  # ends a test that hangs


def free_port():
    """A TCP port of the host that nobody had just now, nor the UDP port."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as one:
        one.bind(("::", 0))
        port = one.getsockname()[1]
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as one:
        try:
            one.bind(("::", port))
        except OSError:
            return free_port()
    return port


class Run:
    """A program under iwarp-run, with what it printed."""

    def __init__(self, iwarp_run, *words, config=None, prefix=()):
        self.file = tempfile.TemporaryFile(mode="w+")
        options = ["--config", str(config)] if config else []
        self.words = [str(word) for word in words]
        self.process = subprocess.Popen([*prefix, str(iwarp_run), *options, *self.words], stdin=subprocess.DEVNULL, stdout=self.file,
                                        stderr=subprocess.STDOUT)

    def text(self):
        self.file.seek(0)
        return self.file.read()

    def wait(self):
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def sockets_of(process):
    """Inodes of the sockets that a process has."""
    found = set()
    for file in glob.glob(f"/proc/{process.pid}/fd/*"):
        try:
            name = os.readlink(file)
        except OSError:  # closed meanwhile
            continue
        if name.startswith("socket:["):
            found.add(name[len("socket:["):-1])
    return found


def listens(port, process):
    """The process listens at the TCP port, or has the UDP port (SCTP): other programs of the host may have it just now."""
    inodes = set()
    for name, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        with open(f"/proc/net/{name}", encoding="ascii") as table:
            for line in table:
                words = line.split()
                if words[3] == state and words[1].endswith(":%04X" % port):
                    inodes.add(words[9])
    return bool(inodes & sockets_of(process))


def wait_for_listener(port, process):
    end = time.monotonic() + PATIENCE_S
    while not listens(port, process) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


def pair(iwarp_run, port, server_words, client_words, server_config=None, client_config=None, client_prefix=()):
    """Server and client: (status, text) of each."""
    server = Run(iwarp_run, *server_words, config=server_config)
    try:
        wait_for_listener(port, server.process)
        client = Run(iwarp_run, *client_words, config=client_config, prefix=client_prefix)
        try:
            client_status = client.wait()
            return (server.wait(), server.text()), (client_status, client.text())
        finally:
            client.end()
    finally:
        server.end()


def missing(*names):
    """Of the programs, those that are not on this machine."""
    return [name for name in names if shutil.which(name) is None]
