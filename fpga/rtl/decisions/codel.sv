// CoDel (RFC 8289), as queueing/src/disciplines/codel.rs decides, to the picosecond.
//
// The port asks for a verdict on the packet at the head: it is sent, marked and sent, or dropped.
// After a drop it asks again, with the same time and the next packet. The time of the next drop is
// computed meanwhile (codel_law.sv); only a verdict that needs it waits, and new settings do.
// A comparison or a sum is a cycle of its own.
module codel #(
    parameter int STEPS = 1
) (
    input  logic                                  clk,
    input  logic                                  rst,
    // The settings; without `enable` the state is that of the start.
    input  logic                                  enable,
    input  logic                                  marks_capable,
    input  logic [narrows_pkg::TARGET_W-1:0]      target_ps,
    input  logic [narrows_pkg::INTERVAL_W-1:0]    interval_ps,
    input  logic [narrows_pkg::MTU_W-1:0]         mtu,

    // Asks for a verdict. The inputs are steady until it comes: the time, how long the head has
    // waited, the bytes behind it, whether it is ECN-capable.
    input  logic                                  judge,
    input  logic [narrows_pkg::TIME_W-1:0]        now,
    input  logic [narrows_pkg::TIME_W-1:0]        sojourn,
    input  logic [narrows_pkg::BYTES_W-1:0]       behind,
    input  logic                                  is_capable,
    // High for one cycle, with the verdict; neither is "send".
    output logic                                  judged,
    output logic                                  drops,
    output logic                                  marks,
    // The settings must stay.
    output logic                                  busy
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int COUNT_W = narrows_pkg::CODEL_COUNT_W;
    localparam int TARGET_W = narrows_pkg::TARGET_W;
    localparam int INTERVAL_W = narrows_pkg::INTERVAL_W;
    localparam int MTU_W = narrows_pkg::MTU_W;
    // A drop state resumes the count of one that ended at most 2^4 intervals ago.
    localparam int MEMORY_LOG2 = 4;

    localparam logic [2:0]
        IDLE = 3'd0, LOOK = 3'd1, DECIDE = 3'd2, WAIT = 3'd3, COMPARE = 3'd4, AGAIN = 3'd5,
        TAKE = 3'd6;
    logic [2:0] state;
    // What the last drop was: none of this packet's time, the first of a drop state, a later one.
    localparam logic [1:0] FRESH = 2'd0, BEGUN = 2'd1, GOING = 2'd2;
    logic [1:0] phase;

    // When sojourn times will have been at or above the target for an interval.
    logic               has_first_above, is_dropping;
    logic [TIME_W-1:0]  first_above, next_drop, above_at, memory_end;
    // Drops since the drop state began, and how many it began with.
    logic [COUNT_W-1:0] count, first_count, grown, resumed;
    logic               is_below, is_few, is_ripe, is_due, is_recent, may_drop, can_mark;
    logic               begins, law_start, law_busy, law_done, is_rounded_up;
    logic [INTERVAL_W-1:0] whole_ps;

    codel_law #(.STEPS(STEPS)) law (
        .clk, .rst, .start(law_start), .count, .interval_ps, .busy(law_busy), .done(law_done),
        .whole_ps, .is_rounded_up
    );
    assign busy = law_start || law_busy || law_done;
    assign may_drop = !is_below && !is_few && has_first_above && is_ripe;
    assign can_mark = marks_capable && is_capable;
    assign resumed = grown > 1 && is_recent ? grown : COUNT_W'(1);
    // A drop state begins once its first packet is marked or dropped.
    assign begins = state == DECIDE && (phase == BEGUN
        || (phase == FRESH && may_drop && !is_dropping && can_mark));

    always_ff @(posedge clk) begin
        is_below <= sojourn[TIME_W-1:TARGET_W] == 0 && sojourn[TARGET_W-1:0] < target_ps;
        is_few <= behind[narrows_pkg::BYTES_W-1:MTU_W] == 0 && behind[MTU_W-1:0] <= mtu;
        is_ripe <= now >= first_above;
        is_due <= now >= next_drop;
        is_recent <= now < memory_end;
        above_at <= now + {{(TIME_W - INTERVAL_W){1'b0}}, interval_ps};
        memory_end <= next_drop
            + {{(TIME_W - INTERVAL_W - MEMORY_LOG2){1'b0}}, interval_ps, {MEMORY_LOG2{1'b0}}};
        grown <= count - first_count;
    end

    always_ff @(posedge clk) begin
        judged <= 1'b0;
        law_start <= 1'b0;
        case (state)
            IDLE: if (judge && !judged && !busy) state <= LOOK;
            LOOK: state <= DECIDE;
            DECIDE: begin
                state <= IDLE;
                judged <= 1'b1;
                drops <= 1'b0;
                marks <= 1'b0;
                phase <= FRESH;
                law_start <= begins;
                if (phase == FRESH && may_drop && !is_dropping) begin
                    drops <= !can_mark;
                    marks <= can_mark;
                    phase <= can_mark ? FRESH : BEGUN;
                end else if (phase != BEGUN && may_drop && is_dropping) begin
                    // After a drop the next one's time is not known yet.
                    law_start <= phase == GOING;
                    state <= phase == GOING ? WAIT : is_due ? TAKE : IDLE;
                    judged <= phase == FRESH && !is_due;
                end
            end
            WAIT: if (law_done) state <= COMPARE;
            COMPARE: state <= AGAIN;
            AGAIN: begin
                state <= is_due ? TAKE : IDLE;
                judged <= !is_due;
            end
            default: begin
                state <= IDLE;
                judged <= 1'b1;
                drops <= !can_mark;
                marks <= can_mark;
                phase <= can_mark ? FRESH : GOING;
                law_start <= can_mark;
            end
        endcase
        if (rst || !enable) begin
            state <= IDLE;
            phase <= FRESH;
            judged <= 1'b0;
            law_start <= 1'b0;
        end
    end

    always_ff @(posedge clk) begin
        if (state == DECIDE) begin
            has_first_above <= !is_below && !is_few;
            if (!has_first_above) first_above <= above_at;
            is_dropping <= begins || (is_dropping && may_drop);
        end
        if (begins) begin
            count <= resumed;
            first_count <= resumed;
            next_drop <= now;
        end
        // More than 2^32 drops in one state count as so many.
        if (state == TAKE && count != '1) count <= count + 1;
        if (law_done)
            next_drop <= next_drop + {{(TIME_W - INTERVAL_W){1'b0}}, whole_ps}
                + TIME_W'(is_rounded_up);
        if (rst || !enable) begin
            has_first_above <= 1'b0;
            is_dropping <= 1'b0;
            count <= '0;
            first_count <= '0;
            next_drop <= '0;
        end
    end
endmodule
