// Marks above a threshold of packets, bytes or time (queueing/src/disciplines/ecn_threshold.rs).
//
// Packets and bytes count on arrival, the packet itself included; the waiting time counts at the
// departure. The first threshold that is exceeded marks. The ramp of the software is not here: a
// threshold is a step (RFC 8257 section 3.1).
module ecn_threshold (
    input  logic                              clk,
    // Which thresholds are in force: by packets, bytes and time.
    input  logic [2:0]                        enable,
    input  logic [narrows_pkg::TIME_W-1:0]    packets_threshold,
    input  logic [narrows_pkg::TIME_W-1:0]    bytes_threshold,
    input  logic [narrows_pkg::TIME_W-1:0]    time_threshold,
    input  logic [narrows_pkg::PACKETS_W-1:0] packets_after,
    input  logic [narrows_pkg::BYTES_W-1:0]   bytes_after,
    input  logic [narrows_pkg::TIME_W-1:0]    sojourn,
    // Right in the cycle after the last change of an input.
    output logic                              marks_arrival,
    output logic [narrows_pkg::REASON_W-1:0]  arrival_reason,
    output logic                              marks_departure
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    logic by_packets, by_bytes;

    assign marks_arrival = by_packets || by_bytes;
    assign arrival_reason = by_packets ? narrows_pkg::MARK_PACKETS : narrows_pkg::MARK_BYTES;

    always_ff @(posedge clk) begin
        by_packets <= enable[2'(narrows_pkg::MARK_PACKETS)]
            && packets_threshold < {{(TIME_W - narrows_pkg::PACKETS_W){1'b0}}, packets_after};
        by_bytes <= enable[2'(narrows_pkg::MARK_BYTES)]
            && bytes_threshold < {{(TIME_W - narrows_pkg::BYTES_W){1'b0}}, bytes_after};
        marks_departure <= enable[2'(narrows_pkg::MARK_TIME)] && time_threshold < sojourn;
    end
endmodule
