// Counts the packets that ingress drops, by reason.

control CountDrops(inout metadata_t meta) {
    PACKET_COUNTER(DROP_REASONS, drops)

    apply {
        if (meta.drop != DROP_NONE) {
            COUNT(drops, meta.drop);
        }
    }
}
