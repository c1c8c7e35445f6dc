#!/usr/bin/env python3
"""Runs vipl-conformance over TCP, with addresses and a port service of its own. Exit status 77: skipped, the reason is
printed.

usage: on_tcp.py WHERE FAMILY PROGRAM [ARGUMENT]...
WHERE    process     both ends in one process, two NICs, without descriptor flow control: what fails for want of a receive
         processes   two processes, a NIC each
         namespaces  two processes, each in a network namespace of its own
FAMILY   4 or 6: of 6 the first two are in a namespace, too, which has the addresses
"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
import tcp_hosts  # pylint: disable=wrong-import-position

OF_NAMESPACES = {"4": ("10.9.0.1", "10.9.0.2", "/24"), "6": ("fd09::1", "fd09::2", "/64")}

# Who is the partner is there; the suite starts itself by its first argument.
STARTER = """#!/bin/bash
case " $* " in *" --partner-file "*) exec {prefix} bash -c 'exec -a "$0" "{program}" "$@"' "$0" "$@" ;; esac
exec -a "$0" "{program}" "$@"
"""


def addresses_for(where, family):
    """Of the near end and of the partner; the other host, if there is one."""
    if where != "namespaces" and family == "4":
        return tcp_hosts.own_addresses(2), None
    near, far, prefix = OF_NAMESPACES[family]
    if where == "namespaces":
        return (near, far), tcp_hosts.OtherNamespace([near + prefix], [far + prefix])
    for address in (near, far):
        tcp_hosts.run("ip", "address", "add", address + "/128", "dev", "lo")
    return (near, far), None


def starter_for(other, program, folder):
    path = os.path.join(folder, "starter")
    Path(path).write_text(STARTER.format(prefix=" ".join(other.prefix()), program=program), encoding="utf-8")
    os.chmod(path, 0o755)
    return path


def conform(where, family, program, arguments):
    (near, far), other = addresses_for(where, family)
    made = tcp_hosts.Configurations()
    try:
        near_nic, far_nic = ({"addresses": f'["{address}"]', "port": tcp_hosts.PORT} for address in (near, far))
        hosts = ((near, "near"), (far, "far"))  # what auto-discovery tells
        if where == "process":
            for nic in (near_nic, far_nic):
                nic["descriptor_flow_control"] = "false"
            config = made.write("both", {"VITCP0": near_nic, "VITCP1": far_nic}, hosts)
            ends = ["--partner", "thread", "--peer-nic", "VITCP1"]
        else:
            config = made.write("near", {"VITCP0": near_nic}, hosts)
            ends = ["--partner-env", "FCVI_CONFIG=" + made.write("far", {"VITCP0": far_nic}, hosts)]
        first = program if other is None else starter_for(other, program, made.folder.name)
        words = [first, "--nic", "VITCP0", *ends, *arguments]
        return subprocess.run(words, env=made.environment(config), check=False).returncode
    finally:
        made.remove()
        if other is not None:
            other.remove()


def main():
    where, family, program, *arguments = sys.argv[1:]
    try:
        if where == "namespaces" or family == "6":
            tcp_hosts.enter_namespace(__file__, sys.argv[1:])
        sys.exit(conform(where, family, os.path.abspath(program), arguments))
    except tcp_hosts.Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(tcp_hosts.SKIPPED)


main()
