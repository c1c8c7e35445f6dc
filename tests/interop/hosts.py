"""Two hosts and, between them, nobody or an FCF: network namespaces joined by veth pairs, or cables of UDP datagrams."""

import os
import shutil
import subprocess

import guest

MTU = 2500


class Unavailable(Exception):
    """Why such hosts cannot be had here."""


def run(*words):
    made = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if made.returncode != 0:
        raise Unavailable(f"{' '.join(words)}: {made.stderr.strip()}")


class Cables:
    """UDP: a host is one process, the kernel sees no Ethernet."""

    captures_wire = False

    def __init__(self):
        a, b, c, d = guest.free_udp_ports(4)
        self.pair = {"left": f"udp:{a}:{b}", "right": f"udp:{b}:{a}"}
        self.to_switch = {"left": f"udp:{a}:{b}", "right": f"udp:{c}:{d}"}
        self.of_switch = [f"udp:{b}:{a}", f"udp:{d}:{c}"]

    def prefix(self, _host):
        return ()

    def remove(self):
        """Nothing is left of them."""


class Namespaces:
    """left - right by one veth pair, and each by another one to switch."""

    captures_wire = True

    def __init__(self):
        if shutil.which("ip") is None:
            raise Unavailable("there is no ip (package iproute2)")
        self.names = {host: f"fcvi-{os.getpid()}-{host}" for host in ("left", "right", "switch")}
        self.pair = {"left": "peer", "right": "peer"}
        self.to_switch = {"left": "uplink", "right": "uplink"}
        self.of_switch = ["left", "right"]
        try:
            for name in self.names.values():
                run("ip", "netns", "add", name)
            self.join("left", "peer", "right", "peer")
            self.join("left", "uplink", "switch", "left")
            self.join("right", "uplink", "switch", "right")
        except Unavailable:
            self.remove()
            raise

    def join(self, one, its_interface, other, other_interface):
        run("ip", "link", "add", its_interface, "netns", self.names[one], "mtu", str(MTU), "type", "veth",
            "peer", "name", other_interface, "netns", self.names[other], "mtu", str(MTU))
        for host, interface in ((one, its_interface), (other, other_interface)):
            run(*self.prefix(host), "ip", "link", "set", interface, "up")

    def prefix(self, host):
        return ("ip", "netns", "exec", self.names[host])

    def remove(self):
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=60)
