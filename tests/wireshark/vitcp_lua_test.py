#!/usr/bin/env python3
"""The connections of vitcp_corpus.py with Lua 5.4, which Wireshark has since 4.4; tshark of Debian 12 has 5.2. vitcp_stand_in.lua
takes the place of Wireshark.

usage: vitcp_lua_test.py PLUGIN
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import vitcp_corpus
from tshark import SKIPPED, workspace

HERE = Path(__file__).parent


def as_lua(name: str, maker, violations) -> str:
    calls, seq = [], {True: 1, False: 1}
    for segment in maker().list():
        data = segment.octets()
        octets = "".join(f"\\x{octet:02x}" for octet in data)
        ack = seq[not segment.client]
        calls.append(f'{{"{octets}", client = {str(segment.client).lower()}, seq = {seq[segment.client]}, ack = {ack}}}')
        seq[segment.client] += len(data)
    return f'{{name = "{name}", wanted = "{",".join(sorted(violations))}", calls = {{{", ".join(calls)}}}}},\n'


def main() -> int:
    interpreter = shutil.which("lua5.4")
    if interpreter is None:
        print("skipped: lua5.4 is not installed")
        return SKIPPED
    with workspace() as place:
        cases = Path(place) / "cases.lua"
        connections = dict(vitcp_corpus.CASES, **{name: (maker, ()) for name, maker in vitcp_corpus.GOOD.items()})
        # Which octets are before the capture the stand-in cannot tell.
        text = [as_lua(name, maker, violations) for name, (maker, violations) in connections.items()
                if not name.startswith("the capture begins")]
        cases.write_text("return {\n" + "".join(text) + "}\n", encoding="utf-8")
        statuses = [subprocess.run([interpreter, HERE / "vitcp_stand_in.lua", sys.argv[1], cases], check=False, env=environment).returncode
                    for environment in (dict(os.environ), dict(os.environ, FCVI_FLOATS="1"), dict(os.environ, FCVI_UNSEEN="1"))]
    return 1 if any(statuses) else 0


if __name__ == "__main__":
    sys.exit(main())
