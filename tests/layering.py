#!/usr/bin/env python3
"""Fails when a folder or room includes, or links, something that does not stand below it (docs/architecture.md), when
it names what it must not know, or when files include one another in a circle: of more than three files, header and
source merged, or of two rooms.

usage: layering.py ROOT          check the tree; if all is well, a line says how many circles there are
       layering.py --self-test   show that a forbidden include and a forbidden link are found
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import cpp_source

# Folder -> the folders that it may use besides itself. The bottom first.
ALLOWED = {
    "wire": set(),
    "runtime": set(),
    "streams": {"runtime", "wire"},
    "state_machines": {"wire"},
    "fc2_fabric": {"runtime", "wire", "state_machines"},
    "farp": {"runtime", "wire", "state_machines", "fc2_fabric"},
    "vi": {"runtime", "wire", "state_machines"},
    "fcvi": {"runtime", "wire", "state_machines", "fc2_fabric", "farp", "vi"},
    "loopback": {"runtime", "wire", "state_machines", "vi"},
    "vitcp": {"runtime", "wire", "streams", "state_machines", "vi"},
    "iwarp": {"runtime", "wire", "streams", "state_machines"},
    "settings": {"runtime", "wire"},
    "vipl": {"runtime", "wire", "state_machines", "fc2_fabric", "farp", "vi", "fcvi", "loopback", "vitcp", "streams",
             "settings"},
    "verbs": {"runtime", "wire", "streams", "state_machines", "iwarp", "settings"},
    "tools": {"runtime", "wire", "streams", "state_machines", "fc2_fabric", "farp", "vi", "fcvi", "loopback", "vitcp",
              "iwarp", "settings", "vipl"},
}
# Rooms of a folder: each may use those before it that are named, and what its folder may use. A room with a set in the
# second place may use these folders, and rooms of folders, only.
ROOMS = {
    "runtime/drivers": (set(), None),
    "streams/drivers": (set(), None),
    "fc2_fabric/frame": (set(), None),
    "fc2_fabric/link": ({"frame"}, None),
    "fc2_fabric/node": ({"frame", "link"}, None),
    "fc2_fabric/switch": ({"frame", "link", "node"}, None),
    "fc2_fabric/fcoe": ({"frame", "link", "node", "switch"}, None),
    "fc2_fabric/drivers": ({"frame", "link", "node", "fcoe"}, None),
    "iwarp/drivers": (set(), None),
    "verbs/libibverbs": (set(), None),
    "verbs/librdmacm": ({"libibverbs"}, None),
    "vitcp/port_service": (set(), {"runtime", "wire"}),
    "vitcp/drivers": ({"port_service"}, {"runtime", "wire", "streams"}),
    "vipl/engine": (set(), {"runtime", "vi"}),
    "vipl/configuration": ({"engine"}, None),
    "vipl/names": ({"engine", "configuration"}, {"runtime", "wire", "vi", "settings"}),
    "vipl/devices": ({"engine", "configuration", "names"}, None),
    "vipl/api": ({"engine", "configuration", "names", "devices"}, {"runtime", "wire", "vi", "settings"}),
    "tools/fcvi_sim/ranks": (set(), set()),
    "tools/fcvi_sim/share": ({"ranks"}, {"settings"}),
    "tools/fcvi_sim/scenario": (set(), None),
    "tools/fcvi_sim/parts": ({"ranks", "scenario"}, {"runtime"}),
    "tools/fcvi_sim/host": ({"scenario"}, {"runtime", "wire", "vi", "iwarp", "streams", "state_machines", "settings"}),
    "tools/fcvi_sim/network": ({"scenario", "parts", "host"}, None),
    "tools/fcvi_sim/picture": ({"scenario"}, {"runtime", "wire", "settings"}),
    "tools/fcvi_sim/capture": ({"scenario", "picture"}, {"runtime", "wire", "settings"}),
    "tools/fcvi_sim/run": ({"scenario", "parts", "host", "network", "picture"},
                           {"runtime", "wire", "streams", "vi", "iwarp", "settings", "fc2_fabric/frame", "fc2_fabric/link"}),
    "tools/fcvi_sim/report": ({"scenario", "picture", "capture", "run"}, {"runtime", "wire", "settings"}),
    "tools/fcvi_sim/explore": ({"ranks", "share", "scenario", "host", "network", "picture", "run"},
                               {"runtime", "wire", "vi", "settings", "fc2_fabric/frame", "fc2_fabric/link"}),
    "tools/fcvi_sim/soak": ({"ranks", "share", "scenario", "picture", "capture", "run", "report", "explore"},
                            {"runtime", "wire", "settings", "fc2_fabric/frame", "fc2_fabric/switch", "fc2_fabric/drivers"}),
    "tools/fcvi_sim/replay": ({"scenario", "host", "capture"},
                              {"runtime", "wire", "vi", "settings", "fc2_fabric/frame", "fc2_fabric/node", "farp", "fcvi"}),
}
# Of these rooms and folders others may include only the headers that are named: of the second, the first may.
DOORS = {
    "tools/fcvi_sim/network": {"network.hpp", "boundary.hpp", "segment_watch.hpp"},
}
ONLY_OF = {
    ("runtime", "wire"): set(),
    ("streams", "wire"): {"types.hpp", "bytes.hpp"},
    ("vi", "wire"): {"types.hpp"},
    ("loopback", "wire"): {"types.hpp"},
    ("settings", "wire"): {"types.hpp", "line_rate.hpp"},
    ("vipl/engine", "wire"): set(),
}
# What a folder or room must not name, in comments too if so said (but to cite a clause: "FC-VI 4.2"), and what that is.
_FIBRE_CHANNEL = (r"\bFC-VI\b(?! [0-9A-E]\.?[0-9])|\bFC-(?:FS|LS|GS|AL|BB|\d)|\b(?:fcvi|fc2|farp)::|\bfc_vi\b|Fibre Channel|"
                  r"\bFCoE\b|\bN_Port|\b[FP]LOGI\b|\bCONNECT_R|\bDISCONNECT_R|\bFCVI_(?:HANDLE|RMT|MSG|QOS|FLAGS)")
FOREIGN = {
    "fc2_fabric": (r"\bfc_vi\b|\bfcvi::|\bwire/fcvi/|\bvi::", False, "one FC-4 among others: node/fc4.hpp"),
    "runtime": (_FIBRE_CHANNEL, True, "a transport's"),
    "vi": (_FIBRE_CHANNEL, True, "a transport's"),
    "streams": (_FIBRE_CHANNEL + r"|\bvitcp::|\bvi::", True, "a protocol's"),
    "settings": (_FIBRE_CHANNEL, True, "a transport's"),
    "loopback": (_FIBRE_CHANNEL, True, "another transport's"),
    "vitcp": (_FIBRE_CHANNEL, True, "another transport's"),
    "vipl/engine": (_FIBRE_CHANNEL, True, "a transport's"),
}
OUTSIDE = "tests"  # nothing may use it
FOLDERS = [*ALLOWED, OUTSIDE]


def folder_of_room(room: str) -> str:
    return room.split("/")[0]


def allowed(source: str, target: str) -> bool:
    """Between rooms; a folder counts as the room of what stands in it directly, and may use its own rooms."""
    above, below = folder_of_room(source), folder_of_room(target)
    if source == target:
        return True
    siblings, only = ROOMS.get(source, (None, None))
    if above != below:
        return below in ALLOWED[above] and (only is None or below in only or target in only)
    if siblings is None:
        return True
    beside = source.rsplit("/", 1)[0]
    return target == above or (target.rsplit("/", 1)[0] == beside and target.rsplit("/", 1)[1] in siblings)


def folder_of(root: Path, path: Path):
    """The room that a file of the tree belongs to, else its layer; None outside."""
    try:
        parts = path.relative_to(root).parts
    except (ValueError, IndexError):
        return None
    rooms = ["/".join(parts[:n]) for n in (3, 2)]
    return next((room for room in rooms if room in ROOMS), parts[0] if parts[0] in FOLDERS else None)


def included_folders(root: Path, file: Path, name: str, headers) -> set:
    """The folders that an include can mean: beside the file, from the root, else any header with this tail."""
    for candidate in ((file.parent / name).resolve(), (root / name).resolve()):
        if candidate.is_file():
            return {folder_of(root, candidate)}
    first = name.split("/")[0]
    if "/" in name and first in FOLDERS:
        return {folder_of(root, root / name)}
    tail = tuple(part for part in name.split("/") if part not in (".", ".."))
    return {folder_of(root, h) for h in headers if h.parts[-len(tail):] == tail}


def shut_doors(source: str, targets: set, name: str) -> bool:
    """Whether the header stands in a room that shows others only some of its headers, and this is none of them."""
    header = name.split("/")[-1]
    for target in targets:
        shown = DOORS.get(target) if source != target else None
        only = ONLY_OF.get((source, target))
        if (shown is not None and header not in shown) or (only is not None and header not in only):
            return True
    return False


def word_errors(root: Path) -> list:
    errors = []
    for place, (pattern, in_comments, what) in FOREIGN.items():
        for file in cpp_source.files(root, [place]):
            text = file.read_text(encoding="utf-8", errors="replace")
            text = text if in_comments else cpp_source.strip(text, keep_strings=True)
            errors += [f"{file.relative_to(root)}:{cpp_source.line_of(text, found.start())}: {place}/ may not name "
                       f"{found.group()} ({what})" for found in re.finditer(pattern, text)]
    return errors


def include_errors(root: Path) -> list:
    files = cpp_source.files(root, ALLOWED)
    headers = cpp_source.files(root, FOLDERS)
    errors = []
    for file in files:
        source = folder_of(root, file)
        for line, name in cpp_source.includes(file.read_text(encoding="utf-8", errors="replace")):
            where = f"{file.relative_to(root)}:{line}"
            if not re.search(r"[./]", name) and name.isupper():
                errors.append(f"{where}: include through macro {name} cannot be checked; write the file's name")
                continue
            targets = included_folders(root, file, name, headers) - {None}
            if targets and not any(allowed(source, target) for target in targets):
                errors.append(f"{where}: {source}/ may not include {name} ({' or '.join(sorted(targets))}/)")
            elif shut_doors(source, targets, name):
                errors.append(f"{where}: {source}/ may not include {name}: see DOORS and ONLY_OF in tests/layering.py")
    return errors


_CALL = re.compile(r"\b(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.DOTALL)
_LINK_WORDS = {"PUBLIC", "PRIVATE", "INTERFACE", "STATIC", "SHARED", "OBJECT", "MODULE", "debug", "optimized", "general"}


def cmake_calls(text: str):
    """(line, command, arguments) of every call; lists set() in the same file are spelled out."""
    text = re.sub(r"#[^\n]*", lambda m: " " * len(m.group()), text)
    lists = {}
    for match in _CALL.finditer(text):
        command = match.group(1).lower()
        words = []
        for word in match.group(2).replace('"', " ").split():
            variable = re.fullmatch(r"\$\{(\w+)\}", word)
            words += lists.get(variable.group(1), [word]) if variable else [word]
        if command == "set" and words:
            lists[words[0]] = words[1:]
        if command == "list" and len(words) > 2 and words[0] == "APPEND":
            lists.setdefault(words[1], []).extend(words[2:])
        yield cpp_source.line_of(text, match.start()), command, words


def linked_names(command: str, words: list) -> list:
    """What a call links: the items of target_link_libraries, or those after DEPENDS in a function of ours."""
    if command == "target_link_libraries":
        return [w for w in words[1:] if w not in _LINK_WORDS]
    if command.startswith("fcvi_") and "DEPENDS" in words:
        after = words[words.index("DEPENDS") + 1:]
        end = next((i for i, w in enumerate(after) if w.isupper()), len(after))
        return after[:end]
    return []


def place_of_sources(root: Path, path: Path, words: list):
    """The room that the first source of a library stands in; None: it names none."""
    source = next((word for word in words[1:] if word.endswith(".cpp") and "$" not in word), None)
    return source and folder_of(root, path.parent / source)


def link_errors(root: Path) -> list:
    calls = []  # (where, room or folder, command, words)
    owner = {folder: folder for folder in FOLDERS}  # target -> room or folder
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("CMakeLists.txt")) + sorted((root / folder).rglob("*.cmake")):
            place = folder_of(root, path)
            for line, command, words in cmake_calls(path.read_text(encoding="utf-8")):
                defines = command in ("add_library", "add_executable") or command.startswith("fcvi_")
                room = defines and place_of_sources(root, path, words) or place
                calls.append((f"{path.relative_to(root)}:{line}", room, command, words))
                if defines and words and "$" not in words[0]:
                    owner[words[0]] = room
    errors = []
    for where, folder, command, words in calls:
        if folder == OUTSIDE:
            continue
        for item in linked_names(command, words):
            for name in re.findall(r"[\w:.-]+", item):  # also inside generator expressions
                target = owner.get(name) or owner.get(name.removeprefix("fcvi::"))
                if target and not allowed(folder, target):
                    errors.append(f"{where}: {folder}/ may not link {name} ({target}/)")
    return errors


def folder_errors(root: Path) -> list:
    """A folder of the build that no check knows, or that the table above does not. No build here: nothing to compare."""
    if not (root / "CMakeLists.txt").is_file():
        return []
    known = {*cpp_source.LAYERS, *cpp_source.BESIDE}
    errors = [f"CMakeLists.txt:{line}: {words[0]}/ is neither in LAYERS nor in BESIDE of tests/cpp_source.py"
              for line, command, words in cmake_calls((root / "CMakeLists.txt").read_text(encoding="utf-8"))
              if command == "add_subdirectory" and words[0] not in known]
    return errors + [f"tests/layering.py: ALLOWED does not say what {folder}/ may use"
                     for folder in cpp_source.LAYERS if folder not in ALLOWED]


LARGEST_CIRCLE = 3  # files of one room, header and source merged


def include_graph(root: Path) -> dict:
    """Unit -> units that it includes; a unit is a file's path without its suffix."""
    units = {str(file.relative_to(root).with_suffix("")): set() for file in cpp_source.files(root, ALLOWED)}
    for file in cpp_source.files(root, ALLOWED):
        unit = str(file.relative_to(root).with_suffix(""))
        for _, name in cpp_source.includes(file.read_text(encoding="utf-8", errors="replace")):
            for start in (root, root / "tools", file.parent):
                if not (start / name).is_file():
                    continue  # <memory> is not memory.cpp
                target = str(Path(os.path.relpath(start / name, root)).with_suffix(""))
                if target in units and target != unit:
                    units[unit].add(target)
    return units


