// PIE (RFC 8033) after the queue. Every `update` a controller moves the probability by the queueing
// delay's distance from `target` and by its change (section 4.2); packets are dropped, or marked,
// with that probability, spread by its sum (section 5.4).
//
// An update takes place when a packet leaves, so none does while no packet leaves: the first one
// after that makes up for the decay of an empty queue, for up to 2^32 ticks. The traffic manager's
// PIE refuses arrivals; here the packet at the head is dropped, so the sender knows a queueing
// delay sooner.
//
// Fixed point: probabilities have 32 bits of fraction, `alpha` and `beta` 48 a tick of delay.
//
// v1model only. TNA has no product of two variables, and the probability, the delay and the time
// of the next update decide each other's next value. Kunze et al. 2021 leave the controller of the
// probability to the control plane there.

const bit<64> PIE_CAP_FROM = 429496730;   // 0.1: from this probability on (section 5.5)
const bit<64> PIE_CAP = 85899346;         // no step is above 0.02
const bit<64> PIE_DECAY = 1311;           // 0.02, 16 bits of fraction: of an update without delay
const bit<64> PIE_SAFEGUARD = 858993459;  // 0.2 (section 4.1)
const bit<64> PIE_NO_DROP = 3650722202;   // 0.85: no drop below this sum (section 5.4)
const bit<64> PIE_SURE_DROP = 36507222016;  // 8.5: a drop from this sum on
const timestamp_t PIE_MOST_LATE = 0xFFFFFFFF;
const depth_t PIE_FEW_PACKETS = 2;        // no drop with so few behind (section 4.1)

// Moves the probability (section 4.2).
control PieStep(in delay_t delay, in delay_t before, in delay_t target, in bit<40> alpha,
                in bit<40> beta, inout bit<64> probability) {
    apply {
        bit<64> up = (bit<64>) (delay |-| target) * (bit<64>) alpha
            + (bit<64>) (delay |-| before) * (bit<64>) beta;
        bit<64> down = (bit<64>) (target |-| delay) * (bit<64>) alpha
            + (bit<64>) (before |-| delay) * (bit<64>) beta;

        // A low probability moves in fine steps: 1/2048, 1/512 to 1/2 (section 4.2).
        bit<8> shift = 16;
        if (probability < 4295) {                  // 10^-6
            shift = 27;
        } else if (probability < 42950) {          // 10^-5
            shift = 25;
        } else if (probability < 429497) {         // 10^-4
            shift = 23;
        } else if (probability < 4294967) {        // 10^-3
            shift = 21;
        } else if (probability < 42949673) {       // 0.01
            shift = 19;
        } else if (probability < PIE_CAP_FROM) {   // 0.1
            shift = 17;
        }

        if (up > down) {
            bit<64> rise = (up - down) >> shift;
            if (probability >= PIE_CAP_FROM && rise > PIE_CAP) {
                rise = PIE_CAP;
            }
            probability = probability + rise;
            if (probability > ONE) {
                probability = ONE;
            }
        } else {
            bit<64> fall = (down - up) >> shift;
            if (fall > probability) {
                fall = probability;
            }
            probability = probability - fall;
        }
    }
}

