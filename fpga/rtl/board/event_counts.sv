// Counts what happens to a direction beside the ledger, and the latest frame.
//
// Addresses: 0 frames with an error, 1 runts, 2 giants, 3 rows lost, 4 frames that left, 5 frames
// that left late, 6 underruns, 7 the picoseconds by which the latest frame was late.
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
    // Right in the second cycle after a change of the address.
    input  logic [3:0]                     address,
    output logic [31:0]                    count
);
    localparam int EVENTS = 7;
    logic [EVENTS-1:0]    happens;
    logic [32*EVENTS-1:0] counts;
    logic                 is_late, has_left, is_compared, is_latest;
    logic [31:0]          late_by, latest;

    assign faults = {is_underrun, row_lost, is_late};

    always_ff @(posedge clk) begin
        has_left <= left;
        if (left) late_by <= |left_late_by[narrows_pkg::TIME_W-1:32] ? '1 : left_late_by[31:0];
        is_compared <= has_left;
        is_latest <= latest < late_by;
        is_late <= (has_left && late_by >= 32'(PERIOD_PS)) || waited;
        happens <= {is_underrun, is_late, left, row_lost, is_giant, is_runt, is_errored};
        for (int n = 0; n < EVENTS; n++)
            if (happens[n]) counts[32*n +: 32] <= counts[32*n +: 32] + 1;
        if (is_compared && is_latest) latest <= late_by;
        count <= address == 4'(EVENTS) ? latest : 32'd0;
        for (int n = 0; n < EVENTS; n++) if (address == 4'(n)) count <= counts[32*n +: 32];
        if (rst) begin
            counts <= '0;
            latest <= '0;
            has_left <= 1'b0;
            is_compared <= 1'b0;
            happens <= '0;
        end
    end
endmodule
