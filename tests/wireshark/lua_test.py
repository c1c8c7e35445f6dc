#!/usr/bin/env python3
"""The conversations of corpus.py with Lua 5.4, which Wireshark has since 4.4; tshark of Debian 12 has 5.2. stand_in.lua takes the
place of Wireshark.

usage: lua_test.py PLUGIN
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import corpus
from tshark import SKIPPED, workspace

HERE = Path(__file__).parent


def as_lua(name: str, maker, violations) -> str:
    frames, at = [], 0.0
    for frame in maker().list():
        at += frame.after
        direction = -1 if frame.outbound is None else 0 if frame.outbound else 1
        data = "".join(f"\\x{byte:02x}" for byte in frame.fc())
        facts = f'crc_error = {str(frame.crc_error).lower()}, comment = "{frame.comment}", missing = {frame.missing}'
        frames.append(f'{{"{data}", {direction}, {at:.9f}, {facts}}}')
    return f'{{name = "{name}", wanted = "{",".join(sorted(violations))}", frames = {{{", ".join(frames)}}}}},\n'


def main() -> int:
    interpreter = shutil.which("lua5.4")
    if interpreter is None:
        print("skipped: lua5.4 is not installed")
        return SKIPPED
    with workspace() as place:
        cases = Path(place) / "cases.lua"
        conversations = dict(corpus.CASES, **{name: (maker, ()) for name, maker in corpus.GOOD.items()})
        text = [as_lua(name, maker, violations) for name, (maker, violations) in conversations.items()]
        cases.write_text("return {\n" + "".join(text) + "}\n", encoding="utf-8")
        statuses = [subprocess.run([interpreter, HERE / "stand_in.lua", sys.argv[1], cases], check=False, env=environment).returncode
                    for environment in (dict(os.environ), dict(os.environ, FCVI_FLOATS="1"), dict(os.environ, FCVI_UNSEEN="1"))]
    return 1 if any(statuses) else 0


if __name__ == "__main__":
    sys.exit(main())
