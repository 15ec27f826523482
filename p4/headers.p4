// Packet headers: those that the testbed forwards, and the telemetry report.
//
// Telemetry Report Format Specification 2.0 (P4.org Applications Working Group, 2020), RepType 1
// (INT), sent as a separate packet: INT-XD, a "postcard".

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<2> ECN_NOT_CAPABLE = 0;
const bit<2> ECN_CONGESTION_EXPERIENCED = 3;

typedef bit<48> mac_t;
typedef bit<32> ipv4_address_t;

header ethernet_t {
    mac_t dst_mac;
    mac_t src_mac;
    bit<16> ethertype;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_address_t src_addr;
    ipv4_address_t dst_addr;
}

// At most 40 bytes: ihl is at most 15 words, and the fixed part has 5.
#ifdef HAS_VARBIT
header ipv4_options_t {
    varbit<320> options;
}
#endif

#ifdef HAS_IPV6
const bit<16> ETHERTYPE_IPV6 = 0x86DD;
const bit<16> IPV6_BYTES = 40;

typedef bit<128> ipv6_address_t;

// Extension headers stay in the payload, so a packet with one has no ports.
header ipv6_t {
    bit<4> version;
    bit<6> dscp;
    bit<2> ecn;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_address_t src_addr;
    ipv6_address_t dst_addr;
}
#endif

// The fixed part; TCP options stay in the payload, which the switch does not parse.
header tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4> data_offset;
    bit<4> reserved;
    bit<8> flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent_pointer;
}

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

const bit<4> REPORT_VERSION = 2;
const bit<4> REPORT_TYPE_INT = 1;
const bit<4> REPORT_INNER_IPV4 = 4;
// RepMdBits 1 to 5: interfaces, hop latency, queue, ingress and egress timestamp.
const bit<16> REPORT_METADATA_BITS = 0x7C00;
// Narrows' domain: DSMdBits 0 to 4 are the five words of `report_flow_t`.
const bit<16> REPORT_DOMAIN = 0x4E41;
const bit<16> REPORT_DOMAIN_BITS = 0xF800;
// Lengths in 4-byte words: the metadata, including the fixed main contents.
const bit<8> REPORT_METADATA_WORDS = 12;
const bit<8> REPORT_MAIN_WORDS = 14;
// The truncated packet: an IPv4 and a TCP header without options.
const bit<16> REPORT_INNER_BYTES = 40;
// UDP, group and individual headers, without the truncated packet.
const bit<16> REPORT_UDP_BYTES = 76;
const bit<32> REPORT_FRAME_BYTES = 150;
#ifdef HAS_IPV6
// The same for a report of an IPv6 packet.
const bit<4> REPORT_INNER_IPV6 = 5;
const bit<16> REPORT_INNER_IPV6_BYTES = 60;
const bit<32> REPORT_FRAME_IPV6_BYTES = 170;
#endif

// Telemetry Report Group Header.
header report_group_t {
    bit<4> version;
    bit<6> hardware_id;
    bit<22> sequence;
    bit<32> node_id;
}

// Individual Report Header with the fixed main contents of RepType INT.
header report_main_t {
    bit<4> report_type;
    bit<4> inner_type;
    bit<8> report_words;
    bit<8> metadata_words;
    bit<1> dropped;
    bit<1> congested;
    bit<1> tracked_flow;
    bit<1> intermediate;
    bit<4> reserved;
    bit<16> metadata_bits;
    bit<16> domain_id;
    bit<16> domain_bits;
    bit<16> domain_status;
}

// Baseline metadata, in the order of REPORT_METADATA_BITS. Times in nanoseconds.
header report_hop_t {
    bit<16> ingress_port;
    bit<16> egress_port;
    bit<32> hop_latency;
    bit<8> queue_id;
    bit<24> queue_depth;
    bit<64> ingress_timestamp;
    bit<64> egress_timestamp;
}

// Domain-specific metadata, one word per DSMdBit.
header report_flow_t {
    bit<32> flow_id;
    bit<32> tcp_sequence;
    bit<16> ip_length;
    bit<16> frame_length;
    bit<32> queue_delay;
    bit<32> enqueue_depth;
}

struct headers_t {
    ethernet_t report_ethernet;
    ipv4_t report_ipv4;
    udp_t report_udp;
    report_group_t report_group;
    report_main_t report_main;
    report_hop_t report_hop;
    report_flow_t report_flow;
    ethernet_t ethernet;
    ipv4_t ipv4;
#ifdef HAS_VARBIT
    ipv4_options_t ipv4_options;
#endif
#ifdef HAS_IPV6
    ipv6_t ipv6;
#endif
    tcp_t tcp;
    udp_t udp;
}

// The ECN field of a packet: whether it can carry a mark, and the mark.
#ifdef HAS_IPV6
#define IS_ECN_CAPABLE(hdr) \
    (hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_CAPABLE \
        || hdr.ipv6.isValid() && hdr.ipv6.ecn != ECN_NOT_CAPABLE)
#define MARK_CONGESTION(hdr) \
    if (hdr.ipv4.isValid()) { hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED; } \
    else { hdr.ipv6.ecn = ECN_CONGESTION_EXPERIENCED; }
#else
#define IS_ECN_CAPABLE(hdr) hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_CAPABLE
#define MARK_CONGESTION(hdr) hdr.ipv4.ecn = ECN_CONGESTION_EXPERIENCED;
#endif
