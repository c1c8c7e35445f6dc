"""The module fcvi as who writes tests uses it. What <fcvi/sim.hpp> does is in tests/sim_api; here is what Python adds."""

import ast
import gc
import inspect
import os
import re
import signal
import threading
from pathlib import Path

import fcvi
import pytest


def connected(fabric, reliability="reliable_delivery"):
    """A client VI of alice's and a server VI of bob's."""
    alice, bob = fabric.add_port("alice"), fabric.add_port("bob")
    fabric.run_until_ready()
    client, server = alice.vi(reliability), bob.vi(reliability)
    listening = server.listen("echo")
    client.connect("bob", "echo")
    fabric.run_until(listening)
    fabric.run(0.001)
    return client, server


def test_a_message_arrives(fcvi_fabric):
    client, server = connected(fcvi_fabric)
    receive = server.post_receive()
    send = client.send(bytearray(b"hello"), immediate=7)
    fcvi_fabric.run_until(receive)
    fcvi_fabric.run_until(send)
    assert (receive.data, receive.immediate, send.ok, send.error) == (b"hello", 7, True, "")


def test_rdma_moves_data(fcvi_fabric):
    client, server = connected(fcvi_fabric, "reliable_reception")
    memory = server.allocate(64)
    fcvi_fabric.run_until(client.rdma_write(b"there", memory, 3))
    assert memory.read(3, 5) == b"there" and len(memory) == 64
    read = client.rdma_read(5, memory, 3)
    fcvi_fabric.run_until(read)
    assert read.data == b"there"


def test_virtual_time_is_exact(fcvi_fabric):
    fcvi_fabric.add_port("alice")
    fcvi_fabric.run(0.25)
    assert fcvi_fabric.now == 0.25
    while fcvi_fabric.step():
        pass
    assert fcvi_fabric.now >= 0.25


# --- frames


def test_frames_are_read_and_written_by_field():
    frame = fcvi.Frame("FCVI_SEND_RQST", ox_id=0x1234, payload=b"hello")
    assert frame["ox_id"] == frame["FC.ox_id"] == 0x1234
    assert (frame.payload, frame["fcvi_tot_len"], "fcvi_tot_len" in frame) == (b"hello", 5, True)
    other = frame.copy()
    other["fcvi_msg_id"] = 9
    assert other != frame and frame["fcvi_msg_id"] == 0
    assert fcvi.Frame.from_bytes(bytes(frame)) == frame
    assert frame.fields["FC.ox_id"] == "1234h" and "FCVI_SEND_RQST" in str(frame)


def test_long_fields_are_bytes(fcvi_fabric):
    connected(fcvi_fabric)
    request = fcvi_fabric.frames("FCVI_CONNECT_RQST")[0]
    assert request["payload.remote_address.discriminator"] == b"echo".ljust(128, b"\0")
    request["payload.remote_address.discriminator"] = b"other"
    assert request.text("payload.remote_address.discriminator") == '"other"'
    assert (request.source, request.destination) == ("alice", "bob")


@pytest.mark.parametrize("change, message", [
    (lambda frame: frame["fcvi_handel"], 'did you mean "fcvi_handle"'),
    (lambda frame: frame.__setitem__("ox_id", 0x10000), "takes 0 to 65535"),
    (lambda frame: frame.__setitem__("ox_id", -1), "takes no such number"),
    (lambda frame: frame.__setitem__("ox_id", "7"), "takes an int or bytes"),
    (lambda frame: fcvi.Frame("FCVI_SEND_RQ"), 'did you mean "FCVI_SEND_RQST"'),
    (lambda frame: fcvi.Frame.from_bytes(b""), "24 to 2136 bytes"),
])
def test_mistakes_are_told(change, message):
    frame = fcvi.Frame("FCVI_SEND_RQST")
    before = bytes(frame)
    with pytest.raises(fcvi.Error, match=message):
        change(frame)
    assert bytes(frame) == before


def test_an_iu_of_several_frames_is_one_object(fcvi_fabric):
    client, server = connected(fcvi_fabric)
    server.post_receive()
    fcvi_fabric.run_until(client.send(bytes(range(250)) * 20))
    (message,) = fcvi_fabric.ius("FCVI_SEND_RQST")
    assert message.payload == bytes(range(250)) * 20 and len(fcvi_fabric.frames("FCVI_SEND_RQST")) == 3


