// The SDRAM's controller and the SDRAM, for tests: words that are written come from a table.
module controller_top #(
    parameter int WORD_W = 21,
    parameter int REST_CYCLES = 100
) (
    input  logic              clk,
    input  logic              rst,
    output logic              is_ready,
    input  logic              job_valid,
    output logic              job_ready,
    input  logic              job_is_write,
    input  logic [WORD_W-1:0] job_at,
    input  logic [3:0]        job_more,
    output logic              job_done,
    // What is written to an address: a number of the test's, and the address.
    input  logic [15:0]       number,
    output logic              read_valid,
    output logic [31:0]       read_data,
    output logic [15:0]       violations,
    output logic [31:0]       refreshes
);
    narrows_sdram_t sdram;
    logic [31:0]    sdram_data, write_data, near;
    logic [9:0]     write_at;

    sdram_controller #(.WORD_W(WORD_W), .REST_CYCLES(REST_CYCLES)) controller (
        .clk, .rst, .is_ready, .job_valid, .job_ready, .job_is_write, .job_at, .job_more, .job_done,
        .write_at, .write_data, .read_valid, .read_data, .sdram, .sdram_data
    );
    always_ff @(posedge clk) begin
        near <= {6'd0, write_at, number};
        write_data <= near;
    end
    sdram_board #(.REST_NS(8 * REST_CYCLES)) memory (
        .line_clk(clk), .sdram, .sdram_data, .violations
    );
    assign refreshes = memory.chip.refreshes;
endmodule
