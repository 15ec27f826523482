// A board's management: answers requests and ARP, and reports the rows of the ledgers.
//
// One thing at a time, requests first. A request goes over the register bus to the board (address
// 0x00xx), or to direction 0 or 1 (0x01xx, 0x02xx). The data path never waits for this module.
module management (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_board_pkg::MAC_W-1:0]   own_mac,
    input  logic [narrows_board_pkg::IP_W-1:0]    own_ip,

    // The words that port 0 receives (request_receiver.sv).
    input  logic                                  beat,
    input  logic [15:0]                           beat_data,
    input  logic                                  beat_odd,
    input  logic                                  beat_last,
    input  logic                                  beat_error,
    output logic                                  is_for_board,
    output logic                                  is_malformed,
    output logic                                  is_missed,
    output logic                                  is_answered,
    output logic                                  is_reported,

    // The register bus: the board, direction 0, direction 1.
    output logic [2:0]                            select,
    output logic                                  is_write,
    output logic [7:0]                            address,
    output logic [narrows_board_pkg::VALUE_W-1:0] value,
    input  logic                                  done,
    input  logic [7:0]                            status,
    input  logic [narrows_board_pkg::VALUE_W-1:0] result,

    input  logic [1:0]                            report_enable,
    input  logic [narrows_board_pkg::MAC_W-1:0]   collector_mac,
    input  logic [narrows_board_pkg::IP_W-1:0]    collector_ip,
    input  logic [narrows_board_pkg::PORT_W-1:0]  collector_port,
    input  logic                                  row_0_valid,
    output logic                                  row_0_ready,
    input  narrows_row_t                          row_0,
    input  logic                                  row_1_valid,
    output logic                                  row_1_ready,
    input  narrows_row_t                          row_1,

    output logic                                  out_valid,
    input  logic                                  out_ready,
    output logic [15:0]                           out_data,
    output logic                                  out_last
);
    localparam logic [1:0] IDLE = 2'd0, ASK = 2'd1, START = 2'd2, SEND = 2'd3;
    logic [1:0]                            state, kind;
    logic                                  is_request, is_arp, taken, is_operation, sent, is_second;
    logic [narrows_board_pkg::MAC_W-1:0]   client_mac;
    logic [narrows_board_pkg::IP_W-1:0]    client_ip;
    logic [narrows_board_pkg::PORT_W-1:0]  client_port;
    logic [7:0]                            operation, reply_status;
    logic [narrows_board_pkg::MAC_W-1:0]   to_mac;
    logic [narrows_board_pkg::IP_W-1:0]    to_ip;
    logic [narrows_board_pkg::PORT_W-1:0]  to_port;
    logic [31:0]                           tag;
    logic [15:0]                           asked;
    logic [narrows_board_pkg::VALUE_W-1:0] reply_value;
    logic [21:0]                           sequence_number;
    logic                                  is_report, reports_0, reports_1, has_target;

    request_receiver receiver (
        .clk, .rst, .own_mac, .own_ip, .beat, .data(beat_data), .odd(beat_odd), .last(beat_last),
        .error(beat_error), .is_for_board, .is_request, .is_arp, .taken,
        .client_mac, .client_ip, .client_port, .operation, .tag, .address(asked), .value,
        .is_malformed, .is_missed
    );
    frame_sender sender (
        .clk, .rst, .own_mac, .own_ip, .start(state == START), .kind,
        .to_mac, .to_ip, .to_port, .operation, .tag, .address(asked), .status(reply_status),
        .value(reply_value),
        .sequence_number, .is_second, .row_0, .row_1,
        .done(sent), .out_valid, .out_ready, .out_data, .out_last
    );

    assign is_report = kind == narrows_board_pkg::FRAME_REPORT;
    always_ff @(posedge clk) begin
        is_write <= operation == narrows_board_pkg::OPERATION_WRITE;
        is_operation <= operation == narrows_board_pkg::OPERATION_WRITE
            || operation == narrows_board_pkg::OPERATION_READ;
        has_target <= asked[15:8] < 8'd3;
        to_mac <= is_report ? collector_mac : client_mac;
        to_ip <= is_report ? collector_ip : client_ip;
        to_port <= is_report ? collector_port : client_port;
    end
    assign address = asked[7:0];
    // A row that is being taken is not reported again.
    assign reports_0 = row_0_valid && report_enable[0] && !row_0_ready;
    assign reports_1 = row_1_valid && report_enable[1] && !row_1_ready;
    // Rows that nobody wants are taken at once; one that is reported stays until it is sent.
    assign is_reported = state == SEND && sent && is_report;
    always_ff @(posedge clk) begin
        row_0_ready <= is_reported ? !is_second : !report_enable[0] && !is_report;
        row_1_ready <= is_reported ? is_second : !report_enable[1] && !is_report;
    end
    assign taken = state == SEND && sent && !is_report;
    assign is_answered = taken && kind == narrows_board_pkg::FRAME_REPLY;

    always_ff @(posedge clk) begin
        select <= '0;
        if (state == ASK && is_operation && has_target && !done && !rst)
            select[asked[9:8]] <= 1'b1;
    end

    always_ff @(posedge clk) begin
        case (state)
            IDLE:
                if (is_arp) begin
                    kind <= narrows_board_pkg::FRAME_ARP;
                    state <= START;
                end else if (is_request) begin
                    kind <= narrows_board_pkg::FRAME_REPLY;
                    state <= ASK;
                end else if (reports_0 || reports_1) begin
                    kind <= narrows_board_pkg::FRAME_REPORT;
                    // In turn, if both have a row.
                    is_second <= reports_1 && !(reports_0 && is_second);
                    state <= START;
                end
            ASK: begin
                reply_status <= status;
                reply_value <= result;
                if (!is_operation || !has_target) begin
                    reply_status <= is_operation ? narrows_board_pkg::STATUS_ADDRESS
                        : narrows_board_pkg::STATUS_OPERATION;
                    reply_value <= '0;
                    state <= START;
                end else if (done) begin
                    state <= START;
                end
            end
            START: state <= SEND;
            default:
                if (sent) begin
                    state <= IDLE;
                    kind <= narrows_board_pkg::FRAME_REPLY;
                    if (is_report) sequence_number <= sequence_number + 1;
                end
        endcase
        if (rst) begin
            state <= IDLE;
            kind <= narrows_board_pkg::FRAME_REPLY;
            sequence_number <= '0;
            is_second <= 1'b0;
        end
    end
endmodule
