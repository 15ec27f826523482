// The metadata that the stages exchange. Only v1model.p4 and tna.p4 copy the architecture's
// intrinsic metadata in and out, so a stage does not depend on the target.

// Sizes and widths.
const bit<32> PORTS = 512;
const bit<32> DELAY_BUCKETS = 64;
const bit<32> ROUTES = 65536;
const bit<32> FLOWS = 4096;

typedef bit<9> port_t;
typedef bit<48> timestamp_t;  // nanoseconds
typedef bit<32> delay_t;      // nanoseconds
typedef bit<24> depth_t;      // packets

// What a discipline after the queue does to a packet.
typedef bit<2> signal_t;
const signal_t SIGNAL_NONE = 0;
const signal_t SIGNAL_DROP = 1;
const signal_t SIGNAL_MARK = 2;
const bit<3> PRIORITY_SCALABLE = 1;
const bit<64> ONE = 0x100000000;  // a probability of 1: they have 32 bits of fraction

// Why ingress drops a packet: an index into `drops`.
typedef bit<3> drop_t;
const drop_t DROP_NONE = 0;
const drop_t DROP_MALFORMED = 1;   // a parser error, or a wrong IPv4 checksum
const drop_t DROP_NOT_IPV4 = 2;    // nor IPv6, where the program has that
const drop_t DROP_NO_ROUTE = 3;
const drop_t DROP_TTL = 4;
const drop_t DROP_RANDOM_LOSS = 5;
const bit<32> DROP_REASONS = 6;
const drop_t DROP_AQM = 6;         // at egress, in a counter of its own

// The fields that a clone keeps for its report.
const bit<8> REPORT_FIELDS = 1;

struct metadata_t {
    // Ingress
    drop_t drop;
    bit<3> priority;         // of the queue; the highest is served first, or by the queues' weights
    bit<16> src_port;
    bit<16> dst_port;
    bool malformed;
    // Egress
    bool is_clone;
    bit<16> report_session;  // 0: no report of this packet
    signal_t signal;
    bit<1> may_mark;         // 1: the packet can carry a mark
    // Both; a report's clone keeps it
    @field_list(REPORT_FIELDS) bit<32> flow_id;  // hashed ones have the top bit set, configured ones don't
    @field_list(REPORT_FIELDS) port_t ingress_port;
    @field_list(REPORT_FIELDS) port_t egress_port;
    @field_list(REPORT_FIELDS) bit<8> queue_id;
    @field_list(REPORT_FIELDS) bit<16> frame_length;
    @field_list(REPORT_FIELDS) timestamp_t ingress_timestamp;
    @field_list(REPORT_FIELDS) timestamp_t egress_timestamp;
    @field_list(REPORT_FIELDS) delay_t queue_delay;
    @field_list(REPORT_FIELDS) depth_t queue_depth;
    @field_list(REPORT_FIELDS) depth_t enqueue_depth;
}
