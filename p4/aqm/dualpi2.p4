// DualPI2 (RFC 9332): PI2 for the classic queue, and marks for the scalable one that are coupled to
// it. Ingress sends ECT(1) and CE to the scalable queue; the traffic manager's two queues share the
// rate by weights. Egress moves the base probability p' by the greater of the two queues' delays
// (figs. 6 and 8). Classic packets are dropped, or marked, with p' squared. Scalable packets are
// marked with `coupling` times p', or by the ramp of their own delay, whichever is greater (figs. 5
// and 7). Marks are evenly spaced (fig. 4, `recur`). Once the coupled probability is at 1, scalable
// packets are dropped with p' squared too.
//
// A queue's delay is that of the packet that left it last, 0 if none was behind it. An update takes
// place when a packet leaves; the first one after a pause makes up for the fall of p' in an empty
// queue, for up to 2^32 ticks.
//
// Fixed point: probabilities have 32 bits of fraction, the coupling 16, `alpha` and `beta` 48 for
// each tick of delay.
//
// A traffic manager whose queues do not share a rate (bmv2) sends either queue at the port's. There a
// copy of each scalable packet takes its turn in the classic queue, and is dropped when it leaves.
//
// v1model only. TNA has no product of two variables, so neither the square nor the coupling;
// Papagianni and De Schepper 2019 set PI2's probability from the control plane there. The queue by
// code point would work.

const timestamp_t DUALPI2_MOST_LATE = 0xFFFFFFFF;
const bit<64> DUALPI2_MOST = 0xFFFFFFFF;  // of p', so that its square has 64 bits
const bit<2> ECN_ECT_0 = 2;

