// Makes jobs for the SDRAM of the words that a frame memory is given.
//
// The last words wait in a window of 4 kB. A job is made when the ring passes a multiple of 64
// bytes, and of a frame's last words when the frame is committed.
//
// The ring may go back to the start of a frame that is not kept. Then later jobs write the words
// from there on again. A word of the SDRAM has two of the ring's, so a job may also write the last
// word of the frame before again. The window still has that one: the ring goes back by two frames
// at most, 3,040 bytes, and jobs are at most 800 bytes behind.
module write_combiner #(
    // Bits of the address of a word of 16 bits.
    parameter int ADDRESS_W = 21
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 write,
    input  logic [ADDRESS_W-1:0] write_at,
    input  logic [15:0]          write_data,
    // The words before `write_at` are a frame that is offered to the queue.
    input  logic                 commit,
    // The jobs fall behind: no more words may be written.
    output logic                 is_behind,
    // Not all words of the frames that were committed are in jobs that were taken.
    output logic                 is_busy,

    // Jobs of words of 32 bits.
    output logic                 job_valid,
    input  logic                 job_ready,
    output logic [ADDRESS_W-2:0] job_at,
    output logic [3:0]           job_more,

    // The window's words of 32 bits: two cycles after the address.
    input  logic                 line_clk,
    input  logic [9:0]           window_at,
    output logic [31:0]          window_data
);
    // Words of 16 bits by which the jobs may fall behind.
    localparam int MOST_BEHIND = 256;

    logic [15:0] stored;
    logic [10:0] stored_at;
    logic        stores;

    always_ff @(posedge clk) begin
        stores <= write;
        stored_at <= write_at[10:0];
        stored <= write_data;
    end
    window_memory first_halves (
        .clk, .write(stores && !stored_at[0]), .write_at(stored_at[10:1]), .write_data(stored),
        .read_clk(line_clk), .read_at(window_at), .read_data(window_data[15:0])
    );
    window_memory second_halves (
        .clk, .write(stores && stored_at[0]), .write_at(stored_at[10:1]), .write_data(stored),
        .read_clk(line_clk), .read_at(window_at), .read_data(window_data[31:16])
    );

    // The first word of 32 bits that is in no job, and the end of the last frame.
    logic [ADDRESS_W-2:0] from;
    logic [ADDRESS_W-1:0] frames_end, behind, frames_behind, beyond;
    logic                 flushes, is_back, is_beyond, has_line, has_end, can_make;
    logic [4:0]           end_words;

    assign behind = write_at - {from, 1'b0};
    assign frames_behind = frames_end - {from, 1'b0};
    assign beyond = write_at - frames_end;
    // The ring went back: to before the first word, to before the end of the last frame.
    assign is_back = behind[ADDRESS_W-1];
    assign is_beyond = beyond[ADDRESS_W-1];
    // Up to the next multiple of 16 words, or less of them up to the end.
    assign has_line = behind >= {{(ADDRESS_W - 6){1'b0}}, 5'd16 - {1'b0, from[3:0]}, 1'b0};
    assign has_end = frames_behind != 0 && !frames_behind[ADDRESS_W-1];
    assign end_words = 5'((frames_behind[5:0] + 6'd1) >> 1);
    assign can_make = !job_valid || job_ready;
    assign is_busy = job_valid || flushes || (has_line && !is_back);

    always_ff @(posedge clk) begin
        is_behind <= !is_back && behind >= ADDRESS_W'(MOST_BEHIND);
        if (can_make) job_valid <= 1'b0;
        if (is_beyond) frames_end <= write_at;
        if (is_back) from <= write_at[ADDRESS_W-1:1];
        else if (!is_beyond && can_make) begin
            job_at <= from;
            if (has_line) begin
                job_valid <= 1'b1;
                job_more <= 4'd15 - from[3:0];
                from <= {from[ADDRESS_W-2:4] + 1'b1, 4'd0};
            end else if (flushes) begin
                job_valid <= has_end;
                job_more <= 4'(end_words - 5'd1);
                if (has_end) from <= frames_end[ADDRESS_W-1:1];
                flushes <= 1'b0;
            end
        end
        if (commit) begin
            frames_end <= write_at;
            flushes <= 1'b1;
        end
        if (rst) begin
            job_valid <= 1'b0;
            from <= '0;
            frames_end <= '0;
            flushes <= 1'b0;
        end
    end
endmodule
