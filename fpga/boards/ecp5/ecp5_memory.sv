// `window_memory` in one block RAM of an ECP5: port A writes, port B reads through its output
// register. The address of a word of 18 bits starts at bit 4; bits 0 and 1 write its two bytes.
module ecp5_memory (
    input  logic        clk,
    input  logic        write,
    input  logic [9:0]  write_at,
    input  logic [15:0] write_data,
    input  logic        read_clk,
    input  logic [9:0]  read_at,
    output logic [15:0] read_data
);
    DP16KD #(
        .DATA_WIDTH_A(18), .DATA_WIDTH_B(18), .REGMODE_A("NOREG"), .REGMODE_B("OUTREG"),
        .WRITEMODE_A("READBEFOREWRITE"), .WRITEMODE_B("READBEFOREWRITE"), .RESETMODE("ASYNC"),
        .ASYNC_RESET_RELEASE("ASYNC"), .CSDECODE_A("0b000"), .CSDECODE_B("0b000"), .GSR("DISABLED"),
        .CLKAMUX("CLKA"), .CLKBMUX("CLKB")
    ) memory (
        .CLKA(clk), .CEA(1'b1), .OCEA(1'b1), .WEA(write), .RSTA(1'b0),
        .CSA2(1'b0), .CSA1(1'b0), .CSA0(1'b0),
        .ADA13(write_at[9]), .ADA12(write_at[8]), .ADA11(write_at[7]), .ADA10(write_at[6]),
        .ADA9(write_at[5]), .ADA8(write_at[4]), .ADA7(write_at[3]), .ADA6(write_at[2]),
        .ADA5(write_at[1]), .ADA4(write_at[0]), .ADA3(1'b0), .ADA2(1'b0), .ADA1(write),
        .ADA0(write),
        .DIA15(write_data[15]), .DIA14(write_data[14]), .DIA13(write_data[13]),
        .DIA12(write_data[12]), .DIA11(write_data[11]), .DIA10(write_data[10]),
        .DIA9(write_data[9]), .DIA8(write_data[8]), .DIA7(write_data[7]), .DIA6(write_data[6]),
        .DIA5(write_data[5]), .DIA4(write_data[4]), .DIA3(write_data[3]), .DIA2(write_data[2]),
        .DIA1(write_data[1]), .DIA0(write_data[0]),
        .CLKB(read_clk), .CEB(1'b1), .OCEB(1'b1), .WEB(1'b0), .RSTB(1'b0),
        .CSB2(1'b0), .CSB1(1'b0), .CSB0(1'b0),
        .ADB13(read_at[9]), .ADB12(read_at[8]), .ADB11(read_at[7]), .ADB10(read_at[6]),
        .ADB9(read_at[5]), .ADB8(read_at[4]), .ADB7(read_at[3]), .ADB6(read_at[2]),
        .ADB5(read_at[1]), .ADB4(read_at[0]), .ADB3(1'b0), .ADB2(1'b0), .ADB1(1'b0), .ADB0(1'b0),
        .DOB15(read_data[15]), .DOB14(read_data[14]), .DOB13(read_data[13]),
        .DOB12(read_data[12]), .DOB11(read_data[11]), .DOB10(read_data[10]),
        .DOB9(read_data[9]), .DOB8(read_data[8]), .DOB7(read_data[7]), .DOB6(read_data[6]),
        .DOB5(read_data[5]), .DOB4(read_data[4]), .DOB3(read_data[3]), .DOB2(read_data[2]),
        .DOB1(read_data[1]), .DOB0(read_data[0])
    );
endmodule
