// Random loss per output port, independent for each packet. The probability is loss / 2^32: a
// resolution of 2.4e-10.

control RandomLoss(inout headers_t hdr, inout metadata_t meta) {
    RANDOM_SOURCE(loss_random)

    bit<32> below = 0;
    bit<32> draw;
    bit<32> margin;

    action lose_below(bit<32> loss) {
        below = loss;
    }

    table loss {
        key = { meta.egress_port : exact; }
        actions = { lose_below; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    // Saturates at 0, unless the draw is below.
    @hidden action compare() {
        margin = below |-| draw;
    }

    apply {
        if (loss.apply().hit) {
            RANDOM32(loss_random, draw);
            compare();
            if (margin != 0) {
                meta.drop = DROP_RANDOM_LOSS;
            }
        }
    }
}
