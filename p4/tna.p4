// The bottleneck on TNA (Tofino 1 and 2): parsers, the order of the stages, and the intrinsic
// metadata copied in and out. TNA has no field lists, so headers replace them: one carries every
// packet's metadata from ingress to egress, another a mirror's from egress to egress.
//
//   parse -> Forward -> IdentifyFlow -> RandomLoss -> CountDrops -> [traffic manager]
//         -> MeasureDelay -> MarkEcn -> SelectReport -> (mirror) -> deparse
//   mirror -> [traffic manager of the collector's port] -> MakeReport -> deparse
//
// Unlike on v1model (docs/explanation/tofino.md): depths are cells; a packet with IPv4 options is
// forwarded as one without ports; `frame_length` is the IPv4 length plus Ethernet's header; IPv6 is
// dropped, as its tables would not fit Tofino 1's stages.

#include <core.p4>
#if __TARGET_TOFINO__ == 1
#include <tna.p4>
#else
#include <t2na.p4>
#endif

#include "externs/tna.p4"
#include "headers.p4"
#include "metadata.p4"
#include "stages/forward.p4"
#include "stages/flow.p4"
#include "stages/loss.p4"
#include "stages/count_drops.p4"
#include "stages/delay.p4"
#include "stages/ecn.p4"
#include "stages/telemetry.p4"
#include "stages/report.p4"

// The first bits of a packet at egress tell where it comes from.
typedef bit<7> origin_t;
const origin_t FROM_INGRESS = 1;
const origin_t FROM_MIRROR = 2;
const MirrorType_t MIRROR_REPORT = 1;
const bit<16> ETHERNET_BYTES = 14;

// Travels from ingress to egress with every packet.
header bridge_t {
    origin_t origin;
    port_t ingress_port;
    bit<32> flow_id;
    timestamp_t ingress_timestamp;
}

// Travels from egress to egress with a report's mirror: REPORT_FIELDS, in the order of the report,
// so that containers need no rearrangement. A Tofino's mirror header has at most 32 bytes.
header mirror_t {
    origin_t origin;
    port_t ingress_port;
#if __TARGET_TOFINO__ == 1
    @padding bit<2> pad;
#endif
    QueueId_t queue_id;
    port_t egress_port;
    bit<32> queue_depth;
    timestamp_t ingress_timestamp;
    timestamp_t egress_timestamp;
    bit<32> flow_id;
    delay_t queue_delay;
    bit<32> enqueue_depth;
}

struct tna_metadata_t {
    metadata_t stages;
    metadata_t reported;  // a mirror's: apart, so that no container must serve both
    bridge_t bridge;
    mirror_t mirror;
    bit<16> checksum_rest;  // of the IPv4 header, without the fields that the stages change
    MirrorId_t mirror_session;
    QueueId_t queue_id;
    bit<32> queue_depth;  // 32 bits, as a stage computes with
    bit<32> enqueue_depth;
    origin_t mirror_origin;  // FROM_MIRROR: a mirror's header takes no constants
}

parser ParseIpv4(packet_in packet, inout headers_t hdr, inout tna_metadata_t meta) {
    Checksum() whole;
    Checksum() rest;

    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4 : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        whole.add(hdr.ipv4);
        rest.subtract({ hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn });
        rest.subtract({ hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.checksum });
        rest.subtract_all_and_deposit(meta.checksum_rest);
        // A later fragment has no transport header.
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (4, 5, 0, PROTOCOL_TCP) : parse_tcp;
            (4, 5, 0, PROTOCOL_UDP) : parse_udp;
            (4, 5, _, _) : parse_plain;
            (4, 6 .. 15, _, _) : accept;
            default : parse_malformed;
        }
    }

    // `verify` returns true if the sum is wrong; Intel's own programs use it like this.
    state parse_tcp {
        meta.stages.malformed = whole.verify();
        packet.extract(hdr.tcp);
        transition accept;
    }

    state parse_udp {
        meta.stages.malformed = whole.verify();
        packet.extract(hdr.udp);
        transition accept;
    }

    state parse_plain {
        meta.stages.malformed = whole.verify();
        transition accept;
    }

    state parse_malformed {
        meta.stages.malformed = true;
        transition accept;
    }
}

