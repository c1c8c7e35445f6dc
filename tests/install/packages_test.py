#!/usr/bin/env python3
"""cpack -G DEB makes packages that hold what they should, depend on what they need, and please lintian.

usage: packages_test.py BUILD
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1))
SKIPPED = 77
HAS_PYTHON = bool(list((BUILD / "python/fcvi").glob("_fcvi*.so")))
HAS_VERBS = (BUILD / "bin/iwarp-run").exists()
HAS_MPI = (BUILD / "lib/fcvi/fcvi-sim-mpi.so").exists()
# What the programs of CPack and our choices bring about, with the reason why it stays.
TOLERATED = {
    "maintscript-calls-ldconfig",  # CPack writes it beside the trigger
    "pkg-config-unavailable-for-cross-compilation",  # /usr/lib, where a prefix other than /usr has it as well
    "no-symbols-control-file",  # shlibs does: the ABI only grows
}


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True, timeout=240).stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        run(os.environ.get("CPACK", "cpack"), "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder.name)
        cls.files = {file.name.split("_")[0]: file for file in Path(cls.folder.name).glob("*.deb")}

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.files[package], name).strip()

    def content(self, package):
        """name -> mode, of files and links."""
        rows = [line.split(maxsplit=5) for line in run("dpkg-deb", "-c", self.files[package]).splitlines()]
        return {row[5].removeprefix("./").split(" -> ")[0]: row[0] for row in rows if not row[0].startswith("d")}

    def test_names_and_versions(self):
        optional = {name for name, built in (("python3-fcvi", HAS_PYTHON), ("fcvi-tools-mpi", HAS_MPI), ("iwarp-run", HAS_VERBS))
                    if built}
        self.assertEqual(set(self.files), {"libvipl1", "libvipl-dev", "fcvi-tools", "libfcvi-sim0"} | optional)
        for package in self.files:
            self.assertEqual(self.field(package, "Package"), package)
            self.assertRegex(self.field(package, "Version"), r"^\d+\.\d+\.\d+$")
            self.assertRegex(self.field(package, "Maintainer"), r".+ <.+@.+>")

    def test_depends(self):
        own = f"libvipl1 (= {self.field('libvipl1', 'Version')})"
        self.assertIn("libc6 (>=", self.field("libvipl1", "Depends"))
        self.assertIn(own, self.field("libvipl-dev", "Depends"))
        self.assertIn(own, self.field("fcvi-tools", "Depends"))
        self.assertIn("libc6 (>=", self.field("fcvi-tools", "Depends"))

    def test_library_package(self):
        content = self.content("libvipl1")
        self.assertIn("usr/lib/libvipl.so.1", content)
        self.assertNotIn("usr/lib/libvipl.so", content)
        self.assertIn("usr/share/man/man7/vipl.7.gz", content)
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "-e", self.files["libvipl1"], folder)
            self.assertIn("libvipl 1 libvipl1 (>=", Path(folder, "shlibs").read_text(encoding="utf-8"))
            self.assertIn("activate-noawait ldconfig", Path(folder, "triggers").read_text(encoding="utf-8"))

    def test_development_package(self):
        content = self.content("libvipl-dev")
        for name in ("usr/include/vipl.h", "usr/lib/libvipl.so", "usr/lib/libgnivipl.so", "usr/lib/pkgconfig/vipl.pc",
                     "usr/lib/cmake/fcvi/fcvi-config.cmake", "usr/share/man/man3/VipOpenNic.3.gz"):
            self.assertIn(name, content)
        self.assertEqual([name for name in content if "/bin/" in name], [])

    def test_tools_package(self):
        content = self.content("fcvi-tools")
        for program in ("fcvi-sim", "vicp"):
            self.assertEqual(content[f"usr/bin/{program}"], "-rwxr-xr-x")
            self.assertIn(f"usr/share/man/man1/{program}.1.gz", content)
        for plugin in ("fcvi.lua", "vitcp.lua", "ift.lua"):
            if (BUILD / "tools/wireshark" / plugin).exists():
                plugins = [name for name in content if name.endswith(f"/wireshark/plugins/{plugin}")]
                self.assertEqual([content[name] for name in plugins], ["-rw-r--r--"])

    def test_simulation_package(self):
        self.assertIn("usr/lib/libfcvi-sim.so.0", self.content("libfcvi-sim0"))
        self.assertIn("usr/include/fcvi/sim.hpp", self.content("libvipl-dev"))
        self.assertIn("libfcvi-sim0 (=", self.field("libvipl-dev", "Depends"))

    @unittest.skipUnless(HAS_MPI, "the module with MPI is not built")
    def test_mpi_package(self):
        """Who installs fcvi-tools alone needs no MPI."""
        self.assertIn("usr/lib/fcvi/fcvi-sim-mpi.so", self.content("fcvi-tools-mpi"))
        depends = self.field("fcvi-tools-mpi", "Depends")
        for package in ("fcvi-tools (=", "libopenmpi3", "libboost-mpi1.81.0"):
            self.assertIn(package, depends)
        self.assertNotIn("mpi", self.field("fcvi-tools", "Depends"))

    @unittest.skipUnless(HAS_VERBS, "verbs are not built")
    def test_verbs_package(self):
        """Its libraries have rdma-core's names: no other program, and no other package, may find them."""
        content = self.content("iwarp-run")
        for name in ("libibverbs.so.1", "librdmacm.so.1", "libiwarp-verbs.so.1"):
            self.assertIn(f"usr/lib/fcvi/iwarp/{name}", content)
        self.assertEqual([name for name in content if re.search(r"usr/lib/[^/]*\.so", name)], [])
        self.assertNotRegex(self.field("iwarp-run", "Depends"), "ibverbs|rdmacm|vipl")
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "-e", self.files["iwarp-run"], folder)
            self.assertEqual([name for name in os.listdir(folder) if name in ("shlibs", "postinst", "triggers")], [])
            run("dpkg-deb", "-x", self.files["iwarp-run"], folder)
            found = run(Path(folder, "usr/bin/iwarp-run"), "ldd", Path(folder, "usr/lib/fcvi/iwarp/librdmacm.so.1"))
            self.assertIn(f"{folder}/usr/lib/fcvi/iwarp/libiwarp-verbs.so.1", found)
            if shutil.which("ibv_devinfo"):
                self.assertIn("iw_lo", run(Path(folder, "usr/bin/iwarp-run"), "ibv_devinfo", "-l"))

    @unittest.skipUnless(HAS_PYTHON, "the Python module is not built")
    def test_python_package(self):
        """The module of the package is imported, and pytest finds its plugin."""
        self.assertRegex(self.field("python3-fcvi", "Depends"), r"python3 \(<< 3\.\d+\).*python3 \(>= 3\.\d+\)|"
                                                                r"python3 \(>= 3\.\d+\).*python3 \(<< 3\.\d+\)")
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "-x", self.files["python3-fcvi"], folder)
            place = f"PYTHONPATH={folder}/usr/lib/python3/dist-packages"
            name = "import fcvi, fcvi.live; print(fcvi.Frame('ABTS').message)"
            self.assertEqual(run("env", place, "/usr/bin/python3", "-B", "-c", name), "ABTS\n")
            self.assertIn("--fcvi-output", run("env", place, "/usr/bin/python3", "-B", "-m", "pytest", "--help"))

    def test_every_package_says_its_licence(self):
        for package in self.files:
            self.assertIn(f"usr/share/doc/{package}/copyright", self.content(package))

    def test_unpacked_program_runs_with_the_unpacked_library(self):
        with tempfile.TemporaryDirectory() as folder:
            for package in self.files.values():
                run("dpkg-deb", "-x", package, folder)
            dynamic = run("readelf", "-d", Path(folder, "usr/bin/vicp"))
            self.assertNotRegex(dynamic, "RUNPATH|RPATH")  # Debian policy: the system's folders need none
            found = run("env", f"LD_LIBRARY_PATH={folder}/usr/lib", Path(folder, "usr/bin/vicp"), "--help")
            self.assertIn("usage", found)

    def test_lintian(self):
        if shutil.which("lintian") is None:
            self.skipTest("lintian is not installed")
        done = subprocess.run(["lintian", "--allow-root", *map(str, self.files.values())], capture_output=True, text=True,
                              check=False, timeout=240)
        complaints = [line for line in done.stdout.splitlines() if re.match(r"[EW]: ", line)]
        self.assertEqual([line for line in complaints if line.split()[2] not in TOLERATED], [])


if __name__ == "__main__":
    missing = [tool for tool in ("dpkg-deb", "dpkg-shlibdeps", "readelf") if shutil.which(tool) is None]
    if missing:
        print(f"skipped: this machine has no {', '.join(missing)}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
