// Action profiles and selectors, idle time-outs, a direct meter.
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> kind; bit<8> a; bit<16> b; bit<32> c; }
struct headers_t { h_t h; }
struct metadata_t { bit<8> colour; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) {
    action_profile(8) plain;
    action_selector(HashAlgorithm.crc16, 64, 16) chosen;
    direct_meter<bit<8>>(MeterType.packets) marks;
    direct_counter(CounterType.packets_and_bytes) hits;
    action out_by(bit<9> port) { s.egress_spec = port; }
    action tag_and_out(bit<9> port, bit<16> tag) { s.egress_spec = port; hdr.h.b = tag; }
    action discard() { mark_to_drop(s); }
    action marked() { marks.read(meta.colour); hdr.h.a = meta.colour; s.egress_spec = 1; }
    table by_member {
        key = { hdr.h.a : exact; }
        actions = { out_by; tag_and_out; discard; }
        implementation = plain;
    }
    table by_group {
        key = { hdr.h.a : exact; hdr.h.b : selector; hdr.h.c : selector; }
        actions = { out_by; tag_and_out; discard; NoAction; }
        implementation = chosen;
        size = 32;
    }
    table idle {
        key = { hdr.h.a : exact; }
        actions = { out_by; discard; }
        support_timeout = true;
        counters = hits;
        default_action = discard();
    }
    table metered {
        key = { hdr.h.c : exact; }
        actions = { marked; discard; }
        meters = marks;
        default_action = discard();
    }
    // Shares its members with by_member.
    table again {
        key = { hdr.h.b : exact; }
        actions = { out_by; tag_and_out; discard; }
        implementation = plain;
    }
    apply {
        if (hdr.h.kind == 0) {
            if (!by_member.apply().hit) {
                switch (again.apply().action_run) {
                    tag_and_out: { hdr.h.kind = 0x58; }
                }
            }
        }
        else if (hdr.h.kind == 1) {
            switch (by_group.apply().action_run) {
                tag_and_out: { hdr.h.kind = 0x55; }
                out_by: { hdr.h.kind = 0x56; }
                NoAction: { s.egress_spec = 9; }
            }
        } else if (hdr.h.kind == 2) { if (idle.apply().hit) { hdr.h.kind = 0x77; } }
        else { metered.apply(); }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t s) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
