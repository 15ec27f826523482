// A gigabit bottleneck in both directions between two PHYs, with its management at port 0.
//
// Direction 0 is from port 0 to port 1, direction 1 the other way. A PHY is bytes with valid and
// error flags, as on GMII; boards/ has what a PHY's pins need. Receivers run on their PHYs' clocks,
// transmitters on `line_clk`. All else runs on `clk`, half as fast, and takes two bytes in a cycle;
// the time base counts its period. The clocks' edges are aligned, so a frame's first bit leaves a
// constant time after its instant.
module bottleneck_board #(
    // Of `clk`.
    parameter int PERIOD_PS = 16000,
    parameter longint LINE_RATE = 64'd1_000_000_000,
    // The decisions take 170 cycles with new settings, a frame of the board's own 70. Frames from
    // an SDRAM have 125 more.
    parameter longint LEAST_DELAY_PS = 64'd4_000_000,
    parameter int QUIET_PS = 1_300_000,
    // Of the arithmetic, in a cycle.
    parameter int STEPS = 2,
    parameter int HAS_CODEL = 1,
    // Whether block RAM holds the registers that can be read, or LUTs.
    parameter int BLOCK_COPIES = 1,
    parameter int MEMORY_LOG2_0 = 15,
    parameter int MEMORY_LOG2_1 = 14,
    parameter int DEPTH_LOG2 = 9,
    // Direction 0 may have its frames in an SDRAM (bottleneck_port.sv), and more of them.
    parameter int DEPTH_LOG2_0 = DEPTH_LOG2,
    parameter int SDRAM_REST_CYCLES = 0,
    parameter logic [47:0] OWN_MAC = 48'h024E42000001,
    // 192.168.78.66
    parameter logic [31:0] OWN_IP = 32'hC0A84E42
) (
    input  logic       clk,
    input  logic       line_clk,
    input  logic       rst,

    input  logic       rx_0_clk,
    input  logic       rx_0_valid,
    input  logic       rx_0_error,
    input  logic [7:0] rx_0_data,
    output logic       tx_0_valid,
    output logic       tx_0_error,
    output logic [7:0] tx_0_data,

    input  logic       rx_1_clk,
    input  logic       rx_1_valid,
    input  logic       rx_1_error,
    input  logic [7:0] rx_1_data,
    output logic       tx_1_valid,
    output logic       tx_1_error,
    output logic [7:0] tx_1_data,

    input  logic [31:0]    sdram_data,
    output narrows_sdram_t sdram
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int VALUE_W = narrows_board_pkg::VALUE_W;
    localparam logic [47:0] LAYOUT
        = {6'd0, SDRAM_REST_CYCLES != 0, HAS_CODEL != 0, 8'd2, 8'(DEPTH_LOG2_0), 8'(MEMORY_LOG2_0), 8'(DEPTH_LOG2),
           8'(MEMORY_LOG2_1)};

    // A reset for each part, each a cycle later: none is far from what it resets.
    logic rst_0, rst_1, rst_own;
    always_ff @(posedge clk) begin
        rst_0 <= rst;
        rst_1 <= rst_0;
        rst_own <= rst_1;
    end

    logic [TIME_W-1:0] now, ahead;
    time_base #(.PERIOD_PS(PERIOD_PS)) clock (.clk, .rst, .now, .ahead);

    // The register bus.
    logic [2:0]         select;
    logic               is_write, done_board, done_0, done_1;
    logic [7:0]         address, status_board, status_0, status_1;
    logic [VALUE_W-1:0] value, result_board, result_0, result_1;

    // Direction 0: port 0 in, port 1 out.
    logic         beat, beat_odd, beat_last, beat_error, is_for_board;
    logic [15:0]  beat_data;
    logic         out_0_valid, out_0_ready, out_0_odd, out_0_last, waits_1, idle_1, underrun_1;
    logic         sends_1, sends_1_ready, sends_1_odd, sends_1_last;
    logic [15:0]  out_0_data, sends_1_data;
    logic         row_0_valid, row_0_ready, row_1_valid, row_1_ready;
    narrows_row_t row_0, row_1;
    logic [2:0]   faults_0, faults_1;

    /* verilator lint_off PINCONNECTEMPTY */
    direction #(
        .MEMORY_LOG2(MEMORY_LOG2_0), .DEPTH_LOG2(DEPTH_LOG2_0),
        .SDRAM_REST_CYCLES(SDRAM_REST_CYCLES), .PERIOD_PS(PERIOD_PS),
        .LINE_RATE(LINE_RATE), .LEAST_DELAY_PS(LEAST_DELAY_PS), .QUIET_PS(QUIET_PS),
        .STEPS(STEPS), .HAS_CODEL(HAS_CODEL), .BLOCK_COPIES(BLOCK_COPIES)
    ) direction_0 (
        .clk, .rst(rst_0), .now, .ahead,
        .rx_clk(rx_0_clk), .rx_valid(rx_0_valid), .rx_error(rx_0_error), .rx_data(rx_0_data),
        .beat, .beat_data, .beat_odd, .beat_last, .beat_error, .is_for_board,
        .out_valid(out_0_valid), .out_ready(out_0_ready), .out_data(out_0_data),
        .out_odd(out_0_odd), .out_last(out_0_last), .is_quiet(), .waited(waits_1),
        .is_underrun(underrun_1),
        .select(select[1]), .is_write, .address, .value, .done(done_0), .status(status_0),
        .result(result_0), .row_valid(row_0_valid), .row_ready(row_0_ready), .row(row_0),
        .faults(faults_0), .line_clk, .sdram, .sdram_data
    );
    // Nothing else is sent at port 1.
    frame_arbiter arbiter_1 (
        .clk, .rst(rst_0), .is_quiet(1'b0), .data_valid(out_0_valid), .data_ready(out_0_ready),
        .data({out_0_odd, out_0_data}), .data_last(out_0_last), .own_valid(1'b0), .own_ready(),
        .own_data(17'd0), .own_last(1'b0), .is_idle(idle_1), .out_valid(sends_1),
        .out_ready(sends_1_ready), .out_data({sends_1_odd, sends_1_data}),
        .out_last(sends_1_last), .waited(waits_1)
    );
    /* verilator lint_on PINCONNECTEMPTY */
    frame_transmitter transmitter_1 (
        .clk, .rst(rst_0), .in_valid(sends_1), .in_ready(sends_1_ready), .in_data(sends_1_data),
        .in_odd(sends_1_odd), .in_last(sends_1_last), .is_idle(idle_1), .is_underrun(underrun_1),
        .line_clk, .tx_valid(tx_1_valid), .tx_error(tx_1_error), .tx_data(tx_1_data)
    );

    // Direction 1: port 1 in, port 0 out, which it shares with the management.
    logic        out_1_valid, out_1_ready, out_1_odd, out_1_last, is_quiet;
    logic        waits_0, idle_0, underrun_0, sends_0, sends_0_ready, sends_0_odd, sends_0_last;
    logic        own_valid, own_ready, own_last;
    logic [15:0] out_1_data, own_data, sends_0_data;

    /* verilator lint_off PINCONNECTEMPTY */
    direction #(
        .MEMORY_LOG2(MEMORY_LOG2_1), .DEPTH_LOG2(DEPTH_LOG2), .PERIOD_PS(PERIOD_PS),
        .LINE_RATE(LINE_RATE), .LEAST_DELAY_PS(LEAST_DELAY_PS), .QUIET_PS(QUIET_PS),
        .STEPS(STEPS), .HAS_CODEL(HAS_CODEL), .BLOCK_COPIES(BLOCK_COPIES)
    ) direction_1 (
        .clk, .rst(rst_1), .now, .ahead,
        .rx_clk(rx_1_clk), .rx_valid(rx_1_valid), .rx_error(rx_1_error), .rx_data(rx_1_data),
        .beat(), .beat_data(), .beat_odd(), .beat_last(), .beat_error(), .is_for_board(1'b0),
        .out_valid(out_1_valid), .out_ready(out_1_ready), .out_data(out_1_data),
        .out_odd(out_1_odd), .out_last(out_1_last), .is_quiet, .waited(waits_0),
        .is_underrun(underrun_0),
        .select(select[2]), .is_write, .address, .value, .done(done_1), .status(status_1),
        .result(result_1), .row_valid(row_1_valid), .row_ready(row_1_ready), .row(row_1),
        .faults(faults_1), .line_clk, .sdram(), .sdram_data(32'd0)
    );
    /* verilator lint_on PINCONNECTEMPTY */
    frame_arbiter arbiter_0 (
        .clk, .rst(rst_1), .is_quiet, .data_valid(out_1_valid), .data_ready(out_1_ready),
        .data({out_1_odd, out_1_data}), .data_last(out_1_last), .own_valid, .own_ready,
        .own_data({1'b0, own_data}), .own_last, .is_idle(idle_0), .out_valid(sends_0),
        .out_ready(sends_0_ready), .out_data({sends_0_odd, sends_0_data}),
        .out_last(sends_0_last), .waited(waits_0)
    );
    frame_transmitter transmitter_0 (
        .clk, .rst(rst_1), .in_valid(sends_0), .in_ready(sends_0_ready), .in_data(sends_0_data),
        .in_odd(sends_0_odd), .in_last(sends_0_last), .is_idle(idle_0), .is_underrun(underrun_0),
        .line_clk, .tx_valid(tx_0_valid), .tx_error(tx_0_error), .tx_data(tx_0_data)
    );

    logic        is_malformed, is_missed, is_answered, is_reported;
    logic [1:0]  report_enable;
    logic [47:0] collector_mac;
    logic [31:0] collector_ip;
    logic [15:0] collector_port;

    management manager (
        .clk, .rst(rst_own), .own_mac(OWN_MAC), .own_ip(OWN_IP),
        .beat, .beat_data, .beat_odd, .beat_last, .beat_error, .is_for_board,
        .is_malformed, .is_missed, .is_answered, .is_reported,
        .select, .is_write, .address, .value, .done(done_board || done_0 || done_1),
        // Those that were not asked answer with zeros.
        .status(status_board | status_0 | status_1), .result(result_board | result_0 | result_1),
        .report_enable, .collector_mac, .collector_ip, .collector_port,
        .row_0_valid, .row_0_ready, .row_0, .row_1_valid, .row_1_ready, .row_1,
        .out_valid(own_valid), .out_ready(own_ready), .out_data(own_data), .out_last(own_last)
    );
    board_registers #(
        .LAYOUT(LAYOUT), .PERIOD_PS(PERIOD_PS), .LINE_RATE(LINE_RATE)
    ) registers (
        .clk, .rst(rst_own), .now, .own_mac(OWN_MAC), .own_ip(OWN_IP), .select(select[0]),
        .is_write, .address, .value, .done(done_board), .status(status_board),
        .result(result_board), .faults({is_malformed, is_missed, faults_1, faults_0}),
        .is_answered, .is_malformed, .is_missed, .is_reported, .report_enable, .collector_mac,
        .collector_ip, .collector_port
    );
endmodule
