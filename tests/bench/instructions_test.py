#!/usr/bin/env python3
"""Fails when a message through the whole library, a frame in the simulator or a short scenario takes more instructions
than tests/bench/baseline.json allows.

Callgrind counts all threads of bench_messages in two runs of different length; the difference is what the messages
between take. Of fcvi-sim it counts what the model does between programs' steps (making and hashing the data is apart,
as in the speed that it prints), a frame's part of it, without and with a capture; and a soak's scenario from its text
to its verdict, with the start of the process. Instructions do not depend on what else the machine does, but on the compiler and on the C library's choice
of memcpy: where these are others than the baseline's the test skips.

usage: instructions_test.py BENCH_MESSAGES FCVI_SIM COMPILER            compare
       instructions_test.py BENCH_MESSAGES FCVI_SIM COMPILER --update   write what was counted into the baseline
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
SCENARIO = Path(__file__).parents[2] / "tools" / "scenarios" / "speed.yaml"
REPEATS = (1, 3)  # of a MiB of it
SEEDS = (1, 2, 3)  # of a soak
# The C library copies long pieces by `rep movsb`, one instruction, of which callgrind counts each byte: so it uses its loops
# instead, which are more than the processor executes.
ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=0x7fffffff"}


def skip(reason: str) -> None:
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def processor_flags() -> set:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return set(found.group(1).split()) if found else set()


def collected(command: list, folder: str, *options: str) -> tuple:
    """Of each process, and what the program printed."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(folder, "out.%p"), *options]
    run = subprocess.run([*valgrind, *command], capture_output=True, text=True, timeout=300, check=False, env=ENVIRONMENT)
    found = re.findall(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)} under callgrind: status {run.returncode}\n{run.stderr[-2000:]}")
    return list(map(int, found)), run.stdout


def total(program: str, size: int, count: int, folder: str) -> int:
    return collected([program, str(size), str(count)], folder)[0][0]


def instructions_a_frame(fcvi_sim: str, folder: str, *options: str) -> int:
    few, many = (collected([fcvi_sim, "run", str(SCENARIO), "--set", "workloads.0.transfers.0.data.random=1MiB", "--set",
                            f"workloads.0.transfers.0.repeat={repeat}", *options],
                           folder, "--toggle-collect=sim::Driver::advance*") for repeat in REPEATS)
    frames = [int(re.search(r"([0-9,]+) frames", output).group(1).replace(",", "")) for _, output in (few, many)]
    return round((many[0][0] - few[0][0]) / (frames[1] - frames[0]))


def simulated(fcvi_sim: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "capture.pcapng")
        # Each seed in a process of its own: of the two the child, which begins with what its parent had done.
        soak = [max(collected([fcvi_sim, "soak", "--seed", str(seed), "--out", folder], folder)[0]) for seed in SEEDS]
        return {"a frame": instructions_a_frame(fcvi_sim, folder),
                "a frame, with a capture": instructions_a_frame(fcvi_sim, folder, "--capture", capture),
                "a scenario of a soak": round(sum(soak) / len(soak))}


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


def simulation_growth(baseline: dict, counted: dict) -> list:
    allowed = 1 + baseline["allowed_growth_percent"] / 100
    return [f"fcvi-sim: {what}: {counted[what]} instructions, {before} in the baseline"
            for what, before in baseline["simulated_instructions"].items() if counted[what] > before * allowed]


def self_test() -> None:
    baseline = {"allowed_growth_percent": 5, "instructions_a_message": {"8": 1000, "65536": 40000}}
    assert not growth(baseline, {"8": 1050, "65536": 30000})
    assert len(growth(baseline, {"8": 1051, "65536": 40000})) == 1
    assert len(growth(baseline, {"8": 2000, "65536": 42001})) == 2
    simulation = {"allowed_growth_percent": 5, "simulated_instructions": {"a frame": 2000}}
    assert not simulation_growth(simulation, {"a frame": 2100})
    assert len(simulation_growth(simulation, {"a frame": 2101})) == 1
    counted = {size: 0 for size in map(str, RUNS)}
    assert not growth(json.loads(BASELINE.read_text(encoding="utf-8")), counted)  # it has the same sizes


def main() -> None:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    program, fcvi_sim, compiler, update = *sys.argv[1:4], sys.argv[4:] == ["--update"]
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
    of_simulation = simulated(fcvi_sim)
    for what, count in of_simulation.items():
        print(f"fcvi-sim: {what}: {count} instructions")
    if update:
        baseline |= {"compiler": compiler, "instructions_a_message": counted, "simulated_instructions": of_simulation}
        BASELINE.write_text(json.dumps(baseline, indent=2) + "\n", encoding="utf-8")
        return None
    found = growth(baseline, counted) + simulation_growth(baseline, of_simulation)
    sys.exit("\n".join([*found, "if that must be: instructions_test.py ... --update"]) if found else 0)


if __name__ == "__main__":
    main()
