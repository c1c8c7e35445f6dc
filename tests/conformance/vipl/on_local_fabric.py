#!/usr/bin/env python3
"""Runs a program on a local fabric of its own: a fresh runtime directory, and no configuration of the user.

usage: on_local_fabric.py PROGRAM [ARGUMENT]...
"""

import os
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory(prefix="fcvi-test-") as folder:
    ours = {name: value for name, value in os.environ.items() if name in ("FCVI_FABRICD",) or not name.startswith("FCVI_")}
    own = {"FCVI_RUNTIME_DIR": os.path.join(folder, "run"), "XDG_CONFIG_HOME": folder, "XDG_CONFIG_DIRS": folder}
    sys.exit(subprocess.run(sys.argv[1:], env={**ours, **own, "FCVI_NODE": "judge"}, check=False).returncode)
