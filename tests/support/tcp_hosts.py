"""Hosts for programs over TCP: addresses and configurations that no other test has, and, where the system lets us,
network namespaces."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile

SKIPPED = 77
PORT = 8474  # at addresses of a test's own


class Unavailable(Exception):
    """Why such hosts cannot be had here."""


def own_addresses(count):
    """Of the host's own network, by this process's number: 127.64.0.0 and on; 7 at most."""
    pid = os.getpid()
    return [f"127.{64 + (pid >> 13) % 64}.{pid >> 5 & 255}.{(pid & 31) * 8 + 1 + i}" for i in range(count)]


def write_configuration(folder, name, nics, hosts=()):
    """`nics`: name -> more keys, as a dictionary; `hosts`: addresses and names. The file's path."""
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("fabric_idle_time: 1s\n")
        if hosts:
            file.write(f"hosts: {os.path.abspath(folder)}/{name}.hosts\n")
        file.write("nics:\n")
        for nic, keys in nics.items():
            more = "".join(f", {key}: {value}" for key, value in keys.items())
            file.write(f"  - {{name: {nic}, transport: tcp{more}}}\n")
    if hosts:
        with open(os.path.join(folder, name + ".hosts"), "w", encoding="utf-8") as file:
            file.writelines(f"{address} {host}\n" for address, host in hosts)
    return path


def free_port(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.bind((address, 0))
        return one.getsockname()[1]


class Configurations:
    """A folder with a runtime directory and configurations."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fcvi-test-")
        self.runtime = os.path.join(self.folder.name, "run")

    def write(self, name, nics, hosts=()):
        return write_configuration(self.folder.name, name, nics, hosts)

    def environment(self, config, **more):
        kept = ("FCVI_VITCP_PORTD", "FCVI_FABRICD")
        ours = {name: value for name, value in os.environ.items() if name in kept or not name.startswith("FCVI_")}
        return {**ours, "FCVI_RUNTIME_DIR": self.runtime, "FCVI_CONFIG": config, "XDG_CONFIG_HOME": self.folder.name,
                "XDG_CONFIG_DIRS": self.folder.name, **more}

    def remove(self):
        portd = os.environ.get("FCVI_VITCP_PORTD")
        if portd and os.path.isdir(self.runtime):
            subprocess.run([portd, "stop"], env={**os.environ, "FCVI_RUNTIME_DIR": self.runtime}, capture_output=True,
                           timeout=60, check=False)
        self.folder.cleanup()


def run(*words):
    made = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if made.returncode != 0:
        raise Unavailable(f"{' '.join(words)}: {made.stderr.strip()}")


def enter_namespace(script, arguments):
    """Runs the script again as its own host's superuser, in a network namespace of its own; returns there only."""
    if os.environ.pop("TCP_HOSTS_INSIDE", None):
        run("ip", "link", "set", "lo", "up")
        return
    if shutil.which("unshare") is None or shutil.which("ip") is None or shutil.which("nsenter") is None:
        raise Unavailable("there is no unshare, nsenter (package util-linux) or ip (package iproute2)")
    words = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
    run(*words, "true")
    env = {**os.environ, "TCP_HOSTS_INSIDE": "1"}
    sys.exit(subprocess.run([*words, sys.executable, "-B", script, *arguments], env=env, check=False).returncode)


class Namespace:
    """A host of its own."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
        self.wait_until_apart()

    def wait_until_apart(self):
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            if self.holder.poll() is not None:
                raise Unavailable("a second network namespace cannot be made")

    def prefix(self):
        return ("nsenter", "-t", str(self.holder.pid), "-n")

    def remove(self):
        self.holder.kill()
        self.holder.wait()


class OtherNamespace(Namespace):
    """A second host, joined by a pair of veth with the first: that of this process, which enter_namespace() made, or another one."""

    def __init__(self, own, others, first=None):
        """Addresses with their prefix: own of the first host, others of the second."""
        super().__init__()
        near = first.prefix() if first else ()
        run(*near, "ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(self.holder.pid))
        for prefix, interface, addresses in ((near, "near", own), (self.prefix(), "far", others)):
            for address in addresses:
                nodad = ("nodad",) if ":" in address else ()
                run(*prefix, "ip", "address", "add", address, "dev", interface, *nodad)
            run(*prefix, "ip", "link", "set", "lo", "up")
            run(*prefix, "ip", "link", "set", interface, "up")
