#!/usr/bin/env python3
"""What is installed, in which component, and that it knows nothing of the folders that it was built in.

usage: tree_test.py SOURCE BUILD STAGE
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE, BUILD, STAGE = (Path(word) for word in sys.argv[1:])
del sys.argv[1:]

CALLS = re.findall(r"^VIPL_API VIP_RETURN (Vip\w+)\(", (SOURCE / "vipl/vipl.h").read_text(encoding="utf-8"), re.MULTILINE)
PROGRAMS = {"fcvi-ctl", "fcvi-perf", "fcvi-sim", "vicp", "viping"}


def built(program):
    return (BUILD / "bin" / program).exists()


def files(prefix):
    return {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_symlink() or path.is_file()}


def expected():
    """Component -> patterns of which each must match a file, and each file one of them."""
    runtime = [r"lib/libvipl\.so\.1", r"lib/libvipl\.so\.1\.\d+\.\d+", r"share/man/man7/vipl\.7"]
    development = [r"include/vipl\.h", r"lib/libvipl\.so", r"lib/libgnivipl\.so", r"lib/pkgconfig/vipl\.pc",
                   r"lib/cmake/fcvi/fcvi-config\.cmake", r"lib/cmake/fcvi/fcvi-config-version\.cmake",
                   r"lib/cmake/fcvi/fcvi-targets\.cmake", r"lib/cmake/fcvi/fcvi-targets-\w+\.cmake",
                   r"include/fcvi/sim\.hpp", r"lib/libfcvi-sim\.so", r"share/doc/fcvi/examples/[\w.]+"]
    development += [rf"share/man/man3/{call}\.3" for call in CALLS]
    tools = []
    for program in sorted(filter(built, PROGRAMS)):
        tools += [rf"bin/{program}", rf"share/man/man1/{program}\.1"]
    for profile in ("FC-VI", "VI-TCP"):
        tools += [rf"share/wireshark/profiles/{profile}/{name}" for name in ("colorfilters", "preferences", "recent")]
    for plugin in ("fcvi", "vitcp", "ift"):
        if (BUILD / f"tools/wireshark/{plugin}.lua").exists():
            tools.append(rf"lib/([\w-]+/)?wireshark/plugins/{plugin}\.lua")
    if built("fcvi-sim"):
        tools.append(r"share/fcvi/scenario\.schema\.json")
    for daemon in filter(built, ("fcvi-fabricd", "vitcp-portd")):
        runtime += [rf"bin/{daemon}", rf"share/man/man8/{daemon}\.8"]
    for example in ("vipl.example.yaml", "hosts.example"):
        if (SOURCE / "vipl" / example).exists():
            runtime.append(rf"share/doc/fcvi/{example}")
    verbs = [r"bin/iwarp-run", r"share/man/man1/iwarp-run\.1", r"share/doc/fcvi/verbs\.example\.yaml"]
    verbs += [rf"lib/fcvi/iwarp/lib{name}\.so\.1(\.\d+\.\d+)?" for name in ("ibverbs", "rdmacm", "iwarp-verbs")]
    simulation = [r"lib/libfcvi-sim\.so\.0"]
    module, metadata = r"lib/python3/dist-packages/fcvi", r"lib/python3/dist-packages/fcvi-[\d.]+dist-info"
    python = [rf"{module}/(\w+\.py|_fcvi\.pyi|py\.typed)", rf"{module}/_fcvi\.\S+\.so", rf"{metadata}/(METADATA|entry_points\.txt)"]
    return {"runtime": runtime, "development": development, "tools": tools, "simulation": simulation,
            "verbs": verbs if built("iwarp-run") else [],
            "mpi": [r"lib/fcvi/fcvi-sim-mpi\.so"] if (BUILD / "lib/fcvi/fcvi-sim-mpi.so").exists() else [],
            "python": python if list((BUILD / "python/fcvi").glob("_fcvi*.so")) else []}


class Tree(unittest.TestCase):
    def test_each_component_has_its_files_and_no_others(self):
        for component, patterns in expected().items():
            found = files(STAGE / component)
            self.assertEqual([pattern for pattern in patterns if not any(re.fullmatch(pattern, name) for name in found)], [])
            self.assertEqual([name for name in found if not any(re.fullmatch(pattern, name) for pattern in patterns)], [])

    def test_components_make_up_the_whole(self):
        parts = [files(STAGE / component) for component in expected()]
        self.assertEqual(set().union(*parts), files(STAGE / "all"))
        self.assertEqual(sum(map(len, parts)), len(files(STAGE / "all")), "a file belongs to two components")

    def test_link_names_lead_to_the_library(self):
        library = (STAGE / "all/lib/libvipl.so.1").resolve()
        for name in ("libvipl.so", "libgnivipl.so"):
            link = STAGE / "all/lib" / name
            self.assertFalse(Path(link.readlink()).is_absolute())
            self.assertEqual(link.resolve(), library)

    def test_pages_of_programs_tell_every_option(self):
        for program in (STAGE / "all/bin").iterdir():
            options = set()
            for words in ([], ["run"], ["decode"], ["ladder"]) if program.name == "fcvi-sim" else ([],):
                usage = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout
                options |= set(re.findall(r"(?:^|[\s,])(--?[a-zA-Z][\w-]*)", usage))
            self.assertTrue(options, program)
            pages = list((STAGE / "all/share/man").glob(f"man[18]/{program.name}.[18]"))
            self.assertEqual(len(pages), 1, program)
            page = pages[0].read_text(encoding="utf-8").replace("\\-", "-")
            for option in options - {"-h"}:  # beside --help everywhere
                self.assertRegex(page, rf"(?m)(Fl |\| ){re.escape(option[1:])}\b", f"{program.name} {option}")

    def test_nothing_names_the_build_folders(self):
        for name in files(STAGE / "stripped"):
            content = (STAGE / "stripped" / name).read_bytes()
            for folder in (BUILD, STAGE):
                self.assertNotIn(str(folder).encode(), content, name)

    def test_programs_find_the_library_beside_them(self):
        for program in (STAGE / "all/bin").iterdir():
            dynamic = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True).stdout
            self.assertEqual(re.findall(r"(?:RUNPATH|RPATH).*\[(.*)\]", dynamic), ["$ORIGIN/../lib"], program)
        dynamic = subprocess.run(["readelf", "-d", STAGE / "all/lib/libvipl.so"], check=True, capture_output=True, text=True)
        self.assertNotRegex(dynamic.stdout, "RUNPATH|RPATH")


if __name__ == "__main__":
    unittest.main(verbosity=2)
