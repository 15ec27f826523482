// A few entries in registers; an entry can be taken in the cycle after its push.
module short_fifo #(
    parameter int WIDTH = 64,
    parameter int DEPTH_LOG2 = 2
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                push,
    input  logic [WIDTH-1:0]    push_data,
    output logic                full,
    input  logic                pop,
    output logic                valid,
    output logic [WIDTH-1:0]    data,
    output logic [DEPTH_LOG2:0] count
);
    logic [WIDTH-1:0]      entries [0:(1 << DEPTH_LOG2)-1];
    logic [DEPTH_LOG2-1:0] push_at, pop_at;

    assign full = count[DEPTH_LOG2];
    assign valid = count != 0;
    assign data = entries[pop_at];

    always_ff @(posedge clk) begin
        if (push) entries[push_at] <= push_data;
        if (rst) begin
            push_at <= '0;
            pop_at <= '0;
            count <= '0;
        end else begin
            if (push) push_at <= push_at + 1;
            if (pop) pop_at <= pop_at + 1;
            count <= count + (DEPTH_LOG2 + 1)'(push) - (DEPTH_LOG2 + 1)'(pop);
        end
    end
endmodule
