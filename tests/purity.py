#!/usr/bin/env python3
"""Fails when the protocol does I/O, reads a clock, draws a random number, starts a thread or keeps global state.

The pure folders are those of PURE below, except their drivers/ (docs/architecture.md, rule 1). Two checks: the
sources are read for forbidden includes and words, and the built static libraries for writable data and for symbols
that only I/O, clocks, threads or chance need. The second sees what the first cannot: macros, templates, other headers.

usage: purity.py ROOT             check the sources
       purity.py ROOT LIB.a ...   check these static libraries (with nm)
       purity.py --self-test      show that each kind of fault is found
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cpp_source

PURE = [layer for layer in cpp_source.LAYERS if layer not in ("settings", "vipl", "verbs", "tools")]
DRIVERS = ["fc2_fabric/drivers", "iwarp/drivers", "runtime/drivers", "streams/drivers", "vitcp/drivers"]  # they own sockets, files, clocks and threads

# <atomic> is allowed: vi publishes a descriptor's status with a release store. <iosfwd> and <ostream> declare printing
# to a stream that somebody else opened.
FORBIDDEN_INCLUDES = re.compile(
    r"""iostream | fstream | syncstream | print | cstdio | stdio\.h                     # I/O
      | filesystem | unistd\.h | fcntl\.h | poll\.h | dirent\.h | sys/.* | net/.* | netinet/.* | netpacket/.*
      | arpa/.* | netdb\.h | ifaddrs\.h | linux/.* | csignal | signal\.h | syslog\.h | dlfcn\.h
      | boost/(asio|beast|interprocess|process|filesystem|iostreams|log|nowide|mpi)([./].*)?
      | spdlog/.* | fmt/(os|chrono)\.h | yaml-cpp/.* | CLI/.* | pcap([./].*)?
      | chrono | ctime | time\.h | boost/(chrono|date_time|timer)([./].*)?              # clocks
      | thread | mutex | shared_mutex | condition_variable | future | semaphore | latch | barrier | stop_token
      | pthread\.h | threads\.h | sched\.h | boost/(thread|fiber|coroutine2?|lockfree)([./].*)?
      | random | boost/(random|uuid)([./].*)? | openssl/rand\.h                         # chance
    """,
    re.VERBOSE,
)

_FREE = r"(?<![\w.>])"  # not a member, nor the tail of another name
FORBIDDEN_WORDS = [
    ("I/O", re.compile(r"\bstd\s*::\s*(cout|cerr|clog|cin|wcout|wcerr|fstream|ifstream|ofstream|filesystem|FILE)\b")),
    ("I/O", re.compile(_FREE + r"(fopen|fclose|fread|fwrite|printf|fprintf|vprintf|puts|fputs|putchar|perror|ioctl|mmap)\s*\(")),
    ("I/O", re.compile(r"\bfmt\s*::\s*print\b")),
    ("the environment", re.compile(_FREE + r"(secure_getenv|getenv|setenv|putenv)\s*\(|\bstd\s*::\s*system\b")),
    ("a clock", re.compile(r"\bstd\s*::\s*(chrono\b|time\s*\(|clock\s*\()|\b(system_clock|steady_clock|high_resolution_clock)\b")),
    ("a clock", re.compile(_FREE + r"(time\s*\(\s*(nullptr|NULL|0|&)|(gettimeofday|clock_gettime|timespec_get|nanosleep|usleep)\s*\()")),
    ("chance", re.compile(_FREE + r"((s?rand|s?random|[delmn]rand48|rand_r|arc4random|getrandom|getentropy)\s*\(|random_device\b)")),
    ("a thread", re.compile(r"\bstd\s*::\s*(j?thread|this_thread|async|(\w+_)?mutex|condition_variable\w*)\b|\bthread_local\b|\bpthread_\w+")),
]

_CONSTANT = re.compile(r"\b(const|constexpr|consteval|constinit\s+const)\b")
_STATIC = re.compile(r"\bstatic\b(?!\s*(assert|cast))([^;={(]*)([;={(])")
_INLINE_VARIABLE = re.compile(r"^[ \t]*inline\b(?!\s+namespace\b)([^;={(]*)([;={(])", re.MULTILINE)

# Symbols of the static libraries. Writable data that is not ours: constant tables that Boost and fmt build once, and
# what compilers and instrumentation emit.
_WRITABLE = re.compile(r"\.(data|bss|tdata|tbss)(?!\.rel\.ro)|\*COM\*")
# Mangled, because c++filt gives up on clauses as template arguments.
_NOT_OURS = re.compile(
    r"""_ZGV | _Z{1,2}N[VKRO]*(5boost|3fmt)   # guards; Boost and fmt, their local statics too
      | _ZT | DW\.ref\. | __gcov | __asan | __odr_asan | __ubsan | __tsan | completed\. | \.""",
    re.VERBOSE,
)
_IMPURE_SYMBOL = re.compile(
    r"""fopen(64)? | fread | fwrite | f?puts | putchar | v?f?printf | perror | std(in|out|err) | open(64)? | ioctl | mmap(64)?
      | __(v?f?printf|fdelt)_chk | socket | sendto | recvfrom | syslog | getenv | secure_getenv | setenv | system
      | time | clock | gettimeofday | clock_gettime | timespec_get | nanosleep | usleep | sleep
      | s?rand | s?random | rand_r | [delmn]rand48 | getrandom | getentropy | arc4random
      | pthread_(create|join|mutex_\w+|cond_\w+|rwlock_\w+|once)
      | std::(chrono::|thread::|random_device::|filesystem::|condition_variable::|this_thread::|ios_base::Init::).*
      | std::(cout|cerr|clog|cin)(@.*)? | std::(__cxx11::)?basic_(file|[io]?fstream).* | fmt::\w+::v?print.* | spdlog::.*
    """,
    re.VERBOSE,
)


def pure_files(root: Path) -> list:
    drivers = [root / folder for folder in DRIVERS]
    return [f for f in cpp_source.files(root, PURE) if not any(d in f.parents for d in drivers)]


def mutable_statics(code: str):
    """(offset, what) of variables that outlive a call and may change, as far as their declaration tells."""
    for pattern, group in ((_STATIC, 2), (_INLINE_VARIABLE, 1)):
        for match in pattern.finditer(code):
            declaration, end = match.group(group), match.group(group + 1)
            if end != "(" and "operator" not in declaration and not _CONSTANT.search(match.group(0)):
                yield match.start(), " ".join(declaration.split())


def source_errors(root: Path) -> list:
    errors = []
    for file in pure_files(root):
        text = file.read_text(encoding="utf-8", errors="replace")
        name = file.relative_to(root)
        for line, header in cpp_source.includes(text):
            if FORBIDDEN_INCLUDES.fullmatch(header):
                errors.append(f"{name}:{line}: a pure folder may not include <{header}>")
        code = cpp_source.strip(text)
        for kind, pattern in FORBIDDEN_WORDS:
            for match in pattern.finditer(code):
                errors.append(f"{name}:{cpp_source.line_of(code, match.start())}: {kind}: {match.group().strip()}")
        for offset, what in mutable_statics(code):
            errors.append(f"{name}:{cpp_source.line_of(code, offset)}: global mutable state: {what}")
    return errors


def driver_members(root: Path) -> set:
    """Archive members made from drivers; a name that a pure file has too stays checked."""
    def stems(files):
        return {f.name for f in files}
    return stems(cpp_source.files(root, DRIVERS)) - stems(pure_files(root))


def symbols_of(root: Path, library: Path):
    """(member, name, class, section) of each symbol of the library's pure members."""
    command = [os.environ.get("NM", "nm"), "-f", "sysv", str(library)]
    skip, member = driver_members(root), ""
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        header = re.match(r"(?:Undefined symbols|Symbols) from .*?(?:\[(.*)\])?:$", line)
        if header:
            member = header.group(1) or ""
        fields = [field.strip() for field in line.rsplit("|", 6)]
        if len(fields) == 7 and fields[0] not in ("", "Name") and re.sub(r"\.o(bj)?$", "", member) not in skip:
            yield member, fields[0], fields[2], fields[6]


