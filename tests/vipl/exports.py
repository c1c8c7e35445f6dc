#!/usr/bin/env python3
"""libvipl.so shows exactly the committed ABI: these names with their versions, this soname, and nothing else.

usage: exports.py NM LIBRARY HEADER     compares with exports.txt beside this file
       exports.py --self-test
"""

import re
import subprocess
import sys
from pathlib import Path

SONAME = "libvipl.so.1"


def committed(text):
    """(names that must be there, names that may be there) of the list."""
    lines = [line.split("#")[0].split() for line in text.splitlines()]
    return ({words[0] for words in lines if len(words) == 1}, {words[1] for words in lines if words[:1] == ["later"]})


def exported(nm_output):
    """Symbols with their versions; a version node itself is an absolute symbol (type A) and no interface."""
    rows = [line.split() for line in nm_output.splitlines()]
    return {row[-1] for row in rows if len(row) >= 2 and row[-2] != "A"}


def declared(header):
    return set(re.findall(r"^VIPL_API VIP_RETURN (Vip\w+)\(", header, re.MULTILINE))


def differences(required, later, symbols, calls):
    """Sentences, one for each difference."""
    listed = required | later
    names = {symbol.split("@")[0] for symbol in listed}
    return (
        [f"{symbol} is in the list and not in the library" for symbol in sorted(required - symbols)]
        + [f"{symbol} is in the library and not in the list" for symbol in sorted(symbols - listed)]
        + [f"{symbol} is there: take the word 'later' away" for symbol in sorted(symbols & later)]
        + [f"{call} is in the header and not in the list" for call in sorted(calls - names)]
        + [f"{name} is in the list and not in the header" for name in sorted(names - calls)]
    )


def soname(readelf_output):
    found = re.search(r"soname: \[(.*?)\]", readelf_output)
    return found.group(1) if found else ""


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def self_test():
    required, later = committed("# list\nVipA@@V\nlater VipB@@V # soon\n")
    assert (required, later) == ({"VipA@@V"}, {"VipB@@V"})
    symbols = exported("0000 T VipA@@V\n0000 A V\n     w free\n")
    assert symbols == {"VipA@@V", "free"}
    calls = declared("VIPL_API VIP_RETURN VipA(int);\nVIPL_API VIP_RETURN VipB(\n")
    assert not differences(required, later, {"VipA@@V"}, calls)
    assert len(differences(required, later, set(), calls)) == 1
    assert len(differences(required, later, symbols, calls)) == 1
    assert len(differences(required, later, {"VipA@@V", "VipB@@V"}, calls)) == 1
    assert len(differences(required, later, {"VipA@@V"}, calls | {"VipC"})) == 1
    assert len(differences(required, later, {"VipA@@V"}, {"VipA"})) == 1
    assert soname("0xe (SONAME) Library soname: [libx.so.3]") == "libx.so.3"


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    nm, library, header = sys.argv[1:]
    required, later = committed(Path(__file__).with_name("exports.txt").read_text(encoding="utf-8"))
    symbols = exported(run(nm, "-D", "--defined-only", library))
    found = differences(required, later, symbols, declared(Path(header).read_text(encoding="utf-8")))
    if soname(run("readelf", "-d", library)) != SONAME:
        found.append(f"the soname is not {SONAME}")
    print(f"{len(symbols)} symbols, {len(required)} required, {len(later)} to come")
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
