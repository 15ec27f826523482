// n times a mixed number, exactly: n * (whole_in + part_in/unit) + carry/unit = whole + part/unit.
//
// The only arithmetic of the core: a transmission time (n bytes at 8e12/rate ps each), a byte's
// time, the carry at a new rate and the bytes of a time limit are all of this form. It doubles and
// adds, a bit of n at a time from the highest. So it needs adders only, no multiplier and no
// divider. STEPS bits are done in a cycle; more steps make fewer cycles and a longer path.
//
// part_in <= unit and carry < unit; then part < unit after each step, and two subtractions suffice.
module fraction_multiplier #(
    parameter int N_W = 17,
    parameter int WHOLE_W = 64,
    parameter int UNIT_W = 40,
    parameter int STEPS = 1
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               start,
    input  logic [N_W-1:0]     n,
    input  logic [WHOLE_W-1:0] whole_in,
    input  logic [UNIT_W-1:0]  part_in,
    input  logic [UNIT_W-1:0]  unit,
    input  logic [UNIT_W-1:0]  carry,
    // High for one cycle, with the result.
    output logic               done,
    output logic [WHOLE_W-1:0] whole,
    output logic [UNIT_W-1:0]  part
);
    // A sum of two doubled parts is below three units.
    localparam int SUM_W = UNIT_W + 2;
    localparam int COUNT_W = $clog2(N_W + 1);

    logic               busy;
    logic [N_W-1:0]     bits;
    logic [COUNT_W-1:0] left;
    logic [WHOLE_W-1:0] next_whole;
    logic [UNIT_W-1:0]  next_part;
    logic [SUM_W-1:0]   sum, one, two;
    logic [N_W-1:0]     next_bits;
    logic [COUNT_W-1:0] next_left;

    assign one = {2'b00, unit};
    assign two = {1'b0, unit, 1'b0};

    // The last step adds the carry: one addition, not doubled.
    always_comb begin
        next_whole = whole;
        next_part = part;
        next_bits = bits;
        next_left = left;
        sum = '0;
        for (int step = 0; step < STEPS; step++) begin
            if (next_left != 0) begin
                next_whole = {next_whole[WHOLE_W-2:0], 1'b0};
                sum = {1'b0, next_part, 1'b0};
                if (next_bits[N_W-1]) begin
                    next_whole = next_whole + whole_in;
                    sum = sum + {2'b00, part_in};
                end
                if (sum >= two) begin
                    next_whole = next_whole + 2;
                    sum = sum - two;
                end else if (sum >= one) begin
                    next_whole = next_whole + 1;
                    sum = sum - one;
                end
                next_part = sum[UNIT_W-1:0];
                next_bits = {next_bits[N_W-2:0], 1'b0};
                next_left = next_left - 1;
            end
        end
    end

    logic [SUM_W-1:0] carried;
    assign carried = {2'b00, part} + {2'b00, carry};

    always_ff @(posedge clk) begin
        done <= 1'b0;
        if (rst) begin
            busy <= 1'b0;
        end else if (start) begin
            busy <= 1'b1;
            bits <= n;
            left <= COUNT_W'(N_W);
            whole <= '0;
            part <= '0;
        end else if (busy && left != 0) begin
            whole <= next_whole;
            part <= next_part;
            bits <= next_bits;
            left <= next_left;
        end else if (busy) begin
            busy <= 1'b0;
            done <= 1'b1;
            if (carried >= one) begin
                whole <= whole + 1;
                part <= UNIT_W'(carried - one);
            end else begin
                part <= carried[UNIT_W-1:0];
            end
        end
    end
endmodule
