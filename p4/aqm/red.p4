// RED (Floyd and Jacobson 1993; gentle: Floyd 2000; adaptive: Floyd, Gummadi and Shenker 2001) after
// the queue. It averages the packets that each packet leaves behind, and drops or marks with a
// probability that rises with the average. Marked or dropped packets are spread by the count since
// the last one (1993, section 7).
//
// The traffic manager's RED averages what an arrival finds, and refuses the arrival. Here the
// packet at the head is dropped, so the sender knows a queueing delay sooner. The queue's limit
// comes first.
//
// Fixed point: averages and thresholds have 16 bits of fraction, probabilities 32. While the queue
// is empty the average halves every so many ticks; between two halvings it falls in a line, up to
// 6 % above the exponential. Idle time counts from the last packet's departure, up to 2^34 ticks.
//
// v1model only. A TNA register action can't multiply, nor shift by a variable, and the product of
// count and probability would need a lookup of both.

const timestamp_t RED_MOST_IDLE = 0x3FFFFFFFF;
const bit<64> RED_LEAST_MAX_P = 42949673;   // 0.01: the range of an adaptive max_p (2001)
const bit<64> RED_MOST_MAX_P = 2147483648;  // 0.5
const bit<64> RED_INCREASE = 42949673;      // 0.01, or a quarter of max_p if that is less
const bit<64> RED_DECREASE = 3865470566;    // 0.9

control RedAverage(inout metadata_t meta, in bit<32> weight, in bit<32> idle_halvings,
                   out bit<64> average) {
    register<bit<64>>(PORTS) red_average;
    register<timestamp_t>(PORTS) red_idle_since;  // 0: a packet was behind the last one

    apply {
        bit<32> port = (bit<32>) meta.egress_port;
        timestamp_t idle_since;
        red_average.read(average, port);
        red_idle_since.read(idle_since, port);
        if (idle_since != 0) {
            timestamp_t idle = meta.egress_timestamp - idle_since;
            if (idle > RED_MOST_IDLE) {
                idle = RED_MOST_IDLE;
            }
            bit<64> halvings = ((bit<64>) idle * (bit<64>) idle_halvings) >> 24;
            if (halvings >= (40 << 16)) {
                average = 0;
            } else {
                average = average >> (bit<8>) (halvings >> 16);
                average = average - ((average * (halvings & 0xFFFF)) >> 17);
            }
        }
        average = average - ((average * (bit<64>) weight) >> 16);
        average = average + (bit<64>) meta.queue_depth * (bit<64>) weight;
        idle_since = 0;
        if (meta.queue_depth == 0) {
            idle_since = meta.egress_timestamp;
        }
        red_average.write(port, average);
        red_idle_since.write(port, idle_since);
    }
}

// Moves max_p so that the average stays between the targets, at most once an `interval`. It goes on
// from its last value until the control plane sets another `max_p`.
control RedMaxP(inout metadata_t meta, in bit<64> average, in bit<40> low, in bit<40> high,
                in timestamp_t interval, inout bit<32> max_p) {
    register<bit<32>>(PORTS) red_max_p;
    register<bit<32>>(PORTS) red_first_max_p;  // as the control plane set it
    register<timestamp_t>(PORTS) red_changed_at;

    apply {
        bit<32> port = (bit<32>) meta.egress_port;
        bit<32> first;
        bit<32> last;
        timestamp_t changed_at;
        red_first_max_p.read(first, port);
        red_max_p.read(last, port);
        red_changed_at.read(changed_at, port);
        if (first != max_p) {
            red_first_max_p.write(port, max_p);
            last = max_p;
        }
        bit<64> moved = (bit<64>) last;
        if (meta.egress_timestamp - changed_at > interval) {
            if (average < (bit<64>) low && moved > RED_LEAST_MAX_P) {
                moved = (moved * RED_DECREASE) >> 32;
                changed_at = meta.egress_timestamp;
            } else if (average > (bit<64>) high && moved < RED_MOST_MAX_P) {
                bit<64> step = moved >> 2;
                if (step > RED_INCREASE) {
                    step = RED_INCREASE;
                }
                moved = moved + step;
                changed_at = meta.egress_timestamp;
            }
        }
        max_p = (bit<32>) moved;
        red_max_p.write(port, max_p);
        red_changed_at.write(port, changed_at);
    }
}

