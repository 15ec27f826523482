// The registers of a board: what it is, its time, faults, and where reports go.
module board_registers #(
    // Of a byte each: ports, then per direction the queue's packets and the memory's bytes (log2).
    parameter logic [39:0] LAYOUT = '0,
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
    localparam logic [7:0]
        ID = 8'h00, VERSION = 8'h01, NOW = 8'h02, PARTS = 8'h03, RATE = 8'h04, PERIOD = 8'h05,
        FAULTS = 8'h06, ANSWERED = 8'h07, MALFORMED = 8'h08, MISSED = 8'h09, REPORTED = 8'h0A,
        OWN_MAC = 8'h0B, OWN_IP = 8'h0C,
        REPORT_ENABLE = 8'h10, COLLECTOR_MAC = 8'h11, COLLECTOR_IP = 8'h12, COLLECTOR_PORT = 8'h13;

    localparam logic [1:0] IDLE = 2'd0, LOOK_UP = 2'd1, COMPARE = 2'd2, ACT = 2'd3;
    logic [1:0]         state;
    logic [7:0]         sticky;
    logic [31:0]        answered, malformed, missed, reported;
    logic [VALUE_W-1:0] found, most;
    logic               is_writable, is_known, is_in_range, is_written;

    always_ff @(posedge clk) begin
        is_known <= address <= OWN_IP || (address >= REPORT_ENABLE && address <= COLLECTOR_PORT);
        is_writable <= address == FAULTS || address >= REPORT_ENABLE;
        case (address)
            REPORT_ENABLE: most <= 64'd3;
            COLLECTOR_MAC: most <= 64'hFFFF_FFFF_FFFF;
            COLLECTOR_IP: most <= 64'hFFFF_FFFF;
            COLLECTOR_PORT: most <= 64'hFFFF;
            default: most <= 64'hFF;
        endcase
        is_in_range <= value <= most;
        case (address)
            ID: found <= IDENTITY;
            VERSION: found <= 64'd1;
            NOW: found <= now;
            PARTS: found <= {24'd0, LAYOUT};
            RATE: found <= VALUE_W'(LINE_RATE);
            PERIOD: found <= VALUE_W'(PERIOD_PS);
            FAULTS: found <= {56'd0, sticky};
            ANSWERED: found <= {32'd0, answered};
            MALFORMED: found <= {32'd0, malformed};
            MISSED: found <= {32'd0, missed};
            REPORTED: found <= {32'd0, reported};
            OWN_MAC: found <= {16'd0, own_mac};
            OWN_IP: found <= {32'd0, own_ip};
            REPORT_ENABLE: found <= {62'd0, report_enable};
            COLLECTOR_MAC: found <= {16'd0, collector_mac};
            COLLECTOR_IP: found <= {32'd0, collector_ip};
            COLLECTOR_PORT: found <= {48'd0, collector_port};
            default: found <= '0;
        endcase
    end

    assign is_written = state == ACT && is_write && is_known && is_writable && is_in_range;

    always_ff @(posedge clk) begin
        done <= state == ACT && !rst;
        status <= narrows_board_pkg::STATUS_OK;
        result <= '0;
        if (state == ACT) begin
            if (!is_known) status <= narrows_board_pkg::STATUS_ADDRESS;
            else if (!is_write) result <= found;
            else if (!is_writable) status <= narrows_board_pkg::STATUS_READ_ONLY;
            else if (!is_in_range) status <= narrows_board_pkg::STATUS_RANGE;
            else result <= value;
        end
        case (state)
            IDLE: if (select && !done) state <= LOOK_UP;
            LOOK_UP: state <= COMPARE;
            COMPARE: state <= ACT;
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
            case (address)
                // A one clears its fault.
                FAULTS: sticky <= (sticky & ~value[7:0]) | faults;
                REPORT_ENABLE: report_enable <= value[1:0];
                COLLECTOR_MAC: collector_mac <= value[47:0];
                COLLECTOR_IP: collector_ip <= value[31:0];
                COLLECTOR_PORT: collector_port <= value[15:0];
                default: ;
            endcase
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
