// CoDel drops no packet unless more than `mtu` bytes are behind it, and marks only what it may.
module codel_proof (
    input logic clk
);
    (* anyseq *) logic judge, is_capable, marks_capable;
    (* anyseq *) logic [narrows_pkg::TARGET_W-1:0]   target_ps;
    (* anyseq *) logic [narrows_pkg::INTERVAL_W-1:0] interval_ps;
    (* anyseq *) logic [narrows_pkg::MTU_W-1:0]      mtu;
    (* anyseq *) logic [narrows_pkg::TIME_W-1:0]     now, sojourn;
    (* anyseq *) logic [narrows_pkg::BYTES_W-1:0]    behind;
    logic rst = 1'b1;
    logic judged, drops, marks, busy;

    codel dut (
        .clk, .rst, .enable(1'b1), .marks_capable, .target_ps, .interval_ps, .mtu, .judge, .now,
        .sojourn, .behind, .is_capable, .judged, .drops, .marks, .busy
    );

    // A question and the settings stay until the verdict.
    logic asked = 1'b0, was_capable, did_mark;
    logic [narrows_pkg::MTU_W-1:0]   asked_mtu;
    logic [narrows_pkg::BYTES_W-1:0] asked_behind;
    always_ff @(posedge clk) begin
        rst <= 1'b0;
        asked <= judge && !judged && !rst;
        asked_mtu <= mtu;
        asked_behind <= behind;
        was_capable <= is_capable;
        did_mark <= marks_capable;
    end
    always_comb begin
        if (asked)
            assume (judge && mtu == asked_mtu && behind == asked_behind
                && is_capable == was_capable && marks_capable == did_mark);
        // It answers nobody else, and one at a time.
        if (!rst && judged) begin
            assert (asked);
            assert (!(drops && marks));
            if (drops) assert (behind > BYTES_W'(mtu));
            if (marks) assert (behind > BYTES_W'(mtu) && is_capable && marks_capable);
        end
    end
    localparam int BYTES_W = narrows_pkg::BYTES_W;
endmodule
