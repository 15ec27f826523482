// A table of a million routes and one of 100,000 ternary entries, which the benchmark fills.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<8>  version_ihl;
    bit<8>  diffserv;
    bit<16> total_length;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t {
    bit<32> note;
}

parser TablesParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control TablesVerify(inout headers_t hdr, inout metadata_t meta) { apply { } }

control TablesIngress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    action route(bit<9> port) {
        standard.egress_spec = port;
    }
    action mark(bit<32> note) {
        meta.note = note;
    }
    table routes {
        key = { hdr.ipv4.dst_addr : lpm; }
        actions = { route; }
        size = 1000000;
    }
    table rules {
        key = {
            hdr.ipv4.src_addr : ternary;
            hdr.ipv4.dst_addr : ternary;
            hdr.ipv4.protocol : ternary;
        }
        actions = { mark; }
        size = 100000;
    }

    apply {
        standard.egress_spec = 1;
        routes.apply();
        rules.apply();
        hdr.ipv4.identification = (bit<16>) meta.note;
    }
}

control TablesEgress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard) { apply { } }

control TablesUpdate(inout headers_t hdr, inout metadata_t meta) { apply { } }

control TablesDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(TablesParser(), TablesVerify(), TablesIngress(), TablesEgress(), TablesUpdate(), TablesDeparser()) main;