// Chooses the queue, at ingress.
control ClassifyScalable(inout headers_t hdr, inout metadata_t meta) {
    bit<1> any_ect = 0;
    bit<16> copies = 0;

    // `scalable_copies` is the clone session of the copies; 0: none.
    action separate(bit<1> scalable_any_ect, bit<16> scalable_copies) {
        any_ect = scalable_any_ect;
        copies = scalable_copies;
    }

    table scalable {
        key = { meta.egress_port : exact; }
        actions = { separate; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (IS_ECN_CAPABLE(hdr) && scalable.apply().hit) {
            bit<2> ecn = hdr.ipv6.ecn;
            if (hdr.ipv4.isValid()) {
                ecn = hdr.ipv4.ecn;
            }
            if ((ecn & 1) == 1 || (any_ect == 1 && ecn == ECN_ECT_0)) {
                meta.priority = PRIORITY_SCALABLE;
                if (copies != 0 && meta.drop == DROP_NONE) {
                    clone(CloneType.I2E, (bit<32>) copies);
                }
            }
        }
    }
}

// Updates p' when that is due.
control DualPi2Controller(inout metadata_t meta, in delay_t target, in timestamp_t update,
                          in bit<40> alpha, in bit<40> beta, in bit<32> idle_fall,
                          out bit<64> base) {
    register<bit<64>>(PORTS) dualpi2_base;
    register<delay_t>(PORTS) dualpi2_classic_delay;
    register<delay_t>(PORTS) dualpi2_scalable_delay;
    register<delay_t>(PORTS) dualpi2_before;
    register<timestamp_t>(PORTS) dualpi2_next_update;

    apply {
        bit<32> port = (bit<32>) meta.egress_port;
        timestamp_t now = meta.egress_timestamp;
        timestamp_t next_update;
        dualpi2_base.read(base, port);
        dualpi2_next_update.read(next_update, port);

        if (now >= next_update) {
            delay_t delay;
            delay_t other;
            delay_t before;
            dualpi2_classic_delay.read(delay, port);
            dualpi2_scalable_delay.read(other, port);
            dualpi2_before.read(before, port);
            if (other > delay) {
                delay = other;
            }
            bit<64> up = (bit<64>) (delay |-| target) * (bit<64>) alpha
                + (bit<64>) (delay |-| before) * (bit<64>) beta;
            bit<64> down = (bit<64>) (target |-| delay) * (bit<64>) alpha
                + (bit<64>) (before |-| delay) * (bit<64>) beta;
            if (delay == 0 && before == 0) {
                timestamp_t late = now - next_update;
                if (late > DUALPI2_MOST_LATE) {
                    late = DUALPI2_MOST_LATE;
                }
                down = down + (bit<64>) late * (bit<64>) idle_fall;
            }
            if (up > down) {
                base = base + ((up - down) >> 16);
                if (base > DUALPI2_MOST) {
                    base = DUALPI2_MOST;
                }
            } else {
                bit<64> fall = (down - up) >> 16;
                if (fall > base) {
                    fall = base;
                }
                base = base - fall;
            }
            next_update = next_update + update;
            if (next_update <= now) {
                next_update = now + update;
            }
            dualpi2_base.write(port, base);
            dualpi2_before.write(port, delay);
            dualpi2_next_update.write(port, next_update);
        }
        delay_t own = meta.queue_delay;
        if (meta.queue_depth == 0) {
            own = 0;
        }
        if (meta.queue_id == (bit<8>) PRIORITY_SCALABLE) {
            dualpi2_scalable_delay.write(port, own);
        } else {
            dualpi2_classic_delay.write(port, own);
        }
    }
}

control DualPi2(inout metadata_t meta) {
    register<bit<64>>(PORTS * 2) dualpi2_turns;  // sums of likelihoods, of the classic queues first
    DualPi2Controller() dualpi2_controller;

    delay_t target = 0;
    timestamp_t update = 0;
    bit<40> alpha = 0;
    bit<40> beta = 0;
    bit<32> idle_fall = 0;
    bit<64> coupling = 0;
    delay_t min_th = 0;
    delay_t ramp_range = 0;
    bit<64> ramp_slope = 0;
    depth_t min_packets = 0;
    bit<64> most_classic = 0;

    action couple(delay_t dualpi2_target, timestamp_t dualpi2_update, bit<40> dualpi2_alpha,
                  bit<40> dualpi2_beta, bit<32> dualpi2_idle_fall, bit<24> dualpi2_coupling,
                  delay_t dualpi2_min_th, delay_t dualpi2_range, bit<40> dualpi2_ramp_slope,
                  depth_t dualpi2_min_packets, bit<40> dualpi2_most_classic) {
        target = dualpi2_target;
        update = dualpi2_update;
        alpha = dualpi2_alpha;
        beta = dualpi2_beta;
        idle_fall = dualpi2_idle_fall;
        coupling = (bit<64>) dualpi2_coupling;
        min_th = dualpi2_min_th;
        ramp_range = dualpi2_range;
        ramp_slope = (bit<64>) dualpi2_ramp_slope;
        min_packets = dualpi2_min_packets;
        most_classic = (bit<64>) dualpi2_most_classic;
    }

    table dualpi2 {
        key = { meta.egress_port : exact; }
        actions = { couple; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (dualpi2.apply().hit) {
            bit<64> base;
            bit<64> likelihood;
            bit<64> turns;
            bit<32> cell = (bit<32>) meta.egress_port;
            dualpi2_controller.apply(meta, target, update, alpha, beta, idle_fall, base);
            bit<64> squared = (base * base) >> 32;
            bit<64> coupled = (base * coupling) >> 16;
            bit<1> is_scalable = 0;
            if (meta.queue_id == (bit<8>) PRIORITY_SCALABLE) {
                is_scalable = 1;
                cell = cell + PORTS;
            }
            dualpi2_turns.read(turns, cell);

            if (is_scalable == 1 && coupled < ONE) {
                likelihood = coupled;
                if (meta.queue_delay >= min_th && meta.queue_depth >= min_packets) {
                    delay_t above = meta.queue_delay - min_th;
                    bit<64> ramp = ONE;
                    if (above < ramp_range) {
                        ramp = (bit<64>) above * ramp_slope;
                    }
                    if (ramp > likelihood) {
                        likelihood = ramp;
                    }
                }
            } else {
                likelihood = squared;
            }

            turns = turns + likelihood;
            if (turns > ONE) {
                turns = turns - ONE;
                meta.signal = SIGNAL_MARK;
                if (meta.may_mark == 0
                    || (is_scalable == 1 && coupled >= ONE)
                    || (is_scalable == 0 && squared >= most_classic)) {
                    meta.signal = SIGNAL_DROP;
                }
            } else if (is_scalable == 1 && coupled >= ONE) {
                meta.signal = SIGNAL_MARK;  // overload: every scalable packet that is not dropped
            }
            dualpi2_turns.write(cell, turns);
        }
    }
}
