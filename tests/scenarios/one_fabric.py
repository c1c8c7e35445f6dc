"""One fabric over the ranks of mpirun: the same capture and the same words as in one process; a rank that dies or stands still
ends the run with a message. Arguments: fcvi-sim, the folder of scenarios."""
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

SIM = ""
FOLDER = Path()
SMALL = ["--param", "quarter=12", "--param", "near=6", "--param", "far=8", "--param", "size=20KiB"]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl="self,vader,tcp")
LONG = ["--param", "quarter=40", "--param", "near=10", "--param", "size=256KiB", "--param", "repeat=100000"]

FALLS_APART = """
name: falls apart
topology:
  directory_delay: 5us
  latency: 100ns
  bb_credit: 8
  switches: [{name: s, count: 3}]
  isls: [{pattern: ring, latency: 5us, bb_credit: 16}]
ports: [{name: a, switch: s-1}, {name: b, switch: s-2}, {name: c, switch: s-3}]
workloads:
  - {name: w, client: a, server: c, reliability: reliable_reception,
     transfers: [{operation: send, data: {random: 200KiB}, message_bytes: 2KiB, interval: 1ms}],
     expect: {gives_up: any}}
background: [{name: storage, from: b, to: a, rate: 20MB/s, until: 40ms}]
faults:
  - {action: isl_down, isl: s-1-s-3, at: 10ms, for: 20ms}
  - {action: switch_down, switch: s-2, at: 30ms, for: 15ms}
  - {action: drop, message: FCVI_SEND_RQST, probability: 0.02, times: {max: 9}}
expectations: {discards: {max: 999999}}
"""


def mpirun(ranks, *arguments):
    return ["mpirun", "-n", str(ranks), SIM, "run", str(FOLDER / "one_fabric.yaml"), *arguments]


def words(text):
    """What does not depend on real time and names no file."""
    return re.sub(r"^(simulated in|wrote) .*\n", "", text, flags=re.M)


def ranks_of(process):
    """The ids of its children that are fcvi-sim, with the seconds of processor time that they have taken."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except (OSError, IndexError):
            continue
        if name == "fcvi-sim" and int(rest.split()[1]) == process.pid:
            found[int(stat.parent.name)] = int(rest.split()[11]) / os.sysconf("SC_CLK_TCK")
    return found


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class OneFabric(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_to_end(self, command):
        return subprocess.run(command, capture_output=True, text=True, timeout=240, env=ENVIRONMENT, check=False)

    def test_ranks_write_the_capture_of_one_process(self):
        whole = self.folder / "whole.pcapng"
        alone = self.run_to_end([SIM, "run", str(FOLDER / "one_fabric.yaml"), *SMALL, "--capture", str(whole)])
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertGreater(whole.stat().st_size, 100_000)
        for ranks in (2, 3):
            capture = self.folder / f"{ranks}.pcapng"
            done = self.run_to_end(mpirun(ranks, *SMALL, "--capture", str(capture)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(words(done.stdout), words(alone.stdout))
            self.assertEqual(capture.read_bytes(), whole.read_bytes(), f"{ranks} ranks")

    def test_ranks_write_what_one_process_does_while_the_fabric_falls_apart(self):
        """ISLs and a switch go down, other FC-4s send: the same capture, picture, report and words."""
        scenario = self.folder / "s.yaml"
        scenario.write_text(FALLS_APART, encoding="utf-8")

        def seen(command, name):
            files = [self.folder / f"{name}.{kind}" for kind in ("pcapng", "svg", "html")]
            done = self.run_to_end([*command, "run", str(scenario), "--capture", str(files[0]), "--ladder", str(files[1]),
                                    "--report", str(files[2])])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return [words(done.stdout), *(file.read_bytes() for file in files)]

        alone = seen([SIM], "alone")
        self.assertIn("background storage", alone[0])
        for ranks in (2, 3):
            for one, other in zip(seen(["mpirun", "-n", str(ranks), SIM], str(ranks)), alone):
                self.assertTrue(one == other, f"{ranks} ranks")

    def test_what_is_refused_is_said_once_and_nothing_is_written(self):
        capture = self.folder / "c.pcapng"
        done = self.run_to_end(mpirun(2, *SMALL, "--param", "isl=0us", "--capture", str(capture)))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("directory_delay is needed for a run in parts"), 1, done.stderr)
        self.assertFalse(capture.exists())

    def begin_long_run(self, *arguments):
        process = subprocess.Popen(mpirun(2, *LONG, *arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env=ENVIRONMENT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 120
        while sum(seconds > 1 for seconds in ranks_of(process).values()) < 2:  # they have begun to simulate
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        return process

    def test_a_rank_that_is_killed_ends_the_run(self):
        process = self.begin_long_run()
        os.kill(max(ranks_of(process)), signal.SIGKILL)
        output, _ = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("rank", output)

    def test_a_rank_that_stands_still_is_given_up(self):
        process = self.begin_long_run("--patience", "3")
        os.kill(max(ranks_of(process)), signal.SIGSTOP)
        output, _ = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(output, r"rank \d has not come to the end of its window for 3 s")


if __name__ == "__main__":
    SIM, FOLDER = sys.argv[1], Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1], verbosity=2)
