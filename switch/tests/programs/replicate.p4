// Clones, resubmission, recirculation, multicast, truncation, digests and messages, by a command
// in the packet's first byte. The trail shows what a packet has been through.
#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8>  command;
    bit<8>  kept;
    bit<16> trail;
    bit<16> length;
}
struct headers_t { command_t h; }
struct metadata_t {
    @field_list(1) bit<8> kept;
    bit<8> lost;
}
struct notice_t { bit<8> command; bit<16> trail; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(4, CounterType.packets_and_bytes) passes;
    apply {
        std.egress_spec = 1;
        hdr.h.trail = hdr.h.trail + 0x0100;
        hdr.h.kept = meta.kept + meta.lost;
        meta.lost = 0x40;
        passes.count((bit<32>) std.instance_type & 3);
        if (hdr.h.command == 1) {
            meta.kept = 0x11;
            clone_preserving_field_list(CloneType.I2E, 7, 1);
        } else if (hdr.h.command == 2 && std.instance_type == 0) {
            meta.kept = 0x22;
            resubmit_preserving_field_list(1);
        } else if (hdr.h.command == 3) {
            std.mcast_grp = 9;
        } else if (hdr.h.command == 4) {
            notice_t notice = { hdr.h.command, hdr.h.trail };
            digest<notice_t>(1, notice);
            log_msg("command {} at length {}", { hdr.h.command, std.packet_length });
        } else if (hdr.h.command == 5) {
            mark_to_drop(std);
        } else if (hdr.h.command == 9) {
            assert(std.instance_type != 0);
        } else if (hdr.h.command == 10) {
            exit;
        }
        hdr.h.trail = hdr.h.trail + 0x1000;
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.length = (bit<16>) std.packet_length;
        if (std.instance_type == 1 || std.instance_type == 2) {
            // A clone.
            hdr.h.kept = meta.kept + meta.lost;
            hdr.h.trail = hdr.h.trail + (bit<16>) std.instance_type;
        } else if (std.instance_type == 5) {
            hdr.h.trail = (bit<16>) std.egress_rid;
        } else if (hdr.h.command == 6) {
            meta.kept = 0x33;
            hdr.h.trail = hdr.h.trail + 0x0010;
            clone_preserving_field_list(CloneType.E2E, 7, 1);
        } else if (hdr.h.command == 7 && hdr.h.trail < 0x3000) {
            meta.kept = 0x44;
            recirculate_preserving_field_list(1);
        } else if (hdr.h.command == 8) {
            truncate(7);
        }
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
