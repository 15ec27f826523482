// A count in one clock, seen in another: Gray code through two registers, so no value is seen that
// the count did not have. It is seen three to four cycles late.
module count_crossing #(
    parameter int WIDTH = 4
) (
    input  logic             in_clk,
    input  logic             in_rst,
    input  logic             in_step,
    output logic [WIDTH-1:0] in_count,
    input  logic             out_clk,
    output logic [WIDTH-1:0] out_count
);
    logic [WIDTH-1:0] next, gray, near, seen, binary;
    assign next = in_count + 1;

    always_ff @(posedge in_clk)
        if (in_rst) begin
            in_count <= '0;
            gray <= '0;
        end else if (in_step) begin
            in_count <= next;
            gray <= next ^ {1'b0, next[WIDTH-1:1]};
        end

    // A bit is the parity of those from its place on.
    always_comb for (int n = 0; n < WIDTH; n++) binary[n] = ^(seen >> n);
    always_ff @(posedge out_clk) begin
        near <= gray;
        seen <= near;
        out_count <= binary;
    end
endmodule
