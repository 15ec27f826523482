// CoDel with any verdicts, for proofs of the port. It drops only where bytes are behind the packet;
// codel_proof.sv shows that of the module.
module codel #(
    parameter int STEPS = 1
) (
    input  logic                                clk,
    input  logic                                rst,
    input  logic                                enable,
    input  logic                                marks_capable,
    input  logic [narrows_pkg::TARGET_W-1:0]    target_ps,
    input  logic [narrows_pkg::INTERVAL_W-1:0]  interval_ps,
    input  logic [narrows_pkg::MTU_W-1:0]       mtu,
    input  logic                                judge,
    input  logic [narrows_pkg::TIME_W-1:0]      now,
    input  logic [narrows_pkg::TIME_W-1:0]      sojourn,
    input  logic [narrows_pkg::BYTES_W-1:0]     behind,
    input  logic                                is_capable,
    output logic                                judged,
    output logic                                drops,
    output logic                                marks,
    output logic                                busy
);
    (* anyseq *) logic any_judged, any_drops, any_marks, any_busy;
    assign judged = judge && any_judged;
    assign drops = any_drops && behind != 0;
    assign marks = any_marks && !drops;
    assign busy = any_busy;
endmodule
