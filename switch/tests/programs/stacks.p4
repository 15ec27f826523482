// Header stacks, unions, varbits, lookahead, value sets, parser errors; tables of every kind.
#include <core.p4>
#include <v1model.p4>

header kind_t { bit<8> kind; }
header label_t { bit<15> value; bit<1> bottom; }
header text_t { bit<8> length; varbit<64> text; bit<8> tail; }
header short_t { bit<8> a; }
header long_t { bit<16> a; bit<8> b; }
header verdict_t { bit<8> hit; bit<8> extra; }
header_union number_t { short_t narrow; long_t broad; }

struct headers_t { kind_t kind; verdict_t verdict; label_t[3] labels; number_t number; text_t text; }
struct metadata_t {}

error { WrongKind }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<8>>(4) special;
    state start {
        packet.extract(hdr.kind);
        transition select(hdr.kind.kind, packet.lookahead<bit<4>>()) {
            (1, _) : labels;
            (2 &&& 0xfe, 0xf) : broad;
            (2 &&& 0xfe, _) : narrow;
            (4, _) : text;
            (5, _) : wrong;
            default : other;
        }
    }
    state labels {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.bottom) { 0 : labels; default : accept; }
    }
    state narrow { packet.extract(hdr.number.narrow); transition accept; }
    state broad { packet.extract(hdr.number.broad); transition accept; }
    state text {
        packet.extract(hdr.text, (bit<32>) packet.lookahead<bit<8>>() * 8);
        transition accept;
    }
    state wrong { verify(hdr.kind.kind != 5, error.WrongKind); transition accept; }
    state other {
        transition select(hdr.kind.kind) { special : labels; default : skip; }
    }
    state skip { packet.advance(8); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<8> extra = 0;
    action hit(bit<8> value) { hdr.verdict.hit = value; }
    action miss() { hdr.verdict.hit = 0xee; }
    table ranges {
        key = { hdr.labels[0].value : range; hdr.kind.kind : ternary; }
        actions = { hit; miss; }
        const default_action = miss();
        const entries = {
            (5 .. 9, _) : hit(1);
            (8 .. 20, 1) : hit(2);
            (0 .. 0x7fff, _) : hit(3);
        }
    }
    table options {
        key = { hdr.number.narrow.a : optional; hdr.kind.kind : exact; }
        actions = { hit; miss; }
        default_action = miss();
    }
    table prefixes {
        key = { hdr.number.broad.a : lpm; hdr.number.broad.b : exact; }
        actions = { hit; miss; }
        default_action = miss();
    }
    apply {
        std.egress_spec = 1;
        hdr.verdict.setValid();
        if (std.parser_error == error.WrongKind) {
            hdr.verdict.extra = 0xe0;
        } else if (std.parser_error == error.StackOutOfBounds) {
            hdr.verdict.extra = 0xe1;
        } else if (std.parser_error != error.NoError) {
            hdr.verdict.extra = 0xe2;
        }
        if (hdr.labels[0].isValid()) {
            ranges.apply();
            hdr.verdict.extra = hdr.verdict.extra + (bit<8>) hdr.labels[(bit<32>) hdr.kind.kind].value;
            hdr.labels.push_front(1);
            hdr.labels[0].setValid();
            hdr.labels[0].value = 0x1234;
            hdr.labels[0].bottom = 0;
        } else if (hdr.number.narrow.isValid()) {
            switch (options.apply().action_run) {
                hit : { extra = 0x70; }
                miss : { extra = 0x71; }
            }
            hdr.verdict.extra = extra;
            if (hdr.kind.kind == 3) {
                hdr.number.broad.setValid();
                hdr.number.broad.a = 0xabcd;
                hdr.number.broad.b = 0xef;
            }
        } else if (hdr.number.broad.isValid()) {
            if (prefixes.apply().hit) { hdr.verdict.extra = 0x72; }
        } else if (hdr.text.isValid()) {
            hdr.text.length = hdr.text.length + hdr.text.tail;
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
