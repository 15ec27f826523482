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

// Registers at a pin, and a pin in both directions: a signal needs PAD_NS to leave, 1 ns to enter.
module OFS1P3BX (input wire D, SP, SCLK, PD, output reg Q);
    initial Q = 1'b1;
    always @(posedge SCLK or posedge PD) Q <= PD ? 1'b1 : D;
endmodule

module OFS1P3DX (input wire D, SP, SCLK, CD, output reg Q);
    initial Q = 1'b0;
    always @(posedge SCLK or posedge CD) Q <= CD ? 1'b0 : D;
endmodule

module IFS1P3DX (input wire D, SP, SCLK, CD, output reg Q);
    always @(posedge SCLK or posedge CD) Q <= CD ? 1'b0 : D;
endmodule

module BB #(parameter real PAD_NS = 3.5) (input wire I, T, output wire O, inout wire B);
    assign #(PAD_NS) B = T ? 1'bz : I;
    assign #1 O = B;
endmodule

// Block RAM with words of 18 bits, of which 16 are connected: port A writes, port B reads through
// its output register.
module DP16KD #(
    parameter int DATA_WIDTH_A = 18, DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", WRITEMODE_A = "NORMAL",
    WRITEMODE_B = "NORMAL", RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC", CSDECODE_A = "0b000",
    CSDECODE_B = "0b000", GSR = "ENABLED", CLKAMUX = "CLKA", CLKBMUX = "CLKB"
) (
    input wire CLKA, CEA, OCEA, WEA, RSTA, CSA2, CSA1, CSA0,
    input wire
        ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2,
        ADA1, ADA0,
    input wire
        DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
        DIA3, DIA2, DIA1, DIA0,
    input wire CLKB, CEB, OCEB, WEB, RSTB, CSB2, CSB1, CSB0,
    input wire
        ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2,
        ADB1, ADB0,
    output wire
        DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
        DOB3, DOB2, DOB1, DOB0
);
    initial if (DATA_WIDTH_A != 18 || DATA_WIDTH_B != 18 || REGMODE_B != "OUTREG")
        $fatal(1, "DP16KD: this model has words of 18 bits and an output register");
    reg [15:0] words [0:1023];
    reg [15:0] word, held;
    wire [15:0] written = {
        DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
        DIA3, DIA2, DIA1, DIA0
    };
    wire [9:0] at = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4};
    always @(posedge CLKA) if (CEA && WEA && {CSA2, CSA1, CSA0} == 0) begin
        if (ADA0) words[at][8:0] <= written[8:0];
        if (ADA1) words[at][15:9] <= written[15:9];
    end
    always @(posedge CLKB) begin
        if (CEB && {CSB2, CSB1, CSB0} == 0)
            word <= words[{ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4}];
        if (OCEB) held <= word;
    end
    assign {
        DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
        DOB3, DOB2, DOB1, DOB0
    } = held;
endmodule
