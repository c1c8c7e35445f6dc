"""Many conversations in one capture, one behind the other, each between ports of its own: tshark's start takes longer than it needs
for any of them. What a fabric says of the order of frames holds for what comes behind it, so those with a fabric that keeps none come
last."""

from dataclasses import replace

from conversation import CLIENT, SERVER

PORTS_EACH = 0x1000  # N_Port_IDs between those of one conversation and of the next
MOST = (0xEF0000 - SERVER) // PORTS_EACH


def at_own_ports(frame, which: int):
    """The frame, sent between the ports that belong to that conversation; the fabric's addresses stay."""
    def moved(port: int) -> int:
        return port + which * PORTS_EACH if port & 0xFF0000 == CLIENT & 0xFF0000 else port
    return replace(frame, s_id=moved(frame.s_id), d_id=moved(frame.d_id))


def keeps_no_order(frames) -> bool:
    """By the accept of FLOGI."""
    return any(frame.s_id == 0xFFFFFE and not frame.payload[68] & 0x08 for frame in frames)


def merged(conversations) -> tuple:
    """`conversations`: name -> list of frames. All frames, and of each conversation the positions of its own."""
    frames, places = [], {}
    assert len(conversations) < MOST
    for which, (name, own) in enumerate(sorted(conversations.items(), key=lambda entry: keeps_no_order(entry[1]))):
        places[name] = slice(len(frames), len(frames) + len(own))
        frames += [at_own_ports(frame, which) for frame in own]
    return frames, places
