"""The code of docs/python.md, run in its order as one file; the C++ of it is the example."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_code_of_the_tutorial(tmp_path):
    code = "\n\n".join(blocks("python"))
    tests = len(re.findall(r"^def test_", code, re.MULTILINE))
    assert tests >= 9
    (tmp_path / "test_page.py").write_text(code + "\n\ndef test_without_pytest():\n    without_pytest()\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fcvi.pytest_plugin", "test_page.py"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0 and f"{tests + 1} passed" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "ladder.svg").read_text().startswith("<")


def test_the_example_is_the_one_that_is_built():
    assert blocks("cpp") == [(ROOT / "examples/simulated_fabric.cpp").read_text(encoding="utf-8")]