# --- faults


@pytest.mark.parametrize("answer, arrives", [
    (None, True), (False, True), (True, False), (fcvi.Action.drop(), False), (fcvi.Action.pass_(), True),
    (fcvi.Action.delay(0.5), False), (fcvi.Action.corrupt(), False)])
def test_predicates_decide(fcvi_fabric, answer, arrives):
    client, server = connected(fcvi_fabric, "unreliable_delivery")
    fault = fcvi_fabric.add_fault(lambda frame: answer if frame.message == "FCVI_SEND_RQST" else None)
    receive = server.post_receive()
    client.send(b"text")
    fcvi_fabric.run(0.001)
    assert receive.done == arrives
    assert fault.fired == (0 if answer in (None, False) or arrives else 1)


def test_a_frame_goes_in_place_of_another(fcvi_fabric):
    client, server = connected(fcvi_fabric, "unreliable_delivery")

    def change(frame):
        if frame.message == "FCVI_SEND_RQST":
            frame.payload = b"changed"
            return frame
        return None

    fcvi_fabric.add_fault(change)
    receive = server.post_receive()
    client.send(b"text")
    fcvi_fabric.run_until(receive)
    assert receive.data == b"changed"


def test_a_limit_ends_a_fault(fcvi_fabric):
    client, server = connected(fcvi_fabric, "unreliable_delivery")
    receives = [server.post_receive() for _ in range(3)]
    fault = fcvi_fabric.add_fault(lambda frame: frame.message == "FCVI_SEND_RQST", limit=2)
    for text in (b"one", b"two", b"three"):
        client.send(text)
    fcvi_fabric.run(0.001)
    assert fault.fired == 2
    assert [receive.data for receive in receives if receive.done] == [b"three"]


def test_what_a_predicate_raises_comes_out(fcvi_fabric):
    client, server = connected(fcvi_fabric)
    fault = fcvi_fabric.add_fault(lambda frame: {}["no such key"])
    receive = server.post_receive()
    client.send(b"text")
    with pytest.raises(KeyError, match="no such key"):
        fcvi_fabric.run(1)
    fault.remove()
    fcvi_fabric.run_until(receive)
    assert receive.data == b"text"


def test_a_predicate_returns_what_it_may(fcvi_fabric):
    fcvi_fabric.add_port("alice")
    fcvi_fabric.add_fault(lambda frame: "drop")
    with pytest.raises(fcvi.Error, match="not str"):
        fcvi_fabric.run_until_ready()


def test_a_predicate_only_looks(fcvi_fabric):
    client, _ = connected(fcvi_fabric)
    fcvi_fabric.add_fault(lambda frame: client.send(b""))
    client.send(b"text")
    with pytest.raises(fcvi.Error, match="may only look"):
        fcvi_fabric.run(1)


# --- peers and expectations


def test_a_scripted_peer_answers(fcvi_fabric):
    client = fcvi_fabric.add_port("alice").vi("reliable_reception")
    peer = fcvi_fabric.add_peer("peer")
    fcvi_fabric.run_until_ready()
    connecting = client.begin_connect("peer", "echo")
    request = peer.expect("FCVI_CONNECT_RQST")
    peer.send(request.reply("FCVI_CONNECT_RESP1", handle=0x77))
    peer.send(peer.expect("FCVI_CONNECT_RESP2").reply("FCVI_CONNECT_RESP3", handle=request["payload.handle"]))
    fcvi_fabric.run_until(connecting)
    send = client.send(b"hello")
    message = peer.expect("FCVI_SEND_RQST")
    peer.send(message.reply("FCVI_SEND_RESP", handle=request["payload.handle"], fcvi_flags=0x9))
    fcvi_fabric.run_until(send)
    assert (message.payload, message["fcvi_handle"], send.error) == (b"hello", 0x77, "transport_error")


def test_a_script_may_send_and_not_run(fcvi_fabric):
    client = fcvi_fabric.add_port("alice").vi()
    peer = fcvi_fabric.add_peer("peer")
    fcvi_fabric.run_until_ready()
    peer.on_frame(lambda frame: fcvi_fabric.run(1))
    client.begin_connect("peer", "echo")
    with pytest.raises(fcvi.Error, match="runs already"):
        fcvi_fabric.run(1)
    peer.on_frame(None)
    fcvi_fabric.run(1)


