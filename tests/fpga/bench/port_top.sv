// A port and its time base with plain ports, for tests: settings and rows are vectors.
module port_top #(
    parameter int DATA_WIDTH = 8,
    parameter int MEMORY_LOG2 = 15,
    parameter int DEPTH_LOG2 = 9,
    parameter int STEPS = 1,
    parameter int PERIOD_PS = 8000,
    // Of an SDRAM; 0 is block RAM.
    parameter int SDRAM_REST_CYCLES = 0
) (
    input  logic                    clk,
    // Twice as fast; only an SDRAM needs it.
    input  logic                    line_clk,
    input  logic                    rst,
    output logic [63:0]             now,
    input  logic                    in_valid,
    output logic                    in_ready,
    input  logic [DATA_WIDTH-1:0]   in_data,
    input  logic [DATA_WIDTH/8-1:0] in_keep,
    input  logic                    in_last,
    input  logic                    in_error,
    output logic                    out_valid,
    input  logic                    out_ready,
    output logic [DATA_WIDTH-1:0]   out_data,
    output logic [DATA_WIDTH/8-1:0] out_keep,
    output logic                    out_last,
    input  logic                    settings_valid,
    output logic                    settings_ready,
    input  logic [63:0]             settings_at,
    input  logic [790:0]            settings_bits,
    output logic                    row_valid,
    input  logic                    row_ready,
    output logic [262:0]            row_bits,
    input  logic                    count_read,
    input  logic [6:0]              count_address,
    output logic                    count_done,
    output logic [47:0]             count,
    // What happens in this cycle; a test reads one signal where nothing does.
    output logic [6:0]              happens,
    output logic [63:0]             left_late_by,
    // Of the SDRAM: rules that were broken, and words that came too late.
    output logic [15:0]             violations,
    output logic [15:0]             starved
);
    logic is_errored, is_runt, is_giant, row_lost, left;
    assign happens = {out_valid, row_valid && row_ready, left, row_lost, is_giant, is_runt,
                      is_errored};

    logic [63:0]       ahead;
    narrows_settings_t settings;
    narrows_row_t      row;

    assign settings = settings_bits;
    assign row_bits = row;

    narrows_sdram_t sdram;
    logic [31:0]    sdram_data;
    logic           is_starved;
    if (SDRAM_REST_CYCLES != 0) begin : memory
        sdram_board #(.REST_NS(8 * SDRAM_REST_CYCLES)) chip (
            .line_clk, .sdram, .sdram_data, .violations
        );
    end else begin : no_memory
        assign sdram_data = '0;
        assign violations = '0;
    end
    always_ff @(posedge clk) starved <= rst ? '0 : starved + 16'(is_starved);

    time_base #(.PERIOD_PS(PERIOD_PS)) clock (.clk, .rst, .now, .ahead);
    bottleneck_port #(
        .DATA_WIDTH(DATA_WIDTH), .MEMORY_LOG2(MEMORY_LOG2), .DEPTH_LOG2(DEPTH_LOG2), .STEPS(STEPS),
        .PERIOD_PS(PERIOD_PS), .SDRAM_REST_CYCLES(SDRAM_REST_CYCLES)
    ) port (
        .clk, .rst, .now, .ahead,
        .in_valid, .in_ready, .in_data, .in_keep, .in_last, .in_error,
        .in_taken(1'b0),
        .out_valid, .out_ready, .out_data, .out_keep, .out_last,
        .settings_valid, .settings_ready, .settings_at, .settings,
        .row_valid, .row_ready, .row, .count_read, .count_address, .count_done, .count,
        .is_quiet(), .is_errored, .is_runt, .is_giant, .row_lost, .left, .left_late_by,
        .line_clk, .sdram, .sdram_data, .is_starved
    );
endmodule
