#!/usr/bin/env python3
"""Shows what tools/mutation --owners changes in a source, that each change is chosen at run time, and that its check can fail.

usage: owner_mutation_test.py ROOT
"""

import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
sys.path.insert(0, str(ROOT / "tools" / "conformance"))

import owner_mutants  # noqa: E402
import owner_mutation  # noqa: E402
import owner_page  # noqa: E402
import owner_run  # noqa: E402

try:
    import owner_build  # noqa: E402
except owner_mutants.Mistake as missing:
    owner_build, NO_LIBCLANG = None, str(missing)
else:
    NO_LIBCLANG = ""

SOURCE = """#include <algorithm>
#include <cstdio>
struct Level { bool read = true; bool write = false; };
constexpr int most = 3;
static int difference(int a, int b) { return a - b; }
struct Gate {
  int waiting = 0;
  bool admit(int guests, Level level) {
    if (guests <= most && level.read) ++waiting;  // a comment
    return waiting != 0;
  }
};
int main() {
  Gate gate;
  const bool admitted = gate.admit(3, Level{});
  std::printf("%d %d %d %d", admitted, gate.waiting, difference(7, 2), std::min(4, gate.waiting + 5));
}
"""
ADMIT = "door.cpp Gate::admit: "
# What the program prints with each change; "1 1 5 4" without one.
CHANGES = {
    ADMIT + "guests <= most && level.read => level.read": "1 1 5 4",
    ADMIT + "guests <= most && level.read => guests <= most": "1 1 5 4",
    ADMIT + "guests <= most && level.read => guests < most && level.read": "0 0 5 4",
    ADMIT + "guests <= most && level.read => guests <= (most + 1) && level.read": "1 1 5 4",
    ADMIT + "guests <= most && level.read => guests <= (most - 1) && level.read": "0 0 5 4",
    ADMIT + "guests <= most && level.read => guests <= most && level.write": "0 0 5 4",
    ADMIT + "++waiting; => (nothing)": "0 0 5 4",
    ADMIT + "return waiting != 0 => return waiting == 0": "0 1 5 4",
    ADMIT + "return waiting != 0 => return waiting != 1": "0 1 5 4",
    "door.cpp difference: return a - b => return a + b": "1 1 9 4",
    "door.cpp main: difference(7, 2) => difference(2, 7)": "1 1 -5 4",
    "door.cpp main: difference(7, 2) => difference(8, 2)": "1 1 6 4",
    "door.cpp main: difference(7, 2) => difference(7, 1)": "1 1 6 4",
    "door.cpp main: std::min(4, gate.waiting + 5) => std::max(4, gate.waiting + 5)": "1 1 5 6",
    "door.cpp main: std::min(4, gate.waiting + 5) => std::min(4, gate.waiting - 5)": "1 1 5 -4",
}
KEY = ADMIT + "++waiting; => (nothing)"


@unittest.skipIf(owner_build is None, NO_LIBCLANG)
class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = Path(cls.folder.name)
        (root / "door.cpp").write_text(SOURCE)
        source, found = owner_build.find(root, "door.cpp")
        numbers = range(1, 1 + len(found.mutants))
        bodies = list(zip(range(numbers.stop, numbers.stop + len(found.bodies)), found.bodies))
        text = owner_build.instrumented(source, list(zip(numbers, found.layers)), bodies)
        (root / "changed.cpp").write_text(owner_build.HEADER + "\n" + text)
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", f"-I{ROOT}", "-o", "changed", "changed.cpp"], cwd=root, check=True)
        cls.numbers = {mutant.key(): number for number, mutant in zip(numbers, found.mutants)}
        cls.bodies = {body.function: number for number, body in bodies}

    def printed(self, number: int) -> str:
        environment = {**os.environ, "FCVI_OWNER_MUTANT": str(number)}
        return subprocess.run([self.folder.name + "/changed"], env=environment, capture_output=True, text=True, check=True).stdout

    def test_the_code_as_it_is(self):
        self.assertEqual(self.printed(0), "1 1 5 4")

    def test_each_change(self):
        for key, output in CHANGES.items():
            self.assertIn(key, self.numbers)
            self.assertEqual(self.printed(self.numbers[key]), output, key)

    def test_whole_functions(self):
        self.assertEqual(self.printed(self.bodies["Gate::admit"]), "0 0 5 4")
        self.assertEqual(self.printed(self.bodies["difference"]), "1 1 0 4")

    def test_reached_places_are_noted(self):
        path = Path(self.folder.name) / "reached"
        path.write_bytes(bytes(4096))
        environment = {**os.environ, "FCVI_OWNER_REACHED": f"{path},4096"}
        subprocess.run([self.folder.name + "/changed"], env=environment, capture_output=True, check=True)
        self.assertEqual(path.read_bytes()[self.numbers[KEY]], 1)

    def test_constants_of_the_language_stay(self):
        self.assertFalse([key for key in self.numbers if "constexpr" in key])


