#!/usr/bin/env python3
"""Every call has its manual page and no page is without a call; all pages render without a warning; examples compile; the
generator refuses what does not agree with the header.

usage: man_test.py SOURCE PAGES
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, PAGES = Path(sys.argv[1]), Path(sys.argv[2])
del sys.argv[1:]
HEADER = (SOURCE / "vipl/vipl.h").read_text(encoding="utf-8")
CALLS = re.findall(r"^VIPL_API VIP_RETURN (Vip\w+)\(", HEADER, re.MULTILINE)
GUIDE = SOURCE / "tests/install/return_codes.txt"


def pages():
    return sorted(path for path in PAGES.glob("man[0-9]/*") if path.suffix[1:].isdigit())


def section(page, title):
    text = (PAGES / "man3" / f"{page}.3").read_text(encoding="utf-8")
    return re.search(rf"^\.Sh {title}\n(.*?)(?=^\.Sh |\Z)", text, re.MULTILINE | re.DOTALL).group(1)


def return_codes(page):
    return re.findall(r"^\.It Dv (VIP_\w+)$", section(page, "RETURN VALUES"), re.MULTILINE)


def guide_codes():
    """Call -> return codes of its page in VI-DG chapter 3."""
    lines = [line.split("#")[0].split() for line in GUIDE.read_text(encoding="utf-8").splitlines()]
    return {words[0]: {f"VIP_{word}" for word in words[1:]} for words in lines if words}


class Content(unittest.TestCase):
    def test_a_page_for_each_call_and_no_other(self):
        self.assertEqual(len(CALLS), 41)
        self.assertEqual({path.stem for path in (PAGES / "man3").iterdir()}, set(CALLS))

    def test_a_page_for_the_library(self):
        self.assertTrue((PAGES / "man7/vipl.7").exists())

    def test_every_section_is_there(self):
        for call in CALLS:
            for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "STATES", "RETURN VALUES", "BLOCKING", "THREADS",
                          "CONFORMANCE", "EXAMPLES", "SEE ALSO"):
                self.assertTrue(section(call, title).strip(), f"{call}: {title}")

    def test_return_codes_are_those_of_the_guide(self):
        codes = guide_codes()
        self.assertEqual(set(codes), set(CALLS))
        for call in CALLS:
            self.assertEqual(set(return_codes(call)), codes[call], call)

    def test_every_constant_of_every_page_is_in_the_header(self):
        for path in pages():
            for name in set(re.findall(r"\bVIP_[A-Z0-9_]+\b", path.read_text(encoding="utf-8"))):
                self.assertRegex(HEADER, rf"\b{name}\b", f"{path.name}: {name}")

    def test_references_lead_to_pages(self):
        ours = {(path.stem, path.suffix[1:]) for path in pages()}
        texts = {(path.name.split(".")[0], path.name.split(".")[1]) for path in (SOURCE / "man").glob("*.in")}
        for path in pages():
            for name, number in re.findall(r"\.Xr (\S+) (\d)", path.read_text(encoding="utf-8")):
                if name.lower().startswith(("vip", "fcvi", "vicp")):
                    self.assertIn((name, number), ours | texts, path.name)


class Rendering(unittest.TestCase):
    def test_groff_has_no_warning(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        for path in pages():
            done = subprocess.run(["groff", "-mdoc", "-ww", "-Tutf8", "-z", path], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path.name)

    def test_mandoc_has_no_warning(self):
        if shutil.which("mandoc") is None:
            self.skipTest("mandoc is not installed")
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages()], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout + done.stderr, "")

    def test_text_says_what_it_should(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        done = subprocess.run(["groff", "-mdoc", "-Tascii", "-P-cbou", PAGES / "man3/VipSendNotify.3"], capture_output=True,
                              text=True, check=True)
        text = " ".join(done.stdout.split())
        self.assertIn("VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, void (*Handler)(VIP_PVOID Context, "
                      "VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR *DescriptorPtr));", text)
        self.assertIn("VI-DG 3.5.9; conformance phase: Full Conformance", text)


def examples(path):
    """The displays of its section EXAMPLES, as C."""
    found = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\Z)", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    displays = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", found.group(1), re.MULTILINE | re.DOTALL) if found else []
    return [text.replace("\\&", "").replace("\\e", "\\") for text in displays]


# What the examples of the calls take for granted: vipl(7), EXAMPLES, says so to the reader.
CONTEXT = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vipl.h>
void mark_as_lost(void *context, VIP_VI_HANDLE vi);
void consume(void *data, unsigned long length);
void serve(VIP_VI_HANDLE vi, VIP_DESCRIPTOR *descriptor, VIP_RETURN result);
void release(VIP_DESCRIPTOR *descriptor);
VIP_NIC_HANDLE nic;
VIP_NIC_ATTRIBUTES attributes;
VIP_NET_ADDRESS *local, *remote;
VIP_VI_ATTRIBUTES theirs;
VIP_CONN_HANDLE request;
VIP_VI_HANDLE vi;
VIP_CQ_HANDLE cq;
VIP_PROTECTION_HANDLE tag;
VIP_RETURN result;
VIP_DESCRIPTOR *d, *receive;
VIP_MEM_HANDLE handle, remote_handle;
VIP_UINT64 remote_address;
VIP_BOOLEAN is_receive;
char *host;
void *data, *memory;
unsigned length, connections, max_connections;
pthread_t acceptor;
"""


