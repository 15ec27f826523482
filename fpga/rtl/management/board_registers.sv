// The registers of a board: what it is, its time, faults, and where reports go.
module board_registers #(
    // Of a byte each: what the board can (bit 0: CoDel), ports, then per direction the queue's
    // packets and the memory's bytes (log2).
    parameter logic [47:0] LAYOUT = '0,
    parameter int PERIOD_PS = 8000,
    parameter longint LINE_RATE = 64'd1_000_000_000
) (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_pkg::TIME_W-1:0]        now,
    input  logic [narrows_board_pkg::MAC_W-1:0]   own_mac,
    input  logic [narrows_board_pkg::IP_W-1:0]    own_ip,

    // The bus (port_registers.sv).
    input  logic                                  select,
    input  logic                                  is_write,
    input  logic [7:0]                            address,
    input  logic [narrows_board_pkg::VALUE_W-1:0] value,
    output logic                                  done,
    output logic [7:0]                            status,
    output logic [narrows_board_pkg::VALUE_W-1:0] result,

    // Each is high for one cycle: faults of both directions, and of the management.
    input  logic [7:0]                            faults,
    input  logic                                  is_answered,
    input  logic                                  is_malformed,
    input  logic                                  is_missed,
    input  logic                                  is_reported,

    // Which directions are reported, and to whom.
    output logic [1:0]                            report_enable,
    output logic [narrows_board_pkg::MAC_W-1:0]   collector_mac,
    output logic [narrows_board_pkg::IP_W-1:0]    collector_ip,
    output logic [narrows_board_pkg::PORT_W-1:0]  collector_port
);
    localparam int VALUE_W = narrows_board_pkg::VALUE_W;
    localparam logic [VALUE_W-1:0] IDENTITY = "NARROWS1";
    localparam logic [4:0]
        ID = 5'h00, VERSION = 5'h01, NOW = 5'h02, PARTS = 5'h03, RATE = 5'h04, PERIOD = 5'h05,
        FAULTS = 5'h06, ANSWERED = 5'h07, MALFORMED = 5'h08, MISSED = 5'h09, REPORTED = 5'h0A,
        OWN_MAC = 5'h0B, OWN_IP = 5'h0C,
        REPORT_ENABLE = 5'h10, COLLECTOR_MAC = 5'h11, COLLECTOR_IP = 5'h12, COLLECTOR_PORT = 5'h13;

    localparam logic [2:0] IDLE = 3'd0, LOOK_UP = 3'd1, COMPARE = 3'd2, JUDGE = 3'd3, ACT = 3'd4;
    localparam int REGISTERS = 20;
    logic [2:0]           state;
    logic [7:0]           sticky, judged;
    logic [31:0]          answered, malformed, missed, reported;
    logic [VALUE_W-1:0]   found_first, found_second, most;
    logic                 is_writable, is_known, is_in_range;
    logic                 gives_found, gives_value, is_written;
    // The register of the address, a bit each: the bus is steady, so it is right in all states.
    logic [REGISTERS-1:0] hit;

    always_ff @(posedge clk) begin
        for (int n = 0; n < REGISTERS; n++) hit[n] <= address == 8'(n);
        is_known <= address <= 8'(OWN_IP)
            || (address >= 8'(REPORT_ENABLE) && address <= 8'(COLLECTOR_PORT));
        is_writable <= address == 8'(FAULTS) || address >= 8'(REPORT_ENABLE);
        most <= 64'hFF;
        if (hit[REPORT_ENABLE]) most <= 64'd3;
        if (hit[COLLECTOR_MAC]) most <= 64'hFFFF_FFFF_FFFF;
        if (hit[COLLECTOR_IP]) most <= 64'hFFFF_FFFF;
        if (hit[COLLECTOR_PORT]) most <= 64'hFFFF;
        is_in_range <= most >= value;
    end

    // What a register holds, in two parts: at most one term is not zero.
    always_ff @(posedge clk) begin
        found_first <= (hit[ID] ? IDENTITY : '0)
            | (hit[VERSION] ? 64'd3 : '0)
            | (hit[NOW] ? now : '0)
            | (hit[PARTS] ? {16'd0, LAYOUT} : '0)
            | (hit[RATE] ? VALUE_W'(LINE_RATE) : '0)
            | (hit[PERIOD] ? VALUE_W'(PERIOD_PS) : '0)
            | (hit[FAULTS] ? {56'd0, sticky} : '0)
            | (hit[OWN_MAC] ? {16'd0, own_mac} : '0)
            | (hit[OWN_IP] ? {32'd0, own_ip} : '0);
        found_second <= (hit[ANSWERED] ? {32'd0, answered} : '0)
            | (hit[MALFORMED] ? {32'd0, malformed} : '0)
            | (hit[MISSED] ? {32'd0, missed} : '0)
            | (hit[REPORTED] ? {32'd0, reported} : '0)
            | (hit[REPORT_ENABLE] ? {62'd0, report_enable} : '0)
            | (hit[COLLECTOR_MAC] ? {16'd0, collector_mac} : '0)
            | (hit[COLLECTOR_IP] ? {32'd0, collector_ip} : '0)
            | (hit[COLLECTOR_PORT] ? {48'd0, collector_port} : '0);
    end

    always_ff @(posedge clk) begin
        // What comes of the request, a cycle before it does.
        judged <= !is_known ? narrows_board_pkg::STATUS_ADDRESS
            : !is_write ? narrows_board_pkg::STATUS_OK
            : !is_writable ? narrows_board_pkg::STATUS_READ_ONLY
            : !is_in_range ? narrows_board_pkg::STATUS_RANGE : narrows_board_pkg::STATUS_OK;
        gives_found <= state == JUDGE && is_known && !is_write;
        gives_value <= state == JUDGE && is_write && is_known && is_writable && is_in_range;
        is_written <= gives_value && !rst;
        done <= state == ACT && !rst;
        status <= state == ACT ? judged : narrows_board_pkg::STATUS_OK;
        result <= (gives_found ? found_first | found_second : '0) | (gives_value ? value : '0);
        case (state)
            IDLE: if (select && !done) state <= LOOK_UP;
            LOOK_UP: state <= COMPARE;
            COMPARE: state <= JUDGE;
            JUDGE: state <= ACT;
            default: state <= IDLE;
        endcase
        if (rst) state <= IDLE;
    end

    always_ff @(posedge clk) begin
        answered <= answered + 32'(is_answered);
        malformed <= malformed + 32'(is_malformed);
        missed <= missed + 32'(is_missed);
        reported <= reported + 32'(is_reported);
        sticky <= sticky | faults;
        if (is_written) begin
            // A one clears its fault.
            if (hit[FAULTS]) sticky <= (sticky & ~value[7:0]) | faults;
            if (hit[REPORT_ENABLE]) report_enable <= value[1:0];
            if (hit[COLLECTOR_MAC]) collector_mac <= value[47:0];
            if (hit[COLLECTOR_IP]) collector_ip <= value[31:0];
            if (hit[COLLECTOR_PORT]) collector_port <= value[15:0];
        end
        if (rst) begin
            answered <= '0;
            malformed <= '0;
            missed <= '0;
            reported <= '0;
            sticky <= '0;
            report_enable <= '0;
            collector_mac <= '0;
            collector_ip <= '0;
            collector_port <= '0;
        end
    end
endmodule
