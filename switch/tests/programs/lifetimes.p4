// Metadata that only egress uses: kept by a copy's list, by a recirculated packet's list, or by none;
// and metadata that egress writes, but does not read.
#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8> command;
    bit<8> cloned;
    bit<8> passed;
    bit<8> lost;
    bit<8> written;
}
struct headers_t { command_t h; }
struct metadata_t {
    @field_list(1) bit<8> cloned;
    @field_list(2) bit<8> passed;
    bit<8> lost;
    bit<8> written;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.h.written = meta.written;
        meta.written = 0x0f;
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.cloned = meta.cloned;
        hdr.h.passed = meta.passed;
        hdr.h.lost = meta.lost;
        meta.lost = 0x33;
        if (hdr.h.command == 1 && std.instance_type == 0) {
            meta.cloned = 0x11;
            meta.passed = 0x12;
            meta.written = 0x13;
            clone_preserving_field_list(CloneType.E2E, 7, 1);
        } else if (hdr.h.command == 2 && meta.passed == 0) {
            meta.cloned = 0x21;
            meta.passed = 0x22;
            meta.written = 0x23;
            recirculate_preserving_field_list(2);
        }
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
