// Sends one packet at a time at an exact rate (common/src/serializer.rs).
//
// n bytes take n * 8e12 / rate picoseconds. `byte_ps` and `byte_part` are that time for one byte:
// byte_ps + byte_part/rate. A busy serializer carries the fraction of a picosecond to the next
// packet, so its long-run rate has no error. An idle one restarts at the packet's time. The
// product is the multiplier's of `shared_multiplier`.
module serializer #(
    // Bits of the highest rate.
    parameter int RATE_BITS = narrows_pkg::RATE_W
) (
    input  logic                              clk,
    input  logic                              rst,
    // Starts a transmission at `at`, or when the last one ends, whichever is later. `at` must be
    // steady from `send` to `sent`, and so must the packet's length.
    input  logic                              send,
    input  logic [narrows_pkg::TIME_W-1:0]    at,
    // Replaces the carry: the same fraction of a picosecond in units of a new rate.
    input  logic                              set_carry,
    input  logic [RATE_BITS-1:0]              new_carry,
    // Asks for the transmission time of the packet: `done` is high when it comes, with the fraction
    // of a picosecond that is left.
    output logic                              start,
    input  logic                              done,
    input  logic [narrows_pkg::TIME_W-1:0]    duration,
    input  logic [RATE_BITS-1:0]              rest,
    // High for one cycle once `start_at` and `free_at` are those of the packet.
    output logic                              sent,
    output logic [narrows_pkg::TIME_W-1:0]    start_at,
    output logic [narrows_pkg::TIME_W-1:0]    free_at,
    output logic [RATE_BITS-1:0]              carry
);
    localparam int TIME_W = narrows_pkg::TIME_W;

    logic            chooses, is_summed, is_later;
    logic [TIME_W:0] end_at;

    // A comparison or a sum is a cycle of its own.
    always_ff @(posedge clk) begin
        chooses <= send && !rst;
        start <= chooses && !rst;
        is_summed <= done && !rst;
        sent <= is_summed && !rst;
        is_later <= free_at < at;
        end_at <= {1'b0, start_at} + {1'b0, duration};
        if (rst) begin
            free_at <= '0;
            start_at <= '0;
            carry <= '0;
        end else begin
            if (chooses) begin
                start_at <= is_later ? at : free_at;
                if (is_later) carry <= '0;
            end
            if (is_summed) begin
                // Beyond the last instant is never.
                free_at <= end_at[TIME_W] ? '1 : end_at[TIME_W-1:0];
                carry <= rest;
            end
            if (set_carry) carry <= new_carry;
        end
    end
endmodule
