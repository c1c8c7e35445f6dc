"""A guest under QEMU that holds Debian's stock kernel: an FCoE peer that nobody here wrote."""

import os
import platform
import re
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE_S = 240  # ends a test that hangs; software emulation on a busy machine may need a minute to boot


class Unavailable(Exception):
    """Why there can be no guest here."""


def build(folder):
    """Makes the guest unless it is there: $FCVI_GUEST, or one in `folder`."""
    given = os.environ.get("FCVI_GUEST")
    if given:
        return Path(given)
    if platform.machine() != "x86_64":
        raise Unavailable(f"the guest is for x86_64, this is {platform.machine()}")
    for program in ("qemu-system-x86_64", "dpkg"):
        if shutil.which(program) is None:
            raise Unavailable(f"there is no {program} (tools/setup --test installs what tests need)")
    image, script = Path(folder, "initrd.img"), HERE / "guest_init.sh"
    if not image.exists() or image.stat().st_mtime < script.stat().st_mtime:
        made = subprocess.run([HERE / "build_guest", folder], capture_output=True, text=True, timeout=PATIENCE_S)
        if made.returncode != 0:
            raise Unavailable(made.stderr.strip().splitlines()[-1] if made.stderr.strip() else "build_guest failed")
    return Path(folder)


def free_udp_ports(count):
    """Of 127.0.0.1; nobody had them just now."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Guest:
    """Its Ethernet leads to 127.0.0.1: from UDP port `own` to port `far`."""

    def __init__(self, folder, own, far, mac="52:54:00:fc:f0:01"):
        net = ("dgram,id=n0,local.type=inet,local.host=127.0.0.1,local.port=%d,remote.type=inet,remote.host=127.0.0.1,"
               "remote.port=%d" % (own, far))
        self.lines = []
        self.news = threading.Condition()
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "tcg", "-machine", "q35", "-cpu", "max", "-smp", "1", "-m", "192",
             "-display", "none", "-no-reboot", "-nodefaults", "-serial", "stdio", "-monitor", "none",
             "-kernel", folder / "vmlinuz", "-initrd", folder / "initrd.img",
             "-append", "console=ttyS0 quiet panic=-1 rdinit=/init ipv6.disable=1 no_timer_check nowatchdog",
             "-netdev", net, "-device", f"virtio-net-pci,netdev=n0,mac={mac}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.strip())
                self.news.notify_all()
        with self.news:
            self.lines.append("(the guest ended)")
            self.news.notify_all()

    def wait_for(self, pattern, after=0):
        """The index of the next line that matches."""
        deadline = time.monotonic() + PATIENCE_S
        at = after
        with self.news:
            while True:
                while at < len(self.lines):
                    if re.search(pattern, self.lines[at]):
                        return at
                    at += 1
                remaining = deadline - time.monotonic()
                if remaining <= 0 or self.lines and self.lines[-1] == "(the guest ended)":
                    raise AssertionError(f"the guest did not say {pattern!r}:\n" + "\n".join(self.lines[-40:]))
                self.news.wait(remaining)

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command, answer):
        """Lines of the answer up to the one that matches."""
        before = len(self.lines)
        self.tell(command)
        end = self.wait_for(answer, before)
        return [line for line in self.lines[before:end + 1] if line.startswith("GUEST")]

    def online_after(self):
        """Seconds from the start, or from the end of a flap; the port is online."""
        return int(re.search(r"Online hundredths=(\d+)", self.ask("online", "^GUEST .*hundredths=")[-1]).group(1)) / 100

    def show(self):
        return "\n".join(self.ask("show", "^GUEST shown"))

    def show_until(self, pattern):
        deadline = time.monotonic() + PATIENCE_S
        while not re.search(pattern, shown := self.show()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} never showed:\n{shown}")
            time.sleep(0.3)
        return shown

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
