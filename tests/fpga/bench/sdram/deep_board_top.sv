// The top of the Colorlight 5A-75B with its SDRAM, between its oscillator and its PHYs, for tests.
//
// A PHY delays the clock that it gets by 2 ns. The SDRAM needs a short rest only.
`timescale 1ns / 1ps

module deep_board_top (
    input  wire        clk,
    input  wire        rx0_clk,
    input  wire        rx0_ctl,
    input  wire [3:0]  rx0_data,
    output wire        tx0_clk,
    output wire        tx0_ctl,
    output wire [3:0]  tx0_data,
    input  wire        rx1_clk,
    input  wire        rx1_ctl,
    input  wire [3:0]  rx1_data,
    output wire        tx1_clk,
    output wire        tx1_ctl,
    output wire [3:0]  tx1_data,
    output wire [15:0] violations
);
    wire        tx0_pin_clk, tx1_pin_clk, sdram_clk, ras_n, cas_n, we_n;
    wire [1:0]  bank;
    wire [10:0] address;
    wire [31:0] data;
    assign #2 tx0_clk = tx0_pin_clk;
    assign #2 tx1_clk = tx1_pin_clk;

    top board (
        .clk25(clk), .eth0_rx_clk(rx0_clk), .eth0_rx_ctl(rx0_ctl), .eth0_rx_data(rx0_data),
        .eth0_tx_clk(tx0_pin_clk), .eth0_tx_ctl(tx0_ctl), .eth0_tx_data(tx0_data),
        .eth1_rx_clk(rx1_clk), .eth1_rx_ctl(rx1_ctl), .eth1_rx_data(rx1_data),
        .eth1_tx_clk(tx1_pin_clk), .eth1_tx_ctl(tx1_ctl), .eth1_tx_data(tx1_data),
        .sdram_clk, .sdram_ras_n(ras_n), .sdram_cas_n(cas_n), .sdram_we_n(we_n), .sdram_bank(bank),
        .sdram_address(address), .sdram_data(data)
    );
    defparam board.board.SDRAM_REST_CYCLES = 100;

    sdram_model #(.REST_NS(800)) chip (
        .clk(sdram_clk), .ras_n, .cas_n, .we_n, .bank, .address, .data, .violations
    );
endmodule
