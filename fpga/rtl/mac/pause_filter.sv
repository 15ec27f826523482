// Whether a frame is for the MAC at the end of its cable: PAUSE (IEEE 802.3 annex 31B).
//
// A bridge does not pass these on (IEEE 802.1Q section 8.6.3). The board does not pause.
module pause_filter (
    input  logic       clk,
    input  logic       rst,
    // A byte in each cycle with `beat`.
    input  logic       beat,
    input  logic [7:0] data,
    input  logic       last,
    // Right at a frame's last byte.
    output logic       is_pause
);
    localparam logic [47:0] ADDRESS = 48'h0180C2000001;
    logic [47:0] expected;
    logic [2:0]  left;
    logic        is_same;

    assign is_pause = is_same && left == 0;

    always_ff @(posedge clk) begin
        if (rst || (beat && last)) begin
            expected <= ADDRESS;
            left <= 3'd6;
            is_same <= 1'b1;
        end else if (beat && left != 0) begin
            expected <= {expected[39:0], 8'd0};
            left <= left - 1;
            if (data != expected[47:40]) is_same <= 1'b0;
        end
    end
endmodule
