"""fcvi.live on a fabric of its own: faults befall a running program, and are told; mistakes are told."""

import os
import subprocess
import time
from pathlib import Path

import fcvi.live
import pytest

BIN = Path(os.environ.get("FCVI_BIN", ""))
PROGRAMS = ("fcvi-ctl", "fcvi-fabricd", "viping")
MISSING = [name for name in PROGRAMS if not (BIN / name).exists()]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not built: {', '.join(MISSING)}")
PATIENCE_S = 120


class Fabric:
    def __init__(self, folder):
        self.runtime = folder / "run"
        configuration = folder / "nic.yaml"
        configuration.write_text("nics:\n- {name: VINIC, transport: local, timeouts: {open: 60s, name_service: 60s, ulp: 1s, "
                                 "name_appears: 60s}}\n")
        ours = {name: value for name, value in os.environ.items() if not name.startswith("FCVI_")}
        self.environment = {**ours, "FCVI_RUNTIME_DIR": str(self.runtime), "FCVI_FABRICD": str(BIN / "fcvi-fabricd"),
                            "FCVI_CONFIG": str(configuration), "XDG_CONFIG_HOME": str(folder)}
        self.live = fcvi.live.Live(str(self.runtime), str(BIN / "fcvi-ctl"), timeout=PATIENCE_S)

    def start(self, node, *words):
        return subprocess.Popen([str(BIN / words[0]), *words[1:]], env={**self.environment, "FCVI_NODE": node},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ping(self, *words):
        child = self.start("alice", "viping", "-t", "60", "-W", "60", *words, "bob")
        out, _ = child.communicate(timeout=PATIENCE_S)
        return child.returncode, out


@pytest.fixture
def fabric(tmp_path):
    """bob answers."""
    fabric = Fabric(tmp_path)
    server = fabric.start("bob", "viping", "-t", "60", "--listen")
    status, out = fabric.ping("-c", "1")
    assert status == 0, out
    yield fabric
    server.kill()
    server.communicate()


def test_a_rule_loses_one_message_and_goes_with_its_block(fabric):
    with fabric.live.faults("action=drop message=FCVI_SEND_RQST nth=2 port=alice"):
        _, out = fabric.ping("-l", "unreliable", "-c", "3", "-i", "0.01", "-W", "2")
        assert "3 messages transmitted, 2 received" in out
        assert [rule["fired"] for rule in fabric.live.rules()] == [1]
    assert fabric.live.rules() == []
    assert "bob" in [port["node"] for port in fabric.live.status()["ports"]]


# Rules that others added stay where a block ends, and where one of several rules was wrong none is left.
def test_a_block_leaves_the_rules_of_others(fabric):
    def numbers():
        return [rule["id"] for rule in fabric.live.rules()]

    [kept] = fabric.live.add_faults("action=delay by=1us message=LOGO port=nobody")
    with fabric.live.faults("action=drop message=LOGO port=nobody", "{action: drop, message: PRLI, port: nobody}") as mine:
        assert numbers() == [kept, *mine] and len(mine) == 2
        fabric.live.clear_faults(mine[0])
        assert numbers() == [kept, mine[1]]
    assert numbers() == [kept]
    with pytest.raises(fcvi.live.LiveError, match="dorp"):
        fabric.live.add_faults("action=drop message=LOGO port=nobody", "action=dorp message=LOGO")
    assert numbers() == [kept]
    fabric.live.clear_faults()
    assert numbers() == []


def test_links_go_down_and_come_up(fabric):
    fabric.live.link("bob", "down")
    fabric.live.link("bob", "up")
    deadline = time.monotonic() + PATIENCE_S
    while fabric.ping("-c", "1")[0] != 0:
        assert time.monotonic() < deadline


def test_mistakes_are_told(fabric):
    with pytest.raises(fcvi.live.LiveError, match="mesage"):
        fabric.live.add_faults("action=drop mesage=FCVI_SEND_RQST")
    with pytest.raises(fcvi.live.LiveError):
        fabric.live.link("nobody", "down")
    with pytest.raises(fcvi.live.LiveError, match="no program"):
        fcvi.live.Live(program="/no/such/fcvi-ctl").status()
