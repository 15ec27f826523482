// The registers of a direction: its next settings, when they take effect, and its counts.
//
// A write goes to a shadow register. `commit` gives the instant at which all of them take effect
// together, for queued packets too. Until then no shadow register can be written. A value out of
// range is refused and changes nothing. docs/guide/hardware-bottleneck.md lists the registers.
module port_registers #(
    parameter longint LINE_RATE = 64'd1_000_000_000,
    // The delay covers the decisions (bottleneck_port.sv); its greatest value is 1 s.
    parameter longint LEAST_DELAY_PS = 64'd4_000_000,
    parameter longint MOST_DELAY_PS = 64'd1_000_000_000_000,
    // Without it CoDel can't be put in force.
    parameter int HAS_CODEL = 1,
    // Whether block RAM holds what can be read of the shadow registers, or LUTs.
    parameter int BLOCK_COPIES = 1,
    // Bits of the packets and bytes of a full queue. A threshold above that is as good as another.
    parameter int PACKETS_BITS = narrows_pkg::PACKETS_W,
    parameter int BYTES_BITS = narrows_pkg::BYTES_W
) (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_pkg::TIME_W-1:0]        now,

    // The bus: inputs are steady from `select` to `done`, which is high for one cycle.
    input  logic                                  select,
    input  logic                                  is_write,
    input  logic [7:0]                            address,
    input  logic [narrows_board_pkg::VALUE_W-1:0] value,
    output logic                                  done,
    output logic [7:0]                            status,
    output logic [narrows_board_pkg::VALUE_W-1:0] result,

    output logic                                  settings_valid,
    input  logic                                  settings_ready,
    output logic [narrows_pkg::TIME_W-1:0]        settings_at,
    output narrows_settings_t                     settings,

    output logic                                  count_read,
    output logic [6:0]                            count_address,
    input  logic                                  count_done,
    input  logic [47:0]                           count,
    // Sixteen counts of events from address 0x20 (event_counts.sv).
    output logic [3:0]                            event_address,
    input  logic [31:0]                           event_count
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int DELAY_BITS = $clog2(MOST_DELAY_PS + 1);
    localparam logic [4:0]
        RATE = 5'h00, BASIS = 5'h01, LIMIT_KIND = 5'h02, LIMIT = 5'h03, ECN_ENABLE = 5'h04,
        ECN_PACKETS = 5'h05, ECN_BYTES = 5'h06, ECN_TIME = 5'h07, LOSS_THRESHOLD = 5'h08,
        LOSS_STATE_0 = 5'h09, LOSS_STATE_1 = 5'h0A, LOSS_STATE_2 = 5'h0B, LOSS_STATE_3 = 5'h0C,
        LOSS_SET_STATE = 5'h0D, DELAY = 5'h0E,
        COMMIT = 5'h10, CANCEL = 5'h11, GENERATION = 5'h12,
        CODEL = 5'h14, CODEL_TARGET = 5'h15, CODEL_INTERVAL = 5'h16, CODEL_MTU = 5'h17;
    // A commit that is nearer than this can't be cancelled: its set-up may have begun.
    localparam logic [TIME_W-1:0] CANCEL_BEFORE = 64'd1_000_000_000;
    localparam logic [TIME_W-1:0] EVERYTHING = 64'd1 << 53;
    // Those of queueing/src/disciplines/codel.rs.
    localparam logic [TIME_W-1:0] MOST_TARGET = 64'd10_000_000_000_000;
    localparam logic [TIME_W-1:0] LEAST_INTERVAL = 64'd1000;
    localparam logic [TIME_W-1:0] MOST_INTERVAL = 64'd100_000_000_000_000;
    localparam logic [TIME_W-1:0] MOST_MTU = 64'd1_000_000;
    // RFC 8289 sections 4.2 and 4.3, and Linux's mtu.
    localparam logic [TIME_W-1:0] FIRST_TARGET = 64'd5_000_000_000;
    localparam logic [TIME_W-1:0] FIRST_INTERVAL = 64'd100_000_000_000;
    localparam logic [TIME_W-1:0] FIRST_MTU = 64'd1514;

    localparam logic [2:0]
        IDLE = 3'd0, LOOK_UP = 3'd1, COMPARE = 3'd2, JUDGE = 3'd3, ACT = 3'd4, COUNT = 3'd5;
    logic [2:0]        state, patience;
    logic [TIME_W-1:0] least, most, earliest, found_first, found_second;
    logic              is_shadow, is_commit, is_cancel, is_known, is_count, is_event;
    logic              is_enough, is_most, is_in_range, is_past, is_cancelable, is_dead;
    logic [15:0]       generation;

    // The register of the address, a bit each: the bus is steady, so it is right in all states.
    localparam int REGISTERS = 24;
    logic [REGISTERS-1:0] hit;
    logic                 is_now;
    // The value as packets and bytes of the queue, and whether it has more bits than these.
    logic [PACKETS_BITS-1:0] packets_value;
    logic [BYTES_BITS-1:0]   bytes_value;
    logic [1:0]              is_above;
    logic [3:0]           has_state;

    always_ff @(posedge clk) begin
        for (int n = 0; n < REGISTERS; n++) hit[n] <= address == 8'(n);
        is_shadow <= address <= 8'(DELAY) || address[7:2] == 6'(CODEL >> 2);
        is_event <= address[7:4] == 4'h2;
        is_count <= address[7];
        is_known <= address <= 8'(DELAY) || address[7:4] == 4'h2 || address[7]
            || address[7:2] == 6'(CODEL >> 2)
            || (address >= 8'(COMMIT) && address <= 8'(GENERATION));
        is_now <= value == 0;
        is_above <= {(value >> BYTES_BITS) != 0, (value >> PACKETS_BITS) != 0};
    end
    assign packets_value = value[PACKETS_BITS-1:0] | {PACKETS_BITS{is_above[0]}};
    assign bytes_value = value[BYTES_BITS-1:0] | {BYTES_BITS{is_above[1]}};
    assign is_commit = hit[COMMIT];
    assign is_cancel = hit[CANCEL];
    assign count_read = state == COUNT;
    assign count_address = address[6:0];
    assign event_address = address[3:0];

    // What a register takes.
    always_ff @(posedge clk) begin
        least <= '0;
        most <= '1;
        if (hit[RATE]) begin
            least <= 64'd1;
            most <= TIME_W'(LINE_RATE);
        end
        if (hit[BASIS] || hit[LIMIT_KIND]) most <= 64'd2;
        if (hit[ECN_ENABLE]) most <= 64'd7;
        if (hit[LOSS_THRESHOLD]) most <= EVERYTHING;
        if (hit[LOSS_SET_STATE]) most <= 64'd1;
        if (hit[DELAY]) begin
            least <= TIME_W'(LEAST_DELAY_PS);
            most <= TIME_W'(MOST_DELAY_PS);
        end
        if (hit[CODEL]) most <= HAS_CODEL != 0 ? 64'd3 : 64'd0;
        if (hit[CODEL_TARGET]) most <= MOST_TARGET;
        if (hit[CODEL_INTERVAL]) begin
            least <= LEAST_INTERVAL;
            most <= MOST_INTERVAL;
        end
        if (hit[CODEL_MTU]) most <= MOST_MTU;
        is_enough <= value >= least;
        is_most <= most >= value;
        earliest <= now + CANCEL_BEFORE;
        is_past <= !is_now && value < now;
        is_cancelable <= earliest < settings_at;
        // The generator stays at zero for ever.
        has_state <= {|settings.loss_state[255:192], |settings.loss_state[191:128],
                      |settings.loss_state[127:64], |settings.loss_state[63:0]};
        is_dead <= settings.loss_set_state && has_state == 0;
    end

    // What the shadow registers hold, once more, to be read: memory takes a quarter of the
    // multiplexers at most. The reset fills it, in 32 cycles.
