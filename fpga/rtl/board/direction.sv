// One direction of a board: the PHY's bytes in, the bottleneck, frames to the other PHY out.
module direction #(
    parameter int MEMORY_LOG2 = 15,
    parameter int DEPTH_LOG2 = 9,
    parameter int PERIOD_PS = 8000,
    parameter longint LINE_RATE = 64'd1_000_000_000,
    parameter longint LEAST_DELAY_PS = 64'd4_000_000,
    parameter int QUIET_PS = 1_200_000
) (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_pkg::TIME_W-1:0]        now,
    input  logic [narrows_pkg::TIME_W-1:0]        ahead,

    input  logic                                  rx_clk,
    input  logic                                  rx_valid,
    input  logic                                  rx_error,
    input  logic [7:0]                            rx_data,

    // The received bytes as the data path takes them, and whether the frame ends with the board.
    output logic                                  beat,
    output logic [7:0]                            beat_data,
    output logic                                  beat_last,
    output logic                                  beat_error,
    input  logic                                  is_for_board,

    output logic                                  out_valid,
    input  logic                                  out_ready,
    output logic [7:0]                            out_data,
    output logic                                  out_last,
    output logic                                  is_quiet,
    input  logic                                  waited,
    input  logic                                  is_underrun,

    // The register bus (port_registers.sv).
    input  logic                                  select,
    input  logic                                  is_write,
    input  logic [7:0]                            address,
    input  logic [narrows_board_pkg::VALUE_W-1:0] value,
    output logic                                  done,
    output logic [7:0]                            status,
    output logic [narrows_board_pkg::VALUE_W-1:0] result,

    output logic                                  row_valid,
    input  logic                                  row_ready,
    output narrows_row_t                          row,
    output logic [2:0]                            faults
);
    localparam int TIME_W = narrows_pkg::TIME_W;

    // In: the reset, in the PHY's clock, and the frames.
    logic       rst_near, rx_rst, frame_valid, frame_last, frame_error;
    logic       in_valid, in_ready, is_pause;
    logic [7:0] frame_data;

    always_ff @(posedge rx_clk) begin
        rst_near <= rst;
        rx_rst <= rst_near;
    end
    mac_receiver receiver (
        .clk(rx_clk), .rst(rx_rst), .rx_valid, .rx_error, .rx_data, .out_valid(frame_valid),
        .out_data(frame_data), .out_last(frame_last), .out_error(frame_error)
    );
    clock_crossing crossing (
        .in_clk(rx_clk), .in_rst(rx_rst), .in_valid(frame_valid), .in_data(frame_data),
        .in_last(frame_last), .in_error(frame_error),
        .out_clk(clk), .out_rst(rst), .out_valid(in_valid), .out_ready(in_ready),
        .out_data(beat_data), .out_last(beat_last), .out_error(beat_error)
    );
    assign beat = in_valid && in_ready;
    pause_filter pauses (.clk, .rst, .beat, .data(beat_data), .last(beat_last), .is_pause);

    logic              settings_valid, settings_ready, count_read, count_done;
    logic [TIME_W-1:0] settings_at, left_late_by;
    narrows_settings_t settings;
    logic [6:0]        count_address;
    logic [47:0]       count;
    logic              is_errored, is_runt, is_giant, row_lost, left;
    logic [3:0]        event_address;
    logic [31:0]       event_count;

    /* verilator lint_off PINCONNECTEMPTY */ // A word is a byte.
    bottleneck_port #(
        .DATA_WIDTH(8), .MEMORY_LOG2(MEMORY_LOG2), .DEPTH_LOG2(DEPTH_LOG2), .PERIOD_PS(PERIOD_PS),
        .QUIET_PS(QUIET_PS)
    ) port (
        .clk, .rst, .now, .ahead, .in_valid, .in_ready, .in_data(beat_data), .in_keep(1'b1),
        .in_last(beat_last), .in_error(beat_error), .in_taken(is_for_board || is_pause),
        .out_valid, .out_ready, .out_data, .out_keep(), .out_last,
        .settings_valid, .settings_ready, .settings_at, .settings, .row_valid, .row_ready, .row,
        .count_read, .count_address, .count_done, .count, .is_quiet,
        .is_errored, .is_runt, .is_giant, .row_lost, .left, .left_late_by
    );
    /* verilator lint_on PINCONNECTEMPTY */
    port_registers #(.LINE_RATE(LINE_RATE), .LEAST_DELAY_PS(LEAST_DELAY_PS)) registers (
        .clk, .rst, .now, .select, .is_write, .address, .value, .done, .status, .result,
        .settings_valid, .settings_ready, .settings_at, .settings,
        .count_read, .count_address, .count_done, .count, .event_address, .event_count
    );
    event_counts #(.PERIOD_PS(PERIOD_PS)) events (
        .clk, .rst, .is_errored, .is_runt, .is_giant, .row_lost, .left, .left_late_by, .waited,
        .is_underrun, .faults, .address(event_address), .count(event_count)
    );
endmodule
