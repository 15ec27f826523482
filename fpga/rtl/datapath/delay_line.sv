// Holds sent frames for the propagation delay, in the order in which they were sent.
//
// A frame's last word leaves at the end of its transmission plus the delay, so its first one leaves
// earlier by the words between them. After a change to a shorter delay no frame overtakes another
// one: it leaves when the frame before it does, if that is later.
module delay_line #(
    parameter int ENTRY_W = 32,
    // The time of a word: the period of the clock.
    parameter int PERIOD_PS = 8000,
    parameter int DEPTH_LOG2 = 9
) (
    input  logic                           clk,
    input  logic                           rst,
    // A transmission; the next one follows at least five cycles later.
    input  logic                           sent,
    input  logic [narrows_pkg::TIME_W-1:0] sent_end,
    input  logic [narrows_pkg::TIME_W-1:0] delay,
    // The words after its first, steady for two cycles before `sent`.
    input  logic [narrows_pkg::FRAME_W-1:0] words_after,
    input  logic [ENTRY_W-1:0]             entry,
    // Whether it takes one more transmission than those that were reported.
    output logic                           has_room,

    output logic                           valid,
    output logic [narrows_pkg::TIME_W-1:0] leave_at,
    output logic [ENTRY_W-1:0]             leaving,
    input  logic                           pop
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int FRAME_W = narrows_pkg::FRAME_W;
    // A slowed board's period has more than 16 bits.
    localparam int STREAM_W = FRAME_W + (PERIOD_PS < 65536 ? 16 : $clog2(PERIOD_PS + 1));
    logic                is_summed, is_first_known, is_compared, is_later, push;
    logic [TIME_W-1:0]   sum, first, last;
    logic [FRAME_W-1:0]  words;
    logic [STREAM_W-1:0] product, stream;
    logic [ENTRY_W-1:0]  kept;
    logic [DEPTH_LOG2:0] count;

    /* verilator lint_off PINCONNECTEMPTY */
    descriptor_fifo #(.WIDTH(TIME_W + ENTRY_W), .DEPTH_LOG2(DEPTH_LOG2)) frames (
        .clk, .rst, .push, .push_data({last, kept}), .pop, .head_valid(valid),
        .head({leave_at, leaving}), .settled(), .full(), .count
    );
    /* verilator lint_on PINCONNECTEMPTY */
    assign has_room = count < (DEPTH_LOG2 + 1)'((1 << DEPTH_LOG2) - 1);

    always_ff @(posedge clk) begin
        is_summed <= sent && !rst;
        is_first_known <= is_summed && !rst;
        is_compared <= is_first_known && !rst;
        push <= is_compared && !rst;
        if (sent) begin
            sum <= sent_end + delay;
            stream <= product;
            kept <= entry;
        end
        words <= words_after;
        product <= STREAM_W'(words) * STREAM_W'(PERIOD_PS);
        first <= sum - {{(TIME_W - STREAM_W){1'b0}}, stream};
        is_later <= last < first;
        if (rst) last <= '0;
        else if (is_compared && is_later) last <= first;
    end
endmodule
