"""Runs test programs of a mutation build with one row changed, and finds the first test that fails."""

import concurrent.futures
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

# By construction these see any change of a table; they say nothing about behaviour.
NOT_BEHAVIOUR = "-*.table_*"
GOLDEN_PAGES = "Hostility."  # in the names of tests above the machines that compare a golden page: they see every change, too
MACHINE_TESTS = "state_machines_test"
# From the smallest to the largest part of the program around the machines.
TESTS_ABOVE = ["farp_test", "fc2_fabric_test", "fcoe_test", "vi_test", "fcvi_test", "fcvi_topology_test", "fcvi_sim_test", "scenarios_test"]
BAD_REQUEST = 99  # tests/mutation/active.cpp
DEADLINE_S = 120  # a changed machine may let a test wait for ever


class Failed(Exception):
    """The run as such is wrong: a program is missing, or fails with every row as it is."""


class Case(NamedTuple):
    program: str
    name: str
    rows: frozenset  # keys of the rows that fire


def _environment(**extra) -> dict:
    names = ("FCVI_MUTATION", "FCVI_MUTATION_TRACE")
    return {**{k: v for k, v in os.environ.items() if k not in names}, **extra}


class Runner:
    def __init__(self, folder: Path, jobs: int):
        self.folder = folder
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def program(self, name: str) -> str:
        path = self.folder / "bin" / name
        if not path.is_file():
            raise Failed(f"{path}: not built")
        return str(path)

    def first_failure(self, program: str, cases: str, mutant: str):
        """The name of the first test that fails with the row changed, or None."""
        command = [self.program(program), f"--gtest_filter={cases}", "--gtest_fail_fast"]
        environment = _environment(FCVI_MUTATION=mutant) if mutant else _environment()
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=DEADLINE_S, check=False)
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired as expired:
            status, output = "no end", expired.stdout or b""
        if status == 0:
            return None
        if status == BAD_REQUEST:
            raise Failed(f"{program} does not know {mutant}: {done.stderr.decode(errors='replace').strip()}")
        text = output.decode(errors="replace")
        found = re.search(r"^\[  FAILED  \] ([\w./]+)", text, re.MULTILINE) or None
        begun = re.findall(r"^\[ RUN      \] ([\w./]+)", text, re.MULTILINE)
        return found.group(1) if found else begun[-1] if begun else program

    def must_pass(self) -> None:
        if failure := self.first_failure(MACHINE_TESTS, NOT_BEHAVIOUR, ""):
            raise Failed(f"{MACHINE_TESTS} fails with every row as it is: {failure}")

    def rows(self) -> str:
        return subprocess.run([self.program("mutation_rows")], env=_environment(), capture_output=True, text=True,
                              check=True).stdout

    def case_names(self, program: str) -> list:
        text = subprocess.run([self.program(program), "--gtest_list_tests"], env=_environment(), capture_output=True,
                              text=True, check=True).stdout
        names, suite = [], ""
        for line in text.splitlines():
            bare = line.split("#")[0].rstrip()
            if line.startswith("  ") and GOLDEN_PAGES not in suite:
                names.append(suite + bare.strip())
            elif bare.endswith("."):
                suite = bare
        return names

    def watch(self, program: str, name: str) -> Case:
        """Runs one test case alone and notes which rows fire."""
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "rows"
            done = subprocess.run([self.program(program), f"--gtest_filter={name}"], capture_output=True, timeout=DEADLINE_S,
                                  env=_environment(FCVI_MUTATION_TRACE=str(trace)), check=False)
            if done.returncode != 0:
                raise Failed(f"{program} fails with every row as it is: {name}")
            lines = trace.read_text().splitlines() if trace.is_file() else []
        return Case(program, name, frozenset(lines))

    def cases_above(self) -> list:
        wanted = [(program, name) for program in TESTS_ABOVE for name in self.case_names(program)]
        cases = list(self.pool.map(lambda one: self.watch(*one), wanted))
        return [case for case in cases if case.rows]

    def caught_by_machine_tests(self, mutant: str):
        return self.first_failure(MACHINE_TESTS, NOT_BEHAVIOUR, mutant)

    def caught_above(self, mutant: str, keys: set, cases: list):
        """The first test above the machines that fails, of those in which one of these rows fires."""
        for program in TESTS_ABOVE:
            fitting = [case for case in cases if case.program == program and keys & case.rows]
            fitting.sort(key=lambda case: (len(case.rows), case.name))  # small ones first: most mutants die there
            for part in (fitting[:20], fitting[20:]):
                names = ":".join(case.name for case in part)
                if part and (found := self.first_failure(program, names, mutant)):
                    return f"{program}: {found}"
        return None
