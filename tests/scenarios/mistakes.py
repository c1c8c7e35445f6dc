"""mistakes.py FCVI_SIM MISTAKES.txt: mistakes in scenarios, and what `fcvi-sim check` says of each.

A mistake is a line that says how the scenario is changed ("add" what follows at its end, "line N" is replaced, "all" of it
is), the indented text, and the message: the line, what was expected, what stands there, the nearest valid name. The message is
compared as a whole; exit status 2; nothing on standard output. `--update` writes the messages as they are now.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCENARIO = """name: x
ports: [{name: alice}, {name: bob}]
workloads:
  - {name: hello, client: alice, server: bob, transfers: [{operation: send, data: {random: 1KiB}}]}
"""
FEWEST = 100


def mistakes(text):
    """Yields (how, edit, message)."""
    how, edit = "", []
    for line in text.splitlines():
        if line.startswith("    "):
            edit.append(line[4:])
        elif line.startswith("  "):
            yield how, "\n".join(edit), line[2:]
            edit = []
        else:
            how = line


def changed(how, edit):
    if how == "add":
        return SCENARIO + edit + "\n"
    if how == "all":
        return edit + "\n" if edit else ""
    lines = SCENARIO.splitlines()
    lines[int(how.removeprefix("line ")) - 1] = edit
    return "\n".join(lines) + "\n"


def said_of(program, scenario):
    """The exit status, standard output, and the message behind "fcvi-sim: s.yaml:"."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.yaml").write_text(scenario, encoding="utf-8")
        done = subprocess.run([program, "check", "s.yaml"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.removeprefix("fcvi-sim: s.yaml:").rstrip("\n")


class Mistakes(unittest.TestCase):
    program = corpus = ""

    def test_each_is_told_with_its_place(self):
        """Every mistake ends the check with its message, whole."""
        cases = list(mistakes(pathlib.Path(self.corpus).read_text(encoding="utf-8")))
        self.assertGreaterEqual(len(cases), FEWEST)
        for how, edit, message in cases:
            with self.subTest(how=how, edit=edit):
                self.assertEqual(said_of(self.program, changed(how, edit)), (2, "", message))

    def test_the_scenario_itself_is_good(self):
        """What the mistakes are made in has none."""
        status, _, message = said_of(self.program, SCENARIO)
        self.assertEqual((status, message), (0, ""))


def update(program, corpus):
    at = pathlib.Path(corpus)
    written = []
    for how, edit, _ in mistakes(at.read_text(encoding="utf-8")):
        written += [how, *("    " + line for line in edit.split("\n")), "  " + said_of(program, changed(how, edit))[2]]
    at.write_text("\n".join(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        sys.exit(update(os.path.abspath(sys.argv[1]), sys.argv[2]))
    Mistakes.program, Mistakes.corpus = os.path.abspath(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1], verbosity=2)
