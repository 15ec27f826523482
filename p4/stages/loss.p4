// Random loss per output port, independent from packet to packet.
// The probability is threshold / 2^32: a resolution of 2.4e-10.

control RandomLoss(inout headers_t hdr, inout metadata_t meta) {
    RANDOM_SOURCE(loss_random)

    action lose_below(bit<32> threshold) {
        bit<32> draw;
        RANDOM32(loss_random, draw);
        if (draw < threshold) {
            meta.drop = DROP_RANDOM_LOSS;
        }
    }

    table loss {
        key = { meta.egress_port : exact; }
        actions = { lose_below; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        loss.apply();
    }
}
