// Whether a queue has room for a packet (queueing/src/limit.rs).
//
// A packet that leaves at once is always admitted. A time limit is a limit in bytes, those that the
// current rate sends in that time; `rate_setup` computes it.
module queue_limit (
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
    logic [TIME_W-1:0] most_bytes;
    logic              packets_fit, bytes_fit;

    assign admits = is_idle || (kind == narrows_pkg::LIMIT_PACKETS ? packets_fit : bytes_fit);

    always_ff @(posedge clk) begin
        // Settings are in force for several cycles before the first arrival under them.
        most_bytes <= kind == narrows_pkg::LIMIT_TIME ? limit_time_bytes : limit;
        packets_fit <= {{(TIME_W - narrows_pkg::PACKETS_W){1'b0}}, packets} < limit;
        bytes_fit <= most_bytes >= {{(TIME_W - narrows_pkg::BYTES_W){1'b0}}, bytes_after};
    end
endmodule