class Lists(unittest.TestCase):
    def test_equivalents(self):
        found = owner_mutants.parse_equivalents(f"# why\n{KEY}\n{KEY} #2\n  nobody\n  looks\n")
        self.assertEqual(found, {KEY: "nobody looks", f"{KEY} #2": "nobody looks"})

    def test_bad_equivalents(self):
        for text, complaint in {"  why\n": ":1: a reason without", f"{KEY}\n": "without a reason", "door\n  why\n": ":1: no change",
                                f"{KEY}\n  a\n{KEY}\n  b\n": ":3: explained twice"}.items():
            with self.assertRaisesRegex(owner_mutants.Mistake, complaint):
                owner_mutants.parse_equivalents(text)

    def test_stale(self):
        self.assertEqual(owner_mutants.stale(KEY, SOURCE), "")
        self.assertEqual(owner_mutants.stale(KEY, SOURCE.replace("++waiting;", "waiting += 1;")), "no such code")
        self.assertEqual(owner_mutants.stale(KEY, SOURCE.replace("admit", "let_in")), "no function Gate::admit")

    def test_layout_and_comments_do_not_matter(self):
        self.assertEqual(owner_mutants.digest(SOURCE), owner_mutants.digest(SOURCE.replace("// a comment", "\n")))
        self.assertNotEqual(owner_mutants.digest(SOURCE), owner_mutants.digest(SOURCE.replace("<=", "<")))

    def test_batches_begin_with_the_fastest(self):
        cases = [owner_run.Case("b", "slow", 3.0, frozenset()), owner_run.Case("a", "quick", 0.01, frozenset()),
                 owner_run.Case("b", "quick", 0.02, frozenset()), owner_run.Case("a", "quicker", 0.001, frozenset())]
        self.assertEqual([[(c.program, c.name) for c in batch] for batch in owner_run.batches(cases)],
                         [[("a", "quicker"), ("a", "quick")], [("b", "quick")], [("b", "slow")]])


class Pages(unittest.TestCase):
    def setUp(self):
        mutant = owner_mutants.Mutant("door.cpp", "Gate::admit", "logic", "a || b", "a", 1)
        other = mutant._replace(after="b")
        self.verdicts = [(mutant, owner_run.Verdict(owner_run.SURVIVES, "")), (other, owner_run.Verdict("failed", "t: T.t")),
                         (other._replace(number=2), owner_run.Verdict(owner_run.UNREACHED, ""))]

    def test_a_page_is_read_as_it_was_written(self):
        result = owner_page.result("door.cpp", self.verdicts, {}, "0123", "door_test")
        self.assertEqual(result[1:6], (3, 1, 0, 1, 1))
        text = owner_page.page({"door.cpp": result}, ["door.cpp", "window.cpp"], owner_page.rules(owner_page.Counter()), "")
        self.assertIn("Not run yet: `window.cpp`.", text)
        self.assertEqual(owner_page.parse(text), {"door.cpp": result})

    def test_what_a_page_says_was_killed_is_known_where_the_source_is_the_same(self):
        results = {"door.cpp": owner_page.result("door.cpp", self.verdicts, {}, "0123", "door_test")}
        third = self.verdicts[0][0]._replace(before="c")
        changes = [types.SimpleNamespace(mutant=mutant) for mutant in (*(m for m, _ in self.verdicts), third)]
        known = owner_mutation._killed_on_page(changes, results, {}, "0123")
        self.assertEqual(list(known), [third.key()])  # the second reads like one that survived
        self.assertEqual(owner_mutation._killed_on_page(changes, results, {third.key(): "so"}, "0123"), {})
        self.assertEqual(owner_mutation._killed_on_page(changes, results, {}, "4567"), {})
        self.assertEqual(owner_mutation._killed_on_page(changes, {}, {}, "0123"), {})

    def test_rules_of_a_page_are_kept(self):
        text = owner_page.page({}, [], "in a macro (3), runs in the compiler (1)", "")
        self.assertEqual(owner_page.old_rules(text), "in a macro (3), runs in the compiler (1)")

    def test_equivalents_do_not_survive(self):
        result = owner_page.result("door.cpp", self.verdicts, {self.verdicts[0][0].key(): "so"}, "0123", "door_test")
        self.assertEqual(result[3:6], (1, 0, 1))


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs" / "conformance").mkdir(parents=True)
        (self.root / "vi").mkdir()
        (self.root / "vi" / "door.cpp").write_text(SOURCE)
        self.said = []

    def complaints(self, equivalents: str, page: str) -> str:
        (self.root / owner_mutation.EQUIVALENTS).write_text(equivalents)
        (self.root / owner_mutation.PAGE).write_text(page)
        return "\n".join(owner_mutation.check(self.root, self.said.append))

    def page(self, file: str, state: str) -> str:
        result = owner_page.result(file, [], {}, state, "door_test")
        return owner_page.page({file: result}, [file], owner_page.rules(owner_page.Counter()), "")

    def test_in_step(self):
        page = self.page("vi/door.cpp", owner_mutants.digest(SOURCE))
        self.assertEqual(self.complaints(f"vi/{KEY}\n  so\n", page), "")
        self.assertEqual(self.said, [])

    def test_out_of_step(self):
        page = self.page("vi/door.cpp", "0123")
        self.assertIn("no such code", self.complaints(f"vi/{KEY.replace('++', '--')}\n  so\n", page))
        self.assertEqual(self.said, ["changed since its mutants ran: vi/door.cpp"])
        self.assertIn("no such owner", self.complaints(f"wire/{KEY}\n  so\n", page))
        self.assertIn("no owner any more: vi/window.cpp", self.complaints("", self.page("vi/window.cpp", "0123")))
        self.assertIn("does not name vi/door.cpp", self.complaints("", self.page("vi/window.cpp", "0123")))


if __name__ == "__main__":
    unittest.main()
