// Duplication per output port, independent for each packet. The probability is duplicate / 2^32: a
// resolution of 2.4e-10. The packet leaves twice, by a multicast group that the controller makes for
// the port; each of the two is queued, or dropped, by itself.
//
// v1model only. TNA has multicast too, but Tofino 1's stages are all in use
// (docs/reports/tofino-resources.md).

control RandomDuplicate(in metadata_t meta, inout bit<16> group) {
    RANDOM_SOURCE(duplicate_random)
    PACKET_COUNTER(PORTS, duplicates)

    bit<32> below = 0;
    bit<32> draw;
    bit<32> margin;

    action duplicate_below(bit<32> duplicate) {
        below = duplicate;
    }

    table duplicate {
        key = { meta.egress_port : exact; }
        actions = { duplicate_below; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    // Saturates at 0, unless the draw is below.
    @hidden action compare() {
        margin = below |-| draw;
    }

    apply {
        if (duplicate.apply().hit) {
            RANDOM32(duplicate_random, draw);
            compare();
            if (margin != 0) {
                group = (bit<16>) meta.egress_port + 1;  // group 0 is none
                COUNT(duplicates, meta.egress_port);
            }
        }
    }
}
