// A row of the ledger as words of a report (frame_sender.sv), from its reason on. The first word is
// the lowest.
module report_words #(
    localparam int WORDS = 21
) (
    /* verilator lint_off UNUSEDSIGNAL */ // Its kind is in a word before.
    input  narrows_row_t        row,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [16*WORDS-1:0] words
);
    logic [16*WORDS-1:0] ordered;

    assign ordered = {
        5'd0, row.reason, 8'd0,
        {(64 - narrows_pkg::NUMBER_W){1'b0}}, row.number, row.at,
        {(32 - narrows_pkg::COUNTED_W){1'b0}}, row.counted,
        {(32 - narrows_pkg::PACKETS_W){1'b0}}, row.packets,
        {(64 - narrows_pkg::BYTES_W){1'b0}}, row.bytes, row.sojourn
    };
    for (genvar n = 0; n < WORDS; n++) begin : reversed
        assign words[16*n +: 16] = ordered[16*(WORDS-1-n) +: 16];
    end
endmodule
