#!/usr/bin/env python3
"""Runs the tests of this folder by pytest with the module of this build; skips (77) where there is none, and says why.

usage: run.py --package FOLDER [--missing REASON] [--bin FOLDER] [PYTEST-ARGUMENT...]
"""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", required=True)
    parser.add_argument("--missing", default="")
    parser.add_argument("--bin", default="")
    ours, others = parser.parse_known_args()
    missing = ours.missing
    if not missing and importlib.util.find_spec("pytest") is None:
        missing = f"{sys.executable} has no pytest (Debian: python3-pytest)"
    if missing:
        print(f"skipped: {missing}")
        return SKIPPED
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(ours.package), "FCVI_BIN": ours.bin, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fcvi.pytest_plugin",
               str(Path(__file__).parent), *others]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
