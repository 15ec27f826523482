// Decides whether to report this packet: every packet of an output port, or 1 in `every`.

control SelectReport(inout metadata_t meta) {
    bit<32> last = 0;
    bit<16> report_session = 0;

    REGISTER_CYCLE(32, PORTS, report_countdown, last)

    action report_every(bit<32> every, bit<16> session) {
        last = every - 1;
        report_session = session;
    }

    table telemetry {
        key = { meta.egress_port : exact; }
        actions = { report_every; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (telemetry.apply().hit) {
            bit<1> due;
            REGISTER_STEP(report_countdown, 32, (bit<32>) meta.egress_port, last, due);
            if (due == 1) {
                meta.report_session = report_session;
            }
        }
    }
}
