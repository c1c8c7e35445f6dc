"""Fibre Channel FC-VI for people who write tests: simulated fabrics in virtual time.

    import fcvi

    with fcvi.Fabric() as fabric:
        alice, bob = fabric.add_port("alice"), fabric.add_port("bob")
        fabric.run_until_ready()
        client, server = alice.vi(), bob.vi()
        listening = server.listen("echo")
        client.connect("bob", "echo")
        fabric.run_until(listening)
        receive = server.post_receive()
        client.send(b"hello")
        fabric.run_until(receive)
        assert receive.data == b"hello"

docs/python.md is a tutorial; fcvi.live is for the local fabric that fcvi-fabricd serves.

Threads and the GIL: what runs virtual time keeps the GIL, and calls predicates, scripts and conditions in its own
thread. A fabric is used by one thread at a time. Signals are looked at every 1000 events, so that Ctrl-C ends a run.
"""

from fcvi._fcvi import (Action, Call, CallFailed, Error, Fabric, Fault, Frame, Isl, Memory, NotMet, Peer, Port, Vi,
                         Work)

__all__ = ["Action", "Call", "CallFailed", "Error", "Fabric", "Fault", "Frame", "Isl", "Memory", "NotMet", "Peer", "Port",
           "Vi", "Work"]
