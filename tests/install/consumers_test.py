#!/usr/bin/env python3
"""Projects of others build against the installed library with pkg-config and with find_package, and run; also after the
installed tree was moved.

usage: consumers_test.py STAGE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
STAGE = Path(sys.argv.pop(1))
CMAKE, CC = os.environ.get("CMAKE", "cmake"), os.environ.get("CC", "cc")


def run(*words, **environment):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=240,
                          env={**os.environ, **{name: str(value) for name, value in environment.items()}})


class Consumers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.work = Path(self.folder.name, "work")
        self.work.mkdir()
        # Moved, with a space in its name, so that no path of the installation can be right by chance.
        self.prefix = Path(self.folder.name, "moved away")
        shutil.copytree(STAGE / "all", self.prefix, symlinks=True)

    def good(self, *words, **environment):
        done = run(*words, **environment)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def copy_project(self, name):
        shutil.copytree(HERE / name, self.work / name)
        shutil.copy(HERE / "consumer.c", self.work)
        return self.work / name

    def test_pkg_config(self):
        if shutil.which("pkg-config") is None or shutil.which("make") is None:
            self.skipTest("no pkg-config or no make on this machine")
        project = self.copy_project("pkgconfig")
        self.good("make", "-C", project, f"CC={CC}", PKG_CONFIG_PATH=self.prefix / "lib/pkgconfig")
        self.good(project / "consumer", LD_LIBRARY_PATH=self.prefix / "lib")
        version = self.good("pkg-config", "--modversion", "vipl", PKG_CONFIG_PATH=self.prefix / "lib/pkgconfig")
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")

    def test_find_package(self):
        project, build = self.copy_project("cmake"), self.work / "build"
        self.good(CMAKE, "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.good(CMAKE, "--build", build)
        self.good(build / "consumer")
        self.good(build / "consumer_cxx")

    def test_find_package_of_the_simulator(self):
        """The example of docs/python.md, built as somebody's own project."""
        project, build = self.work / "simulated", self.work / "build"
        project.mkdir()
        shutil.copy(self.prefix / "share/doc/fcvi/examples/simulated_fabric.cpp", project)
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(x CXX)\nset(CMAKE_CXX_STANDARD 20)\nfind_package(fcvi REQUIRED)\n"
            "add_executable(it simulated_fabric.cpp)\ntarget_link_libraries(it PRIVATE fcvi::sim)\n", encoding="utf-8")
        self.good(CMAKE, "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.good(CMAKE, "--build", build)
        self.assertIn("as expected", self.good(build / "it"))

    def test_find_package_of_a_version_that_is_not_there(self):
        project = self.copy_project("cmake")
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(fcvi 99 REQUIRED)\n",
                                                encoding="utf-8")
        refused = run(CMAKE, "-S", project, "-B", self.work / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("99", refused.stderr)

    def test_link_name_of_another_vendor(self):
        program = self.work / "consumer"
        self.good(CC, "-o", program, HERE / "consumer.c", f"-I{self.prefix}/include", f"-L{self.prefix}/lib", "-lgnivipl")
        self.good(program, LD_LIBRARY_PATH=self.prefix / "lib")

    def test_installed_examples(self):
        if shutil.which("pkg-config") is None or shutil.which("make") is None:
            self.skipTest("no pkg-config or no make on this machine")
        if "VipNSInit" not in self.good("readelf", "--dyn-syms", "-W", self.prefix / "lib/libvipl.so"):
            self.skipTest("the library does not have all calls yet")
        examples = self.work / "examples"
        shutil.copytree(self.prefix / "share/doc/fcvi/examples", examples)
        self.good("make", "-C", examples, f"CC={CC}", PKG_CONFIG_PATH=self.prefix / "lib/pkgconfig")
        self.assertIn("usage", self.good(examples / "cq_server", "--help", LD_LIBRARY_PATH=self.prefix / "lib"))
        self.assertIn("ok     each_text_is_answered", self.good("make", "-C", examples, "check", f"CC={CC}",
                                                                PKG_CONFIG_PATH=self.prefix / "lib/pkgconfig"))

    def test_the_port_service_of_a_moved_tree(self):
        # VI over TCP: the library finds vitcp-portd beside itself, and starts it.
        viping, portd, last = self.prefix / "bin/viping", self.prefix / "bin/vitcp-portd", os.getpid() % 250 + 1
        config, own = self.work / "nics.yaml", {name: "" for name in ("LD_LIBRARY_PATH", "FCVI_VITCP_PORTD")}
        config.write_text(f"nics: [{{name: VITCP0, transport: tcp, addresses: [127.63.{os.getpid() // 250 % 250}.{last}]}}]\n",
                          encoding="utf-8")
        own.update(FCVI_CONFIG=str(config), FCVI_RUNTIME_DIR=str(self.work / "run"))
        server = subprocess.Popen([viping, "--nic", "VITCP0", "--listen"], env={**os.environ, **own},
                                  stdout=subprocess.DEVNULL)
        try:
            self.assertIn("2 received", self.good(viping, "--nic", "VITCP0", "-q", "-i", "0.1", "-c", 2, "localhost", **own))
            service = re.search(r"process (\d+)", self.good(portd, "status", **own)).group(1)
            self.assertEqual(Path(f"/proc/{service}/exe").resolve(), portd.resolve())
        finally:
            server.terminate()
            server.wait()
            run(portd, "stop", **own)

    def test_programs_of_a_moved_tree(self):
        for program in sorted((self.prefix / "bin").iterdir()):
            self.assertIn("usage", self.good(program, "--help", LD_LIBRARY_PATH="").lower(), program)
            if "libvipl" in self.good("ldd", program):
                self.assertIn(str(self.prefix), self.good("ldd", program).replace("/bin/../lib", "/lib"), program)


if __name__ == "__main__":
    unittest.main(verbosity=2)
