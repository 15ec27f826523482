// The pins of an SDRAM at an ECP5, each with a register.
//
// The SDRAM's clock is the inverse of the line's: its inputs change half a cycle before its edge.
// A word that is read comes with a latency of three, and is sampled at the line's next edge. It is
// valid there if the clock's way out and the word's way in take from 2 to 6 ns together (tAC 6 ns,
// tOH 2 ns). CLOCK_DELAY_TAPS of 25 ps delay the SDRAM's clock.
module sdram_pins #(
    parameter int CLOCK_DELAY_TAPS = 0
) (
    input  logic           line_clk,
    input  narrows_sdram_t sdram,
    output logic [31:0]    sdram_data,
    output logic           pin_clk,
    output logic           ras_n,
    output logic           cas_n,
    output logic           we_n,
    output logic [1:0]     bank,
    output logic [10:0]    address,
    inout  wire  [31:0]    data
);
    // Without a command and without data until the clock runs.
    logic [2:0] command, command_pins;
    assign command = {sdram.ras_n, sdram.cas_n, sdram.we_n};
    assign {ras_n, cas_n, we_n} = command_pins;
    for (genvar n = 0; n < 3; n++) begin : command_pin
        OFS1P3BX register (
            .D(command[n]), .SP(1'b1), .SCLK(line_clk), .PD(1'b0), .Q(command_pins[n])
        );
    end

    logic [12:0] place, place_pins;
    assign place = {sdram.bank, sdram.address};
    assign {bank, address} = place_pins;
    for (genvar n = 0; n < 13; n++) begin : place_pin
        OFS1P3DX register (
            .D(place[n]), .SP(1'b1), .SCLK(line_clk), .CD(1'b0), .Q(place_pins[n])
        );
    end

    logic [31:0] written, is_input, seen;
    logic        is_read;
    assign is_read = !sdram.writes;
    for (genvar n = 0; n < 32; n++) begin : data_pin
        OFS1P3DX out_register (
            .D(sdram.data[n]), .SP(1'b1), .SCLK(line_clk), .CD(1'b0), .Q(written[n])
        );
        OFS1P3BX direction_register (
            .D(is_read), .SP(1'b1), .SCLK(line_clk), .PD(1'b0), .Q(is_input[n])
        );
        BB pin (.I(written[n]), .T(is_input[n]), .O(seen[n]), .B(data[n]));
        IFS1P3DX in_register (
            .D(seen[n]), .SP(1'b1), .SCLK(line_clk), .CD(1'b0), .Q(sdram_data[n])
        );
    end

    logic clock;
    ODDRX1F clock_driver (.D0(1'b0), .D1(1'b1), .SCLK(line_clk), .RST(1'b0), .Q(clock));
    DELAYG #(.DEL_MODE("USER_DEFINED"), .DEL_VALUE(CLOCK_DELAY_TAPS)) delay (
        .A(clock), .Z(pin_clk)
    );
endmodule
