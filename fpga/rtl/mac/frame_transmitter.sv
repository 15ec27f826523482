// Sends frames of two-byte words, from the core's clock to the line's, which is twice as fast.
//
// It takes a word in each cycle of a frame, and then none until the line is free: the preamble, the
// check sequence and the gap take twelve cycles. So the crossing holds a few words only, and the
// first bit of a frame leaves a constant time after its first word was taken. Frames of odd lengths
// begin and end in the middle of a cycle. So a frame may be taken up to a cycle before the line is
// free, and wait in the crossing. `ahead` keeps account of that, so that the line rate is exact.
module frame_transmitter (
    input  logic        clk,
    input  logic        rst,
    input  logic        in_valid,
    output logic        in_ready,
    input  logic [15:0] in_data,
    // The last word has one byte.
    input  logic        in_odd,
    input  logic        in_last,
    // A frame can start.
    output logic        is_idle,
    // High for one cycle.
    output logic        is_underrun,

    input  logic        line_clk,
    output logic        tx_valid,
    output logic        tx_error,
    output logic [7:0]  tx_data
);
    localparam logic [3:0] GAP_CYCLES = 4'd12;
    localparam logic [1:0] IDLE = 2'd0, DATA = 2'd1, GAP = 2'd2;
    logic [1:0] state;
    logic [3:0] left;
    logic       takes;
    // Half cycles by which a frame that is taken now, and then the frame that was, is too early.
    logic [1:0] ahead;

    assign is_idle = state == IDLE;
    assign in_ready = state == IDLE || state == DATA;
    assign takes = in_valid && in_ready;

    always_ff @(posedge clk) begin
        left <= left - 1;
        case (state)
            IDLE: begin
                if (takes) state <= DATA;
                else ahead <= '0;
            end
            DATA: ;
            default: if (left == 1) state <= IDLE;
        endcase
        if (takes && in_last) begin
            state <= GAP;
            // The line is free 26 half cycles after the last word, one less after an odd frame,
            // and as many more as the frame was early. Two before that the next one can be taken.
            left <= ahead > {1'b0, in_odd} ? GAP_CYCLES : GAP_CYCLES - 1;
            ahead <= ahead[0] ^ in_odd ? 2'd1 : 2'd2;
        end
        if (rst) begin
            state <= IDLE;
            ahead <= '0;
        end
    end

    // The reset, in the line's clock.
    logic rst_near, line_rst;
    always_ff @(posedge line_clk) begin
        rst_near <= rst;
        line_rst <= rst_near;
    end

    logic        word_valid, word_ready, word_odd, word_last, is_second;
    logic [15:0] word;

    /* verilator lint_off PINCONNECTEMPTY */
    clock_crossing #(.WIDTH(17), .DEPTH_LOG2(4)) crossing (
        .in_clk(clk), .in_rst(rst), .in_valid(takes), .in_data({in_odd, in_data}), .in_last,
        .in_error(1'b0),
        .out_clk(line_clk), .out_rst(line_rst), .out_valid(word_valid), .out_ready(word_ready),
        .out_data({word_odd, word}), .out_last(word_last), .out_error()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    logic       byte_ready, byte_last, misses;
    logic [7:0] data;
    assign data = is_second ? word[15:8] : word[7:0];
    assign byte_last = word_last && (word_odd || is_second);
    assign word_ready = byte_ready && (is_second || (word_last && word_odd));

    always_ff @(posedge line_clk)
        if (line_rst) is_second <= 1'b0;
        else if (word_valid && byte_ready) is_second <= !is_second && !byte_last;

    /* verilator lint_off PINCONNECTEMPTY */
    mac_transmitter transmitter (
        .clk(line_clk), .rst(line_rst), .in_valid(word_valid), .in_ready(byte_ready),
        .in_data(data), .in_last(byte_last), .tx_valid, .tx_error, .tx_data, .is_idle(),
        .is_underrun(misses)
    );
    /* verilator lint_on PINCONNECTEMPTY */
    pulse_crossing underruns (
        .in_clk(line_clk), .in_pulse(misses), .out_clk(clk), .out_rst(rst), .out_pulse(is_underrun)
    );
endmodule
