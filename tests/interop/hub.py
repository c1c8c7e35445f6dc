"""An Ethernet hub made of UDP datagrams: every end of it hears every other, but for what a rule takes away."""

import select
import socket
import threading

FCOE, FIP = 0x8906, 0x8914
FC_HEADER = 14 + 14  # after the Ethernet and FCoE headers
FC_VI, DISCONNECT_RESP = 0x58, 0x1B
FIP_CONTROL, CLEAR_VIRTUAL_LINKS = 3, 2
FIP_VN2VN, BEACON = 5, 5
ELS_REQUEST, LOGO = 0x22, 0x05


def ether_type(frame):
    return int.from_bytes(frame[12:14], "big")


def is_disconnect_response(frame):
    """FCVI_DISCONNECT_RESP: FCVI_OPCODE stands in word 1 of the Device_Header."""
    return (ether_type(frame) == FCOE and len(frame) > FC_HEADER + 28 and frame[FC_HEADER + 8] == FC_VI
            and frame[FC_HEADER + 28] == DISCONNECT_RESP)


def is_clear_virtual_links(frame):
    return (ether_type(frame) == FIP and int.from_bytes(frame[16:18], "big") == FIP_CONTROL
            and frame[19] == CLEAR_VIRTUAL_LINKS)


def is_beacon(frame):
    return ether_type(frame) == FIP and int.from_bytes(frame[16:18], "big") == FIP_VN2VN and frame[19] == BEACON


def is_logo(frame):
    return (ether_type(frame) == FCOE and len(frame) > FC_HEADER + 24 and frame[FC_HEADER] == ELS_REQUEST
            and frame[FC_HEADER + 24] == LOGO)


class Hub:
    """`ends`: pairs of UDP ports of 127.0.0.1, the hub's own and the one of who is connected there. It learns addresses, as a
    bridge does."""

    def __init__(self, ends):
        self.sockets = []
        self.places = {}  # MAC address: the end where it was heard
        self.rule = lambda frame, source, target: True  # whether the frame passes from one end (its number) to another
        for own, far in ends:
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            one.bind(("127.0.0.1", own))
            self.sockets.append((one, ("127.0.0.1", far)))
        self.wake, self.woken = socket.socketpair()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        numbers = {one: number for number, (one, _) in enumerate(self.sockets)}
        while True:
            ready, _, _ = select.select([*numbers, self.woken], [], [])
            if self.woken in ready:
                return
            for one in ready:
                self.forward(one, numbers[one])

    def forward(self, one, source):
        try:
            frame = one.recv(65536)
        except ConnectionError:  # somebody is not there yet, or any more
            return
        self.places[frame[6:12]] = source
        place = self.places.get(frame[0:6])
        for target, (other, address) in enumerate(self.sockets):
            if target == source or place not in (None, target) or not self.rule(frame, source, target):
                continue
            try:
                other.sendto(frame, address)
            except ConnectionError:
                pass

    def send(self, frame, target):
        one, address = self.sockets[target]
        one.sendto(frame, address)

    def end(self):
        self.wake.send(b"x")
        self.thread.join()
        for one, _ in self.sockets:
            one.close()
        self.wake.close()
        self.woken.close()
