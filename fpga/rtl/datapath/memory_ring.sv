// Which words of the frame memory are in use: a ring from `free_at` to `write_at`.
//
// Frames are written and read in one order. A frame that is not kept gives its words back if
// nothing follows it. If something does, its words are a gap, which the next frame that is read
// gives back. So it is with a frame that the queue drops when others follow it. Without a frame in
// the memory there is no gap either.
module memory_ring #(
    parameter int ADDRESS_W = 15,
    // The most frames at a time, as a power of two.
    parameter int FRAMES_LOG2 = 11
) (
    input  logic                 clk,
    input  logic                 rst,
    // Writing: a word, the end of a frame that is offered to the queue, or of one that is not kept.
    // `at_start`: no word of the next frame comes in this cycle or is written.
    input  logic                 at_start,
    input  logic                 advance,
    input  logic                 commit,
    input  logic                 discard,
    output logic                 has_room,
    output logic [ADDRESS_W-1:0] start,
    output logic [ADDRESS_W-1:0] write_at,
    // The queue rejects an offered frame; `is_newest`: none was offered after it.
    input  logic                 rejected,
    input  logic                 is_newest,
    input  logic [ADDRESS_W-1:0] rejected_start,
    // The queue drops a frame that is not its last.
    input  logic                 dropped,
    // A frame was read, up to the word before `freed_to`.
    input  logic                 freed,
    input  logic [ADDRESS_W-1:0] freed_to
);
    localparam int LIVE_W = FRAMES_LOG2 + 1;
    // The place after each: `after` that of `write_at`.
    logic [ADDRESS_W-1:0] free_at, free_seen, before_free, after, after_start, after_rejected;
    logic [ADDRESS_W-1:0] returned_start;
    // Frames that were offered, and neither rejected, dropped nor read.
    logic [LIVE_W-1:0]    live;
    // A rejected frame, a cycle later: whether none had been offered after it.
    logic                 returns, was_newest, meets_free, meets_before;

    // A full ring must differ from an empty one, and `has_room` is of a cycle before. So two words
    // stay free.
    always_ff @(posedge clk) begin
        free_seen <= free_at;
        before_free <= free_at - 1;
        meets_free <= after == free_seen;
        meets_before <= after == before_free;
        after_start <= start + 1;
        returns <= rejected && !rst;
        was_newest <= is_newest && !commit;
        returned_start <= rejected_start;
        after_rejected <= rejected_start + 1;
    end
    assign has_room = !meets_free && !meets_before;

    always_ff @(posedge clk) begin
        if (rst) begin
            write_at <= '0;
            after <= ADDRESS_W'(1);
            start <= '0;
            free_at <= '0;
            live <= '0;
        end else begin
            live <= live + LIVE_W'(commit) - LIVE_W'(returns) - LIVE_W'(dropped)
                - LIVE_W'(freed);
            if (advance) begin
                write_at <= after;
                after <= after + 1;
            end
            if (commit) start <= write_at;
            if (discard) begin
                write_at <= start;
                after <= after_start;
            end else if (returns && was_newest && at_start) begin
                write_at <= returned_start;
                after <= after_rejected;
                start <= returned_start;
            end
            if (freed) free_at <= freed_to;
            else if (live == 0 && at_start) free_at <= write_at;
        end
    end
endmodule