def test_not_met_is_an_assertion(fcvi_fabric):
    connected(fcvi_fabric)
    with pytest.raises(AssertionError, match="alice > bob  FCVI_CONNECT_RESP2"):
        fcvi_fabric.expect("FCVI_SEND_RQST", timeout=0.001)
    with pytest.raises(fcvi.NotMet, match="within"):
        fcvi_fabric.run_until(lambda: False, timeout=0.01)


def test_connect_tells_why(fcvi_fabric):
    client = fcvi_fabric.add_port("alice").vi()
    fcvi_fabric.add_port("bob")
    fcvi_fabric.run_until_ready()
    with pytest.raises(fcvi.CallFailed, match="NoMatch") as failed:
        client.connect("bob", "nobody", timeout=5)
    assert failed.value.result == "NoMatch"


# --- lives


def test_handles_outlive_the_fabric():
    fabric = fcvi.Fabric()
    client, server = connected(fabric)
    work, frame = server.post_receive(), fabric.frames()[0]
    memory = server.allocate(8)
    del fabric
    gc.collect()
    assert (client.state, work.done, len(memory)) == ("Connected", False, 8)
    assert frame.message == "FLOGI"


def test_closed_handles_raise():
    with fcvi.Fabric() as fabric:
        client, server = connected(fabric)
        fabric.add_fault(lambda frame: None)
        work = server.post_receive()
    assert fabric.closed and not work.ok
    for use in (lambda: client.send(b""), lambda: client.state, lambda: fabric.run(1), lambda: fabric.add_port("x")):
        with pytest.raises(fcvi.Error, match="closed"):
            use()


def test_a_fabric_runs_in_any_thread_and_signals_end_it(fcvi_fabric):
    seen = []

    def use():
        connected(fcvi_fabric)
        seen.append(len(fcvi_fabric.frames()))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen and seen[0] > 10
    client, server = [fcvi_fabric.add_port(name).vi() for name in ("carol", "dave")]
    server.listen("more")
    client.connect("dave", "more")

    def once(frame):
        if not interrupted:
            interrupted.append(frame.message)
            os.kill(os.getpid(), signal.SIGINT)

    interrupted = []
    fcvi_fabric.add_fault(once)
    for _ in range(200):
        server.post_receive(4)
        client.send(b"more")
    with pytest.raises(KeyboardInterrupt):
        fcvi_fabric.run(1)
    assert interrupted


# --- stubs and documentation


def test_stubs_name_what_there_is():
    """Every class and member that is public is in _fcvi.pyi, and the other way round; each has a docstring."""
    stub = ast.parse(Path(fcvi.__file__).with_name("_fcvi.pyi").read_text())
    stubbed = {node.name: {member.name if isinstance(member, ast.FunctionDef) else member.target.id
                           for member in node.body if isinstance(member, (ast.FunctionDef, ast.AnnAssign))}
               for node in stub.body if isinstance(node, ast.ClassDef)}
    assert set(stubbed) == set(fcvi.__all__)
    for name in set(stubbed) - {"Error", "NotMet", "CallFailed"}:
        members = {member for member in vars(getattr(fcvi, name)) if not member.startswith("_")}
        assert {member for member in stubbed[name] if not member.startswith("_")} == members, name
        for member in members:
            assert inspect.getdoc(getattr(getattr(fcvi, name), member)), f"{name}.{member} has no docstring"


def test_stubs_have_the_arguments_of_the_functions():
    stub = ast.parse(Path(fcvi.__file__).with_name("_fcvi.pyi").read_text())
    for cls in [node for node in stub.body if isinstance(node, ast.ClassDef)]:
        for function in [node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]:
            member = vars(getattr(fcvi, cls.name))[function.name]
            if isinstance(member, property):
                continue
            doc = getattr(getattr(fcvi, cls.name), function.name).__doc__.splitlines()[0]
            actual = set(re.findall(r"(\w+): ", doc)) - {"self", "arg0", "kwargs"}
            stubbed = {a.arg for a in function.args.args + function.args.kwonlyargs} - {"self"}
            if "arg0" not in doc:
                assert stubbed == actual, f"{cls.name}.{function.name}: {doc}"
