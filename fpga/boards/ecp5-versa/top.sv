// The Lattice ECP5 Versa: LFE5UM5G-45F, 100 MHz, two 88E1512.
//
// 108 block RAMs hold 64 kB of frames in each direction, and 1024 frames.
module top (
    input  logic       clk100,
    input  logic       eth0_rx_clk,
    input  logic       eth0_rx_ctl,
    input  logic [3:0] eth0_rx_data,
    output logic       eth0_tx_clk,
    output logic       eth0_tx_ctl,
    output logic [3:0] eth0_tx_data,
    output logic       eth0_rst_n,
    input  logic       eth1_rx_clk,
    input  logic       eth1_rx_ctl,
    input  logic [3:0] eth1_rx_data,
    output logic       eth1_tx_clk,
    output logic       eth1_tx_ctl,
    output logic [3:0] eth1_tx_data,
    output logic       eth1_rst_n
);
    logic phy_rst_n;
    assign eth0_rst_n = phy_rst_n;
    assign eth1_rst_n = phy_rst_n;

    /* verilator lint_off PINCONNECTEMPTY */
    rgmii_board #(
        .OSCILLATOR_25(4), .RX_DELAY_TAPS(0), .TX_DELAY_TAPS(0),
        .MEMORY_LOG2_0(16), .MEMORY_LOG2_1(16), .DEPTH_LOG2(10),
        // Block RAM is for the frames: 102 of 108.
        .BLOCK_COPIES(0)
    ) board (
        .oscillator(clk100), .rx_clk({eth1_rx_clk, eth0_rx_clk}),
        .rx_ctl({eth1_rx_ctl, eth0_rx_ctl}), .rx_0_pins(eth0_rx_data), .rx_1_pins(eth1_rx_data),
        .tx_clk({eth1_tx_clk, eth0_tx_clk}), .tx_ctl({eth1_tx_ctl, eth0_tx_ctl}),
        .tx_0_pins(eth0_tx_data), .tx_1_pins(eth1_tx_data), .phy_rst_n,
        .line_clk(), .sdram(), .sdram_data(32'd0)
    );
    /* verilator lint_on PINCONNECTEMPTY */
endmodule
