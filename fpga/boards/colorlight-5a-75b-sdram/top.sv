// The Colorlight 5A-75B, version 8.0, with the frames towards port 1 in its SDRAM.
//
// The SDRAM is an M12L64322A: 2M words of 32 bits, without masks. 4 MB of it hold the frames of a
// full queue and of a full delay line, 1,024 each. Block RAM holds 16 kB of frames towards port 0,
// and 512 frames. The rest is as in colorlight-5a-75b.
module top (
    input  logic       clk25,
    input  logic       eth0_rx_clk,
    input  logic       eth0_rx_ctl,
    input  logic [3:0] eth0_rx_data,
    output logic       eth0_tx_clk,
    output logic       eth0_tx_ctl,
    output logic [3:0] eth0_tx_data,
    input  logic       eth1_rx_clk,
    input  logic       eth1_rx_ctl,
    input  logic [3:0] eth1_rx_data,
    output logic       eth1_tx_clk,
    output logic       eth1_tx_ctl,
    output logic [3:0] eth1_tx_data,
    output logic       sdram_clk,
    output logic       sdram_ras_n,
    output logic       sdram_cas_n,
    output logic       sdram_we_n,
    output logic [1:0]  sdram_bank,
    output logic [10:0] sdram_address,
    inout  wire  [31:0] sdram_data
);
    logic           line_clk;
    narrows_sdram_t sdram;
    logic [31:0]    read_data;

    /* verilator lint_off PINCONNECTEMPTY */
    rgmii_board #(
        .OSCILLATOR_25(1), .RX_DELAY_TAPS(80), .TX_DELAY_TAPS(0),
        .MEMORY_LOG2_0(22), .MEMORY_LOG2_1(14), .DEPTH_LOG2(9), .DEPTH_LOG2_0(10),
        // 200 us.
        .SDRAM_REST_CYCLES(25_000), .LEAST_DELAY_PS(64'd6_000_000), .STEPS(1), .HAS_CODEL(0)
    ) board (
        .oscillator(clk25), .rx_clk({eth1_rx_clk, eth0_rx_clk}),
        .rx_ctl({eth1_rx_ctl, eth0_rx_ctl}), .rx_0_pins(eth0_rx_data), .rx_1_pins(eth1_rx_data),
        .tx_clk({eth1_tx_clk, eth0_tx_clk}), .tx_ctl({eth1_tx_ctl, eth0_tx_ctl}),
        .tx_0_pins(eth0_tx_data), .tx_1_pins(eth1_tx_data), .phy_rst_n(),
        .line_clk, .sdram, .sdram_data(read_data)
    );
    /* verilator lint_on PINCONNECTEMPTY */
    sdram_pins pins (
        .line_clk, .sdram, .sdram_data(read_data), .pin_clk(sdram_clk), .ras_n(sdram_ras_n),
        .cas_n(sdram_cas_n), .we_n(sdram_we_n), .bank(sdram_bank), .address(sdram_address),
        .data(sdram_data)
    );
endmodule
