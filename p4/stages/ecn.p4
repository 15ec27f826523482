// ECN: marks packets as congestion experienced above a threshold of the queue depth, per output
// port. A port without an entry marks none. The depth is the instantaneous one when transmission
// begins (RFC 8257 section 3.1 requires the instantaneous queue, RFC 3168 the codepoints).

control MarkEcn(inout headers_t hdr, inout metadata_t meta) {
    PACKET_COUNTER(PORTS, ecn_marks)

    depth_t threshold = 0;

    action mark_above(depth_t ecn_threshold) {
        threshold = ecn_threshold;
    }

    table ecn {
        key = { meta.egress_port : exact; }
        actions = { mark_above; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_CAPABLE) {
            if (ecn.apply().hit) {
                depth_t excess = meta.queue_depth |-| threshold;
                if (excess != 0) {
                    hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED;
                    COUNT(ecn_marks, meta.egress_port);
                }
            }
        }
    }
}
