// Has frames of the delay line read from the SDRAM into a buffer of 4 kB, ahead of their instants.
//
// A frame is taken from the delay line as soon as fewer than four wait here. Its words of 32 bits
// are asked for in jobs, while the buffer has room. The reader sees it when 16 of its words are in
// the buffer, or all that it has. Jobs bring words faster than the reader takes them, even between
// jobs that write (fpga/README.md has the figures). A word that is read too early is reported.
module frame_prefetcher #(
    // Bits of the address of a word of 16 bits.
    parameter int ADDRESS_W = 21
) (
    input  logic                            clk,
    input  logic                            rst,

    // The delay line's first frame; `rest` goes with it as it is.
    input  logic                            line_valid,
    input  logic [narrows_pkg::TIME_W-1:0]  line_leave_at,
    /* verilator lint_off UNUSEDSIGNAL */ // A frame has less than 2,048 bytes.
    input  logic [narrows_pkg::FRAME_W-1:0] line_bytes,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [ADDRESS_W-1:0]            line_start,
    input  logic [16:0]                     line_rest,
    output logic                            line_pop,

    // Jobs of words of 32 bits.
    output logic                            job_valid,
    input  logic                            job_ready,
    output logic [ADDRESS_W-2:0]            job_at,
    output logic [3:0]                      job_more,

    // The words that came since the start, and the words that are read.
    input  logic [10:0]                     filled,
    input  logic                            read,

    // The reader's next frame; its start is a place of 16 bits in the buffer.
    output logic                            frame_valid,
    output logic [narrows_pkg::TIME_W-1:0]  frame_leave_at,
    output logic [narrows_pkg::FRAME_W-1:0] frame_bytes,
    output logic [10:0]                     frame_start,
    output logic [16:0]                     frame_rest,
    input  logic                            pop,
    // The reader has read its last frame, which ended in the ring before `ring_end`.
    input  logic                            freed,
    output logic [ADDRESS_W-1:0]            ring_end,

    // A frame is on its way to the reader, which does not see it yet.
    output logic                            is_fetching,
    // High for one cycle: the reader read a word that had not come.
    output logic                            is_starved
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int FRAME_W = narrows_pkg::FRAME_W;
    localparam int FRAME_BITS = 11;
    localparam int ENTRY_W = TIME_W + FRAME_BITS + ADDRESS_W + 17;
    // The buffer, and the words of a frame with which it can start.
    localparam logic [10:0] BUFFER_WORDS = 11'd1024;
    localparam logic [9:0] ENOUGH = 10'd16;

    // From the delay line: a frame, then its jobs.
    localparam logic [1:0] IDLE = 2'd0, MEASURE = 2'd1, ASK = 2'd2;
    logic [1:0]            state;
    logic [ADDRESS_W-2:0]  at;
    logic                  is_second, waits_full, has_buffer;
    logic [FRAME_BITS-1:0] bytes;
    logic [9:0]            words_left;
    logic [4:0]            chunk, to_line;
    // Words that were asked for since the start, and those whose place is free again.
    logic [10:0]           asked, given_back, in_use;

    // The words of 32 bits that it touches, times four.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [11:0]           span, waiting_span;
    /* verilator lint_on UNUSEDSIGNAL */
    assign span = {1'b0, bytes} + (is_second ? 12'd5 : 12'd3);

    assign line_pop = state == IDLE && line_valid && !waits_full;
    assign to_line = 5'd16 - {1'b0, at[3:0]};
    assign chunk = words_left < 10'(to_line) ? words_left[4:0] : to_line;
    assign in_use = asked - given_back;
    assign job_valid = state == ASK && has_buffer;
    assign job_at = at;
    assign job_more = 4'(chunk - 5'd1);

    always_ff @(posedge clk) begin
        has_buffer <= in_use + 11'd32 < BUFFER_WORDS;
        case (state)
            IDLE: begin
                at <= line_start[ADDRESS_W-1:1];
                is_second <= line_start[0];
                bytes <= line_bytes[FRAME_BITS-1:0];
                if (line_pop) state <= MEASURE;
            end
            MEASURE: begin
                words_left <= span[11:2];
                state <= ASK;
            end
            default:
                if (job_valid && job_ready) begin
                    at <= at + (ADDRESS_W - 1)'(chunk);
                    words_left <= words_left - 10'(chunk);
                    asked <= asked + 11'(chunk);
                    if (words_left == 10'(chunk)) state <= IDLE;
                end
        endcase
        if (rst) begin
            state <= IDLE;
            asked <= '0;
        end
    end

    // Frames that are asked for, in their order.
    logic                  waits, is_released;
    logic [ADDRESS_W-1:0]  start;
    logic [FRAME_BITS-1:0] waiting_bytes;
    logic [1:0]            waiting;

    /* verilator lint_off PINCONNECTEMPTY */
    short_fifo #(.WIDTH(ENTRY_W), .DEPTH_LOG2(2)) frames (
        .clk, .rst, .push(line_pop), .full(waits_full),
        .push_data({line_leave_at, line_bytes[FRAME_BITS-1:0], line_start, line_rest}),
        .pop, .valid(waits), .data({frame_leave_at, waiting_bytes, start, frame_rest}),
        .count()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    // The first one of them: what it takes in the buffer, and whether it can start.
    logic [10:0]           base, there;
    logic [9:0]            words, least;
    logic [ADDRESS_W-1:0]  ends;
    logic [FRAME_BITS-1:0] halves;
    assign frame_valid = waits && is_released;
    assign frame_bytes = FRAME_W'(waiting_bytes);
    assign frame_start = {base[9:0], start[0]};
    assign is_fetching = !frame_valid && (waits || line_valid);
    assign waiting_span = {1'b0, waiting_bytes} + (start[0] ? 12'd5 : 12'd3);
    assign halves = (waiting_bytes + 11'd1) >> 1;
    assign least = words < ENOUGH ? words : ENOUGH;

    // Of the frame that the reader has.
    logic [9:0]            read_words;
    logic [FRAME_BITS-1:0] halves_left;
    logic [11:0]           place;
    logic [10:0]           ahead;
    assign ahead = filled - place[11:1];

    always_ff @(posedge clk) begin
        words <= waiting_span[11:2];
        ends <= start + ADDRESS_W'(halves);
        there <= filled - base;
        // A cycle after the first one of them changed, all of it is known.
        waiting <= {waiting[0], waits};
        is_released <= waiting[1] && there >= {1'b0, least};
        if (pop) begin
            base <= base + {1'b0, words};
            read_words <= words;
            ring_end <= ends;
            halves_left <= halves;
            place <= {base, start[0]};
            waiting <= '0;
            is_released <= 1'b0;
        end else if (read && halves_left != 0) begin
            halves_left <= halves_left - 1;
            place <= place + 1;
        end
        is_starved <= read && halves_left != 0 && (ahead == 0 || ahead[10]) && !rst;
        if (freed) given_back <= given_back + {1'b0, read_words};
        if (rst) begin
            base <= '0;
            given_back <= '0;
            waiting <= '0;
            is_released <= 1'b0;
            halves_left <= '0;
        end
    end
endmodule
