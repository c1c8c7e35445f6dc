#!/usr/bin/env python3
"""Installs each component into a folder of its own, and all of them into one.   usage: stage.py CMAKE BUILD STAGE"""

import shutil
import subprocess
import sys
from pathlib import Path

COMPONENTS = ("runtime", "development", "tools", "simulation", "python", "mpi", "verbs")


def install(cmake, build, prefix, *options):
    subprocess.run([cmake, "--install", build, "--prefix", str(prefix), *options], check=True, stdout=subprocess.DEVNULL)


def main():
    cmake, build, stage = sys.argv[1:]
    shutil.rmtree(stage, ignore_errors=True)
    install(cmake, build, Path(stage, "all"))
    for component in COMPONENTS:
        install(cmake, build, Path(stage, component), "--component", component)
    # Without debug information, which names source files on purpose.
    install(cmake, build, Path(stage, "stripped"), "--strip")


if __name__ == "__main__":
    main()
