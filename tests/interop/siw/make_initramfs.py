#!/usr/bin/env python3
"""Makes an initramfs (cpio newc, gzip): busybox, a folder tree, and kernel modules with what they depend on.
No kmod, depmod or cpio is needed: .modinfo's depends= is read out of the .ko files.
usage: make_initramfs.py KERNEL_ROOT KERNEL_VERSION BUSYBOX INIT TREE OUT MODULE...
KERNEL_ROOT is an unpacked linux-image package; modules beside those of the package lie in lib/modules/VERSION/extra."""
import gzip
import io
import os
import re
import stat
import sys

kernel_root, version, busybox, init, tree, out = sys.argv[1:7]
folder = os.path.join(kernel_root, "lib/modules", version)
paths = {}
for place, _, names in os.walk(folder):
    for name in names:
        if name.endswith(".ko"):
            paths[name[:-3].replace("-", "_")] = os.path.join(place, name)
with open(os.path.join(folder, "modules.builtin")) as lines:
    builtin = {os.path.basename(line.strip())[:-3].replace("-", "_") for line in lines}
order = []


def add(module):
    module = module.replace("-", "_")
    if module in order or module in builtin:
        return
    if module not in paths:
        raise SystemExit(f"mkinitramfs: {version} has no module {module}")
    with open(paths[module], "rb") as file:
        found = re.search(rb"\0depends=([^\0]*)\0", b"\0" + file.read())
    for needed in (found.group(1).decode().split(",") if found else []):
        if needed:
            add(needed)
    order.append(module)


for module in sys.argv[7:]:
    add(module)
buffer, inode = io.BytesIO(), 0


def entry(name, mode, data=b"", major=0, minor=0):
    global inode
    inode += 1
    encoded = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(encoded), 0)
    block = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    buffer.write(block + b"\0" * (-len(block) % 4) + data + b"\0" * (-len(data) % 4))


for name in ("bin", "dev", "proc", "sys", "tmp", "run", "modules"):
    entry(name, 0o040755)
entry("dev/console", 0o020600, b"", 5, 1)
entry("dev/null", 0o020666, b"", 1, 3)
with open(busybox, "rb") as file:
    entry("bin/busybox", 0o100755, file.read())
for applet in ("sh mount umount insmod lsmod ip cat echo sleep ls dmesg poweroff grep sed tr cut head tail mkdir ln seq "
               "date kill wc md5sum hostname uname basename sort test nc time dd chmod env awk timeout").split():
    entry("bin/" + applet, 0o120777, b"busybox")
for module in order:
    with open(paths[module], "rb") as file:
        entry(f"modules/{module}.ko", 0o100644, file.read())
entry("modules/order", 0o100644, ("\n".join(order) + "\n").encode())
with open(init, "rb") as file:
    entry("init", 0o100755, file.read())
for place, folders, names in os.walk(tree):
    relative = os.path.relpath(place, tree)
    if relative != ".":
        entry(relative, 0o040755)
    for name in names + [f for f in folders if os.path.islink(os.path.join(place, f))]:
        path = os.path.join(place, name)
        shown = os.path.normpath(os.path.join(relative, name))
        if os.path.islink(path):
            entry(shown, 0o120777, os.readlink(path).encode())
        else:
            with open(path, "rb") as file:
                entry(shown, 0o100000 | stat.S_IMODE(os.stat(path).st_mode), file.read())
entry("TRAILER!!!", 0)
with open(out, "wb") as file:
    file.write(gzip.compress(buffer.getvalue(), 6, mtime=0))
print("modules:", " ".join(order))
print(f"{out}: {os.path.getsize(out)} bytes, {len(buffer.getvalue())} unpacked")
