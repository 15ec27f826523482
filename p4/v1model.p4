// The bottleneck on v1model (bmv2's simple_switch, and Narrows' own software target):
// a parser, the order of the stages, and the intrinsic metadata copied in and out.
//
//   parse -> Forward -> IdentifyFlow -> RandomLoss -> ClassifyScalable -> CountDrops
//         -> RandomDuplicate -> (multicast) -> [traffic manager]
//         -> AfterQueue -> MeasureDelay -> MarkEcn -> SelectReport -> (clone) -> deparse
//   clone -> [traffic manager of the collector's port] -> MakeReport -> deparse

#include <core.p4>
#include <v1model.p4>

#include "externs/v1model.p4"
#include "headers.p4"
#include "metadata.p4"
#include "stages/forward.p4"
#include "stages/flow.p4"
#include "stages/loss.p4"
#include "stages/count_drops.p4"
#include "stages/duplicate.p4"
#include "aqm/after_queue.p4"
#include "stages/delay.p4"
#include "stages/ecn.p4"
#include "stages/telemetry.p4"
#include "stages/report.p4"

const bit<32> INSTANCE_NORMAL = 0;
const bit<32> INSTANCE_EGRESS_CLONE = 2;
const bit<32> INSTANCE_REPLICATION = 5;

parser NarrowsParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.HeaderTooShort);
        transition select(hdr.ipv4.ihl) {
            5 : parse_l4;
            default : parse_ipv4_options;
        }
    }

    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>) hdr.ipv4.ihl - 5) << 5);
        transition parse_l4;
    }

    // A later fragment has no transport header.
    state parse_l4 {
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_TCP) : parse_tcp;
            (0, PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.HeaderTooShort);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP : parse_tcp;
            PROTOCOL_UDP : parse_udp;
            default : accept;
        }
    }

    state parse_tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

control NarrowsVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.ipv4_options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4_options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control NarrowsIngress(inout headers_t hdr, inout metadata_t meta,
                       inout standard_metadata_t standard_metadata) {
    Forward() forward;
    IdentifyFlow() identify_flow;
    RandomLoss() random_loss;
    ClassifyScalable() classify_scalable;
    CountDrops() count_drops;
    RandomDuplicate() random_duplicate;

    apply {
        meta.ingress_port = standard_metadata.ingress_port;
        meta.ingress_timestamp = standard_metadata.ingress_global_timestamp;
        meta.frame_length = (bit<16>) standard_metadata.packet_length;
        meta.malformed = standard_metadata.parser_error != error.NoError
            || standard_metadata.checksum_error != 0;

        forward.apply(hdr, meta);
        if (meta.drop == DROP_NONE) {
            identify_flow.apply(hdr, meta);
            random_loss.apply(hdr, meta);
            classify_scalable.apply(hdr, meta);
        }
        count_drops.apply(meta);

        if (meta.drop == DROP_NONE) {
            standard_metadata.egress_spec = meta.egress_port;
            standard_metadata.priority = meta.priority;
            random_duplicate.apply(meta, standard_metadata.mcast_grp);
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

control NarrowsEgress(inout headers_t hdr, inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    AfterQueue() after_queue;
    MeasureDelay() measure_delay;
    MarkEcn() mark_ecn;
    SelectReport() select_report;
    MakeReport() make_report;

    apply {
        if (standard_metadata.instance_type == INSTANCE_NORMAL
            || standard_metadata.instance_type == INSTANCE_REPLICATION) {
            meta.queue_id = (bit<8>) standard_metadata.priority;
            meta.queue_delay = standard_metadata.deq_timedelta;
            meta.queue_depth = (depth_t) standard_metadata.deq_qdepth;
            meta.enqueue_depth = (depth_t) standard_metadata.enq_qdepth;
            meta.egress_timestamp = standard_metadata.egress_global_timestamp;

            after_queue.apply(hdr, meta);
            if (meta.drop != DROP_NONE) {
                mark_to_drop(standard_metadata);
            } else {
                measure_delay.apply(meta);
                if (meta.signal != SIGNAL_MARK) {  // a packet is marked, and counted, once
                    mark_ecn.apply(hdr, meta);
                }
                select_report.apply(meta);
                if (meta.report_session != 0) {
                    clone_preserving_field_list(CloneType.E2E, (bit<32>) meta.report_session, REPORT_FIELDS);
                }
            }
        } else if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            make_report.apply(hdr, meta, standard_metadata.egress_port);
            if (hdr.ipv6.isValid()) {
                truncate(REPORT_FRAME_IPV6_BYTES);
            } else {
                truncate(REPORT_FRAME_BYTES);
            }
        } else {
            mark_to_drop(standard_metadata);  // a copy of ClassifyScalable, which took its turn
        }
    }
}

control NarrowsComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.report_ipv4.isValid(),
            { hdr.report_ipv4.version, hdr.report_ipv4.ihl, hdr.report_ipv4.dscp, hdr.report_ipv4.ecn,
              hdr.report_ipv4.total_length, hdr.report_ipv4.identification, hdr.report_ipv4.flags,
              hdr.report_ipv4.fragment_offset, hdr.report_ipv4.ttl, hdr.report_ipv4.protocol,
              hdr.report_ipv4.src_addr, hdr.report_ipv4.dst_addr },
            hdr.report_ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.ipv4_options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4_options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control NarrowsDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.report_ethernet);
        packet.emit(hdr.report_ipv4);
        packet.emit(hdr.report_udp);
        packet.emit(hdr.report_group);
        packet.emit(hdr.report_main);
        packet.emit(hdr.report_hop);
        packet.emit(hdr.report_flow);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

V1Switch(NarrowsParser(), NarrowsVerifyChecksum(), NarrowsIngress(), NarrowsEgress(),
         NarrowsComputeChecksum(), NarrowsDeparser()) main;
