// Whether a queue has room for a packet (queueing/src/limit.rs).
//
// A packet that leaves at once is always admitted. A time limit is a limit in bytes, those that the
// current rate sends in that time; `rate_setup` computes it.
module queue_limit #(
    // Bits of a full queue and one packet more. A limit with more bits is as good as another.
    parameter int BYTES_BITS = narrows_pkg::BYTES_W
) (
    input  logic                              clk,
    input  logic                              is_idle,
    input  logic [1:0]                        kind,
    input  logic [narrows_pkg::TIME_W-1:0]    limit,
    input  logic [narrows_pkg::TIME_W-1:0]    limit_time_bytes,
    input  logic [narrows_pkg::PACKETS_W-1:0] packets,
    // The queue's bytes with the packet.
    input  logic [narrows_pkg::BYTES_W-1:0]   bytes_after,
    // Right in the cycle after the last change of the queue.
    output logic                              admits
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    logic [BYTES_BITS-1:0] most;
    logic                  packets_fit, bytes_fit, is_above;

    assign admits = is_idle || (kind == narrows_pkg::LIMIT_PACKETS ? packets_fit : bytes_fit);
    assign is_above = kind == narrows_pkg::LIMIT_TIME ? (limit_time_bytes >> BYTES_BITS) != 0
        : (limit >> BYTES_BITS) != 0;

    always_ff @(posedge clk) begin
        // Settings are in force for several cycles before the first arrival under them.
        most <= {BYTES_BITS{is_above}}
            | BYTES_BITS'(kind == narrows_pkg::LIMIT_TIME ? limit_time_bytes : limit);
        packets_fit <= BYTES_BITS'(packets) < most;
        bytes_fit <= most >= BYTES_BITS'(bytes_after);
    end
endmodule
