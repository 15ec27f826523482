// The fraction multiplier is its specification, for all inputs of these widths:
//   whole * unit + part = n * (whole_in * unit + part_in) + carry, and part < unit,
// where n is the upper `n_bits` bits of its port.
// Nothing in the module depends on a width, so small ones stand for the rest.
module fraction_multiplier_proof #(
    parameter int STEPS = 1
) (
    input logic clk
);
    // Any inputs, steady from `start` to `done`.
    (* anyconst *) logic [2:0] n, part_in, unit, carry;
    (* anyconst *) logic [1:0] whole_in, n_bits;

    localparam int WHOLE_W = 6;
    logic               rst = 1'b1;
    logic [3:0]         cycle = '0;
    logic               done;
    logic [WHOLE_W-1:0] whole;
    logic [2:0]         part, factor;
    assign factor = n >> (2'd3 - n_bits);

    fraction_multiplier #(.N_W(3), .WHOLE_W(WHOLE_W), .UNIT_W(3), .STEPS(STEPS)) multiplier (
        .clk, .rst, .start(cycle == 1), .n, .n_bits, .whole_in({4'd0, whole_in}), .part_in, .unit, .carry,
        .done, .whole, .part
    );

    always_ff @(posedge clk) begin
        rst <= 1'b0;
        cycle <= cycle + 1;
    end

    always_comb begin
        assume (unit != 0 && part_in <= unit && carry < unit && n_bits != 0);
        if (cycle != 0 && done) begin
            assert (part < unit);
            assert (10'(whole) * unit + part == 10'(factor) * (10'(whole_in) * unit + part_in) + carry);
        end
        // It ends in time: two for the constants, a step for each bit, and two for the carry.
        if (cycle == 9) assert (done == (STEPS == 1 && n_bits == 3));
    end
endmodule
