"""The parts of docs/performance.md that programs write: each stands between two marks of its own."""

import os
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/performance.md"
END = "<!-- to here -->"


class Failed(Exception):
    """Why something cannot be measured or written."""


def begin(command):
    return f"<!-- from here on written by {command} -->"


def updated(page, command, made):
    """The page's text with what `command` writes made anew; Failed if the page has no place for it."""
    before, mark, rest = page.partition(begin(command) + "\n\n")
    _, end, after = rest.partition("\n\n" + END + "\n")
    if not mark or not end:
        raise Failed(f"{PAGE.name} has no paragraphs {begin(command)} and {END}")
    return before + mark + made.strip("\n") + end + after


def write(path, made):
    """At once: a reader sees the old or the new."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(made)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
