// The time in picoseconds since the start, from a clock whose period is known.
//
// The period is PERIOD_PS + FRACTION/2^32. `ahead` is the value that `now` has two cycles later: a
// comparison with it is in a register by then.
module time_base #(
    parameter int PERIOD_PS = 8000,
    parameter logic [31:0] FRACTION = 32'd0
) (
    input  logic                           clk,
    input  logic                           rst,
    output logic [narrows_pkg::TIME_W-1:0] now,
    output logic [narrows_pkg::TIME_W-1:0] ahead
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam logic [TIME_W-1:0] PERIOD = TIME_W'(PERIOD_PS);

    logic [TIME_W-1:0] between;
    logic [32:0]       fraction;

    always_ff @(posedge clk) begin
        if (rst) begin
            ahead <= '0;
            between <= '0;
            now <= '0;
            fraction <= '0;
        end else begin
            fraction <= {1'b0, fraction[31:0]} + {1'b0, FRACTION};
            ahead <= ahead + PERIOD + {{(TIME_W - 1){1'b0}}, fraction[32]};
            between <= ahead;
            now <= between;
        end
    end
endmodule
