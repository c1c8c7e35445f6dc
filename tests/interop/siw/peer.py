"""The siw guest: Debian's stock kernel with Linux' own software iWARP, and rdma-core's programs, under QEMU."""

import os
import platform
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE_S = 240  # ends a test that hangs; software emulation on a busy machine may need a minute to boot


class Unavailable(Exception):
    """Why there can be no guest here."""


def build(folder):
    """Makes the guest unless it is there: $FCVI_SIW_GUEST, or one in `folder`."""
    given = os.environ.get("FCVI_SIW_GUEST")
    if given:
        return Path(given)
    if platform.machine() != "x86_64":
        raise Unavailable(f"the guest is for x86_64, this is {platform.machine()}")
    for program in ("qemu-system-x86_64", "apt-get", "gcc-12", "make"):
        if shutil.which(program) is None:
            raise Unavailable(f"there is no {program} (tools/setup --test installs what tests need)")
    image = Path(folder, "initrd.img")
    sources = [HERE / name for name in ("guest_init.sh", "build_guest", "make_initramfs.py")]
    if not image.exists() or any(image.stat().st_mtime < source.stat().st_mtime for source in sources):
        made = subprocess.run([HERE / "build_guest", folder], capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False)
        if made.returncode != 0:
            lines = made.stderr.strip().splitlines()
            raise Unavailable(lines[-1] if lines else "build_guest failed")
    return Path(folder)


class Guest:
    """It is 10.0.2.15. TCP to port `inner` of 127.0.0.1 reaches that port of it; what it sends to 10.0.2.2 reaches 127.0.0.1."""

    def __init__(self, folder, inner):
        self.process = subprocess.Popen([HERE / "boot_guest", folder, f"user:{inner}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env={**os.environ, "PM_PORT": "0"})
        self.buffer = b""
        status, text = self.until_ready()
        if status != 0:
            self.end()
            raise RuntimeError(f"the guest does not come up ({status}):\n{text}")

    def until_ready(self):
        end = time.monotonic() + PATIENCE_S
        while True:
            found = re.search(rb"GUEST ready RC=(\d+)\r?\n", self.buffer)
            if found:
                text, self.buffer = self.buffer[:found.start()], self.buffer[found.end():]
                return int(found.group(1)), text.replace(b"\r", b"").decode(errors="replace")
            left = end - time.monotonic()
            data = b""
            if left > 0 and select.select([self.process.stdout], [], [], left)[0]:
                data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return 125, self.buffer.decode(errors="replace")
            self.buffer += data

    def begin(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()

    def run(self, command):
        """(status, text)"""
        self.begin(command)
        return self.until_ready()

    def end(self):
        try:
            self.begin("poweroff")
            self.process.wait(20)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
