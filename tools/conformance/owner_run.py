"""Runs the tests that reach a changed place, fastest first, until one fails."""

import collections
import concurrent.futures
import fnmatch
import json
import mmap
import os
import queue
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from owner_mutants import Mistake

# From the smallest to the largest part of the program.
PROGRAMS = ["farp_test", "vi_test", "loopback_test", "vitcp_port_service_test", "vitcp_test", "fc2_fabric_test", "fcvi_test", "fcvi_topology_test", "vipl_test", "fcvi_sim_test"]
# Golden pages see every change, whatever they should say: they do not count.
NOT_BEHAVIOUR = ("table_", "Hostility.")
SURVIVES, UNREACHED = "survives", "unreached"
FIRST_BATCH_S = 0.2
LIKELY = 12  # tests
IN_PROCESS = "tests/vipl/in_process.yaml"  # NICs for vipl_test, as ctest has it
ATTEMPTS = 2  # a server that died is started again


class Case(NamedTuple):
    program: str
    name: str
    seconds: float
    reached: frozenset


class Verdict(NamedTuple):
    outcome: str  # failed, crashed, endless; or SURVIVES, UNREACHED
    test: str     # "program: Suite.case"


class Server:
    """One test program that runs tests in children of its own (tests/mutation/owner_main.cpp)."""

    def __init__(self, path: Path, numbers: int):
        self.path = path
        self.notes = tempfile.NamedTemporaryFile(prefix="owner_reached_")
        self.notes.truncate(numbers)
        self.map = mmap.mmap(self.notes.fileno(), numbers)
        self.process = None

    def start(self) -> None:
        environment = {**os.environ, "FCVI_OWNER_SERVER": "1", "FCVI_OWNER_REACHED": f"{self.notes.name},{len(self.map)}"}
        environment.pop("FCVI_OWNER_MUTANT", None)
        environment["FCVI_CONFIG"] = str(self.path.parents[2] / IN_PROCESS)
        self.process = subprocess.Popen([str(self.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment, stderr=subprocess.DEVNULL, cwd=self.notes.name.rsplit("/", 1)[0])

    def run(self, mutant: int, seconds: float, cases: list) -> tuple:
        """Outcome, seconds, last test that began. `seconds`: what the tests need with the code as it is."""
        line = f"{mutant} {int(3 + 10 * seconds)} {int(15 + 25 * seconds)} {':'.join(cases)}\n"
        for _ in range(ATTEMPTS):
            if self.process is None or self.process.poll() is not None:
                self.start()
            self.process.stdin.write(line)
            self.process.stdin.flush()
            answer = self.process.stdout.readline().split()
            if len(answer) == 3:
                return answer[0], int(answer[1]) / 1e6, answer[2]
        raise Mistake(f"{self.path.name} does not serve")

    def reached(self) -> frozenset:
        data = self.map[:]
        found, at = [], data.find(1)
        while at >= 0:
            found.append(at)
            at = data.find(1, at + 1)
        return frozenset(found)

    def forget(self) -> None:
        self.map[:] = bytes(len(self.map))

    def stop(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


class Runner:
    def __init__(self, folder: Path, programs: list, numbers: int, jobs: int, say, wanted: str = ""):
        self.folder, self.numbers, self.say, self.jobs = folder, numbers, say, jobs
        self.programs = programs
        self.wanted = wanted.split(":") if wanted else []  # patterns of the names of the tests that count; none: all
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.kills = collections.Counter()  # of each test: what noticed much notices more
        self.free = queue.SimpleQueue()
        for _ in range(jobs):
            self.free.put({name: Server(self.path(name), numbers) for name in programs})

    def path(self, program: str) -> Path:
        path = self.folder / "bin" / program
        if not path.is_file():
            raise Mistake(f"{path}: not built")
        return path

    def names(self, program: str) -> list:
        text = subprocess.run([str(self.path(program)), "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
        found, suite = [], ""
        for line in text.splitlines():
            bare = line.split("#")[0].rstrip()
            if line.startswith("  "):
                found.append(suite + bare.strip())
            elif bare.endswith("."):
                suite = bare
        counted = [name for name in found if not any(part in name for part in NOT_BEHAVIOUR)]
        return [name for name in counted if not self.wanted or any(fnmatch.fnmatchcase(name, one) for one in self.wanted)]

    def with_servers(self, work):
        servers = self.free.get()
        try:
            return work(servers)
        finally:
            self.free.put(servers)

    # --- which test reaches what ------------------------------------------------------------------------------------

    def watch(self, servers: dict, program: str, name: str):
        server = servers[program]
        if server.process is None:
            server.start()
        server.forget()
        outcome, seconds, _ = server.run(0, 120, [name])
        if outcome != "passed":
            self.say(f"{program}: {name} {outcome} with the code as it is: it does not count")
            return None
        return Case(program, name, seconds, server.reached())

    def cases(self) -> list:
        found = []
        for program in self.programs:
            kept = self.folder.parent.parent / "reached" / f"{program}.json"
            state = self.path(program).stat()
            key = [state.st_mtime_ns, state.st_size, *self.wanted]
            known = json.loads(kept.read_text()) if kept.is_file() else {}
            if known.get("key") != key:
                names = self.names(program)
                watched = self.pool.map(lambda name: self.with_servers(lambda s: self.watch(s, program, name)), names)
                known = {"key": key, "cases": [[c.name, c.seconds, sorted(c.reached)] for c in watched if c]}
                if not self.wanted:
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    kept.write_text(json.dumps(known))
                self.say(f"{program}: {len(known['cases'])} tests")
            found += [Case(program, name, seconds, frozenset(reached)) for name, seconds, reached in known["cases"]]
        return found

    # --- one change -------------------------------------------------------------------------------------------------

    def judge(self, number: int, cases: list) -> Verdict:
        """cases: those that reach it."""
        if not cases:
            return Verdict(UNREACHED, "")
        return self.with_servers(lambda servers: self._judge(servers, number, cases))

    def _judge(self, servers: dict, number: int, cases: list) -> Verdict:
        for batch in [*self.likely(cases), *batches(cases)]:
            outcome, _, test = servers[batch[0].program].run(number, sum(c.seconds for c in batch), [c.name for c in batch])
            if outcome != "passed":
                self.kills[f"{batch[0].program}: {test}"] += 1
                return Verdict(outcome, f"{batch[0].program}: {test}")
        return Verdict(SURVIVES, "")

    def likely(self, cases: list) -> list:
        """A first batch of each program: the quick tests that noticed most so far."""
        count = {case: self.kills[f"{case.program}: {case.name}"] for case in cases if case.seconds <= FIRST_BATCH_S / 10}
        most = sorted((case for case in count if count[case]), key=lambda case: -count[case])[:LIKELY]
        return [[case for case in most if case.program == program] for program in dict.fromkeys(case.program for case in most)]

    def stop(self) -> None:
        for _ in range(self.jobs):
            for server in self.free.get().values():
                server.stop()


def batches(cases: list) -> list:
    """Fastest first, of one program each, and each round longer than the one before."""
    left = sorted(cases, key=lambda case: (case.seconds, case.name))
    made, budget = [], FIRST_BATCH_S
    while left:
        program, batch, spent, rest = left[0].program, [], 0.0, []
        for case in left:
            if case.program == program and (not batch or spent + case.seconds <= budget):
                batch.append(case)
                spent += case.seconds
            else:
                rest.append(case)
        made.append(batch)
        left, budget = rest, budget * 2
    return made
