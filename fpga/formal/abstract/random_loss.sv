// Any losses, for proofs of the port.
module random_loss (
    input  logic         clk,
    input  logic         rst,
    input  logic         set_state,
    input  logic [255:0] new_state,
    input  logic [53:0]  threshold,
    input  logic         draw,
    output logic         lost
);
    (* anyseq *) logic any_lost;
    assign lost = any_lost;
endmodule
