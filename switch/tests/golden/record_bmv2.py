#!/usr/bin/env python3
"""Records what bmv2's simple_switch does with packets through `p4/build/v1model.json`.

    record_bmv2.py SIMPLE_SWITCH SIMPLE_SWITCH_CLI > bmv2.json

The output holds the table entries, the packets sent and the packets that came out, as
`golden_bmv2.rs` replays them. Needs Scapy, and bmv2 in a network namespace of its own, since
its Thrift server listens on every address (`ip netns exec NAME record_bmv2.py ...`).
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scapy.all import ICMP, IP, TCP, UDP, Ether, IPOption, Raw, rdpcap, wrpcap
from scapy.packet import Packet

PROGRAM = Path(__file__).resolve().parents[3] / "p4" / "build" / "v1model.json"
PORTS = (1, 2, 3)

#: (table, match, action, parameters, priority), values as `narrows-switch` takes them.
ENTRIES = [
    ("ipv4_lpm", {"hdr.ipv4.dst_addr": {"lpm": ["0x0a000200", 24]}}, "route",
     {"port": "2", "src_mac": "0x02000000ff02", "dst_mac": "0x020000000002"}, 0),
    ("ipv4_lpm", {"hdr.ipv4.dst_addr": {"lpm": ["0x0a000207", 32]}}, "route",
     {"port": "1", "src_mac": "0x02000000ff01", "dst_mac": "0x020000000007"}, 0),
    ("ipv4_lpm", {"hdr.ipv4.dst_addr": {"lpm": ["0x0a000100", 24]}}, "route",
     {"port": "1", "src_mac": "0x02000000ff01", "dst_mac": "0x020000000001"}, 0),
    ("flow", {"hdr.ipv4.src_addr": {"ternary": ["0x0a000101", "0xffffffff"]},
              "hdr.ipv4.dst_addr": {"ternary": ["0x0a000201", "0xffffffff"]},
              "hdr.ipv4.protocol": {"ternary": ["6", "0xff"]},
              "meta.src_port": {"ternary": ["1000", "0xffff"]},
              "meta.dst_port": {"ternary": ["0", "0"]}}, "set_flow", {"flow_id": "77"}, 10),
    ("flow", {"hdr.ipv4.src_addr": {"ternary": ["0x0a000100", "0xffffff00"]},
              "hdr.ipv4.dst_addr": {"ternary": ["0", "0"]},
              "hdr.ipv4.protocol": {"ternary": ["17", "0xff"]},
              "meta.src_port": {"ternary": ["0", "0"]},
              "meta.dst_port": {"ternary": ["53", "0xffff"]}}, "set_flow", {"flow_id": "78"}, 5),
    ("telemetry", {"meta.egress_port": {"exact": "2"}}, "report_every", {"every": "1", "session": "1"}, 0),
    ("telemetry", {"meta.egress_port": {"exact": "1"}}, "report_every", {"every": "3", "session": "1"}, 0),
    ("collector", {"collector_port": {"exact": "3"}}, "send_to",
     {"node_id": "9", "src_mac": "0x02000000ff03", "dst_mac": "0x020000000003", "src_addr": "0x0a00ff01",
      "dst_addr": "0x0a00ff02", "udp_port": "32766"}, 0),
    ("loss", {"meta.egress_port": {"exact": "2"}}, "lose_below", {"loss": "0"}, 0),
]


def packets() -> list[tuple[int, bytes]]:
    """What is sent: (port, bytes), one of each kind and then a few hundred at random."""
    rng = random.Random(1)
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:ff:01")

    def ip(**fields: object) -> IP:
        return IP(**{"src": "10.0.1.1", "dst": "10.0.2.1", "ttl": 64, **fields})

    options = [IPOption(b"\x07\x0b\x04" + bytes(8)), IPOption(b"\x01"), IPOption(b"\x00")]
    chosen: list[Packet] = [
        ether / ip() / TCP(sport=1000, dport=80, seq=1) / Raw(bytes(100)),
        ether / ip(tos=1) / TCP(sport=1000, dport=80, seq=0xFFFFFFFF, flags="PA") / Raw(b"payload"),
        ether / ip(tos=0x2B) / TCP(sport=1001, dport=80, options=[("MSS", 1460), ("SAckOK", b"")]),
        ether / ip(dst="10.0.2.7") / TCP(sport=5, dport=6) / Raw(bytes(range(256))),
        ether / ip() / UDP(sport=4, dport=53) / Raw(bytes(300)),
        ether / ip() / UDP(sport=4, dport=54) / Raw(b"short"),
        ether / ip() / ICMP() / Raw(bytes(60)),
        ether / ip(options=options) / TCP(sport=1000, dport=80, seq=5) / Raw(bytes(40)),
        ether / ip(options=options) / UDP(sport=9, dport=53) / Raw(bytes(40)),
        ether / ip(ttl=1) / TCP(sport=1000) / Raw(bytes(40)),
        ether / ip(ttl=2) / TCP(sport=1000) / Raw(bytes(40)),
        ether / ip(ttl=0) / TCP(sport=1000) / Raw(bytes(40)),
        ether / ip(dst="192.0.2.1") / TCP() / Raw(bytes(40)),
        ether / ip(chksum=0x1234) / TCP() / Raw(bytes(40)),
        ether / ip(frag=100) / Raw(bytes(64)),
        ether / ip(flags="MF") / UDP(sport=4, dport=53) / Raw(bytes(64)),
        Ether(src=ether.src, dst=ether.dst, type=0x86DD) / Raw(bytes(64)),
        Ether(src=ether.src, dst=ether.dst, type=0x0806) / Raw(bytes(46)),
    ]
    sent = [(1, bytes(packet)) for packet in chosen]
    whole = bytes(chosen[0])
    sent += [(1, whole[:length]) for length in (14, 20, 33, 34, 40, 53, 54)]
    for _ in range(200):
        protocol = rng.choice([TCP, UDP])
        packet = (
            ether
            / ip(src=f"10.0.1.{rng.randrange(1, 4)}", dst=f"10.0.{rng.choice([1, 2, 2, 2, 3])}.{rng.randrange(1, 9)}",
                 ttl=rng.choice([1, 2, 3, 64, 255]), tos=rng.randrange(256), id=rng.randrange(65536))
            / protocol(sport=rng.choice([1000, 1001, 53]), dport=rng.choice([53, 80]))
            / Raw(rng.randbytes(rng.randrange(0, 200)))
        )
        data = bytearray(bytes(packet))
        if rng.random() < 0.1:
            data[rng.randrange(14, 34)] ^= 1 << rng.randrange(8)
        sent.append((rng.choice([1, 2]), bytes(data)))
    return sent


def commands() -> str:
    """The entries in simple_switch_CLI's words."""
    lines = ["mirroring_add 1 3"]
    for table, matches, action, parameters, priority in ENTRIES:
        keys = []
        for match in matches.values():
            if "exact" in match:
                keys.append(match["exact"])
            elif "lpm" in match:
                keys.append(f"{match['lpm'][0]}/{match['lpm'][1]}")
            else:
                keys.append(f"{match['ternary'][0]}&&&{match['ternary'][1]}")
        ternary = any("ternary" in match for match in matches.values())
        # bmv2 serves the smaller priority first, P4Runtime the larger.
        order = str(1000 - priority) if ternary else ""
        lines.append(f"table_add {table} {action} {' '.join(keys)} => {' '.join(parameters.values())} {order}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs the switch on files and prints the recording."""
    simple_switch, cli = sys.argv[1:3]
    sent = packets()
    with tempfile.TemporaryDirectory() as folder:
        # One packet a second by the capture's clock would take minutes; at 2 ms queues stay empty.
        for port in PORTS:
            mine = [(at, data) for at, (where, data) in enumerate(sent) if where == port]
            frames = []
            for at, data in mine:
                frame = Raw(data)
                frame.time = 1_000_000 + at * 0.002
                frames.append(frame)
            wrpcap(f"{folder}/p{port}_in.pcap", frames, linktype=1)
        interfaces = [argument for port in PORTS for argument in ("-i", f"{port}@p{port}")]
        switch = subprocess.Popen([simple_switch, "--use-files", "3", *interfaces, str(PROGRAM)], cwd=folder,
                                  stdout=subprocess.DEVNULL)
        time.sleep(1.5)
        answer = subprocess.run([cli], input=commands(), text=True, capture_output=True, check=True)
        if "Error" in answer.stdout or "Invalid" in answer.stdout:
            raise SystemExit(answer.stdout)
        time.sleep(5)
        switch.terminate()
        switch.wait()
        received = {port: [bytes(p).hex() for p in rdpcap(f"{folder}/p{port}_out.pcap")] for port in PORTS}
    keys = ("table", "matches", "action", "params", "priority")
    json.dump(
        {
            "entries": [dict(zip(keys, entry, strict=True)) for entry in ENTRIES],
            "sent": [{"port": port, "bytes": data.hex()} for port, data in sent],
            "received": received,
        },
        sys.stdout,
        indent=1,
    )


if __name__ == "__main__":
    main()
