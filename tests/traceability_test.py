#!/usr/bin/env python3
"""Shows that tools/traceability reads citations as they are meant, and that its check can fail.

usage: traceability_test.py ROOT
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
sys.path.insert(0, str(ROOT / "tools" / "conformance"))

import citations  # noqa: E402
import sources  # noqa: E402

LIST = """clause 8.4.2 Message transfer error recovery
also 8.4.2 c)

8.4.2 a)  A response that does not come: the Exchange is aborted.
  code: fcvi/sender.cpp Sender::abort
  test: Sender.times_out
8.4.2 f)#1  Frames are discarded.
  code: rows
  test: Receiver.discards
8.4.2 f)#2  The handle rests.
  code: fcvi/sender.cpp Sender::rest
  why: issue 4: no test waits
8.4.2 h)  Class 2.
  why: issue 5: class 2
"""
CODE = "void Sender::abort() {}  // FC-VI 8.4.2 a)\nvoid Sender::rest() {}\n"
ROWS = 'constexpr std::string_view name = "receiver";\n  On<"FC-VI 8.4.2 f)", Herr, FrameReceived, none, Discard, none>,\n'
TESTS = """// FC-VI 8.4.2 a): as ruling 1 says.
TEST(Sender, times_out) {
  run();
}

TEST(Receiver, discards) { run(); }  // FC-VI 8.4.2 f)
"""
VI_LIST = """document VI-DG
clause 3.3.5 VipDisconnect
3.3.5#1  Descriptors are flushed.
  code: vi/vi.cpp Vi::finish
  test: disconnect.*
  see: FC-VI 8.4.2 a), 6.2
3.3.5 VIP_SUCCESS  Disconnected.
  code: vi/vi.cpp Vi::finish
  test: disconnect.flushes
clause 5.2 Control segment
5.2 bit 4  A part went out.
  code: vi/vi.cpp Vi::finish
  why: issue 13: no test
clause 6.2 Disconnect notification
6.2  The other end is told.
  code: vi/vi.cpp Vi::finish
  test: disconnect.tells
"""
SUITE = """/* VI-DG 3.3.5: the end. */
#define LEVELS(name, run) {name, ID_VipDisconnect, ((void*)0), 1, 1u << (VIP_SUCCESS), run, 0}
/* VI-DG 5.2: flushed. */
static void flushes(int level) { go(level, "{"); }
static void tells(int level) { go(level); } /* 6.2 */
const Test disconnect_tests[] = {LEVELS("disconnect.flushes", flushes),
  {"disconnect." "tells", ID_VipDisconnect, "VI-DG 6.2", 1, 0, tells, 0}, {((void*)0), 0, 0, 0, 0, 0, 0}};
