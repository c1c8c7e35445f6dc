#!/usr/bin/env python3
"""fcvi-sim decode names the same violations as the Wireshark plugin: each broken conversation of corpus.py gets those that it must,
and no other; the good ones get none. Over FCoE and both Fibre Channel link types. Garbled frames end no run.

usage: decode_corpus_test.py FCVI_SIM VIOLATIONS_HPP
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import capture_file
import corpus
import garbled_test
from conversation import UNRELIABLE, Conversation
from tshark import workspace

LINK_TYPES = (capture_file.ETHERNET, capture_file.FC, capture_file.FC_WITH_DELIMITERS)


def decode(program, capture, *arguments):
    """The frames of a capture as decode's JSON has them; an error ends the test."""
    done = subprocess.run([program, "decode", "--json", *arguments, str(capture)], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"decode {' '.join(arguments)} of {capture}: status {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def violations_of(frames) -> set:
    return {found["name"] for frame in frames for found in frame.get("violations", ())}


def invalid_frames(program, capture) -> list:
    """A frame with EOFni or EOFa is no frame for its receiver: the message after it has a wrong number."""
    failures = []
    for eof in (0x49, 0x50):
        for link_type in (capture_file.ETHERNET, capture_file.FC_WITH_DELIMITERS):
            talk = Conversation(UNRELIABLE).connect().message("m", 10).message("n", 10).set("m.0", eof=eof)
            frames = dict(zip(talk.frames, decode(program, capture_file.write(capture, talk.list(), link_type))))
            if violations_of([frames["m.0"]]) or violations_of([frames["n.0"]]) != {"message_order"}:
                failures.append(f"EOF {eof:02X}h, link type {link_type}: {frames['n.0'].get('violations')}")
    return failures


def main() -> int:
    program, header = sys.argv[1:]
    failures, runs, raised = [], 0, set()
    cases = dict(corpus.CASES, **{name: (maker, set()) for name, maker in corpus.GOOD.items()})
    with workspace() as place:
        capture = Path(place) / "c.pcapng"
        for name, (maker, expected) in cases.items():
            for link_type in LINK_TYPES:
                talk = maker()
                if link_type == capture_file.FC and corpus.needs_crc(talk):
                    continue
                runs += 1
                frames = decode(program, capture_file.write(capture, talk.list(), link_type))
                seen = violations_of(frames)
                raised |= seen
                if len(frames) != len(talk.frames) or seen != expected:
                    failures.append(f"{name} (link type {link_type}): expected {sorted(expected)}, got {sorted(seen)}")
        failures += invalid_frames(program, capture)
        for seed, link_type in enumerate(LINK_TYPES * 2):
            frames = decode(program, capture_file.write(capture, garbled_test.garbled_frames(seed), link_type))
            if len(frames) != garbled_test.FRAMES:
                failures.append(f"garbled, seed {seed}: {len(frames)} frames of {garbled_test.FRAMES}")
    known = set(re.findall(r"Row\{Violation::(\w+),", Path(header).read_text(encoding="utf-8")))
    if known != raised:
        failures.append(f"violations that no case raises: {sorted(known - raised)}, that have no row: {sorted(raised - known)}")
    for failure in failures:
        print(failure)
    print(f"{len(corpus.CASES)} broken and {len(corpus.GOOD)} good conversations, {runs} runs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
