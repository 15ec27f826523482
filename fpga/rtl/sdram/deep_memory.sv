// The words of the frames in an SDRAM, in the place of `frame_memory` in block RAM.
//
// Writes go to the SDRAM in jobs of up to 16 words of 32 bits. So do the reads of a frame, as soon
// as the delay line has it. Jobs run in the order in which they were given, and a read is given
// only if no write waits. So a frame is in the SDRAM before it is read. The two clocks may be
// unrelated.
module deep_memory #(
    // Bits of the address of a word of 16 bits.
    parameter int ADDRESS_W = 21,
    // Cycles of `line_clk` before the first command to the SDRAM.
    parameter int REST_CYCLES = 25_000
) (
    input  logic                            clk,
    input  logic                            rst,

    // The ring. `can_write`: words are taken from the second cycle after on.
    input  logic                            write,
    input  logic [ADDRESS_W-1:0]            write_at,
    input  logic [15:0]                     write_data,
    input  logic                            commit,
    output logic                            can_write,

    // From the delay line to the reader (frame_prefetcher.sv).
    input  logic                            line_valid,
    input  logic [narrows_pkg::TIME_W-1:0]  line_leave_at,
    input  logic [narrows_pkg::FRAME_W-1:0] line_bytes,
    input  logic [ADDRESS_W-1:0]            line_start,
    input  logic [16:0]                     line_rest,
    output logic                            line_pop,
    output logic                            frame_valid,
    output logic [narrows_pkg::TIME_W-1:0]  frame_leave_at,
    output logic [narrows_pkg::FRAME_W-1:0] frame_bytes,
    output logic [10:0]                     frame_start,
    output logic [16:0]                     frame_rest,
    input  logic                            pop,
    input  logic                            freed,
    output logic [ADDRESS_W-1:0]            ring_end,
    output logic                            is_fetching,
    output logic                            is_starved,

    // A word of the buffer comes out with the second `read` from its own on.
    input  logic                            read,
    input  logic [10:0]                     read_at,
    output logic [15:0]                     read_data,

    input  logic                            line_clk,
    output narrows_sdram_t                  sdram,
    input  logic [31:0]                     sdram_data
);
    localparam int WORD_W = ADDRESS_W - 1;
    localparam int JOB_W = 1 + WORD_W + 4;
    localparam logic [2:0] MOST_JOBS = 3'd4;

    logic              line_rst, rst_near;
    always_ff @(posedge line_clk) begin
        rst_near <= rst;
        line_rst <= rst_near;
    end

    // Jobs that write, and jobs that read.
    logic              is_behind, is_writing, write_valid, write_ready, fetch_valid, fetch_ready;
    logic [WORD_W-1:0] write_word, fetch_word;
    logic [3:0]        write_more, fetch_more;
    logic [9:0]        window_at;
    logic [31:0]       window_data;
    logic [10:0]       filled;

    write_combiner #(.ADDRESS_W(ADDRESS_W)) combiner (
        .clk, .rst, .write, .write_at, .write_data, .commit, .is_behind, .is_busy(is_writing),
        .job_valid(write_valid), .job_ready(write_ready), .job_at(write_word),
        .job_more(write_more), .line_clk, .window_at, .window_data
    );
    frame_prefetcher #(.ADDRESS_W(ADDRESS_W)) prefetcher (
        .clk, .rst, .line_valid, .line_leave_at, .line_bytes, .line_start, .line_rest, .line_pop,
        .job_valid(fetch_valid), .job_ready(fetch_ready), .job_at(fetch_word),
        .job_more(fetch_more), .filled, .read, .frame_valid, .frame_leave_at, .frame_bytes,
        .frame_start, .frame_rest, .pop, .freed, .ring_end, .is_fetching, .is_starved
    );

    // To the SDRAM's clock. The crossing has room for all jobs that are not done.
    logic              job_valid, job_ready, job_is_write, job_done, gives, can_give;
    logic [WORD_W-1:0] job_at;
    logic [3:0]        job_more;
    logic [2:0]        given, done, not_done;

    assign not_done = given - done;
    assign gives = can_give && (write_valid || (fetch_valid && !is_writing));
    assign write_ready = can_give;
    assign fetch_ready = can_give && !is_writing;

    always_ff @(posedge clk) begin
        can_give <= not_done + 3'(gives) < MOST_JOBS;
        if (gives) given <= given + 1;
        if (rst) begin
            given <= '0;
            can_give <= 1'b0;
        end
    end

    /* verilator lint_off PINCONNECTEMPTY */
    clock_crossing #(.WIDTH(JOB_W), .DEPTH_LOG2(3)) crossing (
        .in_clk(clk), .in_rst(rst), .in_valid(gives),
        .in_data(write_valid ? {1'b1, write_word, write_more} : {1'b0, fetch_word, fetch_more}),
        .in_last(1'b1), .in_error(1'b0),
        .out_clk(line_clk), .out_rst(line_rst), .out_valid(job_valid), .out_ready(job_ready),
        .out_data({job_is_write, job_at, job_more}), .out_last(), .out_error()
    );
    count_crossing #(.WIDTH(3)) jobs_done (
        .in_clk(line_clk), .in_rst(line_rst), .in_step(job_done), .in_count(), .out_clk(clk),
        .out_count(done)
    );
    /* verilator lint_on PINCONNECTEMPTY */

    logic        is_ready, fetched_valid;
    logic [31:0] fetched;
    sdram_controller #(.WORD_W(WORD_W), .REST_CYCLES(REST_CYCLES)) controller (
        .clk(line_clk), .rst(line_rst), .is_ready, .job_valid, .job_ready, .job_is_write, .job_at,
        .job_more, .job_done, .write_at(window_at), .write_data(window_data),
        .read_valid(fetched_valid), .read_data(fetched), .sdram, .sdram_data
    );

    // The buffer: the first half of each word, and the second.
    (* no_rw_check *)
    logic [15:0] firsts [0:1023];
    (* no_rw_check *)
    logic [15:0] seconds [0:1023];
    logic [15:0] first, second;
    /* verilator lint_off UNUSEDSIGNAL */
    logic [10:0] fill_at;
    /* verilator lint_on UNUSEDSIGNAL */
    logic        is_second, arrived;
    logic [31:0] arrived_data;

    always_ff @(posedge line_clk) begin
        arrived <= fetched_valid && !line_rst;
        arrived_data <= fetched;
        if (arrived) begin
            firsts[fill_at[9:0]] <= arrived_data[15:0];
            seconds[fill_at[9:0]] <= arrived_data[31:16];
        end
    end
    always_ff @(posedge clk)
        if (read) begin
            first <= firsts[read_at[10:1]];
            second <= seconds[read_at[10:1]];
            is_second <= read_at[0];
            read_data <= is_second ? second : first;
        end
    count_crossing #(.WIDTH(11)) words_filled (
        .in_clk(line_clk), .in_rst(line_rst), .in_step(arrived), .in_count(fill_at),
        .out_clk(clk), .out_count(filled)
    );

    logic ready_near, ready_seen;
    always_ff @(posedge clk) begin
        ready_near <= is_ready;
        ready_seen <= ready_near;
        can_write <= ready_seen && !is_behind && !rst;
    end
endmodule
