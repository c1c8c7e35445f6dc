"""The local fabric that fcvi-fabricd serves, by its control socket: what fcvi-ctl does, for tests of running programs.

    live = fcvi.live.Live()
    with live.faults("action=drop message=FCVI_SEND_RQST nth=2"):
        ...                                   # run programs
        assert live.rules()[0]["fired"] == 1

Rules are those of scenarios (docs/live.md). There is no virtual time here, and predicates of Python are not asked.
"""

import contextlib
import json
import os
import shutil
import subprocess
from typing import Any, Dict, Iterator, List, Optional

__all__ = ["Live", "LiveError"]


class LiveError(RuntimeError):
    """fcvi-ctl could not do it, or the words were wrong: the text is what it said."""


class Live:
    """The fabric of a runtime directory. `program`: where fcvi-ctl is, if not on the PATH."""

    def __init__(self, runtime_directory: Optional[str] = None, program: str = "fcvi-ctl", timeout: float = 30.0) -> None:
        self._program = program
        self._runtime_directory = runtime_directory
        self._timeout = timeout

    def control(self, *words: str) -> str:
        """Runs fcvi-ctl with these words; what it printed. LiveError: it did not succeed."""
        program = shutil.which(self._program)
        if program is None:
            raise LiveError(f"there is no program {self._program}")
        environment = dict(os.environ)
        if self._runtime_directory is not None:
            environment["FCVI_RUNTIME_DIR"] = str(self._runtime_directory)
        try:
            done = subprocess.run([program, *words], env=environment, capture_output=True, text=True, check=False,
                                  timeout=self._timeout)
        except subprocess.TimeoutExpired:
            raise LiveError(f"fcvi-ctl {' '.join(words)}: no answer within {self._timeout} s") from None
        if done.returncode != 0:
            raise LiveError(done.stderr.strip() or f"fcvi-ctl {' '.join(words)}: exit status {done.returncode}")
        return done.stdout

    def status(self) -> Dict[str, Any]:
        """Ports, links, faults and counters, as `fcvi-ctl status --json` has them (docs/live.md)."""
        return json.loads(self.control("status", "--json"))

    def rules(self) -> List[Dict[str, Any]]:
        """Each rule, how often it matched and fired, as `fcvi-ctl fault list --json` has them."""
        return json.loads(self.control("fault", "list", "--json"))

    def add_faults(self, *rules: str) -> List[int]:
        """Rules, each "action=drop message=FCVI_SEND_RQST nth=2" or in braces; frames sent from then on follow them.

        Their numbers, as rules() has them. LiveError: one is wrong, and none of them is there."""
        added: List[int] = []
        try:
            for rule in rules:
                words = [rule] if rule.lstrip().startswith("{") else rule.split()
                added.append(int(self.control("fault", "add", *words).split()[0]))
        except LiveError:
            if added:
                self.clear_faults(*added)
            raise
        return added

    def clear_faults(self, *numbers: int) -> None:
        """Removes the rules with these numbers; without any, all."""
        self.control("fault", "clear", *map(str, numbers))

    @contextlib.contextmanager
    def faults(self, *rules: str) -> Iterator[List[int]]:
        """These rules, in addition to others, until the end of the block; others stay. Gives their numbers."""
        added = self.add_faults(*rules)
        try:
            yield added
        finally:
            here = [rule["id"] for rule in self.rules()]
            mine = [number for number in added if number in here]  # who cleared some within the block has done so
            if mine:
                self.clear_faults(*mine)

    def link(self, port: str, action: str) -> None:
        """Takes the link of a port down or up, or both at once: "down", "up", "reset"."""
        self.control("link", port, action)
