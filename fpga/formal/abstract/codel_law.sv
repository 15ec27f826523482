// The control law with any times, for the proof of CoDel.
module codel_law #(
    parameter int STEPS = 1
) (
    input  logic                                 clk,
    input  logic                                 rst,
    input  logic                                 start,
    input  logic [narrows_pkg::CODEL_COUNT_W-1:0] count,
    input  logic [narrows_pkg::INTERVAL_W-1:0]   interval_ps,
    output logic                                 busy,
    output logic                                 done,
    output logic [narrows_pkg::INTERVAL_W-1:0]   whole_ps,
    output logic                                 is_rounded_up
);
    (* anyseq *) logic any_done, any_round;
    (* anyseq *) logic [narrows_pkg::INTERVAL_W-1:0] any_whole;
    assign done = busy && any_done;
    assign whole_ps = any_whole;
    assign is_rounded_up = any_round;
    initial busy = 1'b0;
    always_ff @(posedge clk) busy <= !rst && (start || (busy && !done));
endmodule
