// Every operator on narrow and wide values; the packet brings the operands and takes the results.
#include <core.p4>
#include <v1model.p4>

header operands_t {
    bit<5>   pad;
    bit<19>  n;
    bit<8>   shift;
    bit<32>  a;
    bit<32>  b;
    bit<64>  c;
    bit<64>  d;
    bit<128> e;
    bit<128> f;
    int<16>  s;
    int<16>  t;
}

header results_t {
    bit<32>  add;
    bit<32>  sub;
    bit<32>  mul;
    bit<64>  add64;
    bit<64>  mul64;
    bit<128> add128;
    bit<128> sub128;
    bit<128> mul128;
    bit<128> and128;
    bit<128> shl128;
    bit<128> shr128;
    bit<128> neg128;
    bit<64>  slice;
    bit<32>  shl;
    bit<64>  shr;
    int<16>  sadd;
    int<16>  sshr;
    int<16>  satadd;
    int<16>  satsub;
    bit<32>  usatadd;
    bit<32>  usatsub;
    bit<64>  usatadd64;
    bit<64>  cat;
    int<32>  widen;
    bit<64>  usatsub64;
    bit<64>  div_rem;
    bit<8>   compare;
    bit<8>   compare_wide;
    bit<8>   compare_signed;
    bit<32>  mux;
    bit<128> mux128;
}

struct headers_t { operands_t o; results_t r; }
struct metadata_t {}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.o); packet.extract(hdr.r); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 2;
        hdr.r.add = hdr.o.a + hdr.o.b;
        hdr.r.sub = hdr.o.a - hdr.o.b;
        hdr.r.mul = hdr.o.a * hdr.o.b;
        hdr.r.add64 = hdr.o.c + hdr.o.d;
        hdr.r.mul64 = hdr.o.c * hdr.o.d;
        hdr.r.add128 = hdr.o.e + hdr.o.f;
        hdr.r.sub128 = hdr.o.e - hdr.o.f;
        hdr.r.mul128 = hdr.o.e * hdr.o.f;
        hdr.r.and128 = (hdr.o.e & hdr.o.f) | (hdr.o.e ^ 128w0x123456789abcdef00fedcba987654321);
        hdr.r.shl128 = hdr.o.e << hdr.o.shift;
        hdr.r.shr128 = hdr.o.e >> hdr.o.shift;
        hdr.r.neg128 = ~hdr.o.e;
        hdr.r.slice = hdr.o.e[90:27];
        hdr.r.shl = hdr.o.a << hdr.o.shift;
        hdr.r.shr = hdr.o.c >> hdr.o.shift;
        hdr.r.sadd = hdr.o.s + hdr.o.t;
        hdr.r.sshr = hdr.o.s >> 3;
        hdr.r.satadd = hdr.o.s |+| hdr.o.t;
        hdr.r.satsub = hdr.o.s |-| hdr.o.t;
        hdr.r.usatadd = hdr.o.a |+| hdr.o.b;
        hdr.r.usatsub = hdr.o.a |-| hdr.o.b;
        hdr.r.usatadd64 = hdr.o.c |+| hdr.o.d;
        hdr.r.cat = hdr.o.a ++ hdr.o.b;
        hdr.r.widen = (int<32>) hdr.o.s;
        hdr.r.usatsub64 = hdr.o.c |-| hdr.o.d;
        hdr.r.div_rem = (bit<64>) (hdr.o.n - 1);
        hdr.r.compare = 0;
        if (hdr.o.c < hdr.o.d) { hdr.r.compare = hdr.r.compare | 1; }
        if (hdr.o.c <= hdr.o.d) { hdr.r.compare = hdr.r.compare | 2; }
        if (hdr.o.c == hdr.o.d) { hdr.r.compare = hdr.r.compare | 4; }
        if (!(hdr.o.a > hdr.o.b) && hdr.o.a != hdr.o.b) { hdr.r.compare = hdr.r.compare | 8; }
        hdr.r.compare_wide = 0;
        if (hdr.o.e < hdr.o.f) { hdr.r.compare_wide = hdr.r.compare_wide | 1; }
        if (hdr.o.e >= hdr.o.f) { hdr.r.compare_wide = hdr.r.compare_wide | 2; }
        if (hdr.o.e == hdr.o.f) { hdr.r.compare_wide = hdr.r.compare_wide | 4; }
        hdr.r.compare_signed = 0;
        if (hdr.o.s < hdr.o.t) { hdr.r.compare_signed = hdr.r.compare_signed | 1; }
        if (hdr.o.s >= -5) { hdr.r.compare_signed = hdr.r.compare_signed | 2; }
        hdr.r.mux = hdr.o.a > 7 ? hdr.o.a : hdr.o.b + 1;
        hdr.r.mux128 = hdr.o.shift == 0 ? hdr.o.e : hdr.o.f;
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.o); packet.emit(hdr.r); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
