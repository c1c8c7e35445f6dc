#!/usr/bin/env python3
"""Builds fcvi-sim with one mistake in it, soaks it, and says whether that finds the mistake and how small it shrinks it.

usage: planted.py BUILD [--only NAME,...] [--seeds N] [--jobs N]

BUILD has a complete build of fcvi-sim. For each mistake one source file is changed in a copy and compiled by the command of
the build; its object is linked before the libraries, of which the linker then does not take the one that is as it was. The
tree and the build stay as they are. Exit status: 0 each one is caught within N seeds (2,000) and shrinks to at most 10 lines,
at which the program with the mistake fails and the sound one does not.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

MOST_LINES = 10


class Mistake(NamedTuple):
    name: str
    file: str
    old: str   # stands there once
    new: str


MISTAKES = [
    # Those that issue 17 names.
    Mistake("lost_timer", "fcvi/received_setup.cpp",
            "void ReceivedSetup::start_t2() { services_.scheduler.schedule_after(course_->t2, 2 * services_.ulp_timeout()); }",
            "void ReceivedSetup::start_t2() {}"),
    Mistake("double_completion", "vi/vi.cpp",
            "  announce(queue, queue.complete(index, whole));\n",
            "  announce(queue, queue.complete(index, whole));\n"
            "  if ((whole & status::flushed) != 0) nic_.listener().completed(*this, &queue == &receive_, entry.address, true);\n"),
    Mistake("seq_cnt_off_by_one", "fcvi/message_receiver_epochs.cpp",
            ".last_seq_cnt = static_cast<std::uint16_t>(expected_seq_cnt_ - 1)",
            ".last_seq_cnt = expected_seq_cnt_"),
    Mistake("wrong_guard", "fcvi/peer_request.cpp", "return pa::is_free(machine_) && !own && ", "return pa::is_free(machine_) && "),
    Mistake("leaked_handle", "fcvi/connection.cpp",
            "  if (setup_ == &setup) setup_ = nullptr;\n  release_if_unused();\n",
            "  if (setup_ == &setup) setup_ = nullptr;\n"),
    # Five more.
    Mistake("held_frames_forgotten", "fc2_fabric/node/remote_port.cpp",
            "  suspended_ = false;\n  release_held();\n", "  suspended_ = false;\n"),
    Mistake("credit_lost_in_class_2", "fc2_fabric/node/exchange_class_2.cpp",
            "  if (sent.credit_taken != 0) return_credit(1);\n", ""),
    Mistake("arrivals_joined_wrongly", "fcvi/arrivals.cpp",
            "(next - 1)->end = joins_next ? next->end : piece.end;",
            "(next - 1)->end = piece.end;"),
    Mistake("number_rests_for_ever", "fcvi/connection_ids.cpp", "      found->second.owes_disconnect = false;\n", ""),
    Mistake("timer_not_stopped", "fcvi/disconnector.cpp",
            "void Disconnector::stop_response_timer() { services().scheduler.cancel(timer_); }",
            "void Disconnector::stop_response_timer() {}"),
]


class Caught(NamedTuple):
    seed: int
    kind: str
    lines: int
    trials: int
    minimal: str


def run(command: list, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)[:300]}\n{done.stdout[-4000:]}")
    return done.stdout


class Build:
    """Of which objects can be replaced."""

    def __init__(self, folder: Path):
        self.folder = folder.resolve()
        cache = (self.folder / "CMakeCache.txt").read_text(encoding="utf-8")
        self.source = Path(re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE).group(1))
        self.commands = run(["ninja", "-t", "commands", "bin/fcvi-sim"], self.folder).splitlines()

    def compiled_with(self, file: str, changed: Path) -> tuple:
        """The source of the build that has the file in it, and the one to compile instead: where several sources are joined
        (FCVI_JOINED), all of them with `changed` for the file."""
        path = str(self.source / file)
        for joined in self.folder.glob(f"{file.split('/')[0]}/CMakeFiles/*.dir/Unity/*.cxx"):
            text = joined.read_text(encoding="utf-8")
            if f'#include "{path}"' in text:
                copy = changed.with_name("joined.cxx")
                copy.write_text(text.replace(f'#include "{path}"', f'#include "{changed}"'), encoding="utf-8")
                return str(joined), copy
        return path, changed

    def compile(self, file: str, changed: Path, to: Path) -> None:
        path, changed = self.compiled_with(file, changed)
        line = next(one for one in self.commands if one.endswith(f" -c {path}") or f" -c {path} " in one)
        words = [word for word in shlex.split(line) if word not in ("&&", ":")]
        output = words.index("-o")
        words[output + 1] = str(to)
        words[words.index("-c") + 1] = str(changed)
        for name in ("-MF", "-MT"):
            if name in words:
                words[words.index(name) + 1] = f"{to}.d"
        run([*words, "-w"], self.folder)  # of what a mistake leaves unused

    def link(self, changed: Path, to: Path) -> None:
        line = next(one for one in reversed(self.commands) if "-o bin/fcvi-sim" in one)
        words = [word for word in shlex.split(line.split(" && ")[1] if " && " in line else line) if word != ":"]
        output = words.index("-o")
        words[output:output + 2] = [str(changed), "-o", str(to)]
        run(words, self.folder)


def with_mistake(build: Build, mistake: Mistake, folder: Path) -> Path:
    text = (build.source / mistake.file).read_text(encoding="utf-8")
    if text.count(mistake.old) != 1:
        raise SystemExit(f"{mistake.name}: {mistake.file} does not have this once: {mistake.old}")
    changed = folder / Path(mistake.file).name
    changed.write_text(text.replace(mistake.old, mistake.new), encoding="utf-8")
    build.compile(mistake.file, changed, folder / "changed.o")
    build.link(folder / "changed.o", folder / "fcvi-sim")
    return folder / "fcvi-sim"


def soak(program: Path, seeds: int, jobs: int, folder: Path) -> Caught:
    """None: it passed."""
    done = subprocess.run([str(program), "soak", "--seeds", f"1..{seeds}", "--failures", "1", "--jobs", str(jobs), "--out",
                           str(folder / "out")], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    failure = re.search(r"^  seed (\d+): (.*)$", done.stdout, re.MULTILINE)
    if failure is None:
        return None
    minimal = (folder / "out" / f"seed-{failure.group(1)}" / "minimal.yaml").read_text(encoding="utf-8")
    trials = re.search(r"^shrunk by ([\d,]+) runs?.* to:$", done.stdout, re.MULTILINE).group(1)
    return Caught(int(failure.group(1)), failure.group(2), minimal.count("\n"), int(trials.replace(",", "")), minimal)


def passes(program: Path, arguments: list, folder: Path) -> bool:
    done = subprocess.run([str(program), "soak", *arguments, "--out", str(folder / "again")], capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return done.returncode == 0


def what_is_wrong(build: Build, caught: Caught, folder: Path) -> str:
    """The sound program passes what was drawn and what is left of it; the other one fails at what is left."""
    sound = build.folder / "bin" / "fcvi-sim"
    minimal = str(folder / "left.yaml")
    Path(minimal).write_text(caught.minimal, encoding="utf-8")
    if not passes(sound, ["--seed", str(caught.seed)], folder):
        return f"seed {caught.seed} fails without the mistake, too"
    if not passes(sound, [minimal], folder):
        return f"what is left of seed {caught.seed} fails without the mistake, too:\n{caught.minimal}"
    if passes(folder / "fcvi-sim", [minimal], folder):
        return f"what is left of seed {caught.seed} passes with the mistake:\n{caught.minimal}"
    return ""


def judge(build: Build, mistake: Mistake, options) -> bool:
    with tempfile.TemporaryDirectory(prefix="planted_") as name:
        folder = Path(name)
        caught = soak(with_mistake(build, mistake, folder), options.seeds, options.jobs, folder)
        wrong = what_is_wrong(build, caught, folder) if caught is not None else ""
        if wrong:
            print(f"{mistake.name}: {wrong}", flush=True)
            return False
    if caught is None:
        print(f"{mistake.name}: not caught in {options.seeds} seeds", flush=True)
        return False
    print(f"{mistake.name}: seed {caught.seed}: {caught.kind}; {caught.lines} lines after {caught.trials} runs\n{caught.minimal}",
          flush=True)
    return caught.lines <= MOST_LINES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="", help="names, joined by commas")
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name]
    unknown = set(names) - {mistake.name for mistake in MISTAKES}
    if unknown:
        parser.error(f"no such mistake: {', '.join(sorted(unknown))}")
    build = Build(options.build)
    chosen = [mistake for mistake in MISTAKES if not names or mistake.name in names]
    held = [judge(build, mistake, options) for mistake in chosen]
    print(f"{sum(held)} of {len(held)} mistakes are caught, and shrink to at most {MOST_LINES} lines")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
