#!/usr/bin/env python3
"""fcvi-sim under mpirun: the same bytes with any number of ranks, what happens when one dies, and what is refused.

usage: ranks.py BUILD [TEST...]        exit status 77, with the reason, where there is no mpirun or no module with MPI
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "soak"))
FCVI_SIM = str(BUILD / "bin/fcvi-sim")
SKIPPED = 77
PATIENCE_S = 200  # ends a test that hangs
# Of a test's machine: it is root, has fewer processors than ranks, no network and no remote shell.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_plm_rsh_agent": "", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

SCENARIO = """name: small
ports: [{name: a}, {name: b}]
workloads:
  - {name: w, client: a, server: b, connect_timeout: 60s, transfers: [{operation: send, data: {random: 10}}]}
"""
MATRIX = """name: matrix
parameters: {size: 1KiB, level: reliable_delivery}
for_each: {size: [1KiB, 20KiB, 100KiB], level: [reliable_delivery, reliable_reception, unreliable_delivery]}
ports: [{name: a}, {name: b}]
workloads:
  - {name: w, client: a, server: b, reliability: "${level}", transfers: [{operation: send, data: {random: "${size}"}, repeat: 3}]}
faults:
  - {action: drop, message: FCVI_SEND_RQST, nth: 2}
"""


def without_times(text):
    return re.sub(r"^(simulated|explored) in .*\n", "", text, flags=re.MULTILINE)


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in text.read_text(encoding="utf-8").split()] if text.exists() else []


def processor_ticks(pid):
    """Of the process itself, 0 if it is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return int(words[11]) + int(words[12])


