// CoDel (RFC 8289) after the queue. Once the queueing delay has been at or above `target` for an
// `interval`, it drops a packet, and further ones `interval` / sqrt(count) apart, until the delay
// is below `target` or at most one packet waits. With `ecn`, a packet that can be marked is marked
// and sent (section 3.1).
//
// Egress counts packets, the traffic manager's CoDel bytes: here one packet may wait where there an
// MTU may.
//
// The root is a table (inverse_root.p4), as in P4-CoDel (Kundel et al. 2018). From 2^16 drops in one
// state on it is that of 2^16.
//
// v1model only. On TNA a register action sees one register and runs once a packet; here the next
// drop's time, the count and the state decide each other's next value. Nor does it multiply.

// Whether `codel_next_drop` has moved on since the last drop or mark. After a drop it moves only if
// the packet behind may be dropped too; after a mark it always does (RFC 8289 section 5.5).
const bit<2> MOVED = 0;
const bit<2> MOVES_AFTER_DROP = 1;
const bit<2> MOVES_AFTER_MARK = 2;

control Codel(inout metadata_t meta) {
    // When the delay will have been too long for an interval; 0: it is not.
    register<timestamp_t>(PORTS) codel_first_above;
    register<timestamp_t>(PORTS) codel_next_drop;
    register<bit<32>>(PORTS) codel_count;
    register<bit<32>>(PORTS) codel_first_count;  // the count when the drop state began
    register<bit<1>>(PORTS) codel_dropping;
    register<bit<2>>(PORTS) codel_pending;

    delay_t target = 0;
    timestamp_t interval = 0;
    bit<1> marks = 0;
    bit<32> count = 0;
    bit<64> root = 0;

    action control_delay(delay_t codel_target, timestamp_t codel_interval, bit<1> codel_ecn) {
        target = codel_target;
        interval = codel_interval;
        marks = codel_ecn;
    }

    table codel {
        key = { meta.egress_port : exact; }
        actions = { control_delay; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    action set_root(bit<64> value) {
        root = value;
    }

    table inverse_root {
        key = { count : lpm; }
        actions = { set_root; }
        default_action = set_root(256);
        const entries = {
#include "inverse_root.p4"
        }
    }

    apply {
        if (codel.apply().hit) {
            bit<32> port = (bit<32>) meta.egress_port;
            timestamp_t now = meta.egress_timestamp;
            timestamp_t first_above;
            timestamp_t next_drop;
            bit<32> first_count;
            bit<1> dropping;
            bit<2> pending;
            codel_first_above.read(first_above, port);
            codel_next_drop.read(next_drop, port);
            codel_count.read(count, port);
            codel_first_count.read(first_count, port);
            codel_dropping.read(dropping, port);
            codel_pending.read(pending, port);

            bit<1> may_drop = 0;
            if (meta.queue_delay < target || meta.queue_depth <= 1) {
                first_above = 0;
            } else if (first_above == 0) {
                first_above = now + interval;
            } else if (now >= first_above) {
                may_drop = 1;
            }

            bit<1> begins = may_drop & ~dropping;
            bit<1> moves = begins;
            timestamp_t since = next_drop;
            if (begins == 1) {
                // A state soon after another one goes on at its rate.
                bit<32> grown = count - first_count;
                timestamp_t memory = next_drop + (interval << 4);
                count = 1;
                if (grown > 1 && now < memory) {
                    count = grown;
                }
                first_count = count;
                since = now;
            } else if (pending == MOVES_AFTER_MARK
                       || (pending == MOVES_AFTER_DROP && may_drop == 1)) {
                moves = 1;
            }
            if (moves == 1) {
                inverse_root.apply();
                next_drop = since + (timestamp_t) (((bit<64>) interval * root) >> 16);
            }
            pending = MOVED;

            bit<1> acts = begins;
            if (dropping == 1 && may_drop == 1 && now >= next_drop) {
                acts = 1;
                count = count + 1;
                pending = MOVES_AFTER_DROP;
            }
            dropping = may_drop;

            if (acts == 1) {
                meta.signal = SIGNAL_DROP;
                if (marks == 1 && meta.may_mark == 1) {
                    meta.signal = SIGNAL_MARK;
                    if (pending == MOVES_AFTER_DROP) {
                        pending = MOVES_AFTER_MARK;
                    }
                }
            }

            codel_first_above.write(port, first_above);
            codel_next_drop.write(port, next_drop);
            codel_count.write(port, count);
            codel_first_count.write(port, first_count);
            codel_dropping.write(port, dropping);
            codel_pending.write(port, pending);
        }
    }
}
