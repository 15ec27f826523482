// The queue's memory keeps order and loses nothing, for all sequences of pushes and pops.
//
// The pushed values are numbered; so each popped value must be the next number.
module descriptor_fifo_proof (
    input logic clk,
    input logic push,
    input logic pop
);
    localparam int DEPTH_LOG2 = 2;
    localparam int WIDTH = 8;
    logic                rst = 1'b1;
    logic                head_valid, settled, full;
    logic [WIDTH-1:0]    pushed = '0, popped = '0, head;
    logic [DEPTH_LOG2:0] count;

    descriptor_fifo #(.WIDTH(WIDTH), .DEPTH_LOG2(DEPTH_LOG2)) fifo (
        .clk, .rst, .push, .push_data(pushed), .pop, .head_valid, .head, .settled, .full, .count
    );

    always_ff @(posedge clk) begin
        rst <= 1'b0;
        if (!rst && push && !full) pushed <= pushed + 1;
        if (!rst && pop && head_valid) popped <= popped + 1;
    end

    always_comb begin
        if (!rst) begin
            assert (WIDTH'(count) == pushed - popped);
            assert (count <= 1 << DEPTH_LOG2);
            assert (full == (count == 1 << DEPTH_LOG2));
            if (head_valid) assert (head == popped && count != 0);
            if (settled) assert (head_valid == (count != 0));
        end
    end
endmodule