def until(condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it did not come to that")


class Ranks(unittest.TestCase):
    program = FCVI_SIM

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ranks_")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "s.yaml").write_text(SCENARIO, encoding="utf-8")
        (self.folder / "m.yaml").write_text(MATRIX, encoding="utf-8")

    def command(self, ranks, words, mpi=()):
        start = ["mpirun", *mpi, "-n", str(ranks)] if ranks else []
        return [*start, self.program, *words]

    def run_in(self, name, ranks, *words, mpi=(), **environment):
        """Status, standard output, standard error, and the files: in a folder of its own."""
        folder = self.folder / name
        folder.mkdir()
        done = subprocess.run(self.command(ranks, words, mpi), cwd=folder, env=os.environ | MPI | environment, text=True,
                              capture_output=True, check=False, timeout=PATIENCE_S)
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        return done.returncode, without_times(done.stdout), done.stderr, files

    def start(self, ranks, *words, mpi=()):
        """Into files: mpirun loses what a full pipe kept it from passing on."""
        with open(self.folder / "stdout", "wb") as output, open(self.folder / "stderr", "wb") as errors:
            process = subprocess.Popen(self.command(ranks, words, mpi), cwd=self.folder, env=os.environ | MPI, stdout=output,
                                       stderr=errors)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end_of(self, process):
        """Standard output and error of what start() began."""
        process.wait(timeout=PATIENCE_S)
        return tuple((self.folder / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))

    @staticmethod
    def working_ranks(mpirun, count):
        """The processes of all ranks, once each has a worker process that did something, in the order of ranks."""
        def found():
            ranks = sorted(children(mpirun.pid))
            busy = [rank for rank in ranks if sum(map(processor_ticks, children(rank))) > 10]
            return ranks if len(busy) == count else None
        return until(found)

    def expect_the_same(self, *words, ranks=(1, 2, 3), status=0):
        alone = self.run_in("alone", 0, *words)
        self.assertEqual(alone[0], status, alone[1] + alone[2])
        for count in ranks:
            shared = self.run_in(f"of_{count}", count, *words)
            self.assertEqual(shared[0], status, shared[2])
            self.assertEqual(shared[1], alone[1])
            self.assertEqual(sorted(shared[3]), sorted(alone[3]))
            for name, content in alone[3].items():
                self.assertEqual(shared[3][name], content, name)
            if count > 1:
                self.assertRegex(shared[2], rf"shared by {count} ranks on 1 machine: ")
        return alone

    # --- the same bytes

    def test_soak(self):
        self.assertIn(" 0 failures; digest ", self.expect_the_same("soak", "--seeds", "1..200", "--jobs", "2")[1])

    def test_soak_with_a_mistake(self):
        """Failures, what is left of them, and the exit status."""
        import planted
        build = planted.Build(BUILD)
        mistake = next(one for one in planted.MISTAKES if one.name == "double_completion")
        (self.folder / "bin").mkdir()
        self.program = str(planted.with_mistake(build, mistake, self.folder / "bin"))
        (self.folder / "lib").symlink_to(BUILD / "lib")
        output = self.expect_the_same("soak", "--seeds", "1..300", "--failures", "2", status=1)[1]
        self.assertIn(", 2 failures; digest ", output)
        self.assertIn(" to:\n", output)

    def test_explore(self):
        output = self.expect_the_same("explore", "../s.yaml", "--faults", "1")[1]
        self.assertIn(" different courses\n", output)

    def test_explore_some_runs(self):
        output = self.expect_the_same("explore", "../s.yaml", "--faults", "2", "--max-runs", "333", ranks=(2, 3))[1]
        self.assertIn("\n333 runs, ", output)

    def test_matrix(self):
        """Runs that fail, their captures and reports, and the results of all."""
        words = ["run", "../m.yaml", "--capture", "c.pcapng", "--report", "r.html", "--json", "j", "--junit", "x"]
        one_by_one = self.run_in("one_by_one", 0, *words)
        alone = self.expect_the_same(*words, "--matrix", "--jobs", "2", status=1)
        self.assertEqual(alone[1], one_by_one[1])
        self.assertEqual(alone[3], one_by_one[3])
        self.assertEqual(len(alone[3]), 2 * 9 + 2)

    # --- ranks that die, and Ctrl-C

    def test_a_rank_that_dies(self):
        """Its pieces are carried out by others: the result is the same."""
        words = ["soak", "--seeds", "1..1500"]
        alone = self.run_in("alone", 0, *words)
        mpirun = self.start(3, *words, mpi=["--enable-recovery"])
        os.kill(self.working_ranks(mpirun, 3)[2], signal.SIGKILL)
        output, errors = self.end_of(mpirun)
        self.assertEqual(output, alone[1])
        self.assertRegex(errors, r"fcvi-sim: rank 2 \(.*\) died: others carry out what it had\n")

    def test_rank_0_dies(self):
        """The others do not wait for it for ever, and leave no process behind."""
        mpirun = self.start(3, "soak", "--seeds", "1..", mpi=["--enable-recovery"])
        ranks = self.working_ranks(mpirun, 3)
        workers = sum(map(children, ranks), [])
        os.kill(ranks[0], signal.SIGKILL)
        self.end_of(mpirun)
        until(lambda: not any(processor_ticks(pid) for pid in [*ranks, *workers]))

    def test_ctrl_c_and_resume(self):
        """A summary, and a state from which another number of ranks goes on to the same result."""
        words = ["soak", "--seeds", "1..2000"]
        alone = self.run_in("alone", 0, *words)
        mpirun = self.start(2, *words)
        self.working_ranks(mpirun, 2)
        mpirun.send_signal(signal.SIGINT)
        output, errors = self.end_of(mpirun)
        self.assertRegex(output, r"\n[\d,]+ runs, [\d,]+ frames, 0 failures; digest ", errors)
        self.assertIn("not all of the seeds: fcvi-sim soak --resume --out fcvi-soak goes on\n", output)
        rest = subprocess.run(self.command(3, ["soak", "--resume"]), cwd=self.folder, env=os.environ | MPI, text=True,
                              capture_output=True, check=False, timeout=PATIENCE_S)
        self.assertEqual(rest.returncode, 0, rest.stderr)
        self.assertEqual(rest.stdout.splitlines()[1:], alone[1].splitlines()[1:])

    def test_ctrl_c_of_a_matrix(self):
        """What ended is told and written."""
        values = ", ".join(map(str, range(1, 3000)))
        text = MATRIX.replace("for_each: {size: [1KiB, 20KiB, 100KiB], ", f"for_each: {{size: [{values}], ")
        (self.folder / "long.yaml").write_text(text, encoding="utf-8")
        mpirun = self.start(2, "run", "long.yaml", "--matrix", "--json", "j")
        self.working_ranks(mpirun, 2)
        mpirun.send_signal(signal.SIGINT)
        output, errors = self.end_of(mpirun)
        told = re.search(r"^fcvi-sim: interrupted after ([\d,]+) of 8,997 runs: [\d,]+ failed$", errors, re.MULTILINE)
        self.assertIsNotNone(told, output[-2000:] + errors)
        lines = (self.folder / "j").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), int(told.group(1).replace(",", "")))

    def test_waiting_takes_little(self):
        """MPI waits busily; a rank that has handed out its work, or waits for some, must not."""
        mpirun = self.start(2, "soak", "--seeds", "1..")
        ranks = self.working_ranks(mpirun, 2)
        own, of_workers = (lambda: sum(map(processor_ticks, ranks))), (
            lambda: sum(processor_ticks(pid) for rank in ranks for pid in children(rank)))
        first_own, first_of_workers = own(), of_workers()
        until(lambda: of_workers() - first_of_workers > 300)
        self.assertLess(own() - first_own, (of_workers() - first_of_workers) / 4)
        mpirun.send_signal(signal.SIGINT)
        self.end_of(mpirun)

    # --- what is refused

    def expect_refused(self, what, ranks, *words, **environment):
        name = f"refused_{len(list(self.folder.iterdir()))}"
        status, output, errors, files = self.run_in(name, ranks, *words, **environment)
        self.assertEqual(status, 2, errors)
        self.assertEqual(errors.count("fcvi-sim: "), 1, errors)
        self.assertIn(what, errors)
        self.assertEqual((output, files), ("", {}))

    def test_bad_use(self):
        self.expect_refused("this decode is for one process, and 2 were started: expected without mpirun", 2, "decode", "x")
        self.expect_refused("runs: expected one, which the ranks share (--only), or --matrix", 2, "run", "../m.yaml", "--capture", "c")
        self.expect_refused("this soak is for one process", 2, "soak", "--seed", "7")
        self.expect_refused("this explore is for one process", 2, "explore", "../s.yaml", "--fault", "lose:5")
        self.expect_refused("--matrix: expected a scenario with for_each", 2, "run", "../s.yaml", "--matrix")
        self.expect_refused("none.yaml: cannot read", 2, "explore", "none.yaml")
        self.expect_refused("expected FIRST..LAST", 3, "soak", "--seeds", "9..3")

    def test_other_starters(self):
        """Those whose processes cannot find one another would each do all of the work."""
        self.expect_refused("srun --mpi=pmix", 0, "soak", SLURM_STEP_NUM_TASKS="2", SLURM_PROCID="0")
        self.expect_refused("expected mpirun of Open MPI", 0, "soak", PMI_SIZE="2", PMI_RANK="0")

    def test_alone_it_has_no_mpi(self):
        linked = subprocess.run(["ldd", FCVI_SIM], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("mpi", linked)


def reason_to_skip():
    if shutil.which("mpirun") is None:
        return "there is no mpirun"
    if not (BUILD / "lib/fcvi/fcvi-sim-mpi.so").exists():
        return "this build has no module with MPI: Boost.MPI was not found"
    done = subprocess.run(["mpirun", "-n", "2", "true"], env=os.environ | MPI, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"mpirun does not work here: {done.stderr.strip()[-300:]}"


if __name__ == "__main__":
    WHY = reason_to_skip()
    if WHY:
        print(f"skipped: {WHY}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
