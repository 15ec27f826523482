// The disciplines that act after the queue. A port with an entry in `discipline` has one of them;
// other ports cost one lookup.

#include "codel.p4"
#include "red.p4"
#include "pie.p4"
#include "dualpi2.p4"
#include "signal.p4"

control AfterQueue(inout headers_t hdr, inout metadata_t meta) {
    Codel() codel;
    Red() red;
    Pie() pie;
    DualPi2() dualpi2;
    Signal() signal;

    action act() {
    }

    table discipline {
        key = { meta.egress_port : exact; }
        actions = { act; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (discipline.apply().hit) {
            meta.may_mark = 0;
            if (IS_ECN_CAPABLE(hdr)) {
                meta.may_mark = 1;
            }
            codel.apply(meta);
            red.apply(meta);
            pie.apply(meta);
            dualpi2.apply(meta);
            signal.apply(hdr, meta);
        }
    }
}
