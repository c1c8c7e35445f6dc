#!/usr/bin/env python3
"""A gzipped initramfs of busybox, kernel modules in the order in which they are loaded, and an /init.

Needs no kmod, depmod or cpio: what a module depends on stands in its .modinfo section.
usage: make_initramfs.py KERNEL_FOLDER VERSION BUSYBOX INIT OUTPUT MODULE...
"""

import gzip
import re
import sys
from pathlib import Path

FOLDERS = ("bin", "dev", "proc", "sys", "lib", "lib/modules")
COMMANDS = ("sh", "mount", "insmod", "ip", "cat", "echo", "sleep", "ls", "poweroff", "seq", "stty", "tail", "test", "uname")


def plain(name):
    return name.replace("-", "_")


def modules_in_order(folder, wanted):
    """Paths of the modules, each after those that it depends on."""
    paths = {plain(path.stem): path for path in folder.rglob("*.ko")}
    built_in = {plain(Path(line).stem) for line in (folder / "modules.builtin").read_text().split()}
    ordered = []

    def add(name):
        if name in built_in or name in (plain(path.stem) for path in ordered):
            return
        if name not in paths:
            sys.exit(f"the kernel has no module {name}")
        depends = re.search(rb"\0depends=([^\0]*)\0", b"\0" + paths[name].read_bytes())
        for other in depends.group(1).decode().split(",") if depends else ():
            if other:
                add(plain(other))
        ordered.append(paths[name])

    for name in wanted:
        add(plain(name))
    return ordered


class Archive:
    """cpio, format newc."""

    def __init__(self):
        self.parts = []
        self.files = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        encoded = name.encode() + b"\0"
        self.files += 1
        numbers = (self.files, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % number for number in numbers)
        for part in (header + encoded, data):
            self.parts.append(part + b"\0" * (-len(part) % 4))

    def finish(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def main(kernel, version, busybox, init, output, *wanted):
    archive = Archive()
    for folder in FOLDERS:
        archive.add(folder, 0o040755)
    archive.add("dev/console", 0o020600, device=(5, 1))
    archive.add("dev/null", 0o020666, device=(1, 3))
    archive.add("bin/busybox", 0o100755, Path(busybox).read_bytes())
    for command in COMMANDS:
        archive.add(f"bin/{command}", 0o120777, b"busybox")
    order = modules_in_order(Path(kernel, "lib/modules", version), wanted)
    for path in order:
        archive.add(f"lib/modules/{path.name}", 0o100644, path.read_bytes())
    archive.add("lib/modules/order", 0o100644, "".join(path.stem + "\n" for path in order).encode())
    archive.add("init", 0o100755, Path(init).read_bytes())
    Path(output).write_bytes(gzip.compress(archive.finish(), 6, mtime=0))


if __name__ == "__main__":
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
