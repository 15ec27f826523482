// One direction of a board: the PHY's bytes in, the bottleneck, words to the other PHY out.
module direction #(
    parameter int MEMORY_LOG2 = 15,
    parameter int DEPTH_LOG2 = 9,
    // Of an SDRAM (bottleneck_port.sv); 0 is block RAM.
    parameter int SDRAM_REST_CYCLES = 0,
    parameter int PERIOD_PS = 16000,
    parameter longint LINE_RATE = 64'd1_000_000_000,
    parameter longint LEAST_DELAY_PS = 64'd4_000_000,
    parameter int QUIET_PS = 1_300_000,
    parameter int STEPS = 2,
    parameter int HAS_CODEL = 1,
    parameter int BLOCK_COPIES = 1
) (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_pkg::TIME_W-1:0]        now,
    input  logic [narrows_pkg::TIME_W-1:0]        ahead,

    input  logic                                  rx_clk,
    input  logic                                  rx_valid,
    input  logic                                  rx_error,
    input  logic [7:0]                            rx_data,

    // The received words, and whether the frame ends with the board.
    output logic                                  beat,
    output logic [15:0]                           beat_data,
    output logic                                  beat_odd,
    output logic                                  beat_last,
    output logic                                  beat_error,
    input  logic                                  is_for_board,

    output logic                                  out_valid,
    input  logic                                  out_ready,
    output logic [15:0]                           out_data,
    // The last word has one byte.
    output logic                                  out_odd,
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
    output logic [2:0]                            faults,

    input  logic                                  line_clk,
    input  logic [31:0]                           sdram_data,
    output narrows_sdram_t                        sdram
);
    localparam int TIME_W = narrows_pkg::TIME_W;
    // A port starts with a gigabit.
    localparam int RATE_BITS
        = LINE_RATE > 64'd1_000_000_000 ? $clog2(LINE_RATE + 1) : $clog2(1_000_000_001);

    // In: the reset, in the PHY's clock, and the frames.
    logic        rst_near, rx_rst, byte_valid, byte_last, byte_error, is_pause;
    logic        word_valid, word_odd, word_last, word_error, word_pause;
    logic        in_valid, in_ready, in_odd, in_last, in_error, in_pause;
    logic [7:0]  rx_byte;
    logic [15:0] word, in_data;

    always_ff @(posedge rx_clk) begin
        rst_near <= rst;
        rx_rst <= rst_near;
    end
    mac_receiver receiver (
        .clk(rx_clk), .rst(rx_rst), .rx_valid, .rx_error, .rx_data, .out_valid(byte_valid),
        .out_data(rx_byte), .out_last(byte_last), .out_error(byte_error)
    );
    pause_filter pauses (
        .clk(rx_clk), .rst(rx_rst), .beat(byte_valid), .data(rx_byte), .last(byte_last), .is_pause
    );
    word_packer packer (
        .clk(rx_clk), .rst(rx_rst), .in_valid(byte_valid), .in_data(rx_byte), .in_last(byte_last),
        .in_error(byte_error), .in_taken(is_pause), .out_valid(word_valid), .out_data(word),
        .out_odd(word_odd), .out_last(word_last), .out_error(word_error), .out_taken(word_pause)
    );
    clock_crossing #(.WIDTH(18)) crossing (
        .in_clk(rx_clk), .in_rst(rx_rst), .in_valid(word_valid),
        .in_data({word_pause, word_odd, word}), .in_last(word_last), .in_error(word_error),
        .out_clk(clk), .out_rst(rst), .out_valid(in_valid), .out_ready(in_ready),
        .out_data({in_pause, in_odd, in_data}), .out_last(in_last), .out_error(in_error)
    );
    assign beat = in_valid && in_ready;
    assign {beat_odd, beat_data, beat_last, beat_error} = {in_odd, in_data, in_last, in_error};

    logic              settings_valid, settings_ready, count_read, count_done;
    logic [TIME_W-1:0] settings_at, left_late_by;
    narrows_settings_t settings;
    logic [6:0]        count_address;
    logic [47:0]       count;
    logic              is_errored, is_runt, is_giant, row_lost, left, is_starved;
    logic [3:0]        event_address;
    logic [31:0]       event_count;

    /* verilator lint_off UNUSEDSIGNAL */ // A word has a first byte.
    logic [1:0] out_keep;
    /* verilator lint_on UNUSEDSIGNAL */
    assign out_odd = !out_keep[1];
    bottleneck_port #(
        .DATA_WIDTH(16), .MEMORY_LOG2(MEMORY_LOG2), .DEPTH_LOG2(DEPTH_LOG2),
        .SDRAM_REST_CYCLES(SDRAM_REST_CYCLES), .PERIOD_PS(PERIOD_PS),
        .QUIET_PS(QUIET_PS), .RATE_BITS(RATE_BITS), .STEPS(STEPS), .HAS_CODEL(HAS_CODEL)
    ) port (
        .clk, .rst, .now, .ahead, .in_valid, .in_ready, .in_data, .in_keep({!in_odd, 1'b1}),
        .in_last, .in_error, .in_taken(in_pause || is_for_board), .out_valid, .out_ready,
        .out_data, .out_keep, .out_last,
        .settings_valid, .settings_ready, .settings_at, .settings, .row_valid, .row_ready, .row,
        .count_read, .count_address, .count_done, .count, .is_quiet,
        .is_errored, .is_runt, .is_giant, .row_lost, .left, .left_late_by, .line_clk, .sdram,
        .sdram_data, .is_starved
    );
    port_registers #(
        .LINE_RATE(LINE_RATE), .LEAST_DELAY_PS(LEAST_DELAY_PS), .HAS_CODEL(HAS_CODEL),
        .BLOCK_COPIES(BLOCK_COPIES), .PACKETS_BITS(DEPTH_LOG2 + 2), .BYTES_BITS(DEPTH_LOG2 + 12)
    ) registers (
        .clk, .rst, .now, .select, .is_write, .address, .value, .done, .status, .result,
        .settings_valid, .settings_ready, .settings_at, .settings,
        .count_read, .count_address, .count_done, .count, .event_address, .event_count
    );
    event_counts #(.PERIOD_PS(PERIOD_PS)) events (
        .clk, .rst, .is_errored, .is_runt, .is_giant, .row_lost, .left, .left_late_by, .waited,
        .is_underrun(is_underrun || is_starved), .faults, .address(event_address),
        .count(event_count)
    );
endmodule
