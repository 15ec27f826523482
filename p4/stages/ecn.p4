// ECN: marks packets as congestion experienced above a threshold of the queue depth, per output
// port. A port without an entry marks none. The depth is the instantaneous one when transmission
// begins (RFC 8257 section 3.1 requires the instantaneous queue, RFC 3168 the codepoints).

control MarkEcn(inout headers_t hdr, inout metadata_t meta) {
    PACKET_COUNTER(PORTS, ecn_marks)

    // 32 bits: a width that a Tofino's stage computes with.
    bit<32> threshold = 0;
    bit<32> depth;
    bit<32> excess;

    action mark_above(depth_t ecn_threshold) {
        threshold = (bit<32>) ecn_threshold;
    }

    table ecn {
        key = { meta.egress_port : exact; }
        actions = { mark_above; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    @hidden action widen() {
        depth = (bit<32>) meta.queue_depth;
    }

    // Saturates at 0, unless the depth is above.
    @hidden action compare() {
        excess = depth |-| threshold;
    }

    apply {
        if (IS_ECN_CAPABLE(hdr)) {
            if (ecn.apply().hit) {
                widen();
                compare();
                if (excess != 0) {
                    MARK_CONGESTION(hdr)
                    COUNT(ecn_marks, meta.egress_port);
                }
            }
        }
    }
}
