"""fcvi-fabricd --fcoe as tests start it, and what captures must be like."""

import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import time

PATIENCE_S = 120  # ends a test that hangs, no more

# Wireshark does not reassemble over FCoE. Prints nothing for a good capture.
GATE = ("tshark", "-o", "fc.reassemble:FALSE", "-Y", "_ws.malformed || fcoe.crc.status==0 || fip.descriptors.length_error", "-r")


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"never: {what}")
        time.sleep(0.05)


def at_once(questions):
    """The answers of functions that wait, in their order."""
    with concurrent.futures.ThreadPoolExecutor(len(questions)) as pool:
        return [asked.result() for asked in [pool.submit(question) for question in questions]]


class Fabric:
    """One service in a runtime directory of its own; `prefix` words start its programs (ip netns exec NAME)."""

    def __init__(self, program, runtime, *options, prefix=(), log=None):
        self.words = [*prefix, program, "--runtime-directory", runtime]
        self.options = options
        self.log = log  # a path
        self.process = None
        self.capturing = None
        self.capture_errors = ""

    def start(self):
        with open(self.log or os.devnull, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([*self.words, *self.options], stdin=subprocess.DEVNULL, stderr=log)
        wait_for(lambda: self.status() is not None or self.process.poll() is not None, "the service runs")
        if self.process.poll() is not None:
            raise AssertionError(f"fcvi-fabricd ended with {self.process.returncode}")

    def status(self):
        asked = subprocess.run([*self.words, "status", "--json"], capture_output=True, text=True, timeout=PATIENCE_S)
        told = json.loads(asked.stdout) if asked.returncode == 0 else {}
        return told if "process_id" in told else None

    def nics(self):
        """What NICs of this host tell, whether the service runs or not."""
        asked = subprocess.run([*self.words, "status", "--json"], capture_output=True, text=True, timeout=PATIENCE_S)
        return json.loads(asked.stdout)["nics"] if asked.returncode == 0 else []

    def vn_ports(self):
        """Of all interfaces; empty while it does not answer."""
        status = self.status() or {"fcoe": {"interfaces": []}}
        return [port for interface in status["fcoe"]["interfaces"] for node in interface["enodes"] for port in node["vn_ports"]]

    def capture(self, path):
        self.capturing = subprocess.Popen([*self.words, "capture", path], stderr=subprocess.PIPE, text=True)
        wait_for(lambda: self.capturing.poll() is not None or self.status()["captures"] > 0, "the capture begins")

    def end_capture(self):
        self.capturing.send_signal(signal.SIGINT)
        _, self.capture_errors = self.capturing.communicate(timeout=PATIENCE_S)
        status = self.capturing.returncode
        self.capturing = None
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Its exit status."""
        subprocess.run([*self.words, "stop"], timeout=PATIENCE_S, check=False)
        return self.process.wait(PATIENCE_S)

    def end(self):
        for process in (self.capturing, self.process):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def missing_for_captures():
    """Why captures cannot be judged; None: they can."""
    return None if shutil.which("tshark") else "there is no tshark"


def faults_of(capture):
    """What Wireshark finds wrong; empty for a good one."""
    judged = subprocess.run([*GATE, capture], capture_output=True, text=True, timeout=PATIENCE_S)
    return judged.stdout if judged.returncode == 0 else judged.stderr


def frames_of(capture, wanted):
    """Frames that match a display filter, a line each."""
    shown = subprocess.run(["tshark", "-o", "fc.reassemble:FALSE", "-Y", wanted, "-r", capture], capture_output=True, text=True,
                           timeout=PATIENCE_S)
    if shown.returncode != 0:
        raise AssertionError(shown.stderr)
    return shown.stdout.splitlines()
