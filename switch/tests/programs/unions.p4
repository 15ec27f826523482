// Stacks of header unions and of headers: pushed, popped, compared and copied, by a command in
// the packet's first byte.
#include <core.p4>
#include <v1model.p4>

header command_t { bit<8> command; bit<8> kinds; bit<8> result; }
header narrow_t { bit<8> a; }
header broad_t { bit<16> a; }
header_union number_t { narrow_t narrow; broad_t broad; }

struct headers_t { command_t h; number_t[3] numbers; narrow_t[3] bytes; }
struct metadata_t { bit<8> left; bit<8> kinds; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        meta.kinds = hdr.h.kinds;
        transition next;
    }
    // Two bits each: a narrow number, a broad one, a byte, or the end.
    state next {
        bit<2> kind = meta.kinds[7:6];
        meta.kinds = meta.kinds << 2;
        transition select(kind) { 1: narrow; 2: broad; 3: byte; default: accept; }
    }
    state narrow { packet.extract(hdr.numbers.next.narrow); transition next; }
    state broad { packet.extract(hdr.numbers.next.broad); transition next; }
    state byte { packet.extract(hdr.bytes.next); transition next; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (std.parser_error != error.NoError) {
            hdr.h.result = 0xee;
            return;
        }
        switch (hdr.h.command) {
            0: { hdr.numbers.push_front(1); }
            1: { hdr.numbers.pop_front(1); }
            2: { hdr.numbers.push_front(2); hdr.numbers[0].broad.setValid(); hdr.numbers[0].broad.a = 0xabcd; }
            3: { hdr.numbers[1] = hdr.numbers[0]; }
            4: { if (hdr.numbers[0] == hdr.numbers[1]) { hdr.h.result = 0x44; } }
            5: { if (hdr.numbers[2].narrow.isValid() || hdr.numbers[2].broad.isValid()) { hdr.h.result = 0x55; } }
            6: {
                // The other member goes.
                hdr.numbers[0].broad.setValid();
                hdr.numbers[0].broad.a = 0x1234;
            }
            7: {
                narrow_t[3] saved = hdr.bytes;
                hdr.bytes.pop_front(3);
                hdr.bytes[2] = saved[0];
            }
            8: { hdr.bytes.push_front(1); hdr.bytes[0] = { 0x77 }; }
            9: { hdr.numbers[0].narrow.setInvalid(); }
            10: { hdr.bytes.pop_front(2); hdr.numbers.pop_front(3); }
            11:
            12: { hdr.h.result = (bit<8>) hdr.h.minSizeInBytes(); }
            default: { hdr.h.result = 0xff; }
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
