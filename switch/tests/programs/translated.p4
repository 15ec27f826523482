// Keys, parameters and packet metadata that a controller writes as strings, or wider than they
// are (P4Runtime specification, 17.2). tests/p4runtime/test_translation.py
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("", string)
type bit<10> vrf_t;
@p4runtime_translation("", string)
type bit<9> port_name_t;
@p4runtime_translation("narrows/port", bit<32>)
type bit<9> port_number_t;
type bit<16> plain_t;

@controller_header("packet_in")
header packet_in_t { port_name_t ingress; bit<7> pad; }
@controller_header("packet_out")
header packet_out_t { port_name_t egress; bit<7> pad; }
header h_t { bit<8> a; bit<16> b; }
struct headers_t { packet_out_t packet_out; packet_in_t packet_in; h_t h; }
struct metadata_t { vrf_t vrf; plain_t plain; }
struct seen_t { plain_t plain; bit<8> a; }

const bit<9> CPU = 255;

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        transition select(std.ingress_port) { CPU: from_controller; default: h; }
    }
    state from_controller { packet.extract(hdr.packet_out); transition h; }
    state h { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action set_vrf(vrf_t vrf) { meta.vrf = vrf; }
    action send(port_number_t port) { std.egress_spec = (bit<9>) port; }
    action send_by_name(port_name_t port) { std.egress_spec = (bit<9>) port; }
    action punt() {
        std.egress_spec = CPU;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress = (port_name_t) std.ingress_port;
    }
    table vrfs {
        key = { hdr.h.a : exact; }
        actions = { set_vrf; NoAction; }
    }
    table routes {
        key = { meta.vrf : exact; hdr.h.b : lpm; }
        actions = { send; send_by_name; punt; NoAction; }
    }
    apply {
        if (hdr.packet_out.isValid()) {
            std.egress_spec = (bit<9>) hdr.packet_out.egress;
            hdr.packet_out.setInvalid();
        } else {
            vrfs.apply();
            routes.apply();
            meta.plain = (plain_t) hdr.h.b;
            digest<seen_t>(1, { meta.plain, hdr.h.a });
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.packet_in); packet.emit(hdr.h); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
