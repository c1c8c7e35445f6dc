#!/usr/bin/env python3
"""What tests/bench/compare makes of measurements that are made up: medians, what is reached, the table of several runs."""

import importlib.machinery
import importlib.util
import re
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("compare", str(HERE / "compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
    loader.exec_module(module)
    return module


compare = load()
ABOUT = {"cores": 2, "cpu": "a CPU", "kernel": "6.1.0-9", "busy": 0.01, "busy_at_end": 0.5}


def result(name, sense, must, pairs, once=False):
    """Of a case that has measured `pairs` of ours and theirs."""
    given = iter(pairs)
    case = compare.Case(name, "what", "us", sense, must, None, lambda _: next(given)[0], None if once else "theirs", once=once,
                        pair=None if once else lambda _: next(given))
    return compare.measure(case, None, len(pairs))


class Results(unittest.TestCase):
    def test_the_median_of_the_ratios_decides(self):
        for sense, must, reached in ("<=", 0.5, True), ("<=", 0.49, False), (">=", 0.5, True), (">=", 0.51, False):
            one = result("latency", sense, must, [(9, 10), (1, 2), (1, 10)])
            self.assertEqual(one["ratio"], [0.1, 0.5, 0.9])
            self.assertEqual(one["reached"], reached)

    def test_of_the_medians_each_has_its_own_rounds(self):
        one = result("latency", "<=", 1, [(1, 4), (2, 2), (3, 9), (4, 8)])
        self.assertEqual((one["ours"], one["theirs"], one["rounds"]), (2.5, 6, 4))

    def test_what_has_no_yardstick_is_its_own_ratio(self):
        self.assertTrue(result("instructions-8", "<=", 2000, [(2000, 1)], once=True)["reached"])
        self.assertFalse(result("instructions-8", "<=", 2000, [(2001, 1)], once=True)["reached"])


class Table(unittest.TestCase):
    def lines(self, *runs):
        made = compare.table(ABOUT, [{one["name"]: one for one in run} for run in runs], 3)
        return made.splitlines()[4:]

    def test_a_line_has_the_medians_of_each_run(self):
        runs = [[result("rate", ">=", 1, [(1, 2), (3, 2), (2, 2)])], [result("rate", ">=", 1, [(1, 4), (1, 1), (1, 2)])]]
        self.assertEqual(self.lines(*runs)[:1], ["| rate | 2; 1 us | 2; 2 us | **1; 0.5** (0.25 to 1.5) | >= 1 | in 1 of 2 |"])

    def test_what_no_run_reaches_and_what_all_reach(self):
        missed, held = result("rate", ">=", 1, [(1, 2)]), result("latency", "<=", 2, [(2, 1)])
        last = [line.split("|")[-2].strip() for line in self.lines([missed, held], [missed, held])[:2]]
        self.assertEqual(last, ["yes", "**no**"])  # in the order of the cases, not of the runs

    def test_a_case_that_a_run_skipped(self):
        lines = self.lines([result("rate", ">=", 1, [(2, 1)])], [])
        self.assertIn("| in 1 of 2 |", lines[0])
        self.assertEqual(len(lines), len(compare.CASES))
        self.assertEqual(lines[1], "| latency | not measured | - | - | <= 2 | **no** |")

    def test_the_page_has_a_place_for_it(self):
        page = compare.PAGE.read_text(encoding="utf-8")
        self.assertIn("\nmade\n", compare.updated(page, compare.COMMAND, "made\n"))

    def test_every_case_stands_in_the_page(self):
        page = compare.PAGE.read_text(encoding="utf-8")
        for case in compare.CASES:
            self.assertTrue(re.search(rf"(?m)^\| [^|]*\b{case.name}\b", page), case.name)


if __name__ == "__main__":
    unittest.main()
