// One fraction multiplier for a port: transmission times, and what follows from a rate.
//
// The two never need it at one time. A transmission time takes the bits of a length only.
module shared_multiplier #(
    parameter int STEPS = 1
) (
    input  logic                              clk,
    input  logic                              rst,

    // counted * (byte_ps + byte_part/rate) + carry/rate = duration + rest/rate
    input  logic                              time_start,
    input  logic [narrows_pkg::COUNTED_W-1:0] counted,
    input  logic [narrows_pkg::BYTE_PS_W-1:0] byte_ps,
    input  logic [narrows_pkg::RATE_W-1:0]    byte_part,
    input  logic [narrows_pkg::RATE_W-1:0]    rate,
    input  logic [narrows_pkg::RATE_W-1:0]    carry,
    output logic                              time_done,

    // n * part_in/unit = whole + part/unit; `is_setup` is high from before the start to the end.
    input  logic                              is_setup,
    input  logic                              setup_start,
    input  logic [narrows_pkg::TIME_W-1:0]    n,
    input  logic [narrows_pkg::BYTE_PS_W-1:0] part_in,
    input  logic [narrows_pkg::BYTE_PS_W-1:0] unit,
    output logic                              setup_done,

    output logic [narrows_pkg::TIME_W-1:0]    whole,
    output logic [narrows_pkg::BYTE_PS_W-1:0] part
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int UNIT_W = narrows_pkg::BYTE_PS_W;
    localparam int COUNTED_W = narrows_pkg::COUNTED_W;
    localparam int PAD = UNIT_W - narrows_pkg::RATE_W;
    // With a zero in front of a length where the steps want it.
    localparam int COUNTED_BITS = (COUNTED_W + STEPS - 1) / STEPS * STEPS;
    localparam int N_PAD = TIME_W - COUNTED_BITS;

    logic                              start, done;
    logic [TIME_W-1:0]                 n_in, whole_in;
    logic [6:0]                        n_bits;
    logic [UNIT_W-1:0]                 fraction_in, unit_in, carry_in;

    assign time_done = done && !is_setup;
    assign setup_done = done && is_setup;

    // The choice is a cycle of its own.
    always_ff @(posedge clk) begin
        start <= (time_start || setup_start) && !rst;
        n_in <= is_setup ? n : {COUNTED_BITS'(counted), {N_PAD{1'b0}}};
        n_bits <= is_setup ? 7'(TIME_W) : 7'(COUNTED_BITS);
        whole_in <= is_setup ? '0 : {{(TIME_W - UNIT_W){1'b0}}, byte_ps};
        fraction_in <= is_setup ? part_in : {{PAD{1'b0}}, byte_part};
        unit_in <= is_setup ? unit : {{PAD{1'b0}}, rate};
        carry_in <= is_setup ? '0 : {{PAD{1'b0}}, carry};
    end

    fraction_multiplier #(
        .N_W(TIME_W), .WHOLE_W(TIME_W), .UNIT_W(UNIT_W), .STEPS(STEPS),
        .IS_WHOLE(TIME_W % STEPS == 0 ? 1 : 0)
    ) multiplier (
        .clk, .rst, .start, .n(n_in), .n_bits, .whole_in, .part_in(fraction_in), .unit(unit_in),
        .carry(carry_in), .done, .whole, .part
    );
endmodule
