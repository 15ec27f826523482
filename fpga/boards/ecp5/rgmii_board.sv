// A board with an ECP5 and two PHYs on RGMII: clock, pins, bottleneck.
module rgmii_board #(
    parameter int OSCILLATOR_25 = 1,
    parameter int RX_DELAY_TAPS = 0,
    parameter int TX_DELAY_TAPS = 0,
    parameter int MEMORY_LOG2_0 = 15,
    parameter int MEMORY_LOG2_1 = 14,
    parameter int DEPTH_LOG2 = 9,
    parameter int DEPTH_LOG2_0 = DEPTH_LOG2,
    parameter int SDRAM_REST_CYCLES = 0,
    parameter longint LEAST_DELAY_PS = 64'd4_000_000,
    parameter int STEPS = 2,
    parameter int HAS_CODEL = 1,
    parameter int BLOCK_COPIES = 1
) (
    input  logic       oscillator,
    input  logic [1:0] rx_clk,
    input  logic [1:0] rx_ctl,
    input  logic [3:0] rx_0_pins,
    input  logic [3:0] rx_1_pins,
    output logic [1:0] tx_clk,
    output logic [1:0] tx_ctl,
    output logic [3:0] tx_0_pins,
    output logic [3:0] tx_1_pins,
    // Low until the clock is stable; the PHYs start then.
    output logic       phy_rst_n,

    // Of direction 0, on the line's clock.
    output logic           line_clk,
    output narrows_sdram_t sdram,
    input  logic [31:0]    sdram_data
);
    logic       clk, rst;
    logic [1:0] rx_valid, rx_error, tx_valid, tx_error;
    logic [7:0] rx_0_data, rx_1_data, tx_0_data, tx_1_data;

    board_clocks #(.OSCILLATOR_25(OSCILLATOR_25)) clocks (.oscillator, .line_clk, .clk, .rst);

    rgmii_receiver #(.DELAY_TAPS(RX_DELAY_TAPS)) receiver_0 (
        .clk(rx_clk[0]), .ctl(rx_ctl[0]), .pins(rx_0_pins), .rx_valid(rx_valid[0]),
        .rx_error(rx_error[0]), .rx_data(rx_0_data)
    );
    rgmii_receiver #(.DELAY_TAPS(RX_DELAY_TAPS)) receiver_1 (
        .clk(rx_clk[1]), .ctl(rx_ctl[1]), .pins(rx_1_pins), .rx_valid(rx_valid[1]),
        .rx_error(rx_error[1]), .rx_data(rx_1_data)
    );
    rgmii_transmitter #(.CLOCK_DELAY_TAPS(TX_DELAY_TAPS)) transmitter_0 (
        .clk(line_clk), .tx_valid(tx_valid[0]), .tx_error(tx_error[0]), .tx_data(tx_0_data),
        .pin_clk(tx_clk[0]), .ctl(tx_ctl[0]), .pins(tx_0_pins)
    );
    rgmii_transmitter #(.CLOCK_DELAY_TAPS(TX_DELAY_TAPS)) transmitter_1 (
        .clk(line_clk), .tx_valid(tx_valid[1]), .tx_error(tx_error[1]), .tx_data(tx_1_data),
        .pin_clk(tx_clk[1]), .ctl(tx_ctl[1]), .pins(tx_1_pins)
    );

    bottleneck_board #(
        .MEMORY_LOG2_0(MEMORY_LOG2_0), .MEMORY_LOG2_1(MEMORY_LOG2_1), .DEPTH_LOG2(DEPTH_LOG2),
        .DEPTH_LOG2_0(DEPTH_LOG2_0), .SDRAM_REST_CYCLES(SDRAM_REST_CYCLES),
        .LEAST_DELAY_PS(LEAST_DELAY_PS), .STEPS(STEPS), .HAS_CODEL(HAS_CODEL),
        .BLOCK_COPIES(BLOCK_COPIES)
    ) bottleneck (
        .clk, .line_clk, .rst,
        .rx_0_clk(rx_clk[0]), .rx_0_valid(rx_valid[0]), .rx_0_error(rx_error[0]), .rx_0_data,
        .tx_0_valid(tx_valid[0]), .tx_0_error(tx_error[0]), .tx_0_data,
        .rx_1_clk(rx_clk[1]), .rx_1_valid(rx_valid[1]), .rx_1_error(rx_error[1]), .rx_1_data,
        .tx_1_valid(tx_valid[1]), .tx_1_error(tx_error[1]), .tx_1_data, .sdram_data, .sdram
    );

    always_ff @(posedge clk) phy_rst_n <= !rst;
endmodule
