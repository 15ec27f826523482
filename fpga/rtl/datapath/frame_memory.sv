// The words of the frames, in block RAM.
//
// Block RAM is slow and large: what goes in and what comes out waits in a register. A word is
// written in the cycle after `write`, and comes out with the second `read` from its own on.
module frame_memory #(
    parameter int WIDTH = 8,
    parameter int ADDRESS_W = 15
) (
    input  logic                 clk,
    input  logic                 write,
    input  logic [ADDRESS_W-1:0] write_at,
    input  logic [WIDTH-1:0]     write_data,
    input  logic                 read,
    input  logic [ADDRESS_W-1:0] read_at,
    output logic [WIDTH-1:0]     read_data
);
    // A word is never read in the cycle that writes it: its frame is not complete then.
    (* no_rw_check *)
    logic [WIDTH-1:0]     words [0:(1 << ADDRESS_W)-1];
    logic [WIDTH-1:0]     fetched, stored;
    logic [ADDRESS_W-1:0] stored_at;
    logic                 stores;

    always_ff @(posedge clk) begin
        stores <= write;
        stored_at <= write_at;
        stored <= write_data;
        if (stores) words[stored_at] <= stored;
        if (read) begin
            fetched <= words[read_at];
            read_data <= fetched;
        end
    end
endmodule
