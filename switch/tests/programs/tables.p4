// A table of each kind, chosen by the packet's first byte; what it says goes into `result`.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> kind; bit<8> a; bit<16> b; bit<32> c; bit<128> w; bit<16> result; }
struct headers_t { h_t h; }
struct metadata_t {}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) hits;
    action say(bit<16> value) { hdr.h.result = value; }
    action deny() { mark_to_drop(std); }
    table by_exact {
        key = { hdr.h.a : exact; hdr.h.b : exact; }
        actions = { say; deny; }
        default_action = say(0xe0);
        counters = hits;
    }
    table by_lpm {
        key = { hdr.h.c : lpm; }
        actions = { say; deny; }
        default_action = say(0xe1);
    }
    table by_exact_and_lpm {
        key = { hdr.h.a : exact; hdr.h.c : lpm; }
        actions = { say; deny; }
        default_action = say(0xe2);
    }
    table by_ternary {
        key = { hdr.h.b : ternary; hdr.h.c : ternary; hdr.h.a : exact; }
        actions = { say; deny; }
        default_action = say(0xe3);
    }
    table by_range {
        key = { hdr.h.a : range; hdr.h.b : range; hdr.h.c : ternary; }
        actions = { say; deny; }
        default_action = say(0xe4);
    }
    table by_wide {
        key = { hdr.h.w : lpm; }
        actions = { say; deny; }
        default_action = say(0xe5);
    }
    table by_wide_ternary {
        key = { hdr.h.w : ternary; hdr.h.a : optional; }
        actions = { say; deny; }
        default_action = say(0xe6);
    }
    apply {
        std.egress_spec = 1;
        if (hdr.h.kind == 0) { by_exact.apply(); }
        else if (hdr.h.kind == 1) { by_lpm.apply(); }
        else if (hdr.h.kind == 2) { by_exact_and_lpm.apply(); }
        else if (hdr.h.kind == 3) {
            if (by_ternary.apply().miss) { hdr.h.a = hdr.h.a | 0x80; }
        }
        else if (hdr.h.kind == 4) {
            switch (by_range.apply().action_run) { say: { std.egress_spec = 2; } }
        }
        else if (hdr.h.kind == 5) { by_wide.apply(); }
        else { by_wide_ternary.apply(); }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
