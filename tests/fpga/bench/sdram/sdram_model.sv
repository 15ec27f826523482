// An SDRAM of 2M words of 32 bits as a board sees it: it checks the rules of its commands, and
// counts what breaks one.
//
// Times are those of ESMT's M12L64322A and M12S16161A, of two the longer (litedram/modules.py; the
// data sheets' slowest grades). PAD_NS is what the board's outputs need, but for the data's.
`timescale 1ns / 1ps

module sdram_model #(
    parameter real PAD_NS = 3.5,
    parameter int REST_NS = 200_000,
    parameter real RCD = 20, RP = 20, RAS = 42, RC = 63, RRD = 14, RFC = 70, WR = 15,
    // 64 ms for 4,096 rows.
    parameter real REFRESH = 15_625,
    parameter real AC = 6, OH = 2, HZ = 6, SETUP = 2, HOLD = 1
) (
    input  wire        clk,
    input  wire        ras_n,
    input  wire        cas_n,
    input  wire        we_n,
    input  wire [1:0]  bank,
    input  wire [10:0] address,
    inout  wire [31:0] data,
    output reg  [15:0] violations
);
    localparam [2:0] NOP = 7, ACTIVATE = 3, READ = 5, WRITE = 4, PRECHARGE = 2, REFRESHES = 1,
        LOAD_MODE = 0;

    reg [31:0] words [0:(1 << 21)-1];
    reg [3:0]  is_open = 0;
    reg [10:0] row [0:3];
    // When a bank was opened, when it is or was closed, when it was written; in ns.
    real       opened [0:3], closed [0:3], written [0:3];
    real       last_opened = -1000, refreshed = -1000, mode_at = -1000, edge_at = 0, period = 8;
    real       command_at = 0, data_at = 0;
    integer    refreshes = 0, latency = 0, n;
    reg        is_set_up = 0, is_precharged = 0, is_overdue = 0, is_floating = 0;

    // The inputs, when they arrive.
    wire        clock;
    wire [15:0] inputs;
    assign #(PAD_NS) clock = clk;
    assign #(PAD_NS) inputs = {ras_n, cas_n, we_n, bank, address};
    wire [2:0]  command = inputs[15:13];
    wire [1:0]  to_bank = inputs[12:11];
    wire [10:0] to = inputs[10:0];

    // Words that were read: on their way, and at the pins.
    reg [31:0] next_words [0:3];
    reg [3:0]  has_next = 0;
    reg [31:0] out = 'x;
    reg        drives = 0;
    assign data = drives ? out : 'z;

    initial begin
        violations = 0;
        for (n = 0; n < 4; n = n + 1) begin
            opened[n] = -1000;
            closed[n] = -1000;
            written[n] = -1000;
        end
    end

    task broken(input [8*24-1:0] rule);
        begin
            violations = violations + 1;
            if (violations < 20) $display("%t: SDRAM, bank %0d: %0s", $realtime, to_bank, rule);
        end
    endtask

    // Times come as sums of 8 ns.
    function is_less(input real passed, input real least);
        is_less = passed < least - 0.001;
    endfunction

    task close(input integer which, input real at);
        begin
            if (is_less(at - opened[which], RAS)) broken("tRAS");
            if (is_less(at - written[which], WR) || is_less(at - written[which], 2 * period))
                broken("tWR");
            is_open[which] = 0;
            closed[which] = at;
        end
    endtask

    task check_all_closed;
        for (n = 0; n < 4; n = n + 1) begin
            if (is_open[n]) broken("open bank");
            if (is_less($realtime - closed[n], RP)) broken("tRP");
        end
    endtask

    always @(inputs) begin
        command_at = $realtime;
        if (is_less($realtime - edge_at, HOLD)) broken("hold");
    end
    always @(data) if (!drives) data_at = $realtime;
    always @(data) if (drives && data !== out) broken("two drive the data");

    always @(posedge clock) begin
        period = $realtime - edge_at;
        edge_at = $realtime;
        if (is_less($realtime - command_at, SETUP)) broken("set-up");
        if (command != NOP && $realtime < REST_NS) broken("rest");
        if (command != NOP && is_less($realtime - refreshed, RFC)) broken("tRFC");
        if (command != NOP && is_less($realtime - mode_at, 2 * period)) broken("tMRD");
        if (is_set_up && !is_overdue && $realtime - refreshed > REFRESH) begin
            broken("refresh is late");
            is_overdue = 1;
        end
        case (command)
            NOP: ;
            ACTIVATE: begin
                if (!is_set_up) broken("not set up");
                if (is_open[to_bank]) broken("open bank");
                if (is_less($realtime - closed[to_bank], RP)) broken("tRP");
                if (is_less($realtime - opened[to_bank], RC)) broken("tRC");
                if (is_less($realtime - last_opened, RRD)) broken("tRRD");
                is_open[to_bank] = 1;
                row[to_bank] = to;
                opened[to_bank] = $realtime;
                last_opened = $realtime;
            end
            READ, WRITE: begin
                if (!is_open[to_bank]) broken("closed bank");
                if (is_less($realtime - opened[to_bank], RCD)) broken("tRCD");
                if (to[9:8] != 0) broken("no such column");
                if (command == WRITE) begin
                    // Words that were never written have bits that are not known.
                    is_floating = 0;
                    for (n = 0; n < 32; n = n + 1) if (data[n] === 1'bz) is_floating = 1;
                    if (is_floating) broken("no data");
                    if (is_less($realtime - data_at, SETUP)) broken("data's set-up");
                    words[{row[to_bank], to_bank, to[7:0]}] = data;
                    written[to_bank] = $realtime;
                end else begin
                    has_next[latency - 1] = 1;
                    next_words[latency - 1] = words[{row[to_bank], to_bank, to[7:0]}];
                end
                // A write closes after its recovery, a read after its word.
                if (to[10])
                    close(to_bank, $realtime + (command == WRITE ? 2 : 1) * period);
            end
            PRECHARGE: begin
                is_precharged = is_precharged || to[10];
                for (n = 0; n < 4; n = n + 1)
                    if ((to[10] || n == to_bank) && is_open[n]) close(n, $realtime);
                if (!is_set_up) closed[0] = $realtime;
            end
            REFRESHES: begin
                if (!is_precharged) broken("not precharged");
                check_all_closed;
                refreshed = $realtime;
                refreshes = refreshes + 1;
                is_overdue = 0;
            end
            LOAD_MODE: begin
                check_all_closed;
                if (refreshes < 8) broken("refreshes of set-up");
                if (to[3:0] != 0 || to[10:7] != 0) broken("not bursts of one word");
                latency = to[6:4];
                is_set_up = 1;
                mode_at = $realtime;
            end
            default: broken("no such command");
        endcase
        // The word of two cycles before comes now; the one of the cycle before goes.
        if (has_next[0]) begin
            out <= #(OH) 'x;
            drives <= #(OH) 1;
            out <= #(AC) next_words[0];
        end else begin
            out <= #(OH) 'x;
            drives <= #(HZ) 0;
        end
        for (n = 0; n < 3; n = n + 1) begin
            has_next[n] = has_next[n + 1];
            next_words[n] = next_words[n + 1];
        end
        has_next[3] = 0;
    end
endmodule
