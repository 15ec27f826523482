// Decides whether this packet is reported: every packet of an output port, or 1 in `every`.

control SelectReport(inout metadata_t meta) {
    REGISTER(32, PORTS, report_countdown)

    action report_every(bit<32> every, bit<16> session) {
        bool due;
        REGISTER_EVERY(report_countdown, 32, (bit<32>) meta.egress_port, every, due);
        if (due) {
            meta.report_session = session;
        }
    }

    table telemetry {
        key = { meta.egress_port : exact; }
        actions = { report_every; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        telemetry.apply();
    }
}
