// Whether a queue has room for a packet (queueing/src/limit.rs).
//
// A packet that leaves at once is always admitted. A time limit is a limit in bytes, those that the
// current rate sends in that time; `rate_setup` computes it.
module queue_limit (
    input  logic                              is_idle,
    input  logic [1:0]                        kind,
    input  logic [narrows_pkg::TIME_W-1:0]    limit,
    input  logic [narrows_pkg::TIME_W-1:0]    limit_time_bytes,
    input  logic [narrows_pkg::PACKETS_W-1:0] packets,
    // The queue's bytes with the packet.
    input  logic [narrows_pkg::BYTES_W-1:0]   bytes_after,
    output logic                              admits
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    logic [TIME_W-1:0] value, most;
    logic              fits;

    assign value = kind == narrows_pkg::LIMIT_PACKETS
        ? {{(TIME_W - narrows_pkg::PACKETS_W){1'b0}}, packets}
        : {{(TIME_W - narrows_pkg::BYTES_W){1'b0}}, bytes_after};
    assign most = kind == narrows_pkg::LIMIT_TIME ? limit_time_bytes : limit;
    assign fits = kind == narrows_pkg::LIMIT_PACKETS ? value < most : value <= most;
    assign admits = is_idle || fits;
endmodule
