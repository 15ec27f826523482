// Takes frames from the clock of a PHY to the clock of the core, or from that one to the line's.
//
// A FIFO with Gray-coded pointers (Cummings, SNUG 2002). A pointer crosses through two registers,
// so a word comes out three to four cycles after it went in. If there is no room for a word, the
// rest of its frame is left out, and its last word comes with an error.
module clock_crossing #(
    parameter int WIDTH = 8,
    parameter int DEPTH_LOG2 = 5
) (
    input  logic             in_clk,
    input  logic             in_rst,
    input  logic             in_valid,
    input  logic [WIDTH-1:0] in_data,
    input  logic             in_last,
    input  logic             in_error,

    input  logic             out_clk,
    input  logic             out_rst,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data,
    output logic             out_last,
    output logic             out_error
);
    localparam int POINTER_W = DEPTH_LOG2 + 1;
    localparam int ENTRY_W = WIDTH + 2;

    logic [ENTRY_W-1:0] entries [0:(1 << DEPTH_LOG2)-1];

    // In. A pointer has one bit more than an address: full and empty differ in it.
    logic [POINTER_W-1:0] write_at, write_gray, next_gray, after_next, full_gray;
    logic [POINTER_W-1:0] read_gray_near, read_gray_seen;
    logic                 is_broken, owes_end, writes, full, ends;
    logic [ENTRY_W-1:0]   entry;

    assign after_next = write_at + 2;
    assign full_gray = {~read_gray_seen[POINTER_W-1 -: 2], read_gray_seen[POINTER_W-3:0]};
    assign ends = owes_end || (in_valid && in_last);
    // A broken frame's words are left out, but for an end with an error.
    assign writes = !full && (is_broken ? ends : in_valid);
    assign entry = {is_broken || in_error, is_broken || in_last, in_data};

    always_ff @(posedge in_clk) begin
        read_gray_near <= read_gray;
        read_gray_seen <= read_gray_near;
        // A cycle late, so it counts an entry that this cycle may write.
        full <= write_gray == full_gray || next_gray == full_gray;
        if (writes) entries[write_at[DEPTH_LOG2-1:0]] <= entry;
        if (in_rst) begin
            write_at <= '0;
            write_gray <= '0;
            next_gray <= POINTER_W'(1);
            is_broken <= 1'b0;
            owes_end <= 1'b0;
        end else begin
            if (writes) begin
                write_at <= write_at + 1;
                write_gray <= next_gray;
                next_gray <= after_next ^ {1'b0, after_next[POINTER_W-1:1]};
            end
            // A frame that began while the end was owed is broken too.
            if (is_broken && writes) is_broken <= owes_end && in_valid && !in_last;
            else if (in_valid && full) is_broken <= 1'b1;
            // The end of a frame that found no room, even that of the next frame.
            owes_end <= ends && full && (is_broken || in_valid);
        end
    end

    // Out.
    logic [POINTER_W-1:0] read_at, read_gray, write_gray_near, write_gray_seen, next_read;
    logic                 takes;

    assign next_read = read_at + 1;
    // The next entry goes to a register: the output is not a memory's.
    assign takes = read_gray != write_gray_seen && (!out_valid || out_ready);

    always_ff @(posedge out_clk) begin
        write_gray_near <= write_gray;
        write_gray_seen <= write_gray_near;
        if (takes) {out_error, out_last, out_data} <= entries[read_at[DEPTH_LOG2-1:0]];
        if (out_rst) begin
            read_at <= '0;
            read_gray <= '0;
            out_valid <= 1'b0;
        end else begin
            if (takes) begin
                read_at <= next_read;
                read_gray <= next_read ^ {1'b0, next_read[POINTER_W-1:1]};
            end
            out_valid <= takes || (out_valid && !out_ready);
        end
    end
endmodule
