// Registers narrow and wide, an indirect counter and meter, every hash, checksums with and
// without the payload, saturation.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> command; bit<8> index; bit<16> sum; bit<32> x; bit<32> y; bit<80> wide; bit<32> result;
}
struct headers_t { h_t h; }
struct metadata_t { bit<2> colour; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.h.command == 0x20, { hdr.h.command, hdr.h.index, hdr.h.x, hdr.h.y },
            hdr.h.sum, HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.h.command == 0x21, { hdr.h.x, hdr.h.y }, hdr.h.sum,
            HashAlgorithm.csum16);
    }
}
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<32>>(16) narrow;
    register<bit<80>>(4) broad;
    counter(16, CounterType.packets_and_bytes) seen;
    meter(4, MeterType.packets) pace;
    apply {
        std.egress_spec = 1;
        seen.count((bit<32>) hdr.h.index);
        bit<32> old = 0;
        bit<8> command = hdr.h.command;
        bit<32> i = (bit<32>) hdr.h.index;
        if (command == 0x01) {
            narrow.read(old, i);
            hdr.h.result = old;
            narrow.write(i, old + hdr.h.x);
        } else if (command == 0x02) {
            bit<80> before;
            broad.read(before, i);
            broad.write(i, hdr.h.wide);
            hdr.h.wide = before;
        } else if (command == 0x03) {
            pace.execute_meter(i, meta.colour);
            hdr.h.result = (bit<32>) meta.colour;
        } else if (command == 0x10) {
            hash(hdr.h.result, HashAlgorithm.crc32, 32w0, { hdr.h.x, hdr.h.y }, 64w0x100000000);
        } else if (command == 0x11) {
            hash(hdr.h.result, HashAlgorithm.crc16, 32w0, { hdr.h.x, hdr.h.index }, 64w0x10000);
        } else if (command == 0x12) {
            hash(hdr.h.result, HashAlgorithm.csum16, 32w0, { hdr.h.x, hdr.h.y }, 64w0x10000);
        } else if (command == 0x13) {
            hash(hdr.h.result, HashAlgorithm.xor16, 32w0, { hdr.h.x, hdr.h.y }, 64w0x10000);
        } else if (command == 0x14) {
            hash(hdr.h.result, HashAlgorithm.identity, 32w0, { hdr.h.x }, 64w0x100000000);
        } else if (command == 0x15) {
            hash(hdr.h.result, HashAlgorithm.crc32, 32w100, { hdr.h.wide, hdr.h.y[4:0] }, 64w37);
        } else if (command == 0x30) {
            hdr.h.result = hdr.h.x |+| hdr.h.y;
        } else if (command == 0x31) {
            hdr.h.result = hdr.h.x |-| hdr.h.y;
        } else if (command == 0x32) {
            hdr.h.result = (bit<32>) (int<32>) ((int<16>) hdr.h.x[15:0] |+| (int<16>) hdr.h.y[15:0]);
        } else if (command == 0x33) {
            hdr.h.result = hdr.h.x * hdr.h.y - (hdr.h.x ^ ~hdr.h.y);
        } else if (command == 0x34) {
            hdr.h.wide = hdr.h.wide * 3 + (hdr.h.wide >> hdr.h.index);
        } else if (command == 0x35) {
            hdr.h.result = (bit<32>) ((int<32>) hdr.h.x >> (hdr.h.index & 31));
        } else if (command == 0x36) {
            truncate(hdr.h.x & 31);
        } else if (command == 0x20 || command == 0x21) {
            hdr.h.result = (bit<32>) std.checksum_error;
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.h.command == 0x22, { hdr.h.command, hdr.h.index, hdr.h.x, hdr.h.y },
            hdr.h.sum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.h.command == 0x23, { hdr.h.x, hdr.h.y }, hdr.h.sum,
            HashAlgorithm.csum16);
    }
}
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
