// An SDRAM behind the pins of an ECP5, as on a board: signals need PAD_NS to get out.
`timescale 1ns / 1ps

module sdram_board #(
    parameter real PAD_NS = 3.5,
    parameter int REST_NS = 200_000
) (
    input  wire            line_clk,
    input  narrows_sdram_t sdram,
    output wire [31:0]     sdram_data,
    output wire [15:0]     violations
);
    wire        pin_clk, ras_n, cas_n, we_n;
    wire [1:0]  bank;
    wire [10:0] address;
    wire [31:0] data;

    sdram_pins pins (
        .line_clk, .sdram, .sdram_data, .pin_clk, .ras_n, .cas_n, .we_n, .bank, .address, .data
    );
    sdram_model #(.PAD_NS(PAD_NS), .REST_NS(REST_NS)) chip (
        .clk(pin_clk), .ras_n, .cas_n, .we_n, .bank, .address, .data, .violations
    );
endmodule
