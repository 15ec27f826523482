// RGMII pins of an ECP5 to bytes: the low half of a byte comes with the rising edge of the clock.
//
// The PHY's clock must be delayed against its data, by the PHY or, if not, by DELAY_TAPS of 25 ps.
module rgmii_receiver #(
    parameter int DELAY_TAPS = 0
) (
    input  logic       clk,
    input  logic       ctl,
    input  logic [3:0] pins,
    output logic       rx_valid,
    output logic       rx_error,
    output logic [7:0] rx_data
);
    logic [4:0] in, delayed, rising, falling;
    assign in = {ctl, pins};

    for (genvar n = 0; n < 5; n++) begin : input_pin
        DELAYG #(.DEL_MODE("USER_DEFINED"), .DEL_VALUE(DELAY_TAPS)) delay (
            .A(in[n]), .Z(delayed[n])
        );
        IDDRX1F sampler (
            .D(delayed[n]), .SCLK(clk), .RST(1'b0), .Q0(rising[n]), .Q1(falling[n])
        );
    end

    // With the falling edge the control pin is valid xor error (RGMII 2.0 section 3.4).
    always_ff @(posedge clk) begin
        rx_valid <= rising[4];
        rx_error <= rising[4] ^ falling[4];
        rx_data <= {falling[3:0], rising[3:0]};
    end
endmodule
