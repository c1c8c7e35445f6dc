#!/usr/bin/env python3
"""Fails when a document names a file, or a heading of a document, that does not exist.

Checked are the relative links of every Markdown file, and, in the documents of TABLES, paths between backticks. The pages
of docs/conformance are made by tools/traceability, which checks them.

usage: links.py ROOT          check the tree
       links.py --self-test   show that each fault is found
"""

import re
import sys
import tempfile
from pathlib import Path

SKIPPED = (".git/", "build", "Testing/", "docs/conformance/")
TABLES = ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "state_machines/README.md")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:[a-z_0-9]+/)+[A-Za-z_0-9.\-]+\.(?:hpp|cpp|h|c|py|md|yaml|txt|map))`")


def documents(root: Path) -> list:
    return sorted(path for path in root.rglob("*.md") if not path.relative_to(root).as_posix().startswith(SKIPPED))


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def bad_links(document: Path, text: str) -> list:
    found = []
    for target in _LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = document.parent / name if name else document
        if not file.exists():
            found.append(f"{target}: no such file")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            found.append(f"{target}: no such heading")
    return found


def bad_paths(root: Path, document: Path, text: str) -> list:
    """Those that exist neither in the tree nor beside the document; a path may leave out its first folders."""
    paths = {path for path in _PATH.findall(without_code(text)) if not path.startswith("build")}
    missing = sorted(path for path in paths if not (root / path).exists() and not (document.parent / path).exists())
    return [f"{path}: no such file" for path in missing if not any(root.glob(f"*/{path}"))]


def check(root: Path) -> list:
    errors = []
    for document in documents(root):
        text = document.read_text(encoding="utf-8")
        name = document.relative_to(root).as_posix()
        found = bad_links(document, text) + (bad_paths(root, document, text) if name in TABLES else [])
        errors += [f"{name}: {error}" for error in found]
    return errors


def self_test() -> list:
    cases = {
        "good": ("[a](docs/a.md) [b](docs/a.md#two-words) [c](#here) [d](https://x/y) `docs/a.md`\n# Here\n", 0),
        "file": ("[a](docs/b.md)\n", 1),
        "heading": ("[a](docs/a.md#three)\n", 1),
        "own heading": ("[a](#there)\n# Here\n", 1),
        "path": ("`docs/b.md`\n", 1),
        "path without its first folder": ("`inner/c.hpp`\n", 0),
        "code": ("```\n[a](docs/b.md)\n```\n", 0),
    }
    errors = []
    for name, (text, expected) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs/inner").mkdir(parents=True)
            (root / "docs/a.md").write_text("# Two words\n", encoding="utf-8")
            (root / "docs/inner/c.hpp").write_text("", encoding="utf-8")
            (root / "README.md").write_text(text, encoding="utf-8")
            found = check(root)
            if len(found) != expected:
                errors.append(f"{name}: expected {expected} errors, got {found}")
    return errors


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    errors = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]).resolve())
    print("\n".join(errors) if errors else "links: good")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
