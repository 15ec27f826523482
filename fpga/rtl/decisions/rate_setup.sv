// What follows from a rate: a byte's time, the bytes of a time limit, and the carry at a new rate.
//
// Three products of the multiplier of `shared_multiplier`, one after the other:
//   8e12 * 1/rate           = byte_ps + byte_part/rate
//   limit_ps * rate/8e12    = the bytes that the rate sends within the limit, rounded down
//   new rate * carry/rate   = the carry in units of the new rate, rounded down
module rate_setup (
    input  logic                              clk,
    input  logic                              rst,
    // The inputs must be steady from `start` to `done`.
    input  logic                              start,
    input  logic [narrows_pkg::RATE_W-1:0]    rate,
    input  logic [narrows_pkg::RATE_W-1:0]    old_rate,
    input  logic [narrows_pkg::RATE_W-1:0]    old_carry,
    input  logic [narrows_pkg::TIME_W-1:0]    limit_ps,
    output logic                              done,
    output logic [narrows_pkg::BYTE_PS_W-1:0] byte_ps,
    output logic [narrows_pkg::RATE_W-1:0]    byte_part,
    output logic [narrows_pkg::TIME_W-1:0]    limit_bytes,
    output logic [narrows_pkg::RATE_W-1:0]    carry,

    // Asks for n * part_in/unit; `ready` is high when it comes, as whole + part/unit.
    output logic                              go,
    output logic [narrows_pkg::TIME_W-1:0]    n,
    output logic [narrows_pkg::BYTE_PS_W-1:0] part_in,
    output logic [narrows_pkg::BYTE_PS_W-1:0] unit,
    input  logic                              ready,
    input  logic [narrows_pkg::TIME_W-1:0]    whole,
    /* verilator lint_off UNUSEDSIGNAL */ // A part is below its unit, the rate.
    input  logic [narrows_pkg::BYTE_PS_W-1:0] part
    /* verilator lint_on UNUSEDSIGNAL */
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int RATE_W = narrows_pkg::RATE_W;
    localparam int UNIT_W = narrows_pkg::BYTE_PS_W;
    localparam int PAD = UNIT_W - RATE_W;

    localparam logic [1:0] IDLE = 2'd0, BYTE = 2'd1, LIMIT = 2'd2, CARRY = 2'd3;
    logic [1:0] stage;

    always_comb begin
        case (stage)
            LIMIT: begin
                n = limit_ps;
                part_in = {{PAD{1'b0}}, rate};
                unit = narrows_pkg::BYTE_PS;
            end
            CARRY: begin
                n = {{(TIME_W - RATE_W){1'b0}}, rate};
                part_in = {{PAD{1'b0}}, old_carry};
                unit = {{PAD{1'b0}}, old_rate};
            end
            default: begin
                n = {{(TIME_W - UNIT_W){1'b0}}, narrows_pkg::BYTE_PS};
                part_in = 1;
                unit = {{PAD{1'b0}}, rate};
            end
        endcase
    end

    always_ff @(posedge clk) begin
        go <= 1'b0;
        done <= 1'b0;
        if (rst) begin
            stage <= IDLE;
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
                byte_ps <= whole[UNIT_W-1:0];
                byte_part <= part[RATE_W-1:0];
            end
            if (stage == LIMIT) limit_bytes <= whole;
            if (stage == CARRY) carry <= whole[RATE_W-1:0];
        end
    end
endmodule
