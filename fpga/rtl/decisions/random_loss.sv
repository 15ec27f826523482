// Random loss by xoshiro256++ (common/src/rng.rs): one draw per arrival while a loss is in force.
//
// A packet is lost if the upper 53 bits of a draw are below `threshold`, the loss probability times
// 2^53 rounded up. That is the comparison of `Rng::chance`. A zero threshold draws nothing. The
// state is set whole: the driver expands a seed by SplitMix64, as `Rng::from_seed` does.
module random_loss (
    input  logic         clk,
    input  logic         rst,
    input  logic         set_state,
    input  logic [255:0] new_state,
    input  logic [53:0]  threshold,
    // Takes the next number; `lost` is that of the number before it is taken. It is right from the
    // fourth cycle after `draw`, `set_state` or a change of the threshold. `new_state` is read in
    // the cycle after `set_state`.
    input  logic         draw,
    output logic         lost
);
    // The fraction bits of a double: `Rng::f64` keeps 53 of a draw.
    localparam int KEPT = 53;

    // Each word is declared alone: Icarus 11 does not read arrays in always_comb.
    logic [63:0] s0, s1, s2, s3;
    logic [63:0] sum;
    /* verilator lint_off UNUSEDSIGNAL */ // A double keeps the upper bits.
    logic [63:0] result;
    /* verilator lint_on UNUSEDSIGNAL */
    logic [63:0] mixed2, mixed3;
    logic        is_lossy, sets, draws;

    // A cycle for each carry chain, and one for what changes the 256 bits of the state.
    always_ff @(posedge clk) begin
        sets <= set_state && !rst;
        draws <= draw && is_lossy && !rst;
        is_lossy <= threshold != 0;
        sum <= s0 + s3;
        result <= {sum[40:0], sum[63:41]} + s0;
        lost <= {1'b0, result[63-:KEPT]} < threshold;
    end
    assign mixed2 = s2 ^ s0;
    assign mixed3 = s3 ^ s1;

    always_ff @(posedge clk) begin
        if (rst) begin
            {s3, s2, s1, s0} <= 256'd1;
        end else if (sets) begin
            {s3, s2, s1, s0} <= new_state;
        end else if (draws) begin
            s1 <= s1 ^ mixed2;
            s0 <= s0 ^ mixed3;
            s2 <= mixed2 ^ {s1[46:0], 17'd0};
            s3 <= {mixed3[18:0], mixed3[63:19]};
        end
    end
endmodule
