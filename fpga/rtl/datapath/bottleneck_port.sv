// One direction of a bottleneck: frames in, frames out, the decisions and a ledger between them.
//
// Frames are stored, the decisions give each its instant, and it leaves at that instant plus the
// propagation delay. The clock matters in two ways only. A frame's arrival is the time at which its
// last word comes. Its last word leaves in the first cycle at or after its instant, if the delay is
// long enough for the decisions to be finished, and the rate is not above the output's.
module bottleneck_port #(
    // The width of the streams: 8, 64, 128 or 512.
    parameter int DATA_WIDTH = 8,
    // The memory's bytes and the most frames in the queue, each as a power of two.
    parameter int MEMORY_LOG2 = 15,
    parameter int DEPTH_LOG2 = 9,
    // Cycles of `line_clk` that an SDRAM needs before its first command. It has the frames then,
    // and the streams have 16 bits; with 0, block RAM has them.
    parameter int SDRAM_REST_CYCLES = 0,
    // The clock's period.
    parameter int PERIOD_PS = 8000,
    parameter int MIN_BYTES = 60,
    parameter int MAX_BYTES = 1518,
    parameter int QUIET_PS = 1_200_000,
    // Bits of the highest rate, at least 30 (a gigabit).
    parameter int RATE_BITS = narrows_pkg::RATE_W,
    parameter int STEPS = 1,
    parameter int HAS_CODEL = 1
) (
    input  logic                           clk,
    input  logic                           rst,
    input  logic [narrows_pkg::TIME_W-1:0] now,
    // The time two cycles later.
    input  logic [narrows_pkg::TIME_W-1:0] ahead,

    // Frames without check sequence. With the last word: whether the frame is wrong, and whether
    // somebody else takes it.
    input  logic                           in_valid,
    output logic                           in_ready,
    input  logic [DATA_WIDTH-1:0]          in_data,
    input  logic [DATA_WIDTH/8-1:0]        in_keep,
    input  logic                           in_last,
    input  logic                           in_error,
    input  logic                           in_taken,

    output logic                           out_valid,
    input  logic                           out_ready,
    output logic [DATA_WIDTH-1:0]          out_data,
    output logic [DATA_WIDTH/8-1:0]        out_keep,
    output logic                           out_last,

    input  logic                           settings_valid,
    output logic                           settings_ready,
    input  logic [narrows_pkg::TIME_W-1:0] settings_at,
    input  narrows_settings_t              settings,

    output logic                           row_valid,
    input  logic                           row_ready,
    output narrows_row_t                   row,

    // Counts of the ledger (row_tally.sv has the addresses).
    input  logic                           count_read,
    input  logic [6:0]                     count_address,
    output logic                           count_done,
    output logic [47:0]                    count,

    // No frame leaves within QUIET_PS, as far as those show that have been decided.
    output logic                           is_quiet,
    // Each is high for one cycle: a discarded frame, a row that was lost, a frame that left and how
    // late.
    output logic                           is_errored,
    output logic                           is_runt,
    output logic                           is_giant,
    output logic                           row_lost,
    output logic                           left,
    output logic [narrows_pkg::TIME_W-1:0] left_late_by,

    // The SDRAM. `is_starved` is high for one cycle: a word was sent that had not come from it.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic                           line_clk,
    input  logic [31:0]                    sdram_data,
    /* verilator lint_on UNUSEDSIGNAL */
    output narrows_sdram_t                 sdram,
    output logic                           is_starved
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int FRAME_W = narrows_pkg::FRAME_W;
    localparam int LANES = DATA_WIDTH / 8;
    localparam int ADDRESS_W = MEMORY_LOG2 - $clog2(LANES);
    localparam int TAG_W = 16 + ADDRESS_W;
    localparam int OFFERS_LOG2 = 2;
    // A frame has 24 bytes more on the wire.
    localparam int LENGTH_BITS = $clog2(MAX_BYTES + 25);
    localparam int OFFER_W = TIME_W + FRAME_W + 2 + TAG_W;
    localparam bit HAS_SDRAM = SDRAM_REST_CYCLES != 0;
    // The reader's address: the ring's, or that of the SDRAM's buffer.
    localparam int READ_W = HAS_SDRAM ? 11 : ADDRESS_W;

    // The memory: frames in the queue, in the delay line, and a few that are offered.
    logic                  at_start, advance, commit, discard, has_room, rejected, freed, read;
    logic                  can_write;
    logic [OFFERS_LOG2:0]  offers;
    logic                  discarded;
    logic [ADDRESS_W-1:0]  start, write_at, freed_to;
    logic [READ_W-1:0]     read_at;
    /* verilator lint_off UNUSEDSIGNAL */
    logic [READ_W-1:0]     read_to;
    /* verilator lint_on UNUSEDSIGNAL */
    logic [DATA_WIDTH-1:0] read_data;
    // A frame's tag is its place in the memory, and its checksum if it gets a mark.
    logic [TAG_W-1:0]      arrival_tag;

    memory_ring #(.ADDRESS_W(ADDRESS_W), .FRAMES_LOG2(DEPTH_LOG2 + 2)) ring (
        .clk, .rst, .at_start, .advance, .commit, .discard, .has_room, .start, .write_at,
        .rejected, .is_newest(offers == 1), .rejected_start(arrival_tag[ADDRESS_W-1:0]),
        .dropped(discarded), .freed, .freed_to
    );

    // In.
    logic [TIME_W-1:0]    promise, offer_at;
    logic                 offer_is_stored, offer_ecn_capable, offers_full;
    logic [FRAME_W-1:0]   offer_bytes;
    logic [15:0]          offer_marked_checksum;

    /* verilator lint_off PINCONNECTEMPTY */
    frame_writer #(
        .LANES(LANES), .MIN_BYTES(MIN_BYTES), .MAX_BYTES(MAX_BYTES)
    ) writer (
        .clk, .rst, .now, .in_valid, .in_ready, .in_data, .in_keep, .in_last, .in_error, .in_taken,
        .at_start, .advance, .commit, .discard, .has_room(has_room && can_write), .promise,
        .offer_valid(), .offer_ready(!offers_full), .offer_at, .offer_bytes, .offer_is_stored,
        .offer_ecn_capable, .offer_marked_checksum, .is_errored, .is_runt, .is_giant
    );
    /* verilator lint_on PINCONNECTEMPTY */

    logic               arrival_valid, arrival_ready, arrival_ecn_capable, arrival_is_stored;
    logic               admitted;
    logic [TIME_W-1:0]  arrival_at;
    logic [FRAME_W-1:0] arrival_bytes;

    short_fifo #(.WIDTH(OFFER_W), .DEPTH_LOG2(OFFERS_LOG2)) arrivals (
        .clk, .rst, .push(commit), .full(offers_full),
        .push_data({offer_at, offer_bytes, offer_ecn_capable, offer_is_stored,
                    offer_marked_checksum, start}),
        .pop(arrival_ready), .valid(arrival_valid),
        .data({arrival_at, arrival_bytes, arrival_ecn_capable, arrival_is_stored, arrival_tag}),
        .count(offers)
    );
    assign rejected = arrival_ready && !admitted;

    // The decisions. Every frame that is dequeued is sent as it is.
    logic               dequeued_marked, dequeued_ready, sent, decided_valid, decided_ready;
    logic [FRAME_W-1:0] dequeued_bytes;
    logic [TAG_W-1:0]   dequeued_tag;
    logic [TIME_W-1:0]  sent_end;
    /* verilator lint_off UNUSEDSIGNAL */ // The rest is the decisions' own.
    narrows_settings_t  active;
    /* verilator lint_on UNUSEDSIGNAL */
    narrows_row_t       decided_row;

    /* verilator lint_off PINCONNECTEMPTY */
    port_decisions #(
        .DEPTH_LOG2(DEPTH_LOG2), .TAG_W(TAG_W), .RATE_BITS(RATE_BITS), .LENGTH_BITS(LENGTH_BITS),
        .STEPS(STEPS), .HAS_CODEL(HAS_CODEL)
    ) decisions (
        .clk, .rst, .horizon(promise),
        .arrival_valid, .arrival_ready, .arrival_at, .arrival_frame_bytes(arrival_bytes),
        .arrival_ecn_capable, .arrival_is_stored, .arrival_tag, .admitted,
        .settings_valid, .settings_ready, .settings_at, .settings, .active,
        .dequeued_valid(), .dequeued_ready, .dequeued_at(), .dequeued_number(),
        .dequeued_frame_bytes(dequeued_bytes), .dequeued_tag, .dequeued_marked,
        .egress_fate(narrows_pkg::FATE_SENT), .egress_frame_bytes(dequeued_bytes),
        .sent, .sent_start(), .sent_end, .sent_counted(),
        .row_valid(decided_valid), .row_ready(decided_ready), .row(decided_row),
        .discarded,
        .waiting(), .due_valid(), .due_at()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    row_tally #(
        .LENGTH_BITS(LENGTH_BITS), .PACKETS_BITS(DEPTH_LOG2 + 1),
        .BYTES_BITS(DEPTH_LOG2 + LENGTH_BITS + 1)
    ) tally (
        .clk, .rst, .in_valid(decided_valid), .in_ready(decided_ready), .in_row(decided_row),
        .out_valid(row_valid), .out_ready(row_ready), .out_row(row), .lost(row_lost),
        .read(count_read), .address(count_address), .done(count_done), .count
    );

    // Out.
    logic               leaving_valid, leaving_is_marked, pop;
    logic [TIME_W-1:0]  leave_at;
    logic [FRAME_W-1:0] leaving_bytes, last_byte, words_after;
    logic [TAG_W-1:0]   leaving_tag;

    always_ff @(posedge clk) last_byte <= dequeued_bytes - 1;
    assign words_after = last_byte >> $clog2(LANES);
    delay_line #(
        .ENTRY_W(1 + FRAME_W + TAG_W), .PERIOD_PS(PERIOD_PS), .DEPTH_LOG2(DEPTH_LOG2)
    ) line (
        .clk, .rst, .sent, .sent_end, .delay(active.delay), .words_after,
        .entry({dequeued_marked, dequeued_bytes, dequeued_tag}), .has_room(dequeued_ready),
        .valid(leaving_valid), .leave_at,
        .leaving({leaving_is_marked, leaving_bytes, leaving_tag}), .pop
    );

    // What the reader gets: the delay line's frames, or those that came from the SDRAM.
    logic               frame_valid, frame_is_marked, frame_pop, is_fetching, reader_is_quiet;
    logic [TIME_W-1:0]  frame_leave_at;
    logic [FRAME_W-1:0] frame_bytes;
    logic [READ_W-1:0]  frame_start;
    logic [15:0]        frame_checksum;

    if (HAS_SDRAM) begin : deep
        deep_memory #(.ADDRESS_W(ADDRESS_W), .REST_CYCLES(SDRAM_REST_CYCLES)) memory (
            .clk, .rst, .write(advance), .write_at, .write_data(in_data), .commit, .can_write,
            .line_valid(leaving_valid), .line_leave_at(leave_at), .line_bytes(leaving_bytes),
            .line_start(leaving_tag[ADDRESS_W-1:0]),
            .line_rest({leaving_is_marked, leaving_tag[TAG_W-1:ADDRESS_W]}), .line_pop(pop),
            .frame_valid, .frame_leave_at, .frame_bytes, .frame_start,
            .frame_rest({frame_is_marked, frame_checksum}), .pop(frame_pop), .freed,
            .ring_end(freed_to), .is_fetching, .is_starved, .read, .read_at, .read_data,
            .line_clk, .sdram, .sdram_data
        );
    end else begin : flat
        frame_memory #(.WIDTH(DATA_WIDTH), .ADDRESS_W(ADDRESS_W)) memory (
            .clk, .write(advance), .write_at, .write_data(in_data), .read, .read_at,
            .read_data
        );
        assign frame_valid = leaving_valid;
        assign frame_leave_at = leave_at;
        assign frame_bytes = leaving_bytes;
        assign {frame_checksum, frame_start} = leaving_tag;
        assign frame_is_marked = leaving_is_marked;
        assign pop = frame_pop;
        assign freed_to = read_to;
        assign can_write = 1'b1;
        assign is_fetching = 1'b0;
        assign is_starved = 1'b0;
        assign sdram = '0;
    end

    frame_reader #(.LANES(LANES), .ADDRESS_W(READ_W), .QUIET_PS(QUIET_PS)) reader (
        .clk, .rst, .now, .ahead, .frame_valid, .frame_leave_at, .frame_start, .frame_bytes,
        .frame_is_marked, .frame_marked_checksum(frame_checksum), .pop(frame_pop),
        .read, .read_at, .read_data, .freed, .freed_to(read_to),
        .out_valid, .out_ready, .out_data, .out_keep, .out_last, .is_quiet(reader_is_quiet),
        .left, .left_late_by
    );
    assign is_quiet = reader_is_quiet && !is_fetching;
endmodule
