// Forwarding: longest-prefix match, MAC rewrite, TTL or hop limit.

control Forward(inout headers_t hdr, inout metadata_t meta) {
    action no_route() {
        meta.drop = DROP_NO_ROUTE;
    }

    action route(port_t port, mac_t src_mac, mac_t dst_mac) {
        meta.egress_port = port;
        hdr.ethernet.src_mac = src_mac;
        hdr.ethernet.dst_mac = dst_mac;
    }

    table ipv4_lpm {
        key = { hdr.ipv4.dst_addr : lpm; }
        actions = { route; no_route; }
        default_action = no_route();
        size = ROUTES;
    }

#ifdef HAS_IPV6
    table ipv6_lpm {
        key = { hdr.ipv6.dst_addr : lpm; }
        actions = { route; no_route; }
        default_action = no_route();
        size = ROUTES;
    }
#endif

    apply {
        if (meta.malformed) {
            meta.drop = DROP_MALFORMED;
        } else if (!hdr.ipv4.isValid()) {
#ifdef HAS_IPV6
            if (!hdr.ipv6.isValid()) {
                meta.drop = DROP_NOT_IPV4;
            } else if (hdr.ipv6.hop_limit <= 1) {
                meta.drop = DROP_TTL;
            } else {
                ipv6_lpm.apply();
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
#else
            meta.drop = DROP_NOT_IPV4;
#endif
        } else if (hdr.ipv4.ttl <= 1) {
            meta.drop = DROP_TTL;
        } else {
            ipv4_lpm.apply();
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        }
    }
}
