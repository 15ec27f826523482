// The Colorlight 5A-75B, version 8.0: LFE5U-25F, 25 MHz, two RTL8211FD.
//
// The PHYs' reset is the board's own. 56 block RAMs hold 32 kB of frames towards port 1, 16 kB
// towards port 0, and 512 frames each. CoDel would fill 88 % of the LUTs, and is left out.
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
    output logic [3:0] eth1_tx_data
);
    /* verilator lint_off PINCONNECTEMPTY */
    rgmii_board #(
        .OSCILLATOR_25(1), .RX_DELAY_TAPS(80), .TX_DELAY_TAPS(0),
        .MEMORY_LOG2_0(15), .MEMORY_LOG2_1(14), .DEPTH_LOG2(9), .STEPS(1),
        .HAS_CODEL(0)
    ) board (
        .oscillator(clk25), .rx_clk({eth1_rx_clk, eth0_rx_clk}),
        .rx_ctl({eth1_rx_ctl, eth0_rx_ctl}), .rx_0_pins(eth0_rx_data), .rx_1_pins(eth1_rx_data),
        .tx_clk({eth1_tx_clk, eth0_tx_clk}), .tx_ctl({eth1_tx_ctl, eth0_tx_ctl}),
        .tx_0_pins(eth0_tx_data), .tx_1_pins(eth1_tx_data), .phy_rst_n(),
        .line_clk(), .sdram(), .sdram_data(32'd0)
    );
    /* verilator lint_on PINCONNECTEMPTY */
endmodule
