#!/usr/bin/env python3
"""fcvi-sim decode against tshark without the plugin, on all captures of the tree: for each frame the same addresses, Exchange and
Sequence ids, SEQ_CNT, F_CTL and verdict on the CRC. Captures of a Linux peer, one of a simulated fabric with damaged frames, and
conversations over each link type.

usage: decode_tshark_test.py FCVI_SIM PLUGIN DATA SCENARIO
"""

import subprocess
import sys
from pathlib import Path

import capture_file
from conversation import Conversation
from decode_corpus_test import decode
from tshark import Tshark, skip_without_tshark, workspace

# tshark's name, decode's, and how many digits.
FIELDS = {"fc.s_id": ("s_id", 6), "fc.d_id": ("d_id", 6), "fc.ox_id": ("ox_id", 4), "fc.rx_id": ("rx_id", 4),
          "fc.seq_id": ("seq_id", 2), "fc.f_ctl": ("f_ctl", 6), "fc.r_ctl": ("r_ctl", 2)}


def digits(value: str, count: int) -> str:
    return value.replace(".", "").replace("0x", "").upper().rjust(count, "0")[-count:]


def compare(tshark, program, capture, failures) -> int:
    names = ["frame.number", *FIELDS, "fc.seq_cnt", "fcoe.crc.status"]
    rows = tshark.fields(capture, names, "-o", "fc.reassemble:FALSE", with_plugin=False)
    frames, compared = decode(program, capture), 0
    if len(rows) != len(frames):
        failures.append(f"{capture.name}: tshark has {len(rows)} frames, decode {len(frames)}")
    for row, frame in zip(rows, frames):
        where = f"{capture.name}, frame {row['frame.number'][0]}"
        # FIP carries frames within it: decode's are those that stand by themselves.
        if "s_id" not in frame:
            continue
        if not row["fc.s_id"]:
            failures.append(f"{where}: tshark sees no Fibre Channel frame")
            continue
        compared += 1
        for theirs, (ours, count) in FIELDS.items():
            if digits(row[theirs][0], count) != frame[ours]:
                failures.append(f"{where}: {ours} is {row[theirs][0]}, decode says {frame[ours]}")
        if int(row["fc.seq_cnt"][0]) != frame["seq_cnt"]:
            failures.append(f"{where}: seq_cnt is {row['fc.seq_cnt'][0]}, decode says {frame['seq_cnt']}")
        if row["fcoe.crc.status"] and (row["fcoe.crc.status"][0] in ("1", "Good")) != frame["crc_ok"]:
            failures.append(f"{where}: CRC status is {row['fcoe.crc.status'][0]}, decode says {frame['crc_ok']}")
    return compared


def simulated(program, scenario, place) -> Path:
    """Some frames have a wrong CRC."""
    capture = Path(place) / "damaged.pcapng"
    # What the run expects does not hold then: status 1.
    status = subprocess.run([program, "run", scenario, "--capture", str(capture)], stdout=subprocess.DEVNULL, check=False).returncode
    assert status == 1, status
    assert any(frame.get("crc_ok") is False for frame in decode(program, capture)), "no frame is damaged"
    return capture


def main() -> int:
    program, plugin, data, scenario = sys.argv[1:]
    skip_without_tshark()
    tshark, failures, compared = Tshark(plugin), [], 0
    with workspace() as place:
        captures = sorted(Path(data).glob("*cap*"))
        assert captures, data
        captures.append(simulated(program, scenario, place))
        for link_type in (capture_file.ETHERNET, capture_file.FC, capture_file.FC_WITH_DELIMITERS):
            talk = Conversation().connect().message("m", 5000).read("r", 3000).disconnect()
            captures.append(capture_file.write(Path(place) / f"{link_type}.pcapng", talk.list(), link_type))
        for capture in captures:
            found = compare(tshark, program, capture, failures)
            print(f"{capture.name}: {found} frames")
            if found == 0:
                failures.append(f"{capture.name}: nothing was compared")
            compared += found
    for failure in failures[:40]:
        print(failure)
    print(f"{len(captures)} captures, {compared} frames compared, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
