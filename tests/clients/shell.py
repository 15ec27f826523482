"""Uses p4runtime-shell with a switch, as a stand-alone script:

`shell.py ADDRESS DEVICE P4INFO JSON`. It needs older protobufs than ours, so it runs under another
interpreter (tests/p4runtime/test_clients.py).
"""

import sys

import p4runtime_sh.shell as sh

address, device, p4info, program = sys.argv[1:]
sh.setup(
    device_id=int(device),
    grpc_addr=address,
    election_id=(0, 1),
    config=sh.FwdPipeConfig(p4info, program),
)
try:
    entry = sh.TableEntry("Receive.forward")(action="Receive.send")
    entry.match["hdr.ethernet.dst"] = "00:00:00:00:00:05"
    entry.action["port"] = "2"
    entry.insert()
    entry.action["port"] = "3"
    entry.modify()

    ranged = sh.TableEntry("Receive.acl")(action="Receive.drop")
    ranged.match["src"] = "0x020000000000&&&0xff0000000000"
    ranged.match["port"] = "1..3"
    ranged.match["kind"] = "0x0806"
    ranged.priority = 7
    ranged.insert()

    prefix = sh.TableEntry("Receive.prefixes")(action="Receive.learn")
    prefix.match["hdr.ethernet.src"] = "02:00:00:00:00:00/8"
    prefix.match["std.ingress_port"] = "1"
    prefix.insert()

    for table in ("Receive.forward", "Receive.acl", "Receive.prefixes"):
        count = 0
        for read in sh.TableEntry(table).read():
            count += 1
            print(table, read.priority, read.action)
        assert count == 1, table

    counter = sh.CounterEntry("Receive.seen")
    counter.index = 3
    counter.packet_count = 12
    counter.modify()
    cells = [(one.index, one.packet_count) for one in sh.CounterEntry("Receive.seen").read()]
    assert cells == [(index, 12 if index == 3 else 0) for index in range(8)], cells

    meter = sh.MeterEntry("Receive.shaper")
    meter.index = 1
    meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 2, 3, 4
    meter.modify()

    group = sh.MulticastGroupEntry(7)
    group.add(2).add(3, 1)
    group.insert()
    session = sh.CloneSessionEntry(4)
    session.add(3)
    session.insert()

    try:
        entry.insert()
    except Exception as error:
        assert "ALREADY_EXISTS" in str(error) or "exists" in str(error).lower(), error
    else:
        raise AssertionError("an entry can be inserted twice")

    sh.TableEntry("Receive.prefixes").read(lambda one: one.delete())
    assert not list(sh.TableEntry("Receive.prefixes").read())
    out = sh.PacketOut(payload=b"\x00" * 14, egress_port="2")
    out.send()
    print("done")
finally:
    sh.teardown()
