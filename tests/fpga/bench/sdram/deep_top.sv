// A port with an SDRAM beside one with block RAM, for tests: both get the same inputs, and must do
// the same in each cycle.
module deep_top #(
    parameter int DATA_WIDTH = 16,
    parameter int MEMORY_LOG2 = 22,
    parameter int DEPTH_LOG2 = 8,
    parameter int STEPS = 1,
    parameter int PERIOD_PS = 16000,
    parameter int SDRAM_REST_CYCLES = 100
) (
    input  logic         clk,
    input  logic         line_clk,
    input  logic         rst,
    // Before the first frame: the ring of the SDRAM starts some 3,600 bytes before its end.
    input  logic         starts_late,
    output logic [63:0]  now,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [15:0]  in_data,
    input  logic [1:0]   in_keep,
    input  logic         in_last,
    input  logic         in_error,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [15:0]  out_data,
    output logic [1:0]   out_keep,
    output logic         out_last,
    input  logic         settings_valid,
    output logic         settings_ready,
    input  logic [63:0]  settings_at,
    input  logic [790:0] settings_bits,
    output logic         row_valid,
    input  logic         row_ready,
    output logic [262:0] row_bits,
    input  logic         count_read,
    input  logic [6:0]   count_address,
    output logic         count_done,
    output logic [47:0]  count,
    output logic [6:0]   happens,
    output logic [63:0]  left_late_by,
    output logic [15:0]  violations,
    output logic [15:0]  starved,
    // Cycles in which the two did not do the same.
    output logic [15:0]  differences,
    // How long before its instant a frame was ready to leave, at least.
    output logic [63:0]  least_notice,
    output logic [31:0]  refreshes,
    output logic [31:0]  ring_at
);
    port_top #(
        .DATA_WIDTH(16), .MEMORY_LOG2(MEMORY_LOG2), .DEPTH_LOG2(DEPTH_LOG2), .STEPS(STEPS),
        .PERIOD_PS(PERIOD_PS), .SDRAM_REST_CYCLES(SDRAM_REST_CYCLES)
    ) deep (
        .clk, .line_clk, .rst, .now, .in_valid, .in_ready, .in_data, .in_keep, .in_last, .in_error,
        .out_valid, .out_ready, .out_data, .out_keep, .out_last, .settings_valid, .settings_ready,
        .settings_at, .settings_bits, .row_valid, .row_ready, .row_bits, .count_read,
        .count_address, .count_done, .count, .happens, .left_late_by, .violations, .starved
    );

    wire         flat_out_valid, flat_out_last, flat_in_ready, flat_row_valid;
    wire [15:0]  flat_out_data;
    wire [1:0]   flat_out_keep;
    wire [262:0] flat_row_bits;
    wire [6:0]   flat_happens;
    wire [63:0]  flat_late_by;
    port_top #(
        .DATA_WIDTH(16), .MEMORY_LOG2(19), .DEPTH_LOG2(DEPTH_LOG2), .STEPS(STEPS),
        .PERIOD_PS(PERIOD_PS)
    ) flat (
        .clk, .line_clk, .rst, .now(), .in_valid, .in_ready(flat_in_ready), .in_data, .in_keep,
        .in_last, .in_error, .out_valid(flat_out_valid), .out_ready, .out_data(flat_out_data),
        .out_keep(flat_out_keep), .out_last(flat_out_last), .settings_valid, .settings_ready(),
        .settings_at, .settings_bits, .row_valid(flat_row_valid), .row_ready,
        .row_bits(flat_row_bits), .count_read, .count_address, .count_done(), .count(),
        .happens(flat_happens), .left_late_by(flat_late_by), .violations(), .starved()
    );

    localparam int LATE = (1 << (MEMORY_LOG2 - 1)) - 1801;
    always @(negedge clk)
        if (starts_late) begin
            deep.port.ring.write_at = LATE;
            deep.port.ring.after = LATE + 1;
            deep.port.ring.start = LATE;
            deep.port.ring.free_at = LATE;
            deep.port.deep.memory.combiner.frames_end = LATE;
            deep.port.deep.memory.combiner.from = LATE >> 1;
        end

    logic differs;
    assign differs = in_ready !== flat_in_ready || happens !== flat_happens
        || (happens[4] && left_late_by !== flat_late_by)
        || (out_valid && {out_data, out_keep, out_last}
            !== {flat_out_data, flat_out_keep, flat_out_last})
        || (row_valid && row_bits !== flat_row_bits);
    always_ff @(posedge clk)
        if (rst) differences <= '0;
        else if (differs) differences <= differences + 1;

    logic was_valid;
    always_ff @(posedge clk) begin
        was_valid <= deep.port.frame_valid && !deep.port.frame_pop;
        if (rst) least_notice <= '1;
        else if (deep.port.frame_valid && !was_valid) begin
            if (deep.port.frame_leave_at < now) least_notice <= '0;
            else if (deep.port.frame_leave_at - now < least_notice)
                least_notice <= deep.port.frame_leave_at - now;
        end
    end
    assign ring_at = 32'(deep.port.ring.write_at);
    assign refreshes = deep.memory.chip.chip.refreshes;
endmodule
