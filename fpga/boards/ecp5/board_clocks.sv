// The clocks of a board from its oscillator, by a PLL, and a reset until they are stable.
//
// `line_clk` has 125 MHz, the core's `clk` half of that; their edges are aligned. The oscillator's
// frequency is 25 MHz times OSCILLATOR_25; the PLL's VCO runs at 625 MHz.
module board_clocks #(
    parameter int OSCILLATOR_25 = 1
) (
    input  logic oscillator,
    output logic line_clk,
    output logic clk,
    output logic rst
);
    logic       locked;
    logic [7:0] stable = '0;

    (* FREQUENCY_PIN_CLKOP = "125", FREQUENCY_PIN_CLKOS = "62.5", ICP_CURRENT = "12",
       LPF_RESISTOR = "8" *)
    EHXPLLL #(
        .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"),
        .DPHASE_SOURCE("DISABLED"), .OUTDIVIDER_MUXA("DIVA"), .OUTDIVIDER_MUXB("DIVB"),
        .OUTDIVIDER_MUXC("DIVC"), .OUTDIVIDER_MUXD("DIVD"), .FEEDBK_PATH("CLKOP"),
        .CLKI_DIV(OSCILLATOR_25), .CLKFB_DIV(5), .CLKOP_ENABLE("ENABLED"), .CLKOP_DIV(5),
        .CLKOP_CPHASE(2), .CLKOP_FPHASE(0), .CLKOS_ENABLE("ENABLED"), .CLKOS_DIV(10),
        .CLKOS_CPHASE(2), .CLKOS_FPHASE(0)
    ) pll (
        .CLKI(oscillator), .CLKFB(line_clk), .CLKOP(line_clk), .CLKOS(clk), .LOCK(locked),
        .RST(1'b0), .STDBY(1'b0), .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b1),
        .PHASESTEP(1'b1), .PHASELOADREG(1'b1), .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0)
    );

    // 128 cycles after the lock.
    always_ff @(posedge clk or negedge locked)
        if (!locked) stable <= '0;
        else if (!stable[7]) stable <= stable + 1;
    always_ff @(posedge clk) rst <= !stable[7];
endmodule