def as_program(text):
    """Handlers come first and end with the first empty line behind a brace; the rest is what a function does that returns
    VIP_RETURN."""
    handlers, body = re.fullmatch(r"(static .*?^\}\n\n)?(.*)", re.sub(r"^/\*.*?\*/\n(?=static )", "", text),
                                  re.MULTILINE | re.DOTALL).groups()
    return f"{CONTEXT}{handlers or ''}VIP_RETURN example(void) {{\n{body}return result;\n}}\n"


class Examples(unittest.TestCase):
    def compile(self, path, text):
        command = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{SOURCE / 'vipl'}", "-xc", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), path.name)

    def setUp(self):
        if shutil.which("cc") is None:
            self.skipTest("there is no C compiler")

    def test_those_of_calls_compile(self):
        for call in CALLS:
            path = PAGES / "man3" / f"{call}.3"
            texts = examples(path)
            self.assertTrue(texts, f"{call}: no example")
            self.assertIn(f"{call}(", "".join(texts), f"{call}: its example does not make the call")
            for text in texts:
                self.compile(path, as_program(text))

    def test_a_wrong_one_does_not_compile(self):
        path = Path("wrong")
        for text in ("result = VipCloseNic(nic, 1);\n", "static void on_error(void) { wrong(); }\n\nresult = VIP_SUCCESS;\n",
                     "int unused;\nresult = VipCloseNic(nic);\n"):
            with self.assertRaises(AssertionError):
                self.compile(path, as_program(text))
        self.compile(path, as_program("result = VipCloseNic(nic);\n"))

    def test_the_program_of_the_library_compiles(self):
        programs = [text for text in examples(PAGES / "man7/vipl.7") if "main(" in text]
        self.assertEqual(len(programs), 1)
        self.compile(PAGES / "man7/vipl.7", programs[0])


class Generator(unittest.TestCase):
    GOOD = ("# VipCloseNic - close\nclause: 3.1.2\nphase: Early Adopter\n\nText of VipCloseNic.\n\n## Arguments\n"
            "- NicHandle: The NIC.\n\n## States\nNone.\n\n## Returns\n- VIP_SUCCESS: Done.\n\n## Blocking\nNone.\n\n"
            "## Example\n    result = VipCloseNic(nic);\n")

    def generate(self, text):
        with tempfile.TemporaryDirectory() as folder:
            header, calls = Path(folder, "x.h"), Path(folder, "calls")
            header.write_text("typedef enum _VIP_RETURN {\n VIP_SUCCESS,\n VIP_TIMEOUT\n} VIP_RETURN;\n"
                              "VIPL_API VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle);\n", encoding="utf-8")
            calls.mkdir()
            (calls / "x.txt").write_text(text, encoding="utf-8")
            return subprocess.run([sys.executable, "-B", SOURCE / "man/generate.py", header, calls, "1.0", Path(folder, "out")],
                                  capture_output=True, text=True, check=False)

    def test_good_description(self):
        self.assertEqual(self.generate(self.GOOD).returncode, 0)
        self.assertEqual(self.generate(self.GOOD + "\n## Notes\nNone.\n").returncode, 0)

    def test_bad_descriptions(self):
        for old, new, complaint in (
            ("VIP_SUCCESS: Done.", "VIP_SUCCESS: Done.\n- VIP_WHAT: No.", "VIP_WHAT"),
            ("VIP_SUCCESS: Done.", "VIP_TIMEOUT: Done.", "VIP_SUCCESS"),
            ("- NicHandle: The NIC.", "- Nic: The NIC.", "NicHandle"),
            ("## States\nNone.\n", "", "States"),
            ("## States", "## State", "State"),
            ("phase: Early Adopter", "phase: Late", "phase"),
            ("Text of VipCloseNic", "Text of VipOpen", "VipOpen"),
            ("# VipCloseNic", "# VipOpenNic", "VipCloseNic"),
            ("\n## Example\n    result = VipCloseNic(nic);\n", "", "Example"),
            ("result = VipCloseNic(nic);", "result = VIP_SUCCESS;", "Example"),
        ):
            done = self.generate(self.GOOD.replace(old, new))
            self.assertEqual(done.returncode, 1, complaint)
            self.assertIn(complaint, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
