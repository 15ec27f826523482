// Turns a clone into a Telemetry Report 2.0: the switch's data on the packet, then the packet's
// first bytes from the IP header on: REPORT_INNER_BYTES, or REPORT_INNER_IPV6_BYTES.

control MakeReport(inout headers_t hdr, inout metadata_t meta, in port_t collector_port) {
    REGISTER_SEQUENCE(32, PORTS, report_sequence)

    action send_to(bit<32> node_id, mac_t src_mac, mac_t dst_mac, ipv4_address_t src_addr,
                   ipv4_address_t dst_addr, bit<16> udp_port) {
        hdr.report_ethernet.setValid();
        hdr.report_ethernet.src_mac = src_mac;
        hdr.report_ethernet.dst_mac = dst_mac;
        hdr.report_ethernet.ethertype = ETHERTYPE_IPV4;
        hdr.report_ipv4.setValid();
        hdr.report_ipv4.version = 4;
        hdr.report_ipv4.ihl = 5;
        hdr.report_ipv4.dscp = 0;
        hdr.report_ipv4.ecn = ECN_NOT_CAPABLE;
        hdr.report_ipv4.identification = 0;
        hdr.report_ipv4.flags = 0;
        hdr.report_ipv4.fragment_offset = 0;
        hdr.report_ipv4.ttl = 64;
        hdr.report_ipv4.protocol = PROTOCOL_UDP;
        hdr.report_ipv4.checksum = 0;
        hdr.report_ipv4.src_addr = src_addr;
        hdr.report_ipv4.dst_addr = dst_addr;
        hdr.report_udp.setValid();
        hdr.report_udp.src_port = udp_port;
        hdr.report_udp.dst_port = udp_port;
        hdr.report_udp.checksum = 0;  // RFC 768: none
        hdr.report_group.setValid();
        hdr.report_group.version = REPORT_VERSION;
        hdr.report_group.hardware_id = 0;
        hdr.report_group.node_id = node_id;
    }

    table collector {
        key = { collector_port : exact; }
        actions = { send_to; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    bit<16> beyond;
    bit<16> inner;
    bit<16> rounded;
    bit<8> words;

    // One operation in each, as a Tofino's stage does: `inner` is at most REPORT_INNER_BYTES.
    @hidden action measure_beyond() {
        beyond = hdr.ipv4.total_length |-| REPORT_INNER_BYTES;
    }

    @hidden action cut() {
        inner = hdr.ipv4.total_length - beyond;
    }

    @hidden action round_up() {
        rounded = inner + 3;
    }

    action set_words(bit<8> count) {
        words = count;
    }

#ifdef HAS_IPV6
    bit<16> ipv6_length = 0;

    @hidden action measure_ipv6() {
        ipv6_length = hdr.ipv6.payload_length |+| IPV6_BYTES;
        inner = ipv6_length - (ipv6_length |-| REPORT_INNER_IPV6_BYTES);
        words = REPORT_MAIN_WORDS + (bit<8>) ((inner + 3) >> 2);
    }
#endif

    // REPORT_MAIN_WORDS and `inner` in words. On Tofino no operation goes from 16 bits to 8.
    @hidden table inner_words {
        key = { rounded : CONST_LPM; }
        actions = { set_words; }
        default_action = set_words(REPORT_MAIN_WORDS + 10);
        CONST_SIZE(11)
        const entries = {
            40 &&& 0xFFFC : set_words(24);
            36 &&& 0xFFFC : set_words(23);
            32 &&& 0xFFFC : set_words(22);
            28 &&& 0xFFFC : set_words(21);
            24 &&& 0xFFFC : set_words(20);
            20 &&& 0xFFFC : set_words(19);
            16 &&& 0xFFFC : set_words(18);
            12 &&& 0xFFFC : set_words(17);
            8 &&& 0xFFFC : set_words(16);
            4 &&& 0xFFFC : set_words(15);
            0 &&& 0xFFFC : set_words(14);
        }
    }

    apply {
        if (collector.apply().hit) {
            bit<32> sequence;
            REGISTER_NEXT(report_sequence, 32, (bit<32>) collector_port, sequence);
            hdr.report_group.sequence = (bit<22>) sequence;

            measure_beyond();
            cut();
            round_up();
            inner_words.apply();
#ifdef HAS_IPV6
            if (hdr.ipv6.isValid()) {
                measure_ipv6();
            }
#endif
            hdr.report_udp.length = REPORT_UDP_BYTES + inner;
            hdr.report_ipv4.total_length = 20 + REPORT_UDP_BYTES + inner;

            hdr.report_main.setValid();
            hdr.report_main.report_type = REPORT_TYPE_INT;
            hdr.report_main.inner_type = REPORT_INNER_IPV4;
            hdr.report_main.report_words = words;
            hdr.report_main.metadata_words = REPORT_METADATA_WORDS;
            hdr.report_main.dropped = 0;
            hdr.report_main.congested = 0;
            hdr.report_main.tracked_flow = 1;
            hdr.report_main.intermediate = 0;
            hdr.report_main.reserved = 0;
            hdr.report_main.metadata_bits = REPORT_METADATA_BITS;
            hdr.report_main.domain_id = REPORT_DOMAIN;
            hdr.report_main.domain_bits = REPORT_DOMAIN_BITS;
            hdr.report_main.domain_status = 0;

            hdr.report_hop.setValid();
            hdr.report_hop.ingress_port = (bit<16>) meta.ingress_port;
            hdr.report_hop.egress_port = (bit<16>) meta.egress_port;
            hdr.report_hop.hop_latency = (bit<32>) meta.egress_timestamp - (bit<32>) meta.ingress_timestamp;
            hdr.report_hop.queue_id = meta.queue_id;
            hdr.report_hop.queue_depth = meta.queue_depth;
            hdr.report_hop.ingress_timestamp = (bit<64>) meta.ingress_timestamp;
            hdr.report_hop.egress_timestamp = (bit<64>) meta.egress_timestamp;

            hdr.report_flow.setValid();
            hdr.report_flow.flow_id = meta.flow_id;
            hdr.report_flow.tcp_sequence = 0;
            if (hdr.tcp.isValid()) {
                hdr.report_flow.tcp_sequence = hdr.tcp.sequence;
            }
            hdr.report_flow.ip_length = hdr.ipv4.total_length;
            hdr.report_flow.frame_length = meta.frame_length;
            hdr.report_flow.queue_delay = meta.queue_delay;
            hdr.report_flow.enqueue_depth = (bit<32>) meta.enqueue_depth;

#ifdef HAS_IPV6
            if (hdr.ipv6.isValid()) {
                hdr.report_main.inner_type = REPORT_INNER_IPV6;
                hdr.report_flow.ip_length = ipv6_length;
            }
#endif

            hdr.ethernet.setInvalid();
        }
    }
}
