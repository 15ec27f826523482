// What a P4Runtime server can be asked about: keys of every match kind, all externs that a
// controller sees, packets to and from it. tests/p4runtime
#include <core.p4>
#include <v1model.p4>

typedef bit<48> Mac;

@controller_header("packet_in")
header PacketIn {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header PacketOut {
    bit<9> egress_port;
    @padding bit<7> pad;
}

header Ethernet {
    Mac dst;
    Mac src;
    bit<16> kind;
}

struct Headers {
    PacketOut packet_out;
    PacketIn packet_in;
    Ethernet ethernet;
}

struct Metadata {
    bit<2> colour;
}

struct Seen {
    Mac src;
    bit<9> port;
}

const bit<9> CPU = 255;

parser Parse(packet_in packet, out Headers hdr, inout Metadata meta, inout standard_metadata_t std) {
    value_set<bit<16>>(4) special;
    state start {
        transition select(std.ingress_port) {
            CPU: from_controller;
            default: ethernet;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            special: accept;
            default: accept;
        }
    }
}

control Verify(inout Headers hdr, inout Metadata meta) {
    apply {}
}

control Receive(inout Headers hdr, inout Metadata meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) acl_counter;
    direct_meter<bit<2>>(MeterType.packets) acl_meter;
    counter(8, CounterType.packets) seen;
    meter(4, MeterType.bytes) shaper;
    register<bit<100>>(4) wide;

    action send(bit<9> port) {
        std.egress_spec = port;
    }
    action drop() {
        mark_to_drop(std);
    }
    action to_controller(bit<7> reason) {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
        hdr.packet_in.reason = reason;
        std.egress_spec = CPU;
    }
    action flood(bit<16> group) {
        std.mcast_grp = group;
    }
    action learn() {
        digest<Seen>(1, { hdr.ethernet.src, std.ingress_port });
    }
    action metered() {
        acl_meter.read(meta.colour);
    }

    table forward {
        key = { hdr.ethernet.dst: exact; }
        actions = { send; flood; to_controller; @defaultonly drop; }
        default_action = drop();
        size = 16384;
    }
    table acl {
        key = {
            hdr.ethernet.src: ternary @name("src");
            std.ingress_port: range @name("port");
            hdr.ethernet.kind: optional @name("kind");
        }
        actions = { drop; metered; NoAction; }
        default_action = NoAction();
        counters = acl_counter;
        meters = acl_meter;
        size = 64;
    }
    table prefixes {
        key = { hdr.ethernet.src: lpm; std.ingress_port: exact; }
        actions = { learn; NoAction; }
        const default_action = NoAction();
        size = 2;
    }
    table fixed {
        key = { hdr.ethernet.kind: exact; }
        actions = { drop; NoAction; }
        const entries = { 0x88cc: drop(); }
    }

    apply {
        if (hdr.packet_out.isValid()) {
            std.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            seen.count((bit<32>) std.ingress_port);
            bit<2> colour;
            shaper.execute_meter(0, colour);
            bit<100> value;
            wide.read(value, 0);
            wide.write(1, value + 1);
            forward.apply();
            prefixes.apply();
            acl.apply();
            fixed.apply();
        }
    }
}

control Send(inout Headers hdr, inout Metadata meta, inout standard_metadata_t std) {
    apply {}
}

control Update(inout Headers hdr, inout Metadata meta) {
    apply {}
}

control Deparse(packet_out packet, in Headers hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
    }
}

V1Switch(Parse(), Verify(), Receive(), Send(), Update(), Deparse()) main;
