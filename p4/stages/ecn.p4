// ECN: marks congestion experienced above a threshold of the queue depth, per output port.
// Off where the port has no entry. The depth is the instantaneous one when transmission begins
// (RFC 8257 section 3.1 asks for the instantaneous queue; RFC 3168 for the codepoints).

control MarkEcn(inout headers_t hdr, inout metadata_t meta) {
    PACKET_COUNTER(PORTS, ecn_marks)

    action mark_above(depth_t packets) {
        if (meta.queue_depth > packets && hdr.ipv4.ecn != ECN_NOT_CAPABLE) {
            hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED;
            COUNT(ecn_marks, meta.egress_port);
        }
    }

    table ecn {
        key = { meta.egress_port : exact; }
        actions = { mark_above; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            ecn.apply();
        }
    }
}