`ifdef YOSYS
    (* ram_style = BLOCK_COPIES != 0 ? "block" : "distributed", no_rw_check *)
`endif
    logic [TIME_W-1:0] copies [0:31];
    logic [TIME_W-1:0] first_value, copy, copied;
    logic [4:0]        fill_at = '0;
    logic [4:0]        filled, copy_at;
    logic              copies_now;

    always_ff @(posedge clk) begin
        fill_at <= fill_at + 1;
        filled <= fill_at;
        case (fill_at)
            RATE: first_value <= TIME_W'(LINE_RATE);
            BASIS: first_value <= TIME_W'(narrows_pkg::BASIS_WIRE);
            LIMIT_KIND: first_value <= TIME_W'(narrows_pkg::LIMIT_BYTES);
            LIMIT: first_value <= '1;
            DELAY: first_value <= TIME_W'(LEAST_DELAY_PS);
            CODEL_TARGET: first_value <= FIRST_TARGET;
            CODEL_INTERVAL: first_value <= FIRST_INTERVAL;
            CODEL_MTU: first_value <= FIRST_MTU;
            default: first_value <= '0;
        endcase
        copies_now <= rst || (writes && is_shadow);
        copy_at <= rst ? filled : address[4:0];
        copy <= rst ? first_value : value;
        if (copies_now) copies[copy_at] <= copy;
        copied <= copies[address[4:0]];
    end

    // What a register holds, in two parts: at most one term is not zero.
    always_ff @(posedge clk) begin
        found_first <= is_shadow && !hit[LOSS_SET_STATE] ? copied : '0;
        found_second <= (hit[LOSS_SET_STATE] ? TIME_W'(settings.loss_set_state) : '0)
            | (hit[COMMIT] && settings_valid ? settings_at : '0)
            | (hit[GENERATION] ? TIME_W'(generation) : '0)
            | (is_event ? TIME_W'(event_count) : '0);
    end

    // What comes of the request, a cycle before it does.
    logic [7:0] verdict, judged;
    logic       is_good, gives_found, gives_value, gives_now, writes;

    assign is_in_range = is_enough && is_most;
    always_comb begin
        verdict = narrows_board_pkg::STATUS_OK;
        if (!is_known) verdict = narrows_board_pkg::STATUS_ADDRESS;
        else if (!is_write) verdict = narrows_board_pkg::STATUS_OK;
        else if (!is_shadow && !is_commit && !is_cancel)
            verdict = narrows_board_pkg::STATUS_READ_ONLY;
        else if (settings_valid && !(is_cancel && is_cancelable))
            verdict = narrows_board_pkg::STATUS_BUSY;
        else if ((is_shadow && !is_in_range) || (is_commit && is_dead))
            verdict = narrows_board_pkg::STATUS_RANGE;
        else if (is_commit && is_past) verdict = narrows_board_pkg::STATUS_LATE;
        is_good = verdict == narrows_board_pkg::STATUS_OK;
    end

    always_ff @(posedge clk) begin
        done <= 1'b0;
        status <= state == ACT ? judged : narrows_board_pkg::STATUS_OK;
        judged <= verdict;
        gives_found <= state == JUDGE && is_known && !is_write;
        gives_value <= state == JUDGE && is_good && is_write && !(is_commit && is_now);
        gives_now <= state == JUDGE && is_good && is_write && is_commit && is_now;
        result <= (gives_found ? found_first | found_second : '0)
            | (gives_value ? value : '0) | (gives_now ? now : '0)
            | (state == COUNT && count_done ? {16'd0, count} : '0);
        writes <= (gives_value || gives_now) && !rst;
        case (state)
            IDLE: begin
                patience <= '0;
                if (select && !done) state <= LOOK_UP;
            end
            // A count of events is there after eight cycles more.
            LOOK_UP: begin
                patience <= patience + 1;
                if (&patience) state <= COMPARE;
            end
            COMPARE: state <= !is_write && is_count ? COUNT : JUDGE;
            JUDGE: state <= ACT;
            COUNT:
                if (count_done) begin
                    done <= 1'b1;
                    state <= IDLE;
                end
            default: begin
                done <= 1'b1;
                state <= IDLE;
            end
        endcase
        if (rst) state <= IDLE;
    end

    // In the cycle of the answer.
    always_ff @(posedge clk) begin
        if (settings_valid && settings_ready) begin
            settings_valid <= 1'b0;
            settings.loss_set_state <= 1'b0;
            generation <= generation + 1;
        end
        if (writes) begin
            if (hit[RATE]) settings.rate <= value[narrows_pkg::RATE_W-1:0];
            if (hit[BASIS]) settings.basis <= value[1:0];
            if (hit[LIMIT_KIND]) settings.limit_kind <= value[1:0];
            if (hit[LIMIT]) settings.limit <= value;
            if (hit[ECN_ENABLE]) settings.ecn_enable <= value[2:0];
            if (hit[ECN_PACKETS]) settings.ecn_packets <= TIME_W'(packets_value);
            if (hit[ECN_BYTES]) settings.ecn_bytes <= TIME_W'(bytes_value);
            if (hit[ECN_TIME]) settings.ecn_time <= value;
            if (hit[LOSS_THRESHOLD]) settings.loss_threshold <= value[53:0];
            if (hit[LOSS_STATE_0]) settings.loss_state[63:0] <= value;
            if (hit[LOSS_STATE_1]) settings.loss_state[127:64] <= value;
            if (hit[LOSS_STATE_2]) settings.loss_state[191:128] <= value;
            if (hit[LOSS_STATE_3]) settings.loss_state[255:192] <= value;
            if (hit[LOSS_SET_STATE]) settings.loss_set_state <= value[0];
            if (hit[DELAY]) settings.delay <= TIME_W'(value[DELAY_BITS-1:0]);
            if (hit[CODEL]) {settings.codel_marks, settings.codel_enable} <= value[1:0];
            if (hit[CODEL_TARGET]) settings.codel_target <= value[narrows_pkg::TARGET_W-1:0];
            if (hit[CODEL_INTERVAL]) settings.codel_interval <= value[narrows_pkg::INTERVAL_W-1:0];
            if (hit[CODEL_MTU]) settings.codel_mtu <= value[narrows_pkg::MTU_W-1:0];
            // The answer has the instant.
            if (hit[COMMIT]) begin
                settings_valid <= 1'b1;
                settings_at <= result;
            end
            if (hit[CANCEL]) settings_valid <= 1'b0;
        end
        if (rst) begin
            // The first settings take effect at once.
            settings_valid <= 1'b1;
            settings_at <= '0;
            generation <= '0;
            settings <= '0;
            settings.rate <= narrows_pkg::RATE_W'(LINE_RATE);
            settings.basis <= narrows_pkg::BASIS_WIRE;
            settings.limit_kind <= narrows_pkg::LIMIT_BYTES;
            settings.limit <= '1;
            settings.delay <= TIME_W'(LEAST_DELAY_PS);
            settings.codel_target <= narrows_pkg::TARGET_W'(FIRST_TARGET);
            settings.codel_interval <= narrows_pkg::INTERVAL_W'(FIRST_INTERVAL);
            settings.codel_mtu <= narrows_pkg::MTU_W'(FIRST_MTU);
        end
    end
endmodule
