// Which words of the frame memory are in use: a ring from `free_at` to `write_at`.
//
// Frames are written and read in one order. A frame that is not kept gives its words back if
// nothing follows it. If something does, its words are a gap, which the next frame that is read
// gives back. Without a frame in the memory there is no gap either.
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
    // A frame was read, up to the word before `freed_to`.
    input  logic                 freed,
    input  logic [ADDRESS_W-1:0] freed_to
);
    localparam int LIVE_W = FRAMES_LOG2 + 1;
    logic [ADDRESS_W-1:0] free_at, after;
    // Frames that were offered and neither rejected nor read.
    logic [LIVE_W-1:0]    live;

    // One word stays free, so that a full ring differs from an empty one.
    assign after = write_at + 1;
    assign has_room = after != free_at;

    always_ff @(posedge clk) begin
        if (rst) begin
            write_at <= '0;
            start <= '0;
            free_at <= '0;
            live <= '0;
        end else begin
            live <= live + LIVE_W'(commit) - LIVE_W'(rejected) - LIVE_W'(freed);
            if (advance) write_at <= after;
            if (commit) start <= write_at;
            if (discard) begin
                write_at <= start;
            end else if (rejected && is_newest && at_start) begin
                write_at <= rejected_start;
                start <= rejected_start;
            end
            if (freed) free_at <= freed_to;
            else if (live == 0 && at_start) free_at <= write_at;
        end
    end
endmodule
