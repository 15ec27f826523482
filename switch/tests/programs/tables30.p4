// Thirty tables one after the other, ten of each match kind, every one of which hits: what
// the benchmark measures a table by. Packets for 10.0.2.1 leave by port 1.

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
    bit<32> sum;
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

// One table: its key, and entries of which the last is the packet's.
#define TABLE(NAME, KEY, ENTRIES) \
    table NAME { \
        key = { KEY; } \
        actions = { add; NoAction; } \
        default_action = NoAction(); \
        const entries = { ENTRIES } \
    }
#define EXACT(NAME) TABLE(NAME, hdr.ipv4.dst_addr : exact, \
    0x0A000101 : add(1); 0x0A000102 : add(2); 0x0A000103 : add(3); 0x0A000201 : add(4);)
#define LPM(NAME) TABLE(NAME, hdr.ipv4.dst_addr : lpm, \
    0x0A000000 &&& 0xFF000000 : add(1); 0x0A010000 &&& 0xFFFF0000 : add(2); \
    0x0A000100 &&& 0xFFFFFF00 : add(3); 0x0A000200 &&& 0xFFFFFF00 : add(4);)
#define TERNARY(NAME) TABLE(NAME, hdr.ipv4.dst_addr : ternary, \
    0x0A000001 &&& 0xFF00FFFF : add(1); 0x0A000100 &&& 0xFF00FF00 : add(2); \
    0x00000301 &&& 0x0000FFFF : add(3); 0x0A000001 &&& 0xFF0000FF : add(4);)

control TablesIngress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    action add(bit<32> term) {
        meta.sum = meta.sum + term;
    }

    EXACT(exact_0)
    LPM(lpm_0)
    TERNARY(ternary_0)
    EXACT(exact_1)
    LPM(lpm_1)
    TERNARY(ternary_1)
    EXACT(exact_2)
    LPM(lpm_2)
    TERNARY(ternary_2)
    EXACT(exact_3)
    LPM(lpm_3)
    TERNARY(ternary_3)
    EXACT(exact_4)
    LPM(lpm_4)
    TERNARY(ternary_4)
    EXACT(exact_5)
    LPM(lpm_5)
    TERNARY(ternary_5)
    EXACT(exact_6)
    LPM(lpm_6)
    TERNARY(ternary_6)
    EXACT(exact_7)
    LPM(lpm_7)
    TERNARY(ternary_7)
    EXACT(exact_8)
    LPM(lpm_8)
    TERNARY(ternary_8)
    EXACT(exact_9)
    LPM(lpm_9)
    TERNARY(ternary_9)

    apply {
        standard.egress_spec = 1;
        exact_0.apply();
        lpm_0.apply();
        ternary_0.apply();
        exact_1.apply();
        lpm_1.apply();
        ternary_1.apply();
        exact_2.apply();
        lpm_2.apply();
        ternary_2.apply();
        exact_3.apply();
        lpm_3.apply();
        ternary_3.apply();
        exact_4.apply();
        lpm_4.apply();
        ternary_4.apply();
        exact_5.apply();
        lpm_5.apply();
        ternary_5.apply();
        exact_6.apply();
        lpm_6.apply();
        ternary_6.apply();
        exact_7.apply();
        lpm_7.apply();
        ternary_7.apply();
        exact_8.apply();
        lpm_8.apply();
        ternary_8.apply();
        exact_9.apply();
        lpm_9.apply();
        ternary_9.apply();
        hdr.ipv4.identification = (bit<16>) meta.sum;
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
