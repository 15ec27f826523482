// First in, first out, in block RAM; the oldest entry waits in a register.
//
// `head_valid` follows a push or a pop by up to two cycles. It is right once it equals
// (count != 0); `settled` says so. A push into a full queue or a pop without a head is ignored.
module descriptor_fifo #(
    parameter int WIDTH = 64,
    parameter int DEPTH_LOG2 = 10
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                push,
    input  logic [WIDTH-1:0]    push_data,
    input  logic                pop,
    output logic                head_valid,
    output logic [WIDTH-1:0]    head,
    output logic                settled,
    output logic                full,
    output logic [DEPTH_LOG2:0] count
);
    localparam int DEPTH = 1 << DEPTH_LOG2;

    // An entry is never read in the cycle that stores it: `stored` does not count it yet.
    (* no_rw_check *)
    logic [WIDTH-1:0]      memory [0:DEPTH-1];
    logic [WIDTH-1:0]      read_data;
    logic [DEPTH_LOG2-1:0] write_at, read_at;
    // Entries in the memory, and whether one of them is on its way to `head`.
    logic [DEPTH_LOG2:0]   stored;
    logic                  reading;
    logic                  pushes, pops, reads;

    assign full = count[DEPTH_LOG2];
    assign pushes = push && !full;
    assign pops = pop && head_valid;
    assign reads = stored != 0 && !reading && !head_valid;
    assign settled = head_valid == (count != 0);

    always_ff @(posedge clk) begin
        if (pushes) memory[write_at] <= push_data;
        read_data <= memory[read_at];
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            write_at <= '0;
            read_at <= '0;
            stored <= '0;
            count <= '0;
            reading <= 1'b0;
            head_valid <= 1'b0;
        end else begin
            if (pushes) write_at <= write_at + 1;
            reading <= reads;
            if (reads) read_at <= read_at + 1;
            stored <= stored + (DEPTH_LOG2 + 1)'(pushes) - (DEPTH_LOG2 + 1)'(reads);
            count <= count + (DEPTH_LOG2 + 1)'(pushes) - (DEPTH_LOG2 + 1)'(pops);
            head_valid <= reading || (head_valid && !pops);
        end
    end

    always_ff @(posedge clk) if (reading) head <= read_data;
endmodule
