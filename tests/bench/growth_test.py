#!/usr/bin/env python3
"""That tests/bench/growth measures and draws, and that what a message takes does not grow with what there is.

usage: growth_test.py BENCH_GROWTH                  the script, from end to end, with small numbers; no time is judged
       growth_test.py BENCH_GROWTH --instructions   instructions of a message with few and with many, by callgrind
       growth_test.py BENCH_GROWTH --memory         heap of an idle connection's end with its VI
       growth_test.py --self-test                   tables, picture and page of results that are made up
"""

import importlib.machinery
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.dom import minidom

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# Of about 5,000 instructions. To look at half of a list of 1,000 takes more than this, even at two an entry.
MOST_GROWTH = 1.1
FEW, MANY = 10, 1000
# Of an idle connection's end with its VI, what the allocator adds and its share of all tables included.
MOST_BYTES = 1024
CONNECTIONS = 1000
COUNTED = [("connections", ["--order", "random"]), ("connections", ["--at-once", "all"]), ("ports", []),
           ("ports", ["--one-server"]), ("descriptors", [])]


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("growth", str(HERE / "growth"))
    spec = importlib.util.spec_from_loader("growth", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


growth = load()
import measured_page  # noqa: E402  pylint: disable=wrong-import-position


def check_picture(svg: str, panels: list) -> None:
    """Well-formed, with a point for each number of each line."""
    document = minidom.parseString(svg)
    assert document.documentElement.tagName == "svg"
    points = sum(len(panel.lines) * len(panel.numbers) for panel in panels)
    assert len(document.getElementsByTagName("circle")) == points, points
    assert len(document.getElementsByTagName("polyline")) == sum(len(panel.lines) for panel in panels)
    words = [node.firstChild.data for node in document.getElementsByTagName("text")]
    for panel in panels:
        assert panel.title in words and panel.y_title in words, panel.title
    width, height = (float(document.documentElement.getAttribute(name)) for name in ("width", "height"))
    for circle in document.getElementsByTagName("circle"):
        assert 0 < float(circle.getAttribute("cx")) < width and 0 < float(circle.getAttribute("cy")) < height


def too_much(few: float, many: float) -> bool:
    return many > few * MOST_GROWTH


def instructions(program: str) -> None:
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        sys.exit(SKIPPED)
    wrong = []
    for case, options in COUNTED:
        few, many = (growth.count(program, case, n, *options)["instructions"] for n in (FEW, MANY))
        line = f"{' '.join([case, *options])}: {few:.0f} instructions a message with {FEW}, {many:.0f} with {MANY}"
        print(line, flush=True)
        if too_much(few, many):
            wrong.append(line)
    sys.exit("\n".join(["more than it may grow:", *wrong]) if wrong else 0)


def memory(program: str) -> None:
    """A count, and the same in each run: blocks and tables depend on nothing but the number of connections."""
    row = growth.bench(program, "memory", CONNECTIONS)
    line = f"{row['bytes']} bytes with {CONNECTIONS} connections, {row['after_message_bytes']} more after a message; {row['parts']}"
    print(line, flush=True)
    sys.exit(None if float(row["bytes"]) <= MOST_BYTES else f"more than {MOST_BYTES}: {line}")


def end_to_end(program: str) -> None:
    build = Path(program).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        svg, numbers = Path(folder) / "growth.svg", Path(folder) / "growth.json"
        done = subprocess.run([sys.executable, "-B", HERE / "growth", "--quick", "--build", build, "--svg", svg, "--json", numbers],
                              capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        results = json.loads(numbers.read_text(encoding="utf-8"))
        panels = growth.PANELS
        for panel in panels:
            panel.numbers = sorted({row["n"] for row in results["times"] if row["case"] == panel.case})
            assert len(panel.numbers) > 1, panel.case
        check_picture(svg.read_text(encoding="utf-8"), panels)
    assert all(min(row["ns"]) > 0 for row in results["times"])
    assert float(results["memory"]["bytes"]) > 0 and "fcvi::Connection" in results["memory"]["parts"]
    assert all(panel.y_title in done.stdout for panel in panels)
    refused = subprocess.run([program, "ports", "3"], capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2 and "usage" in refused.stderr, refused
    for words in (["--only", "nothing"], ["--rounds", "0"], ["--update", "--quick"]):
        refused = subprocess.run([sys.executable, "-B", HERE / "growth", *words], capture_output=True, text=True, timeout=60, check=False)
        assert refused.returncode == 2, words


def made_up() -> dict:
    times = [{"case": panel.case, "line": line, "n": n, "ns": [400.0 + n % 7, 500.0, 4321.0], "median": 500.0}
             for panel in growth.PANELS for line, _ in panel.lines for n in panel.numbers]
    counts = [{"case": "ports", "line": "pairs, one by one", "n": 1000, "instructions": 5678.2, "misses": 119.9}]
    machine = {"cores": 2, "cpu": "A & B <C>", "kernel": "6.1.0-x", "busy": 0.01, "busy_at_end": 0.02, "load_average": 0.1}
    memory = {"n": "10000", "bytes": "1810.4", "vi_bytes": "253.7", "connection_bytes": "1556.7", "after_message_bytes": "299",
              "parts": "1064 B x 1.00"}
    return {"machine": machine, "rounds": 3, "times": times, "counts": counts, "memory": memory}


def raises(call) -> bool:
    try:
        call()
    except growth.Failed:
        return True
    return False


def self_test() -> None:
    results = made_up()
    check_picture(growth.picture(results, growth.PANELS), growth.PANELS)
    made = growth.tables(results, growth.PANELS)
    for expected in ("| 100,000 | 500 (405 to 4,321) |", "| 16 MiB | 500 (", "| 512 B |", "| ports | pairs, one by one | 1,000 | 5,678 | 119.9 |",
                     "1,810 bytes", "Linux 6.1;"):
        assert expected in made, f"{expected} in {made}"
    begin, other = measured_page.begin(growth.COMMAND), measured_page.begin("another")
    page = f"{other}\n\nolder\n\n{measured_page.END}\na\n{begin}\n\nold\n\n{measured_page.END}\nb\n"
    assert growth.updated(page, growth.COMMAND, "new\n") == page.replace("old\n\n", "new\n\n")
    assert growth.updated(page, "another", "new\n") == page.replace("older", "new")
    whole = growth.PAGE.read_text(encoding="utf-8")
    assert "\nmade\n" in growth.updated(whole, growth.COMMAND, "made\n"), "the page itself has the marks"
    assert raises(lambda: growth.updated("a\n", growth.COMMAND, "new\n"))
    assert raises(lambda: growth.updated(f"{begin}\n", growth.COMMAND, "new\n")) and growth.PICTURE.exists()
    assert growth.read_csv("a,b\n1,2\n") == {"a": "1", "b": "2"}
    assert all(raises(lambda bad=bad: growth.read_csv(bad)) for bad in ("", "a,b\n", "a,b\n1\n", "a,b\n1,2,3\n", "a,b\n1,2\n3,4\n"))
    assert raises(lambda: growth.run(["false"]))
    assert [growth.step_of(most) for most in (5, 9, 10, 4321)] == [1, 2, 2, 1000]
    assert not too_much(5000, 5499) and too_much(5000, 5501)


def main() -> None:
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif sys.argv[2:] == ["--instructions"]:
        instructions(sys.argv[1])
    elif sys.argv[2:] == ["--memory"]:
        memory(sys.argv[1])
    else:
        end_to_end(sys.argv[1])


if __name__ == "__main__":
    main()
