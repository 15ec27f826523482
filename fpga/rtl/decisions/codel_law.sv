// The time from one drop of CoDel to the next: interval / sqrt(count) (RFC 8289 section 4.3).
//
// It is what doubles make of it (queueing/src/disciplines/codel.rs): the root and the quotient are
// rounded to 53 significant bits, and the quotient down to a picosecond. Here both are exact digit
// by digit, by one adder: each digit subtracts after a remainder that is not negative, and adds
// after one that is. So a digit is one carry chain; STEPS digits are done in a cycle.
//
//   count' = count * 4^j, in [2^30, 2^32)
//   root = sqrt(count') * 2^37, rounded, in [2^52, 2^53)
//   quotient = interval * 2^(37+j) / root
// Some 2^32 counts have no root halfway between two of 53 bits. A quotient is rounded up to a whole
// number if all its digits behind the point are ones, down to the 54th significant one.
module codel_law #(
    parameter int STEPS = 1
) (
    input  logic                                 clk,
    input  logic                                 rst,
    input  logic                                 start,
    // In the cycle of `start`; not zero.
    input  logic [narrows_pkg::CODEL_COUNT_W-1:0] count,
    // Steady from `start` to `done`.
    input  logic [narrows_pkg::INTERVAL_W-1:0]   interval_ps,
    output logic                                 busy,
    // High for one cycle: the time is whole_ps, and a picosecond more if `is_rounded_up`.
    output logic                                 done,
    output logic [narrows_pkg::INTERVAL_W-1:0]   whole_ps,
    output logic                                 is_rounded_up
);
    localparam int COUNT_W = narrows_pkg::CODEL_COUNT_W;
    localparam int QUOTIENT_W = narrows_pkg::INTERVAL_W;
    // A double's significant bits, and the one after them.
    localparam int ROOT_W = 54;
    localparam int W = ROOT_W + 2;
    localparam logic [5:0] ROOT_DIGITS = 6'(ROOT_W), MOST_SIGNIFICANT = 6'(ROOT_W);
    // The quotient's digits before the point for j = 0.
    localparam logic [5:0] FIRST_DIGITS = 6'd32;

    localparam logic [2:0]
        IDLE = 3'd0, NORMALIZE = 3'd1, ROOT = 3'd2, ROUND = 3'd3, PLACE = 3'd4, DIVIDE = 3'd5,
        FRACTION = 3'd6;
    logic [2:0]            state;
    logic                  is_root, steps;
    // The remainder, whose sign is its highest bit, and the root or the divisor.
    logic [W-1:0]          rest, next_rest, shifted, operand;
    logic [ROOT_W-1:0]     root, next_root;
    // The digits of count' that are left, then those of the quotient.
    logic [QUOTIENT_W-1:0] digits, next_digits;
    logic [5:0]            left, next_left, digits_before_point;
    // Significant digits of the quotient so far.
    logic [5:0]            significant, next_significant;
    logic [3:0]            doublings, next_doublings;
    logic                  is_digit_one;

    assign busy = state != IDLE;
    assign whole_ps = digits;
    assign is_root = state == ROOT;
    assign steps = state == ROOT || state == DIVIDE || state == FRACTION;

    always_comb begin
        next_rest = rest;
        next_root = root;
        next_digits = digits;
        next_left = left;
        next_significant = significant;
        shifted = '0;
        operand = '0;
        is_digit_one = 1'b0;
        for (int step = 0; step < STEPS; step++) begin
            if (STEPS == 1 || (steps && next_left != 0)) begin
                shifted = is_root ? {next_rest[W-3:0], next_digits[QUOTIENT_W-1-:2]}
                    : {next_rest[W-2:0], 1'b0};
                operand = is_root ? {next_root, next_rest[W-1], 1'b1} : {2'b00, next_root};
                next_rest = next_rest[W-1] ? shifted + operand : shifted - operand;
                is_digit_one = !next_rest[W-1];
                if (is_root) next_root = {next_root[ROOT_W-2:0], is_digit_one};
                next_digits = is_root ? {next_digits[QUOTIENT_W-3:0], 2'b00}
                    : {next_digits[QUOTIENT_W-2:0], is_digit_one};
                if (!is_root && (next_significant != 0 || is_digit_one))
                    next_significant = next_significant + 1;
                next_left = next_left - 1;
            end
        end
    end

    logic [QUOTIENT_W-1:0] normal;
    logic                  is_normal;
    always_comb begin
        normal = digits;
        next_doublings = doublings;
        is_normal = 1'b0;
        for (int step = 0; step < STEPS; step++) begin
            is_normal = normal[QUOTIENT_W-1-:2] != 0;
            if (!is_normal) begin
                normal = {normal[QUOTIENT_W-3:0], 2'b00};
                next_doublings = next_doublings + 1;
            end
        end
    end

    always_ff @(posedge clk) begin
        done <= 1'b0;
        case (state)
            IDLE: if (start) state <= NORMALIZE;
            NORMALIZE: if (is_normal) state <= ROOT;
            ROOT: if (left <= 6'(STEPS)) state <= ROUND;
            ROUND: state <= PLACE;
            PLACE: state <= DIVIDE;
            DIVIDE: if (left <= 6'(STEPS)) state <= FRACTION;
            default:
                if (!is_digit_one || next_significant == MOST_SIGNIFICANT) begin
                    state <= IDLE;
                    done <= 1'b1;
                end
        endcase
        if (rst) begin
            state <= IDLE;
            done <= 1'b0;
        end
    end

    always_ff @(posedge clk) begin
        digits_before_point <= FIRST_DIGITS + {2'b00, doublings};
        case (state)
            IDLE: begin
                if (start) digits <= {count, {(QUOTIENT_W - COUNT_W){1'b0}}};
                doublings <= '0;
            end
            NORMALIZE: begin
                digits <= normal;
                doublings <= next_doublings;
                rest <= '0;
                root <= '0;
                left <= ROOT_DIGITS;
            end
            // The last of the root's digits decides; there is no tie.
            ROUND: root <= {1'b0, root[ROOT_W-1:1]} + ROOT_W'(root[0]);
            PLACE: begin
                rest <= {4'd0, interval_ps, 5'd0};
                left <= digits_before_point;
                significant <= '0;
            end
            FRACTION: begin
                rest <= next_rest;
                left <= 6'd1;
                significant <= next_significant;
                is_rounded_up <= is_digit_one;
            end
            default: begin
                rest <= next_rest;
                root <= next_root;
                digits <= next_digits;
                left <= state == DIVIDE && next_left == 0 ? 6'd1 : next_left;
                significant <= next_significant;
            end
        endcase
    end
endmodule
