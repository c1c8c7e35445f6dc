#!/usr/bin/env python3
"""Shows that tools/mutation finds what no test notices, and that its check can fail.

usage: mutation_test.py ROOT
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
sys.path.insert(0, str(ROOT / "tools" / "conformance"))

import mutants  # noqa: E402
import mutation_run  # noqa: E402

ROWS = ("door/Open/Pushed/Hard\tShut\tBang, Lock\tFC-VI 8.2 a)\n"
        "door/Open/Pushed/!Hard\t-\tCreak\tFC-VI 8.2 b)\n"
        "door/Shut/Rang/none\t-\t-\timpl: nobody is there\n")
HARD, SOFT, RANG = (f"door/{key}" for key in ("Open/Pushed/Hard", "Open/Pushed/!Hard", "Shut/Rang/none"))

# A test program of a mutation build: its tests notice every change but those that it is told to overlook.
TEST_PROGRAM = """#!/bin/sh
case "$*" in *--gtest_list_tests*) printf 'Door.\\n  opens\\n'; exit 0;; esac
if [ -n "$FCVI_MUTATION_TRACE" ]; then printf '%s' '{fires}' >>"$FCVI_MUTATION_TRACE"; fi
echo '[ RUN      ] Door.opens'
case "$FCVI_MUTATION" in
  {overlooked}) exit 0;;
  {refused}) exit 99;;
