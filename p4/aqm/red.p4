// RED (Floyd and Jacobson 1993; gentle: Floyd 2000) after the queue. It averages the packets that
// each packet leaves behind, and drops or marks with a probability that rises with the average.
// Marked or dropped packets are spread by the count since the last one (1993, section 7).
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

control Red(inout metadata_t meta) {
    RANDOM_SOURCE(red_random)
    register<bit<1>>(PORTS) red_above;
    register<bit<32>>(PORTS) red_count;  // packets since the last drop or mark
    RedAverage() red_average;

    bit<32> weight = 0;
    bit<32> idle_halvings = 0;
    bit<40> min_th = 0;
    bit<40> max_th = 0;
    bit<40> forced_th = 0;
    bit<32> max_p = 0;
    bit<32> slope = 0;
    bit<32> gentle_slope = 0;
    bit<1> marks = 0;

    action detect(bit<40> red_min_th, bit<40> red_max_th, bit<40> red_forced_th, bit<32> red_max_p,
                  bit<32> red_slope, bit<32> red_gentle_slope, bit<32> red_weight,
                  bit<32> red_idle_halvings, bit<1> mark_instead) {
        min_th = red_min_th;
        max_th = red_max_th;
        forced_th = red_forced_th;
        max_p = red_max_p;
        slope = red_slope;
        gentle_slope = red_gentle_slope;
        weight = red_weight;
        idle_halvings = red_idle_halvings;
        marks = mark_instead;
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