def circles(units: dict) -> list:
    """The strongly connected parts of more than one unit (Tarjan), sorted."""
    index, low, stack, found = {}, {}, [], []

    def visit(unit: str) -> None:
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for target in units[unit]:
            if target not in index:
                visit(target)
                low[unit] = min(low[unit], low[target])
            elif target in stack:
                low[unit] = min(low[unit], index[target])
        if low[unit] == index[unit]:
            part = stack[stack.index(unit):]
            del stack[stack.index(unit):]
            if len(part) > 1:
                found.append(sorted(part))

    for unit in units:
        if unit not in index:
            visit(unit)
    return sorted(found)


def rooms_of(root: Path, part: list) -> list:
    return sorted({folder_of(root, root / unit) for unit in part})


def circle_count(root: Path) -> str:
    """How many circles there are within rooms and between rooms, and the largest."""
    found = circles(include_graph(root))
    between = sum(len(rooms_of(root, part)) > 1 for part in found)
    largest = max(found, key=len, default=[])
    return (f"include circles: {len(found) - between} within rooms, {between} between rooms; the largest: {len(largest)} files"
            + (f" ({', '.join(largest)})" if largest else ""))


def circle_errors(root: Path) -> list:
    errors = []
    for part in circles(include_graph(root)):
        rooms = rooms_of(root, part)
        if len(rooms) > 1:
            errors.append(f"{part[0]}: files of {' and '.join(rooms)} include one another: {', '.join(part)}")
        elif len(part) > LARGEST_CIRCLE:
            errors.append(f"{part[0]}: a circle of {len(part)} files: {', '.join(part)}")
    return errors


