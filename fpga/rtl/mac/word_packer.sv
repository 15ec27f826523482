// Makes words of two bytes of a frame's bytes: the first byte is the lower one.
//
// The last word of an odd frame has one byte, `out_odd`.
module word_packer (
    input  logic        clk,
    input  logic        rst,
    input  logic        in_valid,
    input  logic [7:0]  in_data,
    // With the last byte: whether the frame is wrong, and whether somebody else takes it.
    input  logic        in_last,
    input  logic        in_error,
    input  logic        in_taken,

    output logic        out_valid,
    output logic [15:0] out_data,
    output logic        out_odd,
    output logic        out_last,
    output logic        out_error,
    output logic        out_taken
);
    logic       is_second;
    logic [7:0] first;

    always_ff @(posedge clk) begin
        out_valid <= in_valid && (is_second || in_last) && !rst;
        out_data <= is_second ? {in_data, first} : {8'd0, in_data};
        out_odd <= !is_second;
        out_last <= in_last;
        out_error <= in_error;
        out_taken <= in_taken;
        if (in_valid) begin
            first <= in_data;
            is_second <= !is_second && !in_last;
        end
        if (rst) is_second <= 1'b0;
    end
endmodule