control Red(inout metadata_t meta) {
    RANDOM_SOURCE(red_random)
    register<bit<1>>(PORTS) red_above;
    register<bit<32>>(PORTS) red_count;  // packets since the last drop or mark
    RedAverage() red_average;
    RedMaxP() red_adapted;

    bit<32> weight = 0;
    bit<32> idle_halvings = 0;
    bit<40> min_th = 0;
    bit<40> max_th = 0;
    bit<40> forced_th = 0;
    bit<32> max_p = 0;
    bit<32> slope = 0;
    bit<32> gentle_slope = 0;
    bit<1> marks = 0;
    timestamp_t interval = 0;
    bit<40> low = 0;
    bit<40> high = 0;
    bit<32> inverse_range = 0;
    bit<32> inverse_max_th = 0;

    // `red_interval` is 0 where max_p does not adapt. The two inverses are used only where it does.
    action detect(bit<40> red_min_th, bit<40> red_max_th, bit<40> red_forced_th, bit<32> red_max_p,
                  bit<32> red_slope, bit<32> red_gentle_slope, bit<32> red_weight,
                  bit<32> red_idle_halvings, bit<1> red_ecn, timestamp_t red_interval,
                  bit<40> red_target_low, bit<40> red_target_high, bit<32> red_inverse_range,
                  bit<32> red_inverse_max_th) {
        min_th = red_min_th;
        max_th = red_max_th;
        forced_th = red_forced_th;
        max_p = red_max_p;
        slope = red_slope;
        gentle_slope = red_gentle_slope;
        weight = red_weight;
        idle_halvings = red_idle_halvings;
        marks = red_ecn;
        interval = red_interval;
        low = red_target_low;
        high = red_target_high;
        inverse_range = red_inverse_range;
        inverse_max_th = red_inverse_max_th;
    }

    table red {
        key = { meta.egress_port : exact; }
        actions = { detect; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (red.apply().hit) {
            bit<32> port = (bit<32>) meta.egress_port;
            bit<64> average;
            bit<1> above;
            bit<32> count;
            red_average.apply(meta, weight, idle_halvings, average);
            if (interval != 0) {
                red_adapted.apply(meta, average, low, high, interval, max_p);
                slope = (bit<32>) (((bit<64>) max_p * (bit<64>) inverse_range) >> 32);
                bit<64> above_max_p = ONE - (bit<64>) max_p;
                gentle_slope = (bit<32>) ((above_max_p * (bit<64>) inverse_max_th) >> 32);
            }
            red_above.read(above, port);
            red_count.read(count, port);
            count = count + 1;

            if (average < (bit<64>) min_th || meta.queue_depth <= 1) {
                above = 0;
            } else if (average >= (bit<64>) forced_th) {
                meta.signal = SIGNAL_DROP;
                count = 0;
            } else if (above == 0) {
                above = 1;
                count = 1;
            } else {
                bit<64> probability;
                if (average < (bit<64>) max_th) {
                    probability = ((average - (bit<64>) min_th) * (bit<64>) slope) >> 16;
                } else {
                    probability = ((average - (bit<64>) max_th) * (bit<64>) gentle_slope) >> 16;
                    probability = probability + (bit<64>) max_p;
                }
                // draw < probability / (1 - spread), without a division.
                bit<64> spread = (bit<64>) count * probability;
                bit<32> draw;
                RANDOM32(red_random, draw);
                if (spread >= ONE || ((bit<64>) draw * (ONE - spread)) >> 32 < probability) {
                    meta.signal = SIGNAL_DROP;
                    if (marks == 1 && meta.may_mark == 1) {
                        meta.signal = SIGNAL_MARK;
                    }
                    count = 0;
                }
            }
            red_above.write(port, above);
            red_count.write(port, count);
        }
    }
}