parser IngressParser(packet_in packet, out headers_t hdr, out tna_metadata_t meta,
                     out ingress_intrinsic_metadata_t intrinsic) {
    ParseIpv4() parse_ipv4;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.stages.malformed = false;
        meta.stages.drop = DROP_NONE;
        parse_ipv4.apply(packet, hdr, meta);
        transition accept;
    }
}

control NarrowsIngress(inout headers_t hdr, inout tna_metadata_t meta,
                      in ingress_intrinsic_metadata_t intrinsic,
                      in ingress_intrinsic_metadata_from_parser_t from_parser,
                      inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                      inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Forward() forward;
    IdentifyFlow() identify_flow;
    RandomLoss() random_loss;
    CountDrops() count_drops;

    apply {
        if (from_parser.parser_err != 0) {
            meta.stages.malformed = true;
        }

        forward.apply(hdr, meta.stages);
        if (meta.stages.drop == DROP_NONE) {
            identify_flow.apply(hdr, meta.stages);
            random_loss.apply(hdr, meta.stages);
        }
        count_drops.apply(meta.stages);

        if (meta.stages.drop == DROP_NONE) {
            for_tm.ucast_egress_port = meta.stages.egress_port;
            meta.bridge.setValid();
            meta.bridge.origin = FROM_INGRESS;
            meta.bridge.ingress_port = intrinsic.ingress_port;
            meta.bridge.flow_id = meta.stages.flow_id;
            meta.bridge.ingress_timestamp = from_parser.global_tstamp;
        } else {
            for_deparser.drop_ctl = 1;
        }
    }
}