// Updates the probability when that is due. `calm` is 1 while there are no early drops (section
// 4.4, and the safeguard of section 4.1).
control PieController(inout metadata_t meta, in delay_t target, in timestamp_t update,
                      in bit<40> alpha, in bit<40> beta, in bit<32> idle_decay,
                      in timestamp_t max_burst, out bit<64> probability, out bit<1> calm) {
    register<bit<64>>(PORTS) pie_probability;
    register<delay_t>(PORTS) pie_delay;   // of the packet that left last; 0 if none was behind it
    register<delay_t>(PORTS) pie_before;  // the same at the last update
    register<timestamp_t>(PORTS) pie_next_update;
    register<timestamp_t>(PORTS) pie_burst_end;
    PieStep() pie_step;

    apply {
        bit<32> port = (bit<32>) meta.egress_port;
        timestamp_t now = meta.egress_timestamp;
        delay_t half = target >> 1;
        delay_t delay;
        delay_t before;
        timestamp_t next_update;
        timestamp_t burst_end;
        pie_probability.read(probability, port);
        pie_delay.read(delay, port);
        pie_before.read(before, port);
        pie_next_update.read(next_update, port);
        pie_burst_end.read(burst_end, port);

        if (now >= next_update) {
            timestamp_t late = now - next_update;
            pie_step.apply(delay, before, target, alpha, beta, probability);
            if (delay == 0 && before == 0) {
                if (late > PIE_MOST_LATE) {
                    late = PIE_MOST_LATE;
                }
                bit<64> lost = PIE_DECAY + (((bit<64>) late * (bit<64>) idle_decay) >> 32);
                if (lost > 65536) {
                    lost = 65536;
                }
                probability = probability - ((probability * lost) >> 16);
            }
            if (probability == 0 && delay < half && before < half) {
                burst_end = now + max_burst;
            }
            next_update = next_update + update;
            if (next_update <= now) {
                next_update = now + update;
            }
            before = delay;
        }
        calm = 0;
        if (now < burst_end || (before < half && probability < PIE_SAFEGUARD)) {
            calm = 1;
        }
        delay = meta.queue_delay;
        if (meta.queue_depth == 0) {
            delay = 0;
        }
        pie_probability.write(port, probability);
        pie_delay.write(port, delay);
        pie_before.write(port, before);
        pie_next_update.write(port, next_update);
        pie_burst_end.write(port, burst_end);
    }
}

control Pie(inout metadata_t meta) {
    RANDOM_SOURCE(pie_random)
    register<bit<64>>(PORTS) pie_sum;  // of the probabilities since the last drop or mark
    PieController() pie_controller;

    delay_t target = 0;
    timestamp_t update = 0;
    bit<40> alpha = 0;
    bit<40> beta = 0;
    bit<32> idle_decay = 0;
    timestamp_t max_burst = 0;
    bit<40> mark_below = 0;
    bit<1> spreads = 0;

    // `pie_mark_below` is 0 where packets are never marked.
    action control_delay(delay_t pie_target, timestamp_t pie_update, bit<40> pie_alpha,
                         bit<40> pie_beta, bit<32> pie_idle_decay, timestamp_t pie_max_burst,
                         bit<40> pie_mark_below, bit<1> pie_spread) {
        target = pie_target;
        update = pie_update;
        alpha = pie_alpha;
        beta = pie_beta;
        idle_decay = pie_idle_decay;
        max_burst = pie_max_burst;
        mark_below = pie_mark_below;
        spreads = pie_spread;
    }

    table pie {
        key = { meta.egress_port : exact; }
        actions = { control_delay; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (pie.apply().hit) {
            bit<32> port = (bit<32>) meta.egress_port;
            bit<64> probability;
            bit<1> calm;
            pie_controller.apply(meta, target, update, alpha, beta, idle_decay, max_burst,
                                 probability, calm);
            if (calm == 0 && meta.queue_depth > PIE_FEW_PACKETS) {
                bit<64> sum;
                bit<32> draw;
                pie_sum.read(sum, port);
                sum = sum + probability;
                if (probability == 0) {
                    sum = 0;
                }
                RANDOM32(pie_random, draw);
                if ((spreads == 1 && sum >= PIE_SURE_DROP)
                    || ((spreads == 0 || sum >= PIE_NO_DROP) && (bit<64>) draw < probability)) {
                    sum = 0;
                    meta.signal = SIGNAL_DROP;
                    if (meta.may_mark == 1 && probability < (bit<64>) mark_below) {
                        meta.signal = SIGNAL_MARK;
                    }
                }
                pie_sum.write(port, sum);
            }
        }
    }
}
