#!/usr/bin/env python3
"""Fails when a message through the whole library takes more instructions than tests/bench/baseline.json allows.

Callgrind counts all threads of bench_messages in two runs of different length; the difference is what the messages
between take. Instructions do not depend on what else the machine does, but on the compiler and on the C library's choice
of memcpy: where these are others than the baseline's the test skips.

usage: instructions_test.py BENCH_MESSAGES COMPILER            compare
       instructions_test.py BENCH_MESSAGES COMPILER --update   write what was counted into the baseline
       instructions_test.py --self-test                        show that growth is found
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BASELINE = Path(__file__).with_name("baseline.json")
SKIPPED = 77
# Bytes of a message, and how many of them in each run: the longer one takes a second or two.
RUNS = {8: (500, 3500), 65536: (50, 350)}


def skip(reason: str) -> None:
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def processor_flags() -> set:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return set(found.group(1).split()) if found else set()


def total(program: str, size: int, count: int, folder: str) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(folder, "out"), program]
    run = subprocess.run([*command, str(size), str(count)], capture_output=True, text=True, timeout=300, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"bench_messages {size} {count} under callgrind: status {run.returncode}\n{run.stderr[-2000:]}")
    return int(found.group(1))


def instructions_a_message(program: str) -> dict:
    counted = {}
    with tempfile.TemporaryDirectory() as folder:
        for size, (few, many) in RUNS.items():
            more = total(program, size, many, folder) - total(program, size, few, folder)
            counted[str(size)] = round(more / (many - few))
    return counted


def growth(baseline: dict, counted: dict) -> list:
    """What exceeds the baseline by more than it allows."""
    allowed = 1 + baseline["allowed_growth_percent"] / 100
    return [f"{size} bytes: {counted[size]} instructions a message, {before} in the baseline"
            for size, before in baseline["instructions_a_message"].items() if counted[size] > before * allowed]


def self_test() -> None:
    baseline = {"allowed_growth_percent": 5, "instructions_a_message": {"8": 1000, "65536": 40000}}
    assert not growth(baseline, {"8": 1050, "65536": 30000})
    assert len(growth(baseline, {"8": 1051, "65536": 40000})) == 1
    assert len(growth(baseline, {"8": 2000, "65536": 42001})) == 2
    counted = {size: 0 for size in map(str, RUNS)}
    assert not growth(json.loads(BASELINE.read_text(encoding="utf-8")), counted)  # it has the same sizes


def main() -> None:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    program, compiler, update = sys.argv[1], sys.argv[2], sys.argv[3:] == ["--update"]
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed")
    if compiler != baseline["compiler"] and not update:
        skip(f"the baseline is of {baseline['compiler']}, this build of {compiler}")
    if "avx2" not in processor_flags():
        skip("the baseline is of a processor with AVX2, whose memcpy takes fewer instructions")
    counted = instructions_a_message(program)
    for size, count in counted.items():
        print(f"{size} bytes: {count} instructions a message")
    if update:
        baseline |= {"compiler": compiler, "instructions_a_message": counted}
        BASELINE.write_text(json.dumps(baseline, indent=2) + "\n", encoding="utf-8")
        return None
    found = growth(baseline, counted)
    sys.exit("\n".join([*found, "if that must be: instructions_test.py ... --update"]) if found else 0)


if __name__ == "__main__":
    main()
