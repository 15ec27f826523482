// Bytes to the RGMII pins of an ECP5. The clock is sent with the data, edge by edge; the PHY delays
// it, or CLOCK_DELAY_TAPS of 25 ps do.
module rgmii_transmitter #(
    parameter int CLOCK_DELAY_TAPS = 0
) (
    input  logic       clk,
    input  logic       tx_valid,
    input  logic       tx_error,
    input  logic [7:0] tx_data,
    output logic       pin_clk,
    output logic       ctl,
    output logic [3:0] pins
);
    logic [4:0] rising, falling, out;
    logic       clock;

    always_ff @(posedge clk) begin
        rising <= {tx_valid, tx_data[3:0]};
        falling <= {tx_valid ^ tx_error, tx_data[7:4]};
    end
    assign {ctl, pins} = out;

    for (genvar n = 0; n < 5; n++) begin : output_pin
        ODDRX1F driver (.D0(rising[n]), .D1(falling[n]), .SCLK(clk), .RST(1'b0), .Q(out[n]));
    end
    ODDRX1F clock_driver (.D0(1'b1), .D1(1'b0), .SCLK(clk), .RST(1'b0), .Q(clock));
    DELAYG #(.DEL_MODE("USER_DEFINED"), .DEL_VALUE(CLOCK_DELAY_TAPS)) delay (
        .A(clock), .Z(pin_clk)
    );
endmodule
