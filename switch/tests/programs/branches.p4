// Branches: switches on values and on actions, nested conditionals, return and exit, value sets
// of two parts, entries of the program with priorities, digests, meters by bytes, log messages.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> command; bit<8> a; bit<16> b; bit<8> trail; bit<8> result; }
struct headers_t { h_t h; }
struct metadata_t { bit<2> colour; bit<8> known; }
struct pair_t { @match(ternary) bit<8> a; @match(range) bit<16> b; }
struct notice_t { bit<16> b; bit<8> a; bit<9> port; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<pair_t>(4) pairs;
    value_set<bit<8>>(2) singles;
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a, hdr.h.b) {
            pairs: in_pairs;
            (0x30 .. 0x3f, 0x100 &&& 0xff00): in_ranges;
            (0x40, _): reject_it;
            default: perhaps;
        }
    }
    state in_pairs { meta.known = 1; transition accept; }
    state in_ranges { meta.known = 2; transition accept; }
    state perhaps { transition select(hdr.h.command) { singles: in_singles; default: accept; } }
    state in_singles { meta.known = 3; transition accept; }
    state reject_it { verify(false, error.HeaderTooShort); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    meter(2, MeterType.bytes) volume;
    counter(2, CounterType.bytes) early;
    action mark(bit<8> value) { hdr.h.trail = hdr.h.trail | value; }
    action leave() { hdr.h.trail = hdr.h.trail | 0x80; exit; }
    action back(bit<8> value) {
        if (hdr.h.b == 0) { return; }
        hdr.h.trail = hdr.h.trail + value;
    }
    table first {
        key = { hdr.h.a : ternary; hdr.h.b : range; }
        actions = { mark; leave; back; NoAction; }
        const default_action = NoAction();
        entries = {
            priority = 10: (0x00 &&& 0x80, 5 .. 9) : mark(1);
            priority = 20: (0x01, _) : back(0x10);
            priority = 15: (_, 9) : leave();
            priority = 5: (0x02, 0 .. 0xffff) : mark(4);
        }
    }
    table second {
        key = { hdr.h.trail : exact; }
        actions = { mark; NoAction; }
        default_action = mark(0x40);
        const entries = { 1 : mark(2); 0x10 : NoAction(); }
    }
    apply {
        std.egress_spec = 1;
        hdr.h.result = meta.known;
        if (std.parser_error == error.HeaderTooShort) { hdr.h.result = 0xee; }
        switch (first.apply().action_run) {
            mark: { if (hdr.h.b > 6) { if (hdr.h.b > 7) { hdr.h.trail = hdr.h.trail | 0x20; } else { second.apply(); } } }
            back: { second.apply(); }
        }
        switch (hdr.h.command + 1) {
            1: { hdr.h.result = hdr.h.result | 0x10; }
            2:
            3: { hdr.h.result = hdr.h.result | 0x20; }
            8w4: {
                digest<notice_t>(1, { hdr.h.b, hdr.h.a, std.ingress_port });
                log_msg("a {} b {}", { hdr.h.a, hdr.h.b });
            }
            5: { volume.execute_meter((bit<32>) hdr.h.a, meta.colour); hdr.h.result = (bit<8>) meta.colour; }
            6: { early.count(1); return; }
            7: { assume(hdr.h.b != 0); random(hdr.h.b, 5, 5); }
            default: { hdr.h.result = hdr.h.result | 0x80; }
        }
        hdr.h.trail = hdr.h.trail ^ 0x08;
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
