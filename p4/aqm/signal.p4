// What a discipline chose is done here: a packet is marked or dropped, and counted. A discipline
// sets `meta.signal`; `may_mark` tells it whether the packet can carry a mark.
//
// A drop costs no link time in Narrows' switch, and leaves a gap on bmv2 and TNA.

control Signal(inout headers_t hdr, inout metadata_t meta) {
    PACKET_COUNTER(PORTS, aqm_drops)
    PACKET_COUNTER(PORTS, aqm_marks)

    apply {
        if (meta.signal == SIGNAL_DROP) {
            meta.drop = DROP_AQM;
            COUNT(aqm_drops, meta.egress_port);
        } else if (meta.signal == SIGNAL_MARK) {
            MARK_CONGESTION(hdr)
            COUNT(aqm_marks, meta.egress_port);
        }
    }
}