def demangled(names: list) -> list:
    result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return result.split("\n")


def short(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "..."


def library_errors(root: Path, library: Path) -> list:
    symbols = list(symbols_of(root, library))
    if not symbols:
        return [f"{library}: nm shows no symbol; is it a static library?"]
    errors = []
    for (member, mangled, kind, section), name in zip(symbols, demangled([name for _, name, _, _ in symbols])):
        where = f"{library.name}({member})"
        if kind in "Uw" and _IMPURE_SYMBOL.fullmatch(re.sub(r"(@.*|\(.*)$", "", name)):
            errors.append(f"{where}: uses {short(name)}")
        if _WRITABLE.match(section) and not _NOT_OURS.match(mangled):
            errors.append(f"{where}: global mutable state: {short(name)} in {short(section)}")
    return errors


SELF_TEST_CLEAN = """
#include <atomic>
#include <ostream>
// static int in_a_comment = 0; std::chrono
/* rand() */
namespace wire {
static constexpr int limit = 3;
static const char* const names[] = {"time(0)", "std::cout"};
inline constexpr int big = 1'000;
struct Frame {
  static Frame parse(int value);
  static const int size = 4;
  Frame& operator=(const Frame&) = default;
  int time(int now) const { return now; }
  virtual ~Frame() = default;
};
static_assert(limit == 3);
inline Frame make() { return Frame{}; }
inline int elapsed(const Frame& frame) { return frame.time(0) + static_cast<int>(names[0][0]); }
}  // namespace wire
wire::Frame keep() { return wire::make(); }
int keep2(const wire::Frame& f) { return wire::elapsed(f); }
"""

SELF_TEST_SOURCES = {  # a line to add -> what the report must say
    "#include <iostream>": "include <iostream>",
    "#include <chrono>": "include <chrono>",
    "# include <boost/asio/io_context.hpp>": "include <boost/asio",
    '#include "spdlog/spdlog.h"': "include <spdlog",
    "#include <sys/socket.h>": "include <sys/socket.h>",
    "int f() { return rand(); }": "chance",
    "long f() { return ::time(nullptr); }": "clock",
    "const char* f() { return std::getenv(\"HOME\"); }": "environment",
    "void f() { std::mutex m; }": "thread",
    "int f() { static int calls = 0; return ++calls; }": "global mutable state: int calls",
    "static std::vector<int> all;": "global mutable state",
    "inline int counter{};": "global mutable state: int counter",
    "thread_local int mine;": "thread",
}

SELF_TEST_LIBRARIES = {
    "int counter;": "mutable state: counter",
    "static int hidden = 3; int f() { return hidden++; }": "mutable state: hidden",
    "int f() { static int calls; return ++calls; }": "mutable state: f()::calls",
    "template <class T> struct X { static inline T v{}; }; int f() { return X<int>::v++; }": "mutable state: X<int>::v",
    "thread_local int mine = 1; int f() { return mine++; }": "mutable state: mine",
    "const char* name = \"n\";": "mutable state: name",
    "#include <cstdlib>\nint f() { return std::rand(); }": "uses rand",
    "#include <ctime>\nlong f() { return std::time(nullptr); }": "uses time",
    "#include <chrono>\nlong f() { return std::chrono::steady_clock::now().time_since_epoch().count(); }": "uses std::chrono",
    "#include <fstream>\nvoid f() { std::ofstream(\"x\") << 1; }": "uses std::",
}


def self_test_sources() -> list:
    failures = []
    for extra, expected in [("", None), *SELF_TEST_SOURCES.items()]:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for folder in [*PURE, *DRIVERS]:
                (root / folder).mkdir(parents=True, exist_ok=True)
            (root / "wire" / "frame.cpp").write_text(SELF_TEST_CLEAN + extra + "\n")
            (root / "fc2_fabric" / "drivers" / "live.cpp").write_text("#include <chrono>\nstatic int open_ports = 0;\n")
            errors = source_errors(root)
            if (expected is None and errors) or (expected and not any(expected in e for e in errors)):
                failures.append(f"self test of sources, '{extra}': expected {expected}, found {errors}")
    return failures


def self_test_libraries() -> list:
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if not compiler:
        return ["self test of libraries: no C++ compiler"]
    failures = []
    for extra, expected in [("", None), *SELF_TEST_LIBRARIES.items()]:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "fc2_fabric" / "drivers").mkdir(parents=True)
            (root / "fc2_fabric" / "drivers" / "live.cpp").write_text("int open_ports;\n")
            (root / "frame.cpp").write_text(SELF_TEST_CLEAN + extra + "\n")
            run = lambda *command: subprocess.run(command, check=True, cwd=root)
            run(compiler, "-std=c++20", "-fPIC", "-c", "frame.cpp", "-o", "frame.cpp.o")
            run(compiler, "-std=c++20", "-fPIC", "-c", "fc2_fabric/drivers/live.cpp", "-o", "live.cpp.o")
            run("ar", "rcs", "libframe.a", "frame.cpp.o", "live.cpp.o")
            errors = library_errors(root, root / "libframe.a")
            if (expected is None and errors) or (expected and not any(expected in e for e in errors)):
                failures.append(f"self test of libraries, '{extra}': expected {expected}, found {errors}")
    return failures


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    if arguments == ["--self-test"]:
        errors = self_test_sources() + self_test_libraries()
    else:
        root = Path(arguments[0]).resolve()
        missing = [f"{root}: no folder {folder}/" for folder in PURE if not (root / folder).is_dir()]
        libraries = [Path(a) for a in arguments[1:]]
        if missing:
            errors = missing
        elif libraries:
            errors = [error for library in libraries for error in library_errors(root, library)]
        else:
            errors = source_errors(root)
        if not errors:
            print(f"pure: {len(libraries)} libraries" if libraries else f"pure: {len(pure_files(root))} files")
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
