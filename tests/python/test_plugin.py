"""The pytest plugin: what a failing test leaves."""

import os
import subprocess
import sys

FAILING = """
import pytest

@pytest.mark.fcvi(seed=7)
def test_fails(fcvi_fabric):
    fcvi_fabric.add_port("alice")
    fcvi_fabric.run_until_ready()
    assert not fcvi_fabric.frames("FLOGI")

def test_passes(fcvi_fabric):
    fcvi_fabric.add_port("alice")
    fcvi_fabric.run_until_ready()
"""


def test_a_failing_test_attaches_capture_ladder_and_report(tmp_path):
    (tmp_path / "test_it.py").write_text(FAILING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fcvi.pytest_plugin", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    folders = list((tmp_path / "fcvi-failures").iterdir())
    assert [folder.name for folder in folders] == ["test_it.py_test_fails"]
    left = {file.name: file.read_bytes() for file in folders[0].iterdir()}
    assert set(left) == {"capture.pcapng", "ladder.txt", "ladder.svg", "report.html"}
    assert left["capture.pcapng"][:4] == b"\n\r\r\n" and b"<svg" in left["ladder.svg"] and b"<html" in left["report.html"]
    assert "fcvi ladder" in done.stdout and "FLOGI" in done.stdout and "report.html" in done.stdout
