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

    def add_faults(self, *rules: str) -> None:
        """Rules, each "action=drop message=FCVI_SEND_RQST nth=2" or in braces; frames sent from then on follow them."""
        for rule in rules:
            self.control("fault", "add", *([rule] if rule.lstrip().startswith("{") else rule.split()))

    def clear_faults(self) -> None:
        """Removes all rules."""
        self.control("fault", "clear")

    @contextlib.contextmanager
    def faults(self, *rules: str) -> Iterator[None]:
        """These rules, in addition to others, until the end of the block; then all are removed."""
        self.add_faults(*rules)
        try:
            yield
        finally:
            self.clear_faults()

    def link(self, port: str, action: str) -> None:
        """Takes the link of a port down or up, or both at once: "down", "up", "reset"."""
        self.control("link", port, action)
