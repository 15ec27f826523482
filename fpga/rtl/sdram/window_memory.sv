// 1,024 words of 16 bits between two clocks. A word comes out two cycles after its address.
//
// The second of these cycles is an output register of the block RAM: without it, a word needs
// 5.8 ns to leave an ECP5's block RAM. Yosys does not infer it, so ECP5 selects the cell itself.
module window_memory (
    input  logic        clk,
    input  logic        write,
    input  logic [9:0]  write_at,
    input  logic [15:0] write_data,
    input  logic        read_clk,
    input  logic [9:0]  read_at,
    output logic [15:0] read_data
);
`ifdef ECP5
    ecp5_memory memory (.clk, .write, .write_at, .write_data, .read_clk, .read_at, .read_data);
`else
    (* no_rw_check *)
    logic [15:0] words [0:1023];
    logic [15:0] word;

    always_ff @(posedge clk) if (write) words[write_at] <= write_data;
    always_ff @(posedge read_clk) begin
        word <= words[read_at];
        read_data <= word;
    end
`endif
endmodule
