// Counts what happens to a direction beside the ledger, and the latest frame.
//
// Addresses: 0 frames with an error, 1 runts, 2 giants, 3 rows lost, 4 frames that left, 5 frames
// that left late, 6 underruns, 7 the picoseconds by which the latest frame was late.
//
// The counts are in distributed RAM with one adder: each has its turn every eight cycles, and takes
// what happened since. The reset takes eight cycles.
module event_counts #(
    parameter int PERIOD_PS = 8000
) (
    input  logic                           clk,
    input  logic                           rst,
    // In the order of the addresses.
    input  logic                           is_errored,
    input  logic                           is_runt,
    input  logic                           is_giant,
    input  logic                           row_lost,
    input  logic                           left,
    input  logic [narrows_pkg::TIME_W-1:0] left_late_by,
    // A frame was ready before the transmitter was.
    input  logic                           waited,
    input  logic                           is_underrun,

    // A fault for one cycle: a late frame, a lost row, an underrun.
    output logic [2:0]                     faults,
    // Right in the tenth cycle after a change of the address.
    input  logic [3:0]                     address,
    output logic [31:0]                    count
);
    localparam int EVENTS = 7;
    // What happens in eight cycles.
    localparam int SINCE_W = 4;
    logic [31:0]               counts [0:7];
    logic [2:0]                turn = '0;
    logic [EVENTS-1:0]         happens;
    logic [SINCE_W*EVENTS-1:0] since;
    logic [SINCE_W-1:0]        added, next_added;
    logic [31:0]               sum;
    logic                      is_late, has_left, is_compared, is_latest;
    logic [31:0]               late_by, latest;

    assign faults = {is_underrun, row_lost, is_late};
    assign sum = rst ? '0 : counts[turn] + 32'(added);

    always_comb begin
        next_added = '0;
        for (int n = 0; n < EVENTS; n++)
            if (turn == 3'(n - 1)) next_added = since[SINCE_W*n +: SINCE_W];
    end

    always_ff @(posedge clk) begin
        turn <= turn + 1;
        added <= next_added;
        counts[turn] <= sum;
        for (int n = 0; n < EVENTS; n++)
            since[SINCE_W*n +: SINCE_W] <= (turn == 3'(n - 1) ? '0 : since[SINCE_W*n +: SINCE_W])
                + SINCE_W'(happens[n]);
        if (address[3]) count <= '0;
        else if (address[2:0] == 3'(EVENTS)) count <= latest;
        else if (address[2:0] == turn) count <= sum;
        if (rst) since <= '0;
    end

    always_ff @(posedge clk) begin
        has_left <= left;
        if (left) late_by <= |left_late_by[narrows_pkg::TIME_W-1:32] ? '1 : left_late_by[31:0];
        is_compared <= has_left;
        is_latest <= latest < late_by;
        is_late <= (has_left && late_by >= 32'(PERIOD_PS)) || waited;
        happens <= {is_underrun, is_late, left, row_lost, is_giant, is_runt, is_errored};
        if (is_compared && is_latest) latest <= late_by;
        if (rst) begin
            latest <= '0;
            has_left <= 1'b0;
            is_compared <= 1'b0;
            happens <= '0;
        end
    end
endmodule