pages[] = {[ID_VipDisconnect] = {1u << (VIP_SUCCESS), 0, 0}};
"""
RULINGS = "| # | where |\n|---|---|\n| 1 | FC-VI 8.4.2 |\n"


def names(text: str) -> list:
    return [citations.text_of(citation.place) for citation in citations.parse(text)]


class Citations(unittest.TestCase):
    def test_forms(self):
        for text, expected in {
            "FC-VI 8.5.3 a) 2), C.3 rule 3": ["8.5.3 a) 2)", "C.3 rule 3"],
            "FC-VI B.2.5 rules 4a b), 4a c), 6c and B.2.4 rule 3a.": [
                "B.2.5 rule 4a b)", "B.2.5 rule 4a c)", "B.2.5 rule 6c", "B.2.4 rule 3a"],
            "FC-VI B.2.6.1 rules 8a 8c, c)": ["B.2.6.1 rule 8a c)", "B.2.6.1 rule 8c c)"],
            "FC-VI D.1 rules 1 c) 2 c)": ["D.1 rule 1 c)", "D.1 rule 2 c)"],
            "FC-VI B.2.4 rule 1 b) R_A_TOV is not over": ["B.2.4 rule 1 b)"],
            "FC-VI 7.5 items 1 to 3, ruling 11": ["7.5 item 1", "7.5 item 2", "7.5 item 3"],
            "FC-VI 8.4.2 e, 5.3.5)": ["8.4.2 e)", "5.3.5"],
            "FC-VI 6.2 to 6.4: what": ["6.2", "6.3", "6.4"],
            "FC-VI Tables 1 and 3 to 5: opcodes": ["Table 1", "Table 3", "Table 4", "Table 5"],
            "FC-VI 5.3.3, figure 9: the other": ["5.3.3", "Figure 9"],
            "FC-VI 8.2 c) and its note": ["8.2 c)"],
            "VI-DG 5.2, FC-VI 6.6.2: ignored": ["VI-DG 5.2", "6.6.2"],
            "VI-ARCH 5.1, 5.2 and 6.3.1.1, as RFC 768 5.9": ["VI-ARCH 5.1", "VI-ARCH 5.2", "VI-ARCH 6.3.1.1"],
            "VI-ARCH 5: the states; VI-DG chapter 3, and 4.5": ["VI-ARCH 5", "VI-DG 3", "VI-DG 4.5"],
            "VI-DG 3.5.1 to 3.5.3: queues": ["VI-DG 3.5.1", "VI-DG 3.5.2", "VI-DG 3.5.3"],
            "VI-DG 5.2 bits 3 and 4, status bits 18:16": ["VI-DG 5.2 bit 3", "VI-DG 5.2 bit 4"],
            "VI-DG 5.2 status bits 18:16, 5.2 control bit 3.": ["VI-DG 5.2 bits 18:16", "VI-DG 5.2 control bit 3"],
            "VI-DG 3.3.4 VIP_REJECT, 6.7 VIP_TIMEOUT": ["VI-DG 3.3.4 VIP_REJECT", "VI-DG 6.7"],
            "VI-DG 5.1, Figures 4 and 5, FC-VI Table 12": ["VI-DG 5.1", "VI-DG Figure 4", "VI-DG Figure 5", "Table 12"],
            "FC-VI 7.5, FC-LS 4.2.17": ["7.5"],
            "8.5.2 a: the last sequence": ["8.5.2 a)"],
            "RFC 5044 7.1.2 rules 2, 8, 7.1.1 Rev, RFC 5040 5.5 rule 15": [
                "RFC 5044 7.1.2 rule 2", "RFC 5044 7.1.2 rule 8", "RFC 5044 7.1.1", "RFC 5040 5.5 rule 15"],
            "RFC 5044 8 code 1, C.1; RFC 5040 Figure 10": ["RFC 5044 8", "RFC 5044 C.1", "RFC 5040 Figure 10"],
            "IFT 4, 4.2 PH, ruling I-3": ["IFT 4", "IFT 4.2"],
        }.items():
            self.assertEqual(names(text), expected, text)

    def test_scenarios_are_tests(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "tools/scenarios/fc-vi"
            folder.mkdir(parents=True)
            (folder / "figure-C.3-x.yaml").write_text("# FC-VI C.5.7.1, Figure C.3:\n# 8.5.3 b)\nname: x\n# FC-VI 5.9.6\n")
            found = sources.read(Path(name)).tests["fc-vi.figure-C.3-x"]
            self.assertEqual({citations.text_of(place) for place in found[0].places}, {"C.5.7.1", "Figure C.3", "8.5.3 b)"})

    def test_place_within_place(self):
        rule = citations.parse_place("B.2.5 rule 4a b)")
        self.assertTrue(citations.related(rule, citations.parse_place("B.2.5 rule 4")))
        self.assertTrue(citations.related(rule, citations.parse_place("B.2.5")))
        self.assertFalse(citations.related(rule, citations.parse_place("B.2.5 rule 4c")))
        self.assertFalse(citations.related(rule, ("B",)))
        with self.assertRaises(ValueError):
            citations.parse_place("8.4.2 f) and more")

    def test_places_of_the_vi_documents(self):
        bit = citations.parse_place("5.2 bit 4", "VI-DG")
        self.assertEqual(bit, ("VI-DG", "5", "2", "bit 4"))
        self.assertEqual(citations.parse_place("VI-DG 5.2 bit 4", "VI-ARCH"), bit)
        self.assertEqual(citations.parse_place("FC-VI 8.4.2", "VI-DG"), ("8", "4", "2"))
        self.assertTrue(citations.related(bit, citations.parse_place("VI-DG 5.2")))
        self.assertFalse(citations.related(bit, citations.parse_place("5.2")))
        self.assertFalse(citations.related(bit, ("VI-DG", "5")))


class Sources(unittest.TestCase):
    def test_a_test_cites_what_stands_above_and_in_it(self):
        found = sources.tests("a_test.cpp", "// FC-VI 6.2.\n\nint x;\n" + TESTS)
        self.assertEqual([test.name for test in found], ["Sender.times_out", "Receiver.discards"])
        self.assertEqual({citations.text_of(place) for place in found[0].places}, {"6.2", "8.4.2 a)"})
        self.assertEqual({citations.text_of(place) for place in found[1].places}, {"6.2", "8.4.2 f)"})


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, text in {"docs/conformance/requirements.txt": LIST, "docs/rulings.md": RULINGS, "fcvi/sender.cpp": CODE,
                           "state_machines/receiver.hpp": ROWS, "tests/fcvi/sender_test.cpp": TESTS}.items():
            self.put(name, text)
        self.assertEqual(self.run_script()[0], 0)

    def path(self, name: str) -> Path:
        return Path(self.folder.name) / name

    def put(self, name: str, text: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text, encoding="utf-8")

    def run_script(self, *arguments: str) -> tuple:
        command = [sys.executable, str(ROOT / "tools" / "traceability"), "--root", self.folder.name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def expect(self, status: int, pattern: str, *arguments: str) -> None:
        code, output = self.run_script(*arguments)
        self.assertEqual(code, status, output)
        self.assertTrue(re.search(pattern, output), output)

    def change(self, name: str, before: str, after: str) -> None:
        text = self.path(name).read_text(encoding="utf-8")
        self.assertIn(before, text)
        self.put(name, text.replace(before, after, 1))

    def test_unchanged(self):
        self.expect(0, "4 requirements of FC-VI, 2 held; 0 complaints", "--check")
        page = self.path("docs/conformance/clause-8.md").read_text(encoding="utf-8")
        self.assertIn("| 8.4.2 f)#1 | Frames are discarded. | held | [rows of `receiver`]", page)
        self.assertIn("| no test yet |", page)
        self.assertIn("| open |", page)

    def test_losses(self):
        for name, before, after, complaint in [
            ("tests/fcvi/sender_test.cpp", "times_out", "expires", "8.4.2 a\\): test Sender.times_out does not exist"),
            ("tests/fcvi/sender_test.cpp", "8.4.2 a)", "8.4.2 c)", "8.4.2 a\\): test Sender.times_out .* cites neither"),
            ("fcvi/sender.cpp", "::abort", "::stop", "8.4.2 a\\): fcvi/sender.cpp has no Sender::abort"),
            ("state_machines/receiver.hpp", "8.4.2 f)", "8.4.2 a)", "8.4.2 f\\)#1: no row of a state machine cites it"),
            ("fcvi/sender.cpp", "8.4.2 a)", "8.4.2 a), 8.4.3", "fcvi/sender.cpp:1: FC-VI has no 8.4.3"),
            ("fcvi/sender.cpp", "8.4.2 a)", "8.4.2 a) k)", "fcvi/sender.cpp:1: FC-VI has no 8.4.2 k\\)"),
            ("tests/fcvi/sender_test.cpp", "ruling 1", "ruling 2", "sender_test.cpp:1: there is no ruling 2"),
            ("tests/fcvi/sender_test.cpp", "ruling 1", "ruling V-1", "sender_test.cpp:1: there is no ruling V-1"),
            ("tests/fcvi/sender_test.cpp", "ruling 1", "ruling M-1", "sender_test.cpp:1: there is no ruling M-1"),
            ("docs/conformance/requirements.txt", "  why: issue 5: class 2\n", "", "8.4.2 h\\): has no code and no why"),
            ("docs/conformance/requirements.txt", "issue 4", "some day", "8.4.2 f\\)#2: why must begin with one of"),
            ("docs/conformance/requirements.txt", "f)#2", "f)#3", "8.4.2 f\\)#3: expected #2"),
            ("docs/conformance/clause-8.md", "held", "open", "clause-8.md is stale"),
        ]:
            with self.subTest(complaint):
                self.loses(name, before, after, complaint)

    def loses(self, name: str, before: str, after: str, complaint: str) -> None:
        good = self.path(name).read_text(encoding="utf-8")
        self.change(name, before, after)
        self.expect(1, complaint, "--check")
        self.put(name, good)
        self.expect(0, "0 complaints", "--check")

    def test_other_documents(self):
        self.put("docs/conformance/requirements_vi_dg.txt", VI_LIST)
        self.put("vi/vi.cpp", "void Vi::finish() {}  // VI-DG 5.2 bit 4, FC-VI 8.4.2 a)\n")
        self.put("tests/conformance/vipl/calls.h", 'X(VipDisconnect, "3.3.5", EARLY)\n')
        self.put("tests/conformance/vipl/disconnect.c", SUITE)
        self.expect(0, "4 requirements of FC-VI, 2 held; 4 of VI-DG, 3 held; 0 complaints")
        self.assertIn("| 5.2 bit 4 | A part went out. | no test yet | [`Vi::finish`]",
                      self.path("docs/conformance/vi-dg-5.md").read_text(encoding="utf-8"))
        self.assertIn("[VI-DG 5.2 bit 4](vi-dg-5.md)", self.path("docs/conformance/README.md").read_text(encoding="utf-8"))
        self.expect(0, "vi/vi.cpp:1: VI-DG 5.2 bit 4", "--cites", "VI-DG 5.2")
        for name, before, after, complaint in [
            ("vi/vi.cpp", "bit 4", "bit 5", "vi.cpp:1: VI-DG has no 5.2 bit 5"),
            ("vi/vi.cpp", "VI-DG 5.2", "VI-DG 8.1", "vi.cpp:1: VI-DG has no 8.1"),
            ("tests/conformance/vipl/disconnect.c", '6.2"', '6.9"', "disconnect.c:7: VI-DG has no 6.9"),
            ("tests/conformance/vipl/disconnect.c", "1u << (VIP_SUCCESS)", "0", "3.3.5 VIP_SUCCESS: test disconnect.flushes .* cites"),
            ("tests/conformance/vipl/disconnect.c", '"disconnect.flushes"', '"x"', "test disconnect.flushes does not exist"),
            ("tests/conformance/vipl/disconnect.c", "= {1u << (VIP_", "= {1u << (VIP_TIMEOUT) | (VIP_", "VI-DG 3.3.5 VIP_TIMEOUT is no entry"),
            ("docs/conformance/requirements_vi_dg.txt", "see: FC-VI 8.4.2 a)", "see: FC-VI 8.4.3", "3.3.5#1: FC-VI has no 8.4.3"),
        ]:
            with self.subTest(complaint):
                self.loses(name, before, after, complaint)
        self.change("docs/conformance/requirements_vi_dg.txt", "document VI-DG", "document VI-XY")
        self.expect(2, "requirements_vi_dg.txt:1: expected one of FC-VI, VI-ARCH, VI-DG")

    def test_page_that_is_not_ours(self):
        self.put("docs/conformance/annex-z.md", "x")
        self.expect(1, "annex-z.md is no page of ours", "--check")

    def test_list_that_cannot_be_read(self):
        for line, complaint in [("  tests: A.b\n", "txt:15: expected one of"), ("nonsense\n", "txt:15: cannot be read"),
                                ("8.4.2 a)  Again.\n", "txt:15: 8.4.2 a\\) stands here a second time"),
                                ("8.4.2 xy)  What?\n", "txt:15: '8.4.2 xy\\)' is not one place")]:
            with self.subTest(complaint):
                self.put("docs/conformance/requirements.txt", LIST + line)
                self.expect(2, complaint)

    def test_who_cites(self):
        self.expect(0, "fcvi/sender.cpp:1: FC-VI 8.4.2 a\\)", "--cites", "8.4.2")
        self.expect(2, "is not one place", "--cites", "nowhere")


if __name__ == "__main__":
    unittest.main()