def check(root: Path) -> list:
    return (folder_errors(root) + include_errors(root) + word_errors(root) + circle_errors(root) + link_errors(root))


def self_test() -> list:
    """A made-up tree: each fault must be found, each permitted thing must pass."""
    tree = {
        "wire/frame.hpp": "#pragma once\n// #include \"fcvi/provider.hpp\"\n/*\n#include \"vi/queue.hpp\"\n*/\n",
        "vi/queue.hpp": '#include "wire/types.hpp"\n#include <vector>\n',
        "fcvi/provider.hpp": '#include "vi/queue.hpp"\n',
        "vipl/include/vipl.h": "",
        "tools/vicp.c": "#include <vipl.h>\n",
        "wire/CMakeLists.txt": "fcvi_library(fcvi_wire SOURCES frame.cpp)\n",
        "vi/CMakeLists.txt": "fcvi_library(fcvi_vi SOURCES queue.cpp DEPENDS fcvi_wire Boost::headers)\n",
        "fcvi/CMakeLists.txt": "fcvi_library(fcvi_core DEPENDS fcvi_vi)\n",
        "tests/support/helper.hpp": "",
        "vi/cited.hpp": "// FC-VI C.5.2, 4.2\n#include \"wire/types.hpp\"\n",
        "wire/types.hpp": "",
        "fc2_fabric/node/fc4.hpp": "// as FC-VI, wire::Type::fc_vi, does\n",
        "tools/fcvi_sim/run/good.hpp": '#include "tools/fcvi_sim/network/network.hpp"\n'
                                       '#include "fc2_fabric/link/faults.hpp"\n',
    }
    faults = {
        "up": ("wire/bad.cpp", '#include "fcvi/provider.hpp"\n'),
        "up, not yet there": ("wire/bad.cpp", "#include <vipl/later.hpp>\n"),
        "up, relative": ("wire/bad.cpp", '#include "../vi/queue.hpp"\n'),
        "up, by search path": ("fcvi/bad.cpp", "#  include <vipl.h>\n"),
        "sideways": ("vi/bad.hpp", '#include "fc2_fabric/port.hpp"\n'),
        "deep": ("vi/a/b/bad.c", '#include "farp/cache.hpp"\n'),
        "tests": ("tools/bad.cpp", '#include "tests/support/helper.hpp"\n'),
        "macro": ("wire/bad.cpp", "#include CONFIG\n"),
        "link": ("vi/sub/CMakeLists.txt", "target_link_libraries(queue PRIVATE fcvi_wire fcvi_core)\n"),
        "depends": ("wire/sub/CMakeLists.txt", "fcvi_library(more SOURCES m.cpp DEPENDS\n  fcvi_vi)\n"),
        "link of a room with rooms": ("tools/fcvi_sim/host/CMakeLists.txt", "fcvi_library(host SOURCES h.cpp DEPENDS fcvi_core)\n"),
        "list": ("wire/sub/CMakeLists.txt", "set(libs fcvi_vi)\ntarget_link_libraries(frame ${libs})\n"),
        "room": ("fc2_fabric/frame/bad.hpp", '#include "fc2_fabric/node/port.hpp"\n'),
        "room of another folder": ("vipl/engine/bad.hpp", '#include "fcvi/provider.hpp"\n'),
        "link of a room": ("fc2_fabric/CMakeLists.txt", "fcvi_library(node)\ntarget_link_libraries(node fcvi_vi)\n"),
        "link between rooms": ("fc2_fabric/CMakeLists.txt", "fcvi_library(low SOURCES frame/a.cpp DEPENDS high)\n"
                               "fcvi_library(high SOURCES\n  switch/b.cpp DEPENDS low)\n"),
        "folder of no list": ("CMakeLists.txt", "add_subdirectory(wire)\nadd_subdirectory(tests)\nadd_subdirectory(tcpx)\n"),
        "rooms of a folder": ("tools/fcvi_sim/run/bad.hpp", '#include "fc2_fabric/node/n_port.hpp"\n'),
        "door": ("tools/fcvi_sim/run/bad.hpp", '#include "tools/fcvi_sim/network/fc_host.hpp"\n'),
        "headers of a folder": ("vi/bad.hpp", '#include "wire/fc_header.hpp"\n'),
        "api of a transport": ("vipl/api/bad.cpp", '#include "fc2_fabric/drivers/link.hpp"\n'),
        "an FC-4's TYPE": ("fc2_fabric/node/bad.cpp", "bool f(wire::Type type) { return type == wire::Type::fc_vi; }\n"),
        "an FC-4's messages": ("fc2_fabric/node/bad.cpp", "using wire::fcvi::Opcode;\n"),
        "a transport's word": ("vi/bad.hpp", "/// Send the DISCONNECT_RQST.\n"),
        "a transport's name": ("vi/bad.hpp", "// FC-VI now, TCP later\n"),
    }
    circle = {f"vi/{a}.hpp": f'#include "vi/{b}.hpp"\n' for a, b in ("ab", "bc", "cd", "da")}
    small = {f"vi/{a}.hpp": f'#include "vi/{b}.hpp"\n' for a, b in ("ab", "bc", "ca")}
    across = {"wire/types.hpp": '#include "wire/a.hpp"\n', "wire/a.hpp": '#include "fc2_fabric/link/b.hpp"\n',
              "fc2_fabric/link/b.hpp": '#include "wire/types.hpp"\n'}
    counts = {"clean": ({}, "0 within rooms, 0 between rooms; the largest: 0 files"),
              "circle of three": (small, "1 within rooms, 0 between rooms; the largest: 3 files (vi/a, vi/b, vi/c)"),
              "circles of three and of four": (
                  {**{path.replace("vi/", "fcvi/"): text.replace("vi/", "fcvi/") for path, text in small.items()}, **circle},
                  "2 within rooms, 0 between rooms; the largest: 4 files (vi/a, vi/b, vi/c, vi/d)"),
              "circle of rooms": (across, "0 within rooms, 1 between rooms; the largest: 3 files (fc2_fabric/link/b, wire/a, "
                                          "wire/types)")}
    cases = {"clean": ({}, ""), "circle of three": (small, ""), "circle of four": (circle, "vi/a: a circle of 4 files"),
             **{name: ({path: text}, path) for name, (path, text) in faults.items()}}
    failures = []
    for case, (extra, wanted) in cases.items():
        errors = in_tree({**tree, **extra}, check)
        if len(errors) != bool(wanted) or (wanted and not errors[0].startswith(wanted)):
            failures.append(f"self test '{case}': found {errors}")
    for case, (extra, wanted) in counts.items():
        line = in_tree({**tree, **extra}, circle_count)
        if line != f"include circles: {wanted}":
            failures.append(f"self test, count of '{case}': {line}")
    return failures


def in_tree(files: dict, asked):
    """What it says of a tree of these files."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return asked(root)


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if "-h" in sys.argv or "--help" in sys.argv else 2
    if sys.argv[1] == "--self-test":
        errors = self_test()
    else:
        root = Path(sys.argv[1]).resolve()
        missing = [folder for folder in ALLOWED if not (root / folder).is_dir()]
        errors = [f"{root}: no folder {folder}/" for folder in missing] or check(root)
        if not errors:
            print(f"{len(cpp_source.files(root, ALLOWED))} files: every include and link points down")
            print(circle_count(root))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
