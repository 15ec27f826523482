// The words of the frames, in block RAM.
module frame_memory #(
    parameter int WIDTH = 8,
    parameter int ADDRESS_W = 15
) (
    input  logic                 clk,
    input  logic                 write,
    input  logic [ADDRESS_W-1:0] write_at,
    input  logic [WIDTH-1:0]     write_data,
    input  logic [ADDRESS_W-1:0] read_at,
    output logic [WIDTH-1:0]     read_data
);
    // A word is never read in the cycle that writes it: its frame is not complete then.
    (* no_rw_check *)
    logic [WIDTH-1:0] words [0:(1 << ADDRESS_W)-1];

    always_ff @(posedge clk) begin
        if (write) words[write_at] <= write_data;
        read_data <= words[read_at];
    end
endmodule
