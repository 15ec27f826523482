// One fraction multiplier for a port: transmission times, and what follows from a rate.
//
// The two never need it at one time. A transmission time takes the bits of a length only.
module shared_multiplier #(
    parameter int STEPS = 1,
    // Bits of the highest rate, and of the longest packet.
    parameter int RATE_BITS = narrows_pkg::RATE_W,
    parameter int LENGTH_BITS = narrows_pkg::COUNTED_W,
    localparam int UNIT_W = RATE_BITS + 1
) (
    input  logic                              clk,
    input  logic                              rst,

    // counted * (byte_ps + byte_part/rate) + carry/rate = duration + rest/rate
    input  logic                              time_start,
    input  logic [LENGTH_BITS-1:0]            counted,
    input  logic [narrows_pkg::BYTE_PS_W-1:0] byte_ps,
    input  logic [RATE_BITS-1:0]              byte_part,
    input  logic [RATE_BITS-1:0]              rate,
    input  logic [RATE_BITS-1:0]              carry,
    output logic                              time_done,

    // n * part_in/unit = whole + part/unit, n in the upper `setup_bits` bits; `is_setup` is high
    // from before the start to the end.
    input  logic                              is_setup,
    input  logic                              setup_start,
    input  logic [narrows_pkg::TIME_W-1:0]    n,
    input  logic [6:0]                        setup_bits,
    input  logic [UNIT_W-1:0]                 part_in,
    input  logic [UNIT_W-1:0]                 unit,
    output logic                              setup_done,

    output logic [narrows_pkg::TIME_W-1:0]    whole,
    output logic [UNIT_W-1:0]                 part
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    // With a zero in front of a length where the steps want it.
    localparam int TIME_BITS = (LENGTH_BITS + STEPS - 1) / STEPS * STEPS;

    logic              done;
    logic [TIME_W-1:0] n_in, whole_in;
    logic [6:0]        n_bits;
    logic [UNIT_W-1:0] fraction_in, unit_in, carry_in;

    assign time_done = done && !is_setup;
    assign setup_done = done && is_setup;

    // The choice is a cycle of its own, that of the start.
    always_ff @(posedge clk) begin
        n_in <= is_setup ? n : TIME_W'(counted) << (TIME_W - TIME_BITS);
        n_bits <= is_setup ? setup_bits : 7'(TIME_BITS);
        whole_in <= is_setup ? '0 : TIME_W'(byte_ps);
        fraction_in <= is_setup ? part_in : {1'b0, byte_part};
        unit_in <= is_setup ? unit : {1'b0, rate};
        carry_in <= is_setup ? '0 : {1'b0, carry};
    end

    fraction_multiplier #(
        .N_W(TIME_W), .WHOLE_W(TIME_W), .UNIT_W(UNIT_W), .STEPS(STEPS),
        .IS_WHOLE(TIME_W % STEPS == 0 ? 1 : 0)
    ) multiplier (
        .clk, .rst, .start(time_start || setup_start), .n(n_in), .n_bits, .whole_in,
        .part_in(fraction_in), .unit(unit_in), .carry(carry_in), .done, .whole, .part
    );
endmodule