control EmitPacket(packet_out packet, inout headers_t hdr, in tna_metadata_t meta) {
    Checksum() ipv4_checksum;

    apply {
        hdr.ipv4.checksum = ipv4_checksum.update({
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn,
            hdr.ipv4.ttl, hdr.ipv4.protocol, meta.checksum_rest });
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in tna_metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    EmitPacket() emit_packet;

    apply {
        packet.emit(meta.bridge);
        emit_packet.apply(packet, hdr, meta);
    }
}

parser EgressParser(packet_in packet, out headers_t hdr, out tna_metadata_t meta,
                    out egress_intrinsic_metadata_t intrinsic) {
    ParseIpv4() parse_ipv4;

    state start {
        packet.extract(intrinsic);
        meta.stages.malformed = false;
        transition select(packet.lookahead<origin_t>()) {
            FROM_INGRESS : parse_bridge;
            default : parse_mirror;
        }
    }

    state parse_bridge {
        packet.extract(meta.bridge);
        transition parse_packet;
    }

    state parse_mirror {
        packet.extract(meta.mirror);
        transition parse_packet;
    }

    state parse_packet {
        parse_ipv4.apply(packet, hdr, meta);
        transition accept;
    }
}

// Converts the intrinsic metadata to the stages'. Time in the queue is the time between the two
// parsers, minus ingress, which is constant. On Tofino 1 `deq_timedelta` has 18 bits, which wrap
// after 262 us. The two times differ by less than that, so their difference gives the bits above.
control ReadQueue(inout metadata_t meta, in egress_intrinsic_metadata_t intrinsic) {
#if __TARGET_TOFINO__ == 1
    // Each action takes a stage of its own.
    bit<32> hop;
    bit<32> low;
    bit<32> outside;

    @hidden action measure_hop() {
        hop = (bit<32>) meta.egress_timestamp - (bit<32>) meta.ingress_timestamp;
        low = (bit<32>) intrinsic.deq_timedelta;
    }

    @hidden action subtract_queue() {
        outside = hop - low;
    }

    @hidden action drop_wraps() {
        outside = outside & 0x3FFFF;
    }

    @hidden action subtract_outside() {
        meta.queue_delay = hop - outside;
    }

    apply {
        measure_hop();
        subtract_queue();
        drop_wraps();
        subtract_outside();
    }
#else
    apply {
        meta.queue_delay = intrinsic.deq_timedelta;
    }
#endif
}

#if __TARGET_TOFINO__ == 1
// A stateful ALU reads it whole. ReadQueue's mask would divide it among containers.
@pa_container_size("egress", "measure_delay_delay_sum_carries_above", 32)
#endif
control NarrowsEgress(inout headers_t hdr, inout tna_metadata_t meta,
                     in egress_intrinsic_metadata_t intrinsic,
                     in egress_intrinsic_metadata_from_parser_t from_parser,
                     inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                     inout egress_intrinsic_metadata_for_output_port_t for_output_port) {
    ReadQueue() read_queue;
    MeasureDelay() measure_delay;
    MarkEcn() mark_ecn;
    SelectReport() select_report;
    MakeReport() make_report;

    apply {
        meta.stages.report_session = 0;
        if (meta.mirror.isValid()) {
            meta.reported.frame_length = hdr.ipv4.total_length + ETHERNET_BYTES;
            meta.reported.queue_id = (bit<8>) meta.mirror.queue_id;
            meta.reported.ingress_port = meta.mirror.ingress_port;
            meta.reported.egress_port = meta.mirror.egress_port;
            meta.reported.flow_id = meta.mirror.flow_id;
            meta.reported.ingress_timestamp = meta.mirror.ingress_timestamp;
            meta.reported.egress_timestamp = meta.mirror.egress_timestamp;
            meta.reported.queue_delay = meta.mirror.queue_delay;
            meta.reported.queue_depth = (depth_t) meta.mirror.queue_depth;
            meta.reported.enqueue_depth = (depth_t) meta.mirror.enqueue_depth;
            make_report.apply(hdr, meta.reported, intrinsic.egress_port);
        } else {
            meta.queue_id = intrinsic.egress_qid;
            meta.queue_depth = (bit<32>) intrinsic.deq_qdepth;
            meta.enqueue_depth = (bit<32>) intrinsic.enq_qdepth;
            meta.stages.ingress_port = meta.bridge.ingress_port;
            meta.stages.egress_port = intrinsic.egress_port;
            meta.stages.flow_id = meta.bridge.flow_id;
            meta.stages.ingress_timestamp = meta.bridge.ingress_timestamp;
            meta.stages.egress_timestamp = from_parser.global_tstamp;
            meta.stages.queue_depth = (depth_t) intrinsic.deq_qdepth;
            read_queue.apply(meta.stages, intrinsic);

            measure_delay.apply(meta.stages);
            mark_ecn.apply(hdr, meta.stages);
            select_report.apply(meta.stages);
            if (meta.stages.report_session != 0) {
                for_deparser.mirror_type = MIRROR_REPORT;
                meta.mirror_session = (MirrorId_t) meta.stages.report_session;
                meta.mirror_origin = FROM_MIRROR;
            }
        }
    }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in tna_metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror(MIRROR_REPORT) report;
    Checksum() report_checksum;
    EmitPacket() emit_packet;

    apply {
        if (for_deparser.mirror_type == MIRROR_REPORT) {
            report.emit<mirror_t>(meta.mirror_session, {
                meta.mirror_origin, meta.stages.ingress_port,
#if __TARGET_TOFINO__ == 1
                0,
#endif
                meta.queue_id, meta.stages.egress_port, meta.queue_depth,
                meta.stages.ingress_timestamp, meta.stages.egress_timestamp, meta.stages.flow_id,
                meta.stages.queue_delay, meta.enqueue_depth });
        }
        hdr.report_ipv4.checksum = report_checksum.update({
            hdr.report_ipv4.version, hdr.report_ipv4.ihl, hdr.report_ipv4.dscp, hdr.report_ipv4.ecn,
            hdr.report_ipv4.total_length, hdr.report_ipv4.identification, hdr.report_ipv4.flags,
            hdr.report_ipv4.fragment_offset, hdr.report_ipv4.ttl, hdr.report_ipv4.protocol,
            hdr.report_ipv4.src_addr, hdr.report_ipv4.dst_addr });
        packet.emit(hdr.report_ethernet);
        packet.emit(hdr.report_ipv4);
        packet.emit(hdr.report_udp);
        packet.emit(hdr.report_group);
        packet.emit(hdr.report_main);
        packet.emit(hdr.report_hop);
        packet.emit(hdr.report_flow);
        emit_packet.apply(packet, hdr, meta);
    }
}

Pipeline(IngressParser(), NarrowsIngress(), IngressDeparser(),
         EgressParser(), NarrowsEgress(), EgressDeparser()) pipe;
Switch(pipe) main;
