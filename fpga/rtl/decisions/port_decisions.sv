// Decides what happens to every packet of a port: DropTail or CoDel, marks, loss, departures.
//
// It does to packets what the software's traffic manager does (queueing/src/traffic_manager). It
// sees lengths and time stamps, never bytes. Decisions depend on time stamps only, so the clock's
// frequency and idle cycles change nothing. Events happen in this order:
//   1. a departure that is due by then, 2. new settings, 3. an arrival.
// `horizon` promises that no later arrival has an earlier stamp; departures up to it may happen.
//
// A departure goes through the egress handshake: `dequeued_valid` until `dequeued_ready`, with what
// egress made of the packet (its fate and length). A board ties these to "sent, as it is".
module port_decisions #(
    // The most packets in the queue, as a power of two.
    parameter int DEPTH_LOG2 = 10,
    // Bits of a caller's tag that travels with a packet, such as its place in a buffer.
    parameter int TAG_W = 1,
    // Bits of the highest rate, and of the longest packet as it counts.
    parameter int RATE_BITS = narrows_pkg::RATE_W,
    parameter int LENGTH_BITS = narrows_pkg::COUNTED_W,
    // Steps of the multiplier in a cycle, and of CoDel's law; whether CoDel is there.
    parameter int STEPS = 1,
    parameter int LAW_STEPS = 1,
    parameter int HAS_CODEL = 1
) (
    input  logic                              clk,
    input  logic                              rst,

    input  logic [narrows_pkg::TIME_W-1:0]    horizon,

    input  logic                              arrival_valid,
    output logic                              arrival_ready,
    input  logic [narrows_pkg::TIME_W-1:0]    arrival_at,
    input  logic [narrows_pkg::FRAME_W-1:0]   arrival_frame_bytes,
    input  logic                              arrival_ecn_capable,
    // Whether there is room for its bytes; a queue drops a packet without.
    input  logic                              arrival_is_stored,
    input  logic [TAG_W-1:0]                  arrival_tag,
    // With `arrival_ready`: whether the packet is in the queue.
    output logic                              admitted,

    input  logic                              settings_valid,
    output logic                              settings_ready,
    input  logic [narrows_pkg::TIME_W-1:0]    settings_at,
    input  narrows_settings_t                  settings,
    // The settings in force.
    output narrows_settings_t           active,

    output logic                              dequeued_valid,
    input  logic                              dequeued_ready,
    output logic [narrows_pkg::TIME_W-1:0]    dequeued_at,
    output logic [narrows_pkg::NUMBER_W-1:0]  dequeued_number,
    output logic [narrows_pkg::FRAME_W-1:0]   dequeued_frame_bytes,
    output logic [TAG_W-1:0]                  dequeued_tag,
    output logic                              dequeued_marked,
    input  logic [1:0]                        egress_fate,
    input  logic [narrows_pkg::FRAME_W-1:0]   egress_frame_bytes,

    // High for one cycle: the transmission of the last dequeued packet has these times.
    output logic                              sent,
    output logic [narrows_pkg::TIME_W-1:0]    sent_start,
    output logic [narrows_pkg::TIME_W-1:0]    sent_end,
    output logic [narrows_pkg::COUNTED_W-1:0] sent_counted,

    output logic                              row_valid,
    input  logic                              row_ready,
    output narrows_row_t                row,

    // High for one cycle: CoDel dropped the packet at the head of the queue.
    output logic                              discarded,

    // No event is in progress; `due_at` is the next departure if `due_valid`.
    output logic                              waiting,
    output logic                              due_valid,
    output logic [narrows_pkg::TIME_W-1:0]    due_at
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int FRAME_W = narrows_pkg::FRAME_W;
    localparam int COUNTED_W = narrows_pkg::COUNTED_W;
    localparam int NUMBER_W = narrows_pkg::NUMBER_W;
    localparam int PACKETS_W = narrows_pkg::PACKETS_W;
    localparam int BYTES_W = narrows_pkg::BYTES_W;
    // The bits of a full queue and one packet more.
    localparam int SUM_BITS = DEPTH_LOG2 + LENGTH_BITS + 1;
    localparam int DESCRIPTOR_W = TIME_W + FRAME_W + LENGTH_BITS + NUMBER_W + TAG_W + 2;

    // No cycle has more than one carry chain of 64 bits, so a comparison and what follows from it
    // are two states.
    localparam logic [4:0]
        PEEK = 5'd0, SAMPLE = 5'd1, COMPARE = 5'd2, CHOOSE = 5'd3,
        ARRIVE = 5'd4, WEIGH = 5'd5, JUDGE = 5'd6, ADMIT = 5'd7, MARK = 5'd8,
        DEPART = 5'd9, CHECK = 5'd10, MARK_LATE = 5'd11, DEQUEUE = 5'd12, EGRESS = 5'd13,
        SEND = 5'd14, SENDING = 5'd15, DROP_LATE = 5'd16,
        SET_UP = 5'd17, SETTING_UP = 5'd18, VERDICT = 5'd19, SETTLE = 5'd20,
        CODEL = 5'd21, MARK_HEAD = 5'd22, REFILL = 5'd23;
    logic [4:0] state;

    // What follows from the active settings (`rate_setup`).
    logic [narrows_pkg::BYTE_PS_W-1:0] byte_ps;
    logic [RATE_BITS-1:0]              byte_part;
    logic [TIME_W-1:0]                 limit_time_bytes;

    // The queue.
    logic                    fifo_push, fifo_pop, head_valid, settled, fifo_full;
    logic [DESCRIPTOR_W-1:0] push_data, head;
    logic [DEPTH_LOG2:0]     count;
    logic [BYTES_W-1:0]      bytes;
    logic [PACKETS_W-1:0]    packets;
    logic [TIME_W-1:0]       head_at;
    logic [FRAME_W-1:0]      head_frame_bytes;
    logic [LENGTH_BITS-1:0]  head_counted;
    logic [NUMBER_W-1:0]     head_number;
    logic [TAG_W-1:0]        head_tag;
    logic                    head_ecn, head_marked;

    descriptor_fifo #(.WIDTH(DESCRIPTOR_W), .DEPTH_LOG2(DEPTH_LOG2)) queue (
        .clk, .rst, .push(fifo_push), .push_data, .pop(fifo_pop),
        .head_valid, .head, .settled, .full(fifo_full), .count
    );
    assign {head_at, head_frame_bytes, head_counted, head_number, head_tag, head_ecn, head_marked}
        = head;
    assign packets = {{(PACKETS_W - DEPTH_LOG2 - 1){1'b0}}, count};

    // Transmission.
    logic                 send, sends, line_sent;
    logic [TIME_W-1:0]    free_at;
    logic [RATE_BITS-1:0] carry, new_carry;
    logic [FRAME_W-1:0]   basis_frame;
    logic [COUNTED_W-1:0] basis_counted;
    logic                 time_start, time_done, is_setup, setup_start, setup_ready;
    logic [TIME_W-1:0]    setup_n, whole;
    logic [6:0]           setup_bits;
    logic [RATE_BITS:0]   setup_part_in, setup_unit, part;

    serializer #(.RATE_BITS(RATE_BITS)) line (
        .clk, .rst, .send, .at(dequeued_at), .set_carry(settings_ready), .new_carry,
        .start(time_start), .done(time_done), .duration(whole), .rest(part[RATE_BITS-1:0]),
        .sent(line_sent), .start_at(sent_start), .free_at, .carry
    );
    shared_multiplier #(
        .STEPS(STEPS), .RATE_BITS(RATE_BITS), .LENGTH_BITS(LENGTH_BITS)
    ) multiplier (
        .clk, .rst, .time_start, .counted(sent_counted[LENGTH_BITS-1:0]), .byte_ps, .byte_part,
        .rate(active.rate[RATE_BITS-1:0]), .carry, .time_done, .is_setup, .setup_start,
        .n(setup_n), .setup_bits, .part_in(setup_part_in), .unit(setup_unit),
        .setup_done(setup_ready), .whole, .part
    );
    assign sent_end = free_at;
    assign sent = state == SENDING && line_sent;

    always_ff @(posedge clk)
        basis_frame <= state == EGRESS ? egress_frame_bytes : arrival_frame_bytes;
    length_basis #(.BITS(LENGTH_BITS)) basis_of (
        .clk, .basis(active.basis), .frame_bytes(basis_frame), .counted(basis_counted)
    );

    // The event of this round, from a sample of the inputs.
    logic              has_arrival, has_due, has_settings;
    logic [TIME_W-1:0] bound, next_due;
    logic              settings_due, due_by_bound, due_by_settings, head_is_later;

    assign due_at = free_at > head_at ? free_at : head_at;
    assign due_valid = head_valid;
    assign waiting = state == PEEK && settled && !(row_valid && !row_ready);
    // The arrival in progress.
    logic [COUNTED_W-1:0] counted;
    logic [BYTES_W-1:0]   bytes_after;
    logic [PACKETS_W-1:0] packets_after;
    logic [NUMBER_W-1:0]  number;
    logic                 is_idle, is_lost, lost, fits, admits, marks_arrival, marks_departure;
    logic                 arrival_marked;
    logic [narrows_pkg::REASON_W-1:0] arrival_reason, drop_reason;
    logic [TIME_W-1:0]    sojourn;
    logic                 can_write;
    // CoDel's verdict on the packet at the head.
    logic                 judged, codel_drops, codel_marks, codel_busy, discards;

    queue_limit #(.BYTES_BITS(SUM_BITS)) room (
        .clk, .is_idle, .kind(active.limit_kind), .limit(active.limit), .limit_time_bytes, .packets,
        .bytes_after, .admits(fits)
    );
    ecn_threshold ecn (
        .clk, .enable(active.ecn_enable), .packets_threshold(active.ecn_packets),
        .bytes_threshold(active.ecn_bytes), .time_threshold(active.ecn_time),
        .packets_after, .bytes_after, .sojourn, .marks_arrival, .arrival_reason, .marks_departure
    );
    random_loss loss (
        .clk, .rst, .set_state(settings_ready && settings.loss_set_state),
        .new_state(settings.loss_state), .threshold(active.loss_threshold),
        .draw(state == ARRIVE), .lost
    );

    codel #(.STEPS(LAW_STEPS)) controlled_delay (
        .clk, .rst, .enable(active.codel_enable && HAS_CODEL != 0),
        .marks_capable(active.codel_marks), .target_ps(active.codel_target),
        .interval_ps(active.codel_interval), .mtu(active.codel_mtu), .judge(state == CODEL),
        .now(dequeued_at), .sojourn, .behind(bytes_after), .is_capable(head_ecn), .judged,
        .drops(codel_drops), .marks(codel_marks), .busy(codel_busy)
    );
    // A row is written only after the one before it was taken.
    assign can_write = !row_valid;
    assign drop_reason = is_lost ? narrows_pkg::DROP_RANDOM
        : fits ? narrows_pkg::DROP_MEMORY_FULL : narrows_pkg::DROP_QUEUE_FULL;
    assign admits = fits && !is_lost && !fifo_full && arrival_is_stored;
    assign arrival_ready = state == ADMIT && can_write;
    assign fifo_push = arrival_ready && admitted;
    assign push_data = {arrival_at, arrival_frame_bytes, counted[LENGTH_BITS-1:0], number,
                        arrival_tag, arrival_ecn_capable, arrival_marked};
    assign fifo_pop = state == DEQUEUE && can_write;
    assign dequeued_valid = state == EGRESS;
    assign discarded = fifo_pop && discards;
    assign send = state == SEND;
    always_ff @(posedge clk) sends <= send;

    // New settings.
    logic setup_done;
    rate_setup #(.STEPS(STEPS), .RATE_BITS(RATE_BITS)) setup (
        .clk, .rst, .start(state == SET_UP), .rate(settings.rate[RATE_BITS-1:0]),
        .old_rate(active.rate[RATE_BITS-1:0]),
        .old_carry(carry), .limit_ps(settings.limit), .done(setup_done), .byte_ps, .byte_part,
        .limit_bytes(limit_time_bytes), .carry(new_carry), .go(setup_start), .n(setup_n),
        .n_bits(setup_bits), .part_in(setup_part_in), .unit(setup_unit), .ready(setup_ready),
        .whole, .part
    );
    always_ff @(posedge clk) is_setup <= state == SET_UP || state == SETTING_UP;
    // A register of its own, as hundreds of others change with it.
    always_ff @(posedge clk) settings_ready <= state == SETTING_UP && setup_done && !rst;

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= PEEK;
        end else begin
            case (state)
                PEEK: if (settled) state <= SAMPLE;
                // New settings wait until CoDel needs the old ones no more.
                SAMPLE: if (!settings_valid || !codel_busy || HAS_CODEL == 0) state <= COMPARE;
                COMPARE: state <= CHOOSE;
                CHOOSE:
                    if (has_due && (settings_due ? due_by_settings : due_by_bound)) state <= DEPART;
                    else if (settings_due) state <= SET_UP;
                    else if (has_arrival) state <= ARRIVE;
                    else state <= PEEK;
                ARRIVE: state <= WEIGH;
                WEIGH: state <= JUDGE;
                JUDGE: state <= VERDICT;
                VERDICT: state <= ADMIT;
                ADMIT: if (can_write) state <= arrival_marked ? MARK : PEEK;
                MARK: if (can_write) state <= PEEK;
                DEPART: state <= CHECK;
                CHECK: state <= active.codel_enable && HAS_CODEL != 0 ? CODEL : MARK_LATE;
                CODEL: if (judged) state <= codel_marks ? MARK_HEAD : MARK_LATE;
                MARK_HEAD: if (can_write) state <= MARK_LATE;
                MARK_LATE: if (can_write) state <= DEQUEUE;
                DEQUEUE: if (can_write) state <= discards ? DROP_LATE : EGRESS;
                EGRESS:
                    if (dequeued_ready) begin
                        case (egress_fate)
                            narrows_pkg::FATE_SENT: state <= SEND;
                            narrows_pkg::FATE_DROPPED: state <= DROP_LATE;
                            default: state <= PEEK;
                        endcase
                    end
                SEND: state <= SENDING;
                SENDING: if (line_sent) state <= PEEK;
                DROP_LATE: if (can_write) state <= discards ? REFILL : PEEK;
                REFILL: if (settled) state <= DEPART;
                SET_UP: state <= SETTING_UP;
                SETTING_UP: if (setup_done) state <= SETTLE;
                default: state <= PEEK;
            endcase
        end
    end

    always_ff @(posedge clk) begin
        if (state == PEEK) head_is_later <= free_at < head_at;
        if (state == SAMPLE) begin
            has_arrival <= arrival_valid;
            has_settings <= settings_valid;
            has_due <= head_valid;
            bound <= arrival_valid ? arrival_at : horizon;
            next_due <= head_is_later ? head_at : free_at;
        end
        if (state == COMPARE) begin
            settings_due <= has_settings && bound >= settings_at;
            due_by_bound <= bound >= next_due;
            due_by_settings <= settings_at >= next_due;
        end
        if (state == ARRIVE) begin
            counted <= basis_counted;
            is_idle <= bound >= free_at;
            is_lost <= lost;
            packets_after <= packets + 1;
        end
        if (state == VERDICT) begin
            admitted <= admits;
            arrival_marked <= admits && arrival_ecn_capable && marks_arrival;
        end
        if (state == WEIGH) bytes_after <= BYTES_W'(SUM_BITS'(bytes + BYTES_W'(counted)));
        if (state == CHECK) begin
            packets_after <= packets - 1;
            bytes_after <= BYTES_W'(SUM_BITS'(bytes - BYTES_W'(counted)));
        end
        if (state == DEPART) begin
            dequeued_at <= next_due;
            {dequeued_number, dequeued_frame_bytes, dequeued_tag, dequeued_marked}
                <= {head_number, head_frame_bytes, head_tag, head_marked};
            sojourn <= next_due - head_at;
            counted <= COUNTED_W'(head_counted);
            discards <= 1'b0;
        end
        if (state == CODEL && judged) discards <= codel_drops;
        if (can_write && (state == MARK_HEAD
            || (state == MARK_LATE && marks_departure && head_ecn))) dequeued_marked <= 1'b1;
        if (sends) sent_counted <= basis_counted;
    end

    // What the queue holds, and the number of the next arrival.
    always_ff @(posedge clk) begin
        if (rst) begin
            bytes <= '0;
            number <= '0;
        end else begin
            if (arrival_ready) number <= number + 1;
            if (fifo_push || fifo_pop) bytes <= bytes_after;
        end
    end

    // The ledger: a row stays until it is taken.
    always_ff @(posedge clk) begin
        if (rst) row_valid <= 1'b0;
        else if (row_valid) row_valid <= !row_ready;
        else row_valid <= state == ADMIT || state == MARK || state == DEQUEUE || state == DROP_LATE
            || (state == MARK_HEAD && !dequeued_marked)
            || (state == MARK_LATE && marks_departure && head_ecn && !dequeued_marked && !discards);
    end

    always_ff @(posedge clk) begin
        if (can_write) begin
            case (state)
                ADMIT: begin
                    row.number <= number;
                    row.at <= arrival_at;
                    row.kind <= admitted ? narrows_pkg::EVENT_ENQUEUE : narrows_pkg::EVENT_DROP;
                    row.reason <= admitted ? '0 : drop_reason;
                    row.counted <= counted;
                    row.packets <= admitted ? packets_after : packets;
                    row.bytes <= admitted ? bytes_after : bytes;
                    row.sojourn <= '0;
                end
                // The row before it was the same packet's: the rest stays.
                MARK: begin
                    row.kind <= narrows_pkg::EVENT_MARK;
                    row.reason <= arrival_reason_kept;
                end
                MARK_HEAD, MARK_LATE: begin
                    row.number <= dequeued_number;
                    row.at <= dequeued_at;
                    row.kind <= narrows_pkg::EVENT_MARK;
                    row.reason <= state == MARK_HEAD ? narrows_pkg::MARK_CODEL
                        : narrows_pkg::MARK_TIME;
                    row.counted <= counted;
                    row.packets <= packets;
                    row.bytes <= bytes;
                    row.sojourn <= '0;
                end
                DEQUEUE: begin
                    row.kind <= narrows_pkg::EVENT_DEQUEUE;
                    row.reason <= '0;
                    row.packets <= packets_after;
                    row.bytes <= bytes_after;
                    row.sojourn <= sojourn;
                end
                DROP_LATE: begin
                    row.kind <= narrows_pkg::EVENT_DROP;
                    row.reason <= discards ? narrows_pkg::DROP_CODEL : narrows_pkg::DROP_EGRESS;
                    row.sojourn <= '0;
                end
                default: ;
            endcase
        end
    end

    // The thresholds see the next packet's depth once the row is written.
    logic [narrows_pkg::REASON_W-1:0] arrival_reason_kept;
    always_ff @(posedge clk) if (state == ADMIT) arrival_reason_kept <= arrival_reason;

    always_ff @(posedge clk) begin
        if (rst) begin
            // A gigabit without a limit, until the first settings.
            active <= '0;
            active.rate <= narrows_pkg::GIGABIT;
            active.limit_kind <= narrows_pkg::LIMIT_BYTES;
            active.limit <= '1;
        end else if (settings_ready) begin
            active <= settings;
        end
    end
endmodule
