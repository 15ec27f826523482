// n times a mixed number, exactly: n * (whole_in + part_in/unit) + carry/unit = whole + part/unit.
//
// The only arithmetic of the core: a transmission time (n bytes at 8e12/rate ps each), a byte's
// time, the carry at a new rate and the bytes of a time limit are all of this form. It doubles and
// adds, a bit of n at a time from the highest. So it needs adders only, no multiplier and no
// divider. STEPS bits are done in a cycle; more steps make fewer cycles and a longer path.
// `n` is the upper `n_bits` bits of its port, so a short factor takes fewer cycles. The whole part
// follows a cycle behind: it only needs to know how many units were taken off.
//
// part_in <= unit and carry < unit; then part < unit after each step, and two subtractions suffice.
module fraction_multiplier #(
    parameter int N_W = 17,
    parameter int WHOLE_W = 64,
    parameter int UNIT_W = 40,
    parameter int STEPS = 1,
    // `n_bits` is always a multiple of STEPS, so a cycle has all of its steps.
    parameter int IS_WHOLE = STEPS == 1 ? 1 : 0,
    localparam int COUNT_W = $clog2(N_W + 1)
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               start,
    // Steady from the cycle after `start` to `done`, as are the others.
    input  logic [N_W-1:0]     n,
    input  logic [COUNT_W-1:0] n_bits,
    input  logic [WHOLE_W-1:0] whole_in,
    input  logic [UNIT_W-1:0]  part_in,
    input  logic [UNIT_W-1:0]  unit,
    input  logic [UNIT_W-1:0]  carry,
    // High for one cycle, with the result.
    output logic               done,
    output logic [WHOLE_W-1:0] whole,
    output logic [UNIT_W-1:0]  part
);
    // A sum of two doubled parts is below three units; one bit more for the sign of a difference.
    localparam int SUM_W = UNIT_W + 3;

    // What happens in this cycle; one of them is high at most.
    logic               prepares, picks, steps, carries, chooses;
    logic               is_last;
    logic [N_W-1:0]     bits, next_bits;
    logic [COUNT_W-1:0] left, next_left;
    // The part and the whole so far.
    logic [UNIT_W-1:0]  fraction, next_part;
    logic [WHOLE_W-1:0] product, next_product;
    logic [SUM_W-1:0]   one, two, minus_one, wide_part_in;

    assign one = {3'b000, unit};
    assign two = {2'b00, unit, 1'b0};
    assign minus_one = -one;
    assign wide_part_in = {3'b000, part_in};

    // A step adds one of three constants, less 0, 1 or 2 units: with and without the input. Which
    // ones is known a step before (`pick`). The three sums are side by side, so a step is one carry
    // chain long.
    logic [SUM_W-1:0]   add_0, add_1, add_2, skip_1, skip_2;
    logic [SUM_W-1:0]   pick_0, pick_1, pick_2, next_pick_0, next_pick_1, next_pick_2;
    /* verilator lint_off UNUSEDSIGNAL */ // A chosen part is below its unit.
    logic [SUM_W-1:0]   part_0, part_1, part_2;
    /* verilator lint_on UNUSEDSIGNAL */
    // Of each step in a cycle: whether it took place, its bit, and whether it took off a unit, two.
    logic               bit_now, next_bit;
    logic [STEPS-1:0]   did, did_add, did_one, did_two, has_step, has_bit, has_one, has_two;

    always_comb begin
        next_part = fraction;
        next_bits = bits;
        next_bit = bit_now;
        next_left = left;
        next_pick_0 = pick_0;
        next_pick_1 = pick_1;
        next_pick_2 = pick_2;
        part_0 = '0;
        part_1 = '0;
        part_2 = '0;
        has_step = '0;
        has_bit = '0;
        has_one = '0;
        has_two = '0;
        for (int step = 0; step < STEPS; step++) begin
            if (IS_WHOLE != 0 || next_left != 0) begin
                part_0 = {2'b00, next_part, 1'b0} + next_pick_0;
                part_1 = {2'b00, next_part, 1'b0} + next_pick_1;
                part_2 = {2'b00, next_part, 1'b0} + next_pick_2;
                // The largest number of units that leaves no negative part.
                if (!part_2[SUM_W-1]) next_part = part_2[UNIT_W-1:0];
                else if (!part_1[SUM_W-1]) next_part = part_1[UNIT_W-1:0];
                else next_part = part_0[UNIT_W-1:0];
                has_step[step] = 1'b1;
                has_bit[step] = next_bit;
                has_one[step] = !part_1[SUM_W-1];
                has_two[step] = !part_2[SUM_W-1];
                next_bit = next_bits[N_W-1];
                next_pick_0 = next_bit ? add_0 : '0;
                next_pick_1 = next_bit ? add_1 : skip_1;
                next_pick_2 = next_bit ? add_2 : skip_2;
                next_bits = {next_bits[N_W-2:0], 1'b0};
                next_left = next_left - 1;
            end
        end
    end

    // Two units are one in the lowest bit, and one that is carried in.
    always_comb begin
        next_product = product;
        for (int step = 0; step < STEPS; step++)
            if (did[step])
                next_product = {next_product[WHOLE_W-2:0], did_one[step]}
                    + (did_add[step] ? whole_in : '0) + WHOLE_W'(did_two[step]);
    end

    // The carry at the end, with and without a unit less: both sums, then the choice.
    logic [SUM_W-1:0] carry_less;
    /* verilator lint_off UNUSEDSIGNAL */ // A chosen part is below its unit.
    logic [SUM_W-1:0] carried, carried_less;
    /* verilator lint_on UNUSEDSIGNAL */

    assign is_last = left <= COUNT_W'(STEPS);

    always_ff @(posedge clk) begin
        prepares <= start && !rst;
        picks <= prepares && !rst;
        steps <= (picks || (steps && !is_last)) && !rst;
        carries <= steps && is_last && !rst;
        chooses <= carries && !rst;
        done <= chooses && !rst;
        did <= steps ? has_step : '0;
    end

    always_ff @(posedge clk) begin
        carried <= {3'b000, fraction} + {3'b000, carry};
        carried_less <= {3'b000, fraction} + carry_less;
        did_add <= has_bit;
        did_one <= has_one;
        did_two <= has_two;
        if (prepares) begin
            left <= n_bits;
            fraction <= '0;
            add_0 <= wide_part_in;
            add_1 <= wide_part_in - one;
            add_2 <= wide_part_in - two;
            carry_less <= {3'b000, carry} - one;
            skip_1 <= minus_one;
            skip_2 <= {minus_one[SUM_W-2:0], 1'b0};
        end
        if (picks) begin
            pick_0 <= n[N_W-1] ? add_0 : '0;
            pick_1 <= n[N_W-1] ? add_1 : skip_1;
            pick_2 <= n[N_W-1] ? add_2 : skip_2;
            bit_now <= n[N_W-1];
            // The bits after the first.
            bits <= {n[N_W-2:0], 1'b0};
        end
        if (steps) begin
            pick_0 <= next_pick_0;
            pick_1 <= next_pick_1;
            pick_2 <= next_pick_2;
            fraction <= next_part;
            bit_now <= next_bit;
            bits <= next_bits;
            left <= next_left;
        end
    end

    // The results have registers of their own: the path of a step ends without another choice.
    always_ff @(posedge clk) begin
        if (prepares) product <= '0;
        else product <= next_product;
        if (chooses) begin
            part <= carried_less[SUM_W-1] ? carried[UNIT_W-1:0] : carried_less[UNIT_W-1:0];
            whole <= product + WHOLE_W'(!carried_less[SUM_W-1]);
        end
    end
endmodule
