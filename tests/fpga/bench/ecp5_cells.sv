// What the cells of an ECP5 that a board uses do, for simulators (Lattice FPGA-TN-02032, -02200).
//
// The PLL passes its input on: a test drives it with the first output's frequency. The second one
// is half of that.
`timescale 1ns / 1ps

module EHXPLLL #(
    parameter PLLRST_ENA = "", parameter INTFB_WAKE = "", parameter STDBY_ENABLE = "",
    parameter DPHASE_SOURCE = "", parameter OUTDIVIDER_MUXA = "", parameter OUTDIVIDER_MUXB = "",
    parameter OUTDIVIDER_MUXC = "", parameter OUTDIVIDER_MUXD = "", parameter FEEDBK_PATH = "",
    parameter CLKI_DIV = 1, parameter CLKFB_DIV = 1, parameter CLKOP_ENABLE = "",
    parameter CLKOP_DIV = 1, parameter CLKOP_CPHASE = 0, parameter CLKOP_FPHASE = 0,
    parameter CLKOS_ENABLE = "", parameter CLKOS_DIV = 1, parameter CLKOS_CPHASE = 0,
    parameter CLKOS_FPHASE = 0
) (
    input wire CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG,
    input wire PLLWAKESYNC, ENCLKOP,
    output wire CLKOP,
    output reg CLKOS,
    output reg LOCK
);
    assign CLKOP = CLKI;
    initial CLKOS = 1'b0;
    always @(posedge CLKI) CLKOS = !CLKOS;
    initial begin
        LOCK = 1'b0;
        #100 LOCK = 1'b1;
    end
endmodule

module DELAYG #(parameter DEL_MODE = "", parameter DEL_VALUE = 0) (input wire A, output wire Z);
    assign #(DEL_VALUE * 0.025) Z = A;
endmodule

// Both samples come out at the rising edge after them.
module IDDRX1F (input wire D, SCLK, RST, output reg Q0, Q1);
    reg rising, falling;
    always @(posedge SCLK) begin
        rising <= D;
        Q0 <= rising;
        Q1 <= falling;
    end
    always @(negedge SCLK) falling <= D;
endmodule

module ODDRX1F (input wire D0, D1, SCLK, RST, output wire Q);
    reg first, second;
    always @(posedge SCLK) begin
        first <= D0;
        second <= D1;
    end
    assign Q = SCLK ? first : second;
endmodule
