// Flow identification: the controller's entry on the 5-tuple, or without an entry, its hash.

control IdentifyFlow(inout headers_t hdr, inout metadata_t meta) {
    TABLE_COUNTER(flow_counter)
    HASH_SOURCE(flow_hash)

    action set_flow(bit<32> flow_id) {
        COUNT_ENTRY(flow_counter);
        meta.flow_id = flow_id;
    }

    // The hash is computed after the table: a default action of Tofino has no hash unit.
    action hash_flow() {
        COUNT_ENTRY(flow_counter);
    }

    table flow {
        key = {
            hdr.ipv4.src_addr : ternary;
            hdr.ipv4.dst_addr : ternary;
            hdr.ipv4.protocol : ternary;
            meta.src_port : ternary;
            meta.dst_port : ternary;
        }
        actions = { set_flow; hash_flow; }
        default_action = hash_flow();
        COUNTED_BY(flow_counter);
        size = FLOWS;
    }

#ifdef HAS_IPV6
    TABLE_COUNTER(ipv6_flow_counter)

    // Without ports if an extension header comes before the transport's.
    table ipv6_flow {
        key = {
            hdr.ipv6.src_addr : ternary;
            hdr.ipv6.dst_addr : ternary;
            hdr.ipv6.next_header : ternary;
            meta.src_port : ternary;
            meta.dst_port : ternary;
        }
        actions = { set_flow; hash_flow; }
        default_action = hash_flow();
        COUNTED_BY(ipv6_flow_counter);
        size = FLOWS;
    }
#endif

    apply {
        if (hdr.tcp.isValid()) {
            meta.src_port = hdr.tcp.src_port;
            meta.dst_port = hdr.tcp.dst_port;
        } else if (hdr.udp.isValid()) {
            meta.src_port = hdr.udp.src_port;
            meta.dst_port = hdr.udp.dst_port;
        }
#ifdef HAS_IPV6
        if (!hdr.ipv4.isValid()) {
            switch (ipv6_flow.apply().action_run) {
                hash_flow : {
                    HASH_WITH_TOP_BIT(flow_hash, meta.flow_id, hdr.ipv6.src_addr,
                        hdr.ipv6.dst_addr, hdr.ipv6.next_header, meta.src_port, meta.dst_port);
                }
            }
        } else
#endif
        switch (flow.apply().action_run) {
            hash_flow : {
                HASH_WITH_TOP_BIT(flow_hash, meta.flow_id, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
                    hdr.ipv4.protocol, meta.src_port, meta.dst_port);
            }
        }
    }
}
