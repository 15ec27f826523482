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
    localparam int N_PAD = TIME_W - COUNTED_W;

    logic done;
    assign time_done = done && !is_setup;
    assign setup_done = done && is_setup;

    fraction_multiplier #(
        .N_W(TIME_W), .WHOLE_W(TIME_W), .UNIT_W(UNIT_W), .STEPS(STEPS)
    ) multiplier (
        .clk, .rst, .start(time_start || setup_start),
        .n(is_setup ? n : {counted, {N_PAD{1'b0}}}),
        .n_bits(is_setup ? 7'(TIME_W) : 7'(COUNTED_W)),
        .whole_in(is_setup ? '0 : {{(TIME_W - UNIT_W){1'b0}}, byte_ps}),
        .part_in(is_setup ? part_in : {{PAD{1'b0}}, byte_part}),
        .unit(is_setup ? unit : {{PAD{1'b0}}, rate}),
        .carry(is_setup ? '0 : {{PAD{1'b0}}, carry}),
        .done, .whole, .part
    );
endmodule