esac
echo '[  FAILED  ] Door.opens (0 ms)'
exit 1
"""


class Tree:
    """A folder with the page, the explanations and a build whose programs are scripts."""

    def __init__(self, folder: str):
        self.root = Path(folder)
        self.bin = self.root / "build-mutation" / "bin"
        self.pages = self.root / "docs" / "conformance"
        for made in (self.bin, self.pages):
            made.mkdir(parents=True)
        self.rows(ROWS)
        self.explain("")
        self.unreachable("")
        self.program(mutation_run.MACHINE_TESTS)
        for name in mutation_run.TESTS_ABOVE:
            self.program(name, overlooked=[f"{HARD}/remove", f"{SOFT}/invert"], fires=f"{HARD}\n")

    def script(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def rows(self, text: str) -> None:
        self.script("mutation_rows", f"#!/bin/sh\ncat <<'END'\n{text}END\n")

    def program(self, name: str, overlooked=(), fires="", refused="") -> None:
        passes = "|".join(f"'{mutant}'" for mutant in ["", *overlooked])
        self.script(name, TEST_PROGRAM.format(overlooked=passes, fires=fires, refused=f"'{refused or 'nothing'}'"))

    def explain(self, text: str) -> None:
        (self.pages / "mutation_survivors.txt").write_text(text)

    def unreachable(self, text: str) -> None:
        (self.pages / "mutation_unreachable.txt").write_text(text)

    def page(self) -> str:
        return (self.pages / "mutation.md").read_text()

    def call(self, *options: str):
        done = subprocess.run([sys.executable, str(ROOT / "tools" / "mutation"), "--root", str(self.root), *options],
                              capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def run(self):
        return self.call("--no-build")

    def check(self):
        return self.call("--check", str(self.bin / "mutation_rows"))


class Lists(unittest.TestCase):
    def test_ways(self):
        hard, soft, rang = mutants.parse_rows(ROWS)
        self.assertEqual(hard.ways(), ["remove", "invert", "stay", "retarget", "drop Bang", "drop Lock", "swap Bang"])
        self.assertEqual(soft.ways(), ["remove", "invert", "retarget", "drop Creak"])
        self.assertEqual(rang.mutants(), [f"{RANG}/remove", f"{RANG}/retarget"])

    def test_bad_rows(self):
        for text, complaint in {"": "no row", "door\tx\n": "line 1", ROWS + ROWS: HARD}.items():
            with self.assertRaisesRegex(mutants.Mistake, complaint):
                mutants.parse_rows(text)

    def test_explanations(self):
        explained = mutants.parse_explanations(f"# why\n{HARD}/remove\n{HARD}/drop Bang\n  no ear\n  is near\n\n{RANG}/remove\n  so\n")
        self.assertEqual(explained, {f"{HARD}/remove": "no ear is near", f"{HARD}/drop Bang": "no ear is near",
                                     f"{RANG}/remove": "so"})

    def test_bad_explanations(self):
        for text, complaint in {"  why\n": ":1: a reason without", "door/Open\n  why\n": ":1: no mutant",
                                f"{HARD}/remove\n": "without a reason", f"{HARD}/burn\n  why\n": ":1: no mutant",
                                f"{HARD}/remove\n  a\n{HARD}/remove\n  b\n": ":3: explained twice"}.items():
            with self.assertRaisesRegex(mutants.Mistake, complaint):
                mutants.parse_explanations(text)


    def test_bad_unreachable(self):
        for text, complaint in {f"{HARD}\n": "mutation_unreachable.txt:2: no row, or one without a reason",
                                "  why\n": "mutation_unreachable.txt:1: a reason without a row",
                                f"{HARD}/remove\n  why\n": "mutation_unreachable.txt:1: no row"}.items():
            with self.assertRaisesRegex(mutants.Mistake, complaint):
                mutants.parse_unreachable(text)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Tree(folder.name)

    def expect(self, outcome, status: int, *said: str):
        self.assertEqual(outcome[0], status, outcome[1])
        for text in said:
            self.assertIn(text, outcome[1])

    def test_every_change_noticed(self):
        self.expect(self.tree.run(), 0, "3 rows, 13 changes, 0 survive")
        self.assertIn("| Open | Pushed | !Hard | remove, invert, retarget, drop Creak | `Door.opens` | does not fire there |", self.tree.page())
        self.assertIn("| [door](#door) | 3 | 3 | 2 | 1 | 3 | 3 | 1 | 13 | 0 | 0 | 1 | 0 | 2 |", self.tree.page())
        self.expect(self.tree.check(), 0)

    def test_survivor(self):
        self.tree.program(mutation_run.MACHINE_TESTS, overlooked=[f"{HARD}/remove", f"{HARD}/stay"])
        self.expect(self.tree.run(), 1, f"survives unexplained: {HARD}/remove", "1 survive")  # tests above notice the other
        self.assertIn(f"| {HARD} | remove | **unexplained** |", self.tree.page())
        self.expect(self.tree.check(), 1, f"survives unexplained: {HARD}/remove")
        self.tree.explain(f"{HARD}/remove\n  nobody goes there\n")
        self.expect(self.tree.run(), 0)
        self.assertIn("| nobody goes there |", self.tree.page())
        self.expect(self.tree.check(), 0)

    def test_inverted_guard_is_tried_where_its_siblings_fire(self):
        self.tree.program(mutation_run.MACHINE_TESTS, overlooked=[f"{SOFT}/invert", f"{SOFT}/remove"])
        self.expect(self.tree.run(), 1, f"survives unexplained: {SOFT}/invert", f"survives unexplained: {SOFT}/remove")
        self.tree.program("fcvi_test", fires=f"{HARD}\n")
        self.expect(self.tree.run(), 1, "1 survive", f"survives unexplained: {SOFT}/remove")

    def test_explained_but_noticed(self):
        self.tree.explain(f"{HARD}/remove\n  nobody goes there\n")
        self.expect(self.tree.run(), 1, f"does not survive, or there is no such row any more: {HARD}/remove")

    def test_unreachable(self):
        self.tree.unreachable(f"# why\n{RANG}\n{SOFT}\n  the bell\n  is broken\n")
        self.expect(self.tree.run(), 0)
        self.assertIn("| `Door.opens` | unreachable: the bell is broken |", self.tree.page())
        self.assertIn("| 13 | 0 | 0 | 1 | 2 | 0 |", self.tree.page())
        self.expect(self.tree.check(), 0)

    def test_unreachable_but_fires(self):
        self.tree.unreachable(f"{HARD}\n  nobody pushes\n")
        self.expect(self.tree.run(), 1, f"it fires above the machine: {HARD}")
        self.expect(self.tree.check(), 1, f"it fires above the machine: {HARD}")

    def test_unreachable_no_row(self):
        self.tree.unreachable("door/Open/Kicked/none\n  nobody kicks\n")
        self.expect(self.tree.run(), 1, "no such row any more: door/Open/Kicked/none")
        self.expect(self.tree.check(), 1, "no such row any more: door/Open/Kicked/none")

    def test_rows_changed(self):
        self.expect(self.tree.run(), 0)
        for rows, complaint in {ROWS.replace("Rang", "Knocked"): "not in mutation.md: door/Shut/Knocked/none",
                                ROWS.rsplit("door", 1)[0]: f"no row any more: {RANG}",
                                ROWS.replace(", Lock", ""): f"other ways to change it than in mutation.md: {HARD}"}.items():
            self.tree.rows(rows)
            self.expect(self.tree.check(), 1, complaint, "run tools/mutation")

    def test_check_of_nothing(self):
        self.expect(self.tree.run(), 0)
        before = self.tree.page()
        self.expect(self.tree.call("--check"), 2, "--check wants the program")
        self.assertEqual(self.tree.page(), before)

    def test_no_page(self):
        self.expect(self.tree.call("--no-build", "--machine", "door"), 0, "3 rows")
        self.assertFalse((self.tree.pages / "mutation.md").exists())

    def test_renewed_alone(self):
        self.expect(self.tree.run(), 0)
        whole = self.tree.page()
        self.expect(self.tree.call("--no-build", "--machine", "door", "--renew"), 0)
        self.assertEqual(self.tree.page(), whole)

    def test_new_machine_renewed(self):
        self.expect(self.tree.run(), 0)
        self.tree.rows(ROWS + ROWS.replace("door", "gate"))
        self.expect(self.tree.check(), 1, "not in mutation.md: gate/Shut/Rang/none")
        self.expect(self.tree.call("--no-build", "--machine", "gate", "--renew"), 0)
        self.expect(self.tree.check(), 0)
        renewed = self.tree.page()
        self.expect(self.tree.run(), 0)
        self.assertEqual(renewed, self.tree.page())

    def test_impossible_runs(self):
        self.expect(self.tree.call("--no-build", "--machine", "window"), 2, 'no machine "window"')
        self.tree.program(mutation_run.MACHINE_TESTS, refused=f"{SOFT}/remove")
        self.expect(self.tree.run(), 2, f"does not know {SOFT}/remove")
        self.tree.script(mutation_run.MACHINE_TESTS, "#!/bin/sh\nexit 1\n")
        self.expect(self.tree.run(), 2, "fails with every row as it is")
        (self.tree.bin / mutation_run.MACHINE_TESTS).unlink()
        self.expect(self.tree.run(), 2, "not built")


if __name__ == "__main__":
    unittest.main()
