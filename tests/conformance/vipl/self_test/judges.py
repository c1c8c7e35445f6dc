#!/usr/bin/env python3
"""vipl-conformance finds what is wrong with a library: faults of every kind, hangs and crashes among them.

usage: judges.py VIPL-CONFORMANCE FAULTY-LIBRARY DIRECTORY-OF-A-LIBRARY-WITH-THREE-CALLS [NIC-OPTION]...
"""

import os
import re
import subprocess
import sys

# The fault, a test that must find it, and what it must say.
FAULTS = [
    ("hangs", "VipCQWait.timeout_zero", r"hangs: no end after 2 s; in VipCQWait\(queue, 0, "),
    ("crashes", "VipQueryMem.success", r"crashes: signal 11; in VipQueryMem\("),
    ("exits", "VipQueryMem.success", r"its process ends with status 7; in VipQueryMem\("),
    ("always succeeds", "VipDestroyVi.null_handle", r"expected VIP_INVALID_PARAMETER, came VIP_SUCCESS"),
    ("always succeeds", "VipDestroyVi.pending_receive", r"expected VIP_INVALID_STATE, came VIP_SUCCESS"),
    ("times out early", "VipRecvWait.timeout", r"too early"),
    ("changes data", "send.lengths.reliable_delivery", r"arrived changed"),
    ("sets reserved bits", "send.both_directions.reliable_delivery", r"reserved bits"),
    ("blocks in Done", "VipRecvDone.does_not_block_behind_wait", r"hangs: .*in VipRecvDone\("),
    ("is always Idle", "state.error.VipQueryVi", r"hangs: .*waits until vi_state\(vi\) == VIP_STATE_ERROR"),
    ("is always Idle", "state.connected.VipQueryVi", r"expected the VI to be Connected, it is Idle"),
    ("sets the half", "VipSetViAttributes.all_or_nothing", r"changed attributes"),
    ("names the other queue", "VipCQWait.success", r"the entry is about the send queue"),
    ("loses immediate data", "send.immediate.reliable_delivery", r"immediate flag did not come"),
]

failures = []


def expect(condition: bool, what: str, output: str) -> None:
    if not condition:
        failures.append(what)
        print(f"{what}; the output was\n{output}")


def run(arguments: list, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, **environment})


def check_faults(program: list, library: str) -> None:
    for fault, test, message in FAULTS:
        good = run([*program, "--filter", test])
        expect(good.returncode == 0, f"{test} does not pass without a fault", good.stdout)
        bad = run([*program, "--timeout", "2", "--filter", test], LD_PRELOAD=library, FAULT=fault)
        expect(bad.returncode == 1 and re.search(rf"^FAIL  {re.escape(test)}: .*{message}", bad.stdout, re.M) is not None,
               f"a library that {fault} is not found by {test}", bad.stdout)


def check_lost_partner(program: list, library: str) -> None:
    """The server's process ends in the middle: the run goes on, and nothing is left running."""
    result = run([*program, "--timeout", "5", "--filter", "VipConnectRequest.success"], LD_PRELOAD=library,
                 FAULT="ends the server")
    expect(result.returncode == 1 and "FAIL" in result.stdout, "a server that ends is not told", result.stdout)


def check_missing_calls(program: list, directory: str) -> None:
    result = run(program, LD_LIBRARY_PATH=directory)
    expect(result.returncode == 1, "a library of three calls is accepted", result.stdout)
    expect("Highest conformance phase attained: none" in result.stdout, "a library of three calls attains a phase",
           result.stdout)
    expect(re.search(r"^FAIL  VipCreateVi\.success.*: .*VipCreateVi is missing from the library", result.stdout, re.M)
           is not None, "missing calls are not told", result.stdout)
    expect("crashes" not in result.stdout, "a missing call is called", result.stdout)


def check_usage(program: str) -> None:
    for arguments in (["--phase", "perfect"], ["--partner", "friend"], ["--timeout", "0"], ["--timeout", "x"],
                      ["--partner-env", "novalue"], ["surplus"], ["--unknown"], ["--filter", "no test has this name"]):
        result = run([program, *arguments])
        expect(result.returncode == 2 and result.stderr != "", f"wrong usage {arguments} is not refused", result.stderr)
    result = run([program, "--help"])
    expect(result.returncode == 0 and result.stdout.startswith("usage: "), "--help does not help", result.stdout)
    listed = run([program, "--list", "--filter", "VipOpenNic"])
    expect(listed.returncode == 0 and "VipOpenNic.success" in listed.stdout, "--list does not list", listed.stdout)


def check_tap(program: list) -> None:
    result = run([*program, "--tap", "--filter", "VipOpenNic"])
    plan = re.search(r"^1\.\.(\d+)$", result.stdout, re.M)
    points = re.findall(r"^ok (\d+) - \S+", result.stdout, re.M)
    expect(result.returncode == 0 and plan is not None and [str(n + 1) for n in range(int(plan.group(1)))] == points,
           "--tap prints no TAP", result.stdout)


def main() -> int:
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    program = [sys.argv[1], "--partner", "thread", *sys.argv[4:]]
    check_usage(sys.argv[1])
    check_tap(program)
    check_missing_calls(program, sys.argv[3])
    check_faults(program, sys.argv[2])
    check_lost_partner(program, sys.argv[2])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
