#!/usr/bin/env python3
"""A program that has more rights than its user (set-user-ID, set-group-ID) takes nothing from the user's environment.

usage: secure_environment_test.py PROGRAM FOLDER    PROGRAM prints what it takes; copies of it are made in FOLDER
Exit status 77: no such program can be made here, and why.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
NOBODY = 65534
VIP_SUCCESS, VIP_INVALID_PARAMETER = "0", "2"


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def give_rights(program):
    """Of another user where we are root, else of another group of ours."""
    if os.geteuid() == 0:
        os.chown(program, NOBODY, -1)
        program.chmod(0o4755)
        return
    others = [group for group in os.getgroups() if group != os.getgid()]
    if not others:
        skip("not root, and the user has no second group: no program can be given other rights")
    os.chown(program, -1, others[0])
    program.chmod(0o2755)


def hostile_environment(folder):
    config, places = folder / "vipl.yaml", folder / "xdg" / "fcvi"
    places.mkdir(parents=True)
    config.write_text("nics:\n- {name: only_in_this_file, transport: in_process, addresses: [10.0.0.1]}\n")
    shutil.copy(config, places)
    service = folder / "services" / "fcvi-fabricd"  # not beside the program, where it would be its own
    service.parent.mkdir()
    service.write_text("#!/bin/sh\n")
    service.chmod(0o755)
    return {"FCVI_CONFIG": str(config), "FCVI_NODE": "chosen", "FCVI_RUNTIME_DIR": str(folder), "FCVI_FABRICD": str(service),
            "XDG_CONFIG_HOME": str(folder / "xdg"), "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder),
            "PATH": str(service.parent)}


def taken(program, environment):
    output = subprocess.run([str(program)], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                            timeout=60, check=True).stdout
    return dict((line + " ").split(" ", 1) for line in output.splitlines())


def check_equal(came, expected, what):
    for key, value in expected.items():
        if came[key].strip() != value:
            sys.exit(f"{what}: {key}: expected '{value}', came '{came[key].strip()}'")


def main():
    original, place = (Path(word).resolve() for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="secure-", dir=place) as name:
        folder = Path(name)
        environment = hostile_environment(folder)
        program = folder / "program"
        shutil.copy(original, program)
        check_equal(taken(program, environment),
                    {"secure": "0", "FCVI_CONFIG": environment["FCVI_CONFIG"], "FCVI_NODE": "chosen",
                     "places": str(folder / "xdg/fcvi/vipl.yaml"), "runtime": name, "service": environment["FCVI_FABRICD"],
                     "open": VIP_SUCCESS}, "as any program")
        give_rights(program)
        came = taken(program, environment)
        if came["secure"].strip() == "0":
            skip(f"{place} is mounted so that programs get no other rights (nosuid)")
        check_equal(came, {"FCVI_CONFIG": "", "FCVI_NODE": "", "open": VIP_INVALID_PARAMETER}, "with other rights")
        for key in ("places", "runtime", "service"):
            if name in came[key]:
                sys.exit(f"with other rights: {key} comes from the environment: {came[key]}")


if __name__ == "__main__":
    main()
