// The model of the SDRAM with a port for what is written, for tests of its rules.
module model_top (
    input  wire        clk,
    input  wire        ras_n,
    input  wire        cas_n,
    input  wire        we_n,
    input  wire [1:0]  bank,
    input  wire [10:0] address,
    input  wire        drives,
    input  wire [31:0] written,
    output wire [31:0] data,
    output wire [15:0] violations
);
    assign data = drives ? written : 'z;
    sdram_model #(.PAD_NS(0.0), .REST_NS(1_000)) chip (
        .clk, .ras_n, .cas_n, .we_n, .bank, .address, .data, .violations
    );
endmodule
