// The multiplier with any products, at any time after their start, for proofs of the port.
module shared_multiplier #(
    parameter int STEPS = 1,
    parameter int RATE_BITS = narrows_pkg::RATE_W,
    parameter int LENGTH_BITS = narrows_pkg::COUNTED_W,
    localparam int UNIT_W = RATE_BITS + 1
) (
    input  logic                              clk,
    input  logic                              rst,
    input  logic                              time_start,
    input  logic [LENGTH_BITS-1:0]            counted,
    input  logic [narrows_pkg::BYTE_PS_W-1:0] byte_ps,
    input  logic [RATE_BITS-1:0]              byte_part,
    input  logic [RATE_BITS-1:0]              rate,
    input  logic [RATE_BITS-1:0]              carry,
    output logic                              time_done,
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
    (* anyseq *) logic                              any_done;
    (* anyseq *) logic [narrows_pkg::TIME_W-1:0]    any_whole;
    (* anyseq *) logic [UNIT_W-1:0]              any_part;
    logic times = 1'b0, sets_up = 1'b0;

    assign time_done = times && any_done;
    assign setup_done = sets_up && any_done;
    assign whole = any_whole;
    assign part = any_part;

    always_ff @(posedge clk) begin
        times <= !rst && (time_start || (times && !time_done));
        sets_up <= !rst && (setup_start || (sets_up && !setup_done));
    end
endmodule
