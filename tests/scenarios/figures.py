#!/usr/bin/env python3
"""Fails when a figure of FC-VI, or a row of its Table 2, has no scenario, or one that expects nothing of the wire.

usage: figures.py FOLDER
       figures.py --self-test
"""

import sys
import tempfile
from pathlib import Path

# FC-VI's list of figures, without Figure 1 (a picture of objects, not of a protocol).
FIGURES = [str(n) for n in range(2, 13)] + [f"A.{n}" for n in range(1, 7)] + ["B.1", "B.2"] \
    + [f"C.{n}" for n in range(1, 7)] + ["D.1"]
# The annex tells these two for out-of-order fabrics as well (B.3.2.4, B.3.3.3); its rules are for class 2 as well (B.2.1).
VARIANTS = [f"figure-{name}-{variant}" for name in ("B.1", "B.2") for variant in ("out-of-order", "class-2")]
# What each of them must tell of: IUs in their order, how the applications hear of it, through which states both ends go.
EXPECTED = {"the wire": "\n  wire:\n", "asynchronous errors": "\n  asynchronous_errors:", "the client's states": "\n      client_states:",
            "the server's states": "\n      server_states:"}
WANTED = [f"figure-{name}" for name in FIGURES] + VARIANTS + [f"table-2-row-{n}" for n in range(1, 8)]


def is_for(wanted: str, file: Path) -> bool:
    return file.stem == wanted or file.stem.startswith(wanted + "-")


def errors(folder: Path) -> list:
    files = sorted(folder.glob("*.yaml"))
    found = [f"{wanted}: no scenario {folder}/{wanted}-*.yaml" for wanted in WANTED
             if not any(is_for(wanted, file) for file in files)]
    for file in files:
        if not any(is_for(wanted, file) for wanted in WANTED):
            found.append(f"{file}: named after no figure and no row of Table 2")
        text = file.read_text(encoding="utf-8")
        found += [f"{file}: expects nothing of {what}" for what, key in EXPECTED.items() if key not in text]
    return found


COMPLETE = "".join(EXPECTED.values()) + "\n  wire:\n    - {message: ABTS}\n"


def self_test() -> list:
    """A complete folder passes; each fault is found."""
    failures = []
    for case, change, count in [
            ("complete", lambda folder: None, 0),
            ("missing", lambda folder: (folder / "figure-C.3-x.yaml").unlink(), 1),
            ("no class 2", lambda folder: (folder / "figure-B.2-class-2-x.yaml").unlink(), 1),
            ("1 is not 11", lambda folder: (folder / "figure-A.1-x.yaml").rename(folder / "figure-A.11-x.yaml"), 2),
            ("no wire", lambda folder: (folder / "figure-2-x.yaml").write_text(COMPLETE.replace("wire:", "wires:")), 1),
            ("nothing", lambda folder: (folder / "figure-2-x.yaml").write_text("name: x\n"), 4)]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for wanted in WANTED:
                (folder / f"{wanted}-x.yaml").write_text(COMPLETE)
            change(folder)
            if len(errors(folder)) != count:
                failures.append(f"self test '{case}': found {errors(folder)}")
    return failures


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if "-h" in sys.argv or "--help" in sys.argv else 2
    found = self_test() if sys.argv[1] == "--self-test" else errors(Path(sys.argv[1]))
    for error in found:
        print(error)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
