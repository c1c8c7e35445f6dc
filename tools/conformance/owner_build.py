"""Makes a copy of the tree in which every change of the owners can be chosen at run time, and builds its tests once."""

import concurrent.futures
import hashlib
import pickle
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import owner_mutants
import owner_operators
from owner_mutants import Mistake

STRIDE = 4096  # numbers of one file: a change in one leaves those of the others as they are
HEADER = '#include "tests/mutation/owner_mutant.hpp"'
# Sources with changes are made from others' text: their warnings say nothing; nor do those of who includes a changed header.
LAUNCHER = """#!/bin/sh
for source; do :; done
ccache="$(command -v ccache)"
if grep -qsF '{header}' "$source"; then set -- "$@" -O1 -g0 -w -Wno-narrowing -fpermissive;
else set -- "$@" -Wno-error; fi
exec $ccache "$@"
"""


class Change(NamedTuple):
    number: int
    mutant: object   # of owner_mutants


class Whole(NamedTuple):
    number: int
    body: object     # a function left out as a whole


class Plan(NamedTuple):
    changes: list
    bodies: list
    left_out: dict  # file -> Counter


def instrumented(source: str, layers: list, bodies: list) -> str:
    """layers: (number, Layer); bodies: (number, Body). Ranges are nested; the innermost is wrapped first."""
    order = sorted(range(len(layers)), key=lambda i: (layers[i][1].start, -layers[i][1].end, layers[i][1].rank, i))
    doors = {body.at: f" if (::owner_mutant::on({number})) {body.out}" for number, body in bodies}

    def plain(begin: int, end: int) -> str:
        places = [at for at in sorted(doors) if begin < at <= end]
        parts = [begin, *places, end]
        return "".join(source[a:b] + (doors[b] if b in places else "") for a, b in zip(parts, parts[1:]))

    def inside(begin: int, end: int, at: int) -> tuple:
        """The text from begin to end, and the first of the ordered layers behind it."""
        out = []
        while at < len(order) and layers[order[at]][1].start < end:
            number, layer = layers[order[at]]
            if layer.end > end:
                raise Mistake(f"layers overlap at {source[layer.start:layer.end][:60]}")
            out.append(plain(begin, layer.start))
            text, at = inside(layer.start, layer.end, at + 1)
            out.append(layer.wrap(number, text))
            begin = layer.end
        return "".join(out) + plain(begin, end), at

    return inside(0, len(source), 0)[0]


def _first_line(file: str) -> str:
    quiet = "#pragma GCC system_header\n" if file.endswith(".hpp") else ""
    return f"{HEADER}\n{quiet}#line 1 \"{file}\"\n"


def find(root: Path, file: str) -> tuple:
    language = ["-x", "c++"] if file.endswith(".hpp") else []
    finder = owner_operators.Finder(root, file, [*language, "-std=c++20", f"-I{root}"])
    return finder.source, finder.find()


def plan(root: Path, owners: list, files: list, tree: Path, jobs: int) -> Plan:
    """Of these files; each has the numbers that its place among all owners gives it."""
    made = Plan([], [], {})
    places = [owners.index(file) for file in files]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        every = pool.map(_remembered, [root] * len(files), files, places, [tree.parent / "found"] * len(files))
        for file, (text, changes, bodies, left_out) in zip(files, every):
            made.changes.extend(changes)
            made.bodies.extend(bodies)
            made.left_out[file] = left_out
            write(tree / file, text.encode("latin-1"))
    return made


def _included(root: Path, file: str) -> list:
    """The file and the headers of ours that it includes, and they: the types in it may depend on them."""
    found, waiting = set(), [file]
    while waiting:
        name = waiting.pop()
        if name not in found and (root / name).is_file():
            found.add(name)
            waiting += re.findall(r'^#include "([^"]+)"', (root / name).read_text(encoding="utf-8"), re.MULTILINE)
    return sorted(found)


def _key(root: Path, file: str, index: int) -> str:
    """Of all that decides what is found in the file: these scripts, too."""
    scripts = [Path(module.__file__) for module in (owner_operators, owner_mutants)]
    made = hashlib.sha256(str(index).encode())
    for path in [*(root / name for name in _included(root, file)), *scripts]:
        made.update(path.read_bytes())
    return made.hexdigest()


def _remembered(root: Path, file: str, index: int, folder: Path) -> tuple:
    """libclang needs seconds for a file: asked again only where something changed."""
    kept = folder / (file.replace("/", "_") + ".pickle")
    key = _key(root, file, index)
    if kept.is_file():
        known, result = pickle.loads(kept.read_bytes())
        if known == key:
            return result
    result = _changed(root, file, index)
    write(kept, pickle.dumps((key, result)))
    return result


def _changed(root: Path, file: str, index: int) -> tuple:
    source, found = find(root, file)
    if len(found.mutants) + len(found.bodies) >= STRIDE:
        raise Mistake(f"{file}: more than {STRIDE} changes")
    base = 1 + index * STRIDE
    numbers = range(base, base + len(found.mutants))
    bodies = list(zip(range(numbers.stop, numbers.stop + len(found.bodies)), found.bodies))
    text = _first_line(file) + instrumented(source, list(zip(numbers, found.layers)), bodies)
    return (text, [Change(*one) for one in zip(numbers, found.mutants)], [Whole(*one) for one in bodies], found.left_out)


def write(path: Path, data: bytes) -> None:
    """Only what is new: the build goes by time."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy(root: Path, tree: Path, files: list) -> None:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    wanted = {name for name in listed.stdout.splitlines() if (root / name).is_file()}
    for name in wanted - set(files):
        write(tree / name, (root / name).read_bytes())
        shutil.copymode(root / name, tree / name)
    for path in tree.rglob("*"):
        name = path.relative_to(tree)
        if path.is_file() and name.parts[0] != "build" and str(name) not in wanted:
            path.unlink()


def build(tree: Path, targets: list, jobs: int, say) -> Path:
    launcher = tree.parent / "launcher"
    write(launcher, LAUNCHER.format(header=HEADER).encode())
    launcher.chmod(0o755)
    folder = tree / "build"
    configure = ["cmake", "--preset", "release", "-DFCVI_OWNER_MUTATION=ON", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
    for command in (configure, ["cmake", "--build", str(folder), "-j", str(jobs), "--target", *targets]):
        say(" ".join(command[:3]))
        done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Mistake(done.stdout[-8000:])
    return folder
