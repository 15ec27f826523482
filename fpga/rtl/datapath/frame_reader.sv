// Sends each frame of the delay line, its first word in the first cycle at or after its instant.
//
// The frame's first two words are read from the memory before. A mark is written into the frame as
// it leaves: the ECN field and the header's checksum.
module frame_reader #(
    parameter int LANES = 1,
    parameter int ADDRESS_W = 15,
    // How far `is_quiet` looks ahead.
    parameter int QUIET_PS = 1_200_000
) (
    input  logic                            clk,
    input  logic                            rst,
    input  logic [narrows_pkg::TIME_W-1:0]  now,
    // The time two cycles later.
    input  logic [narrows_pkg::TIME_W-1:0]  ahead,

    input  logic                            frame_valid,
    input  logic [narrows_pkg::TIME_W-1:0]  frame_leave_at,
    input  logic [ADDRESS_W-1:0]            frame_start,
    input  logic [narrows_pkg::FRAME_W-1:0] frame_bytes,
    input  logic                            frame_is_marked,
    input  logic [15:0]                     frame_marked_checksum,
    output logic                            pop,

    output logic                            read,
    output logic [ADDRESS_W-1:0]            read_at,
    // The word before the last two reads.
    input  logic [8*LANES-1:0]              read_data,
    output logic                            freed,
    output logic [ADDRESS_W-1:0]            freed_to,

    output logic                            out_valid,
    input  logic                            out_ready,
    output logic [8*LANES-1:0]              out_data,
    output logic [LANES-1:0]                out_keep,
    output logic                            out_last,

    // No frame is leaving, nor will one that is here within QUIET_PS.
    output logic                            is_quiet,
    // High for one cycle per frame: how long after its instant its first word was offered.
    output logic                            left,
    output logic [narrows_pkg::TIME_W-1:0]  left_late_by
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int FRAME_W = narrows_pkg::FRAME_W;
    localparam int TOS = 15, CHECKSUM = 24;
    localparam logic [2:0] IDLE = 3'd0, FETCH = 3'd1, FETCH_NEXT = 3'd2, WAIT = 3'd3, SEND = 3'd4;

    logic [2:0]           state;
    logic [TIME_W-1:0]    leave_at, quiet_end;
    logic [FRAME_W-1:0]   bytes_left;
    logic [4:0]           index;
    logic                 is_due, is_far, is_marked, takes, is_last, is_first;
    logic [15:0]          checksum;
    logic [8*LANES-1:0]   word;

    assign pop = state == IDLE && frame_valid;
    assign takes = ((state == WAIT && is_due) || state == SEND) && (!out_valid || out_ready);
    assign read = takes || state == FETCH || state == FETCH_NEXT;

    always_comb begin
        word = read_data;
        if (is_marked && index == 5'(TOS / LANES)) word[TOS % LANES * 8 +: 2] = 2'b11;
        if (is_marked && index == 5'(CHECKSUM / LANES))
            word[CHECKSUM % LANES * 8 +: 8] = checksum[15:8];
        if (is_marked && index == 5'((CHECKSUM + 1) / LANES))
            word[(CHECKSUM + 1) % LANES * 8 +: 8] = checksum[7:0];
    end

    always_ff @(posedge clk) begin
        is_due <= ahead >= leave_at;
        quiet_end <= ahead + TIME_W'(QUIET_PS);
        is_far <= quiet_end < leave_at;
        is_quiet <= !out_valid && (state == IDLE ? !frame_valid : state == WAIT && is_far);
        is_first <= takes && state == WAIT && !rst;
        left <= is_first && !rst;
        left_late_by <= now - leave_at;
        if (pop) begin
            leave_at <= frame_leave_at;
            read_at <= frame_start;
            bytes_left <= frame_bytes;
            is_last <= frame_bytes < FRAME_W'(LANES + 1);
            is_marked <= frame_is_marked;
            checksum <= frame_marked_checksum;
            index <= '0;
        end
        if (read) read_at <= read_at + 1;
        freed <= takes && is_last && !rst;
        // The reads are two words ahead.
        freed_to <= read_at - 1;
        if (takes) begin
            bytes_left <= bytes_left - FRAME_W'(LANES);
            is_last <= bytes_left < FRAME_W'(2 * LANES + 1);
            if (index != '1) index <= index + 1;
            out_data <= word;
            out_last <= is_last;
        end
        if (rst) begin
            state <= IDLE;
            out_valid <= 1'b0;
        end else begin
            if (out_ready) out_valid <= 1'b0;
            if (takes) out_valid <= 1'b1;
            case (state)
                IDLE: if (frame_valid) state <= FETCH;
                FETCH: state <= FETCH_NEXT;
                FETCH_NEXT: state <= WAIT;
                default: if (takes) state <= is_last ? IDLE : SEND;
            endcase
        end
    end

    always_ff @(posedge clk)
        if (takes)
            for (int lane = 0; lane < LANES; lane++) out_keep[lane] <= FRAME_W'(lane) < bytes_left;
endmodule
