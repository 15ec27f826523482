// What follows from a rate: a byte's time, the bytes of a time limit, and the carry at a new rate.
//
// Three products of the multiplier of `shared_multiplier`, one after the other:
//   8e12 * 1/rate           = byte_ps + byte_part/rate
//   limit_ps * rate/(8e12/2^k) / 2^k = the bytes that the rate sends within the limit, rounded
//   down twice, which is once; 2^k makes the unit as narrow as a rate
//   new rate * carry/rate   = the carry in units of the new rate, rounded down
module rate_setup #(
    // Of the multiplier: a factor's bits are a multiple of its steps in a cycle.
    parameter int STEPS = 1,
    // Bits of the highest rate.
    parameter int RATE_BITS = narrows_pkg::RATE_W,
    localparam int UNIT_W = RATE_BITS + 1
) (
    input  logic                              clk,
    input  logic                              rst,
    // The inputs must be steady from `start` to `done`.
    input  logic                              start,
    input  logic [RATE_BITS-1:0]              rate,
    input  logic [RATE_BITS-1:0]              old_rate,
    input  logic [RATE_BITS-1:0]              old_carry,
    input  logic [narrows_pkg::TIME_W-1:0]    limit_ps,
    output logic                              done,
    // These change while the new settings are set up, and nothing else happens then.
    output logic [narrows_pkg::BYTE_PS_W-1:0] byte_ps,
    output logic [RATE_BITS-1:0]              byte_part,
    output logic [narrows_pkg::TIME_W-1:0]    limit_bytes,
    output logic [RATE_BITS-1:0]              carry,

    // Asks for n * part_in/unit, n in the upper `n_bits` bits; `ready` is high when it comes, as
    // whole + part/unit.
    output logic                              go,
    output logic [narrows_pkg::TIME_W-1:0]    n,
    output logic [6:0]                        n_bits,
    output logic [UNIT_W-1:0]                 part_in,
    output logic [UNIT_W-1:0]                 unit,
    input  logic                              ready,
    input  logic [narrows_pkg::TIME_W-1:0]    whole,
    /* verilator lint_off UNUSEDSIGNAL */ // A part is below its unit, the rate.
    input  logic [UNIT_W-1:0]                 part
    /* verilator lint_on UNUSEDSIGNAL */
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int BYTE_PS_W = narrows_pkg::BYTE_PS_W;
    localparam int BYTE_BITS = (BYTE_PS_W + STEPS - 1) / STEPS * STEPS;
    localparam int CARRY_BITS = (RATE_BITS + STEPS - 1) / STEPS * STEPS;
    // 8e12 is 5^12 * 2^15: exact for rates of 27 bits or more.
    localparam int LIMIT_SHIFT = BYTE_PS_W - 1 - RATE_BITS;

    localparam logic [1:0] IDLE = 2'd0, BYTE = 2'd1, LIMIT = 2'd2, CARRY = 2'd3;
    logic [1:0] stage;

    always_comb begin
        case (stage)
            LIMIT: begin
                n = limit_ps;
                n_bits = 7'(TIME_W);
                part_in = {1'b0, rate};
                unit = UNIT_W'(narrows_pkg::BYTE_PS >> LIMIT_SHIFT);
            end
            CARRY: begin
                n = TIME_W'(rate) << (TIME_W - CARRY_BITS);
                n_bits = 7'(CARRY_BITS);
                part_in = {1'b0, old_carry};
                unit = {1'b0, old_rate};
            end
            default: begin
                n = TIME_W'(narrows_pkg::BYTE_PS) << (TIME_W - BYTE_BITS);
                n_bits = 7'(BYTE_BITS);
                part_in = 1;
                unit = {1'b0, rate};
            end
        endcase
    end

    always_ff @(posedge clk) begin
        go <= 1'b0;
        done <= 1'b0;
        if (rst) begin
            stage <= IDLE;
            // A gigabit without a limit, until the first settings.
            byte_ps <= BYTE_PS_W'(8000);
            byte_part <= '0;
            limit_bytes <= '1;
        end else if (stage == IDLE) begin
            if (start) begin
                stage <= BYTE;
                go <= 1'b1;
            end
        end else if (ready) begin
            stage <= stage + 1;
            go <= stage != CARRY;
            done <= stage == CARRY;
            if (stage == BYTE) begin
                byte_ps <= whole[BYTE_PS_W-1:0];
                byte_part <= part[RATE_BITS-1:0];
            end
            if (stage == LIMIT) limit_bytes <= whole >> LIMIT_SHIFT;
            if (stage == CARRY) carry <= whole[RATE_BITS-1:0];
        end
    end
endmodule
