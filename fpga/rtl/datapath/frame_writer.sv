// Stores frames as they come, and offers each whole one to the queue.
//
// A frame arrives with its last word. Frames with the error flag, runts and giants are discarded
// and counted. So are frames that somebody else takes (`in_taken`, with the last word), but not
// counted. A frame for which the memory has no room is offered without being stored, so that
// the queue counts it.
module frame_writer #(
    parameter int LANES = 1,
    parameter int MIN_BYTES = 60,
    parameter int MAX_BYTES = 1518
) (
    input  logic                            clk,
    input  logic                            rst,
    input  logic [narrows_pkg::TIME_W-1:0]  now,

    input  logic                            in_valid,
    output logic                            in_ready,
    input  logic [8*LANES-1:0]              in_data,
    // The bytes of the last word, from the first lane on.
    input  logic [LANES-1:0]                in_keep,
    input  logic                            in_last,
    input  logic                            in_error,
    input  logic                            in_taken,

    // The ring and the memory.
    output logic                            at_start,
    output logic                            advance,
    output logic                            commit,
    output logic                            discard,
    input  logic                            has_room,

    // An arrival has no earlier stamp than this from now on.
    output logic [narrows_pkg::TIME_W-1:0]  promise,
    output logic                            offer_valid,
    input  logic                            offer_ready,
    output logic [narrows_pkg::TIME_W-1:0]  offer_at,
    output logic [narrows_pkg::FRAME_W-1:0] offer_bytes,
    output logic                            offer_is_stored,
    output logic                            offer_ecn_capable,
    output logic [15:0]                     offer_marked_checksum,

    // High for one cycle for a discarded frame.
    output logic                            is_errored,
    output logic                            is_runt,
    output logic                            is_giant
);
    localparam int FRAME_W = narrows_pkg::FRAME_W;
    localparam logic [2:0]
        WRITE = 3'd0, COUNT = 3'd1, JUDGE = 3'd2, DECIDE = 3'd3, CLOSE = 3'd4, OFFER = 3'd5;
    logic [2:0]         state;
    logic               beat, has_error, is_taken, is_refused, has_overflow, is_within;
    logic               is_short, is_long;
    // No byte of a frame was stored or refused; whether the next word is stored if there is room.
    logic               is_empty, keeps;
    logic [5:0]         index;
    logic [LANES-1:0]   last_keep;
    logic [FRAME_W-1:0] last_bytes;

    assign in_ready = state == WRITE;
    assign beat = in_valid && in_ready;
    assign at_start = in_ready && !in_valid && is_empty;
    assign advance = beat && keeps && has_room;

    assign offer_valid = state == OFFER;
    assign offer_is_stored = !has_overflow;
    assign commit = offer_valid && offer_ready;
    // The time of the last word: `promise` stands still from then on.
    assign offer_at = promise;

    ecn_header #(.LANES(LANES)) header (
        .clk, .beat, .index, .data(in_data),
        .is_capable(offer_ecn_capable), .marked_checksum(offer_marked_checksum)
    );

    always_comb begin
        last_bytes = '0;
        for (int lane = 0; lane < LANES; lane++) last_bytes += FRAME_W'(last_keep[lane]);
    end

    // What becomes of a frame is in registers before it is done.
    always_ff @(posedge clk) begin
        is_errored <= state == DECIDE && has_error && !rst;
        is_runt <= state == DECIDE && !has_error && is_short && !rst;
        is_giant <= state == DECIDE && !has_error && is_long && !rst;
        is_refused <= state == DECIDE && (has_error || is_short || is_long || is_taken) && !rst;
        discard <= state == DECIDE && (has_error || is_short || is_long || is_taken || has_overflow)
            && !rst;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= WRITE;
            index <= '0;
            offer_bytes <= '0;
            is_within <= 1'b1;
            has_overflow <= 1'b0;
            is_empty <= 1'b1;
            keeps <= 1'b1;
            promise <= '0;
        end else begin
            if (in_ready) promise <= now;
            case (state)
                WRITE:
                    if (beat) begin
                        if (index != '1) index <= index + 1;
                        is_empty <= 1'b0;
                        if (is_within && !has_room) begin
                            has_overflow <= 1'b1;
                            keeps <= 1'b0;
                        end
                        // A giant's bytes are counted up to the first word that is too many.
                        if (!in_last && is_within) begin
                            offer_bytes <= offer_bytes + FRAME_W'(LANES);
                            is_within <= offer_bytes < FRAME_W'(MAX_BYTES - LANES + 1);
                            if (offer_bytes >= FRAME_W'(MAX_BYTES - LANES + 1)) keeps <= 1'b0;
                        end
                        if (in_last) state <= COUNT;
                        last_keep <= in_keep;
                        has_error <= in_error;
                        is_taken <= in_taken;
                    end
                COUNT: begin
                    offer_bytes <= offer_bytes + last_bytes;
                    state <= JUDGE;
                end
                JUDGE: begin
                    is_short <= offer_bytes < FRAME_W'(MIN_BYTES);
                    is_long <= offer_bytes >= FRAME_W'(MAX_BYTES + 1);
                    state <= DECIDE;
                end
                DECIDE: state <= CLOSE;
                CLOSE: state <= is_refused ? WRITE : OFFER;
                default: if (offer_ready) state <= WRITE;
            endcase
            if (is_refused || commit) begin
                index <= '0;
                offer_bytes <= '0;
                is_within <= 1'b1;
                has_overflow <= 1'b0;
                is_empty <= 1'b1;
                keeps <= 1'b1;
            end
        end
    end
endmodule
