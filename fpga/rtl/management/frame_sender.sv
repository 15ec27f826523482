// Sends the board's own frames: answers to requests, answers to ARP, and reports of the ledger.
//
// A frame is a vector of bytes, in rows of eight words of two. Each row gives the word of one
// column, and in the next cycle one of these leaves. A report is a Telemetry Report 2.0 (P4.org,
// 2020) with one individual report: RepType INT without baseline metadata, and the row as
// metadata of domain 0x4E41 (traffic/scapy/report.py has the same layout).
module frame_sender (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_board_pkg::MAC_W-1:0]   own_mac,
    input  logic [narrows_board_pkg::IP_W-1:0]    own_ip,

    // Starts a frame. The inputs stay as they are until `done`, which is high for one cycle.
    input  logic                                  start,
    input  logic [1:0]                            kind,
    input  logic [narrows_board_pkg::MAC_W-1:0]   to_mac,
    input  logic [narrows_board_pkg::IP_W-1:0]    to_ip,
    input  logic [narrows_board_pkg::PORT_W-1:0]  to_port,
    // Of an answer.
    input  logic [7:0]                            operation,
    input  logic [31:0]                           tag,
    input  logic [15:0]                           address,
    input  logic [7:0]                            status,
    input  logic [narrows_board_pkg::VALUE_W-1:0] value,
    // Of a report.
    input  logic [21:0]                           sequence_number,
    input  logic [7:0]                            direction,
    input  narrows_row_t                          row,
    output logic                                  done,

    // Words of two bytes, the first one lower; all frames have even lengths.
    output logic                                  out_valid,
    input  logic                                  out_ready,
    output logic [15:0]                           out_data,
    output logic                                  out_last
);
    // The lengths of frames, IP packets and UDP datagrams with their headers.
    localparam int REPLY_BYTES = 62, REPORT_BYTES = 106, HEADERS = 42;
    // The rows of sixteen bytes that every kind of frame has, and all of a report.
    localparam int SHARED = 4, ROWS = 8, ROW_W = 128;
    // What `index` is when the last word leaves: it is two words ahead.
    localparam logic [5:0] REPLY_LAST = 6'(REPLY_BYTES / 2 + 1);
    localparam logic [5:0] REPORT_LAST = 6'(REPORT_BYTES / 2 + 1);
    localparam logic [15:0] ETHERTYPE_IP = 16'h0800, ETHERTYPE_ARP = 16'h0806;
    localparam logic [15:0] IP_START = 16'h4500, DONT_FRAGMENT = 16'h4000, TTL_UDP = 16'h4011;
    // Zeros after an answer to ARP, and up to a whole number of rows.
    localparam logic [8*(REPLY_BYTES-HEADERS)-1:0] REPLY_PAD = '0;
    localparam logic [ROW_W*SHARED-8*REPLY_BYTES-1:0] ROW_PAD = '0;
    localparam logic [ROW_W*ROWS-8*REPORT_BYTES-1:0] REPORT_PAD = '0;
    // Report version 2, no hardware number; RepType INT, no packet, words; flags; metadata bits.
    localparam logic [9:0] GROUP = 10'b0010_000000;
    localparam logic [23:0] INDIVIDUAL = 24'h100D0B;
    localparam logic [63:0] METADATA = 64'h0000_4E41_0400_0000;
    localparam logic [7:0] FLAG_DROPPED = 8'h80, FLAG_CONGESTED = 8'h40;

    localparam logic [1:0] IDLE = 2'd0, DECODE = 2'd1, FILL = 2'd2, SEND = 2'd3;
    logic [1:0]  state;
    logic [5:0]  index;
    // A word of each row, the row to take, and its word.
    logic [16*ROWS-1:0] column;
    logic [2:0]  row_index;
    logic [15:0] next_word;
    logic        is_report, is_arp, is_last, takes, moves;
    logic [15:0] ip_length, udp_length, checksum;
    logic [18:0] sum;
    logic [16:0] folded;
    logic [7:0]  flags;

    logic [8*HEADERS-1:0]                  udp_headers;
    logic [8*(REPORT_BYTES-HEADERS)-1:0]   report;
    logic [8*(REPLY_BYTES-HEADERS)-1:0]    reply;
    logic [8*(REPLY_BYTES-14)-1:0]         arp;
    logic [ROW_W*ROWS-1:0]                 report_frame, whole;
    logic [ROW_W*SHARED-1:0]               frame;
    narrows_row_t                          reported;

    always_ff @(posedge clk) begin
        is_report <= kind == narrows_board_pkg::FRAME_REPORT;
        is_arp <= kind == narrows_board_pkg::FRAME_ARP;
    end
    assign ip_length = is_report ? 16'(REPORT_BYTES - 14) : 16'(REPLY_BYTES - 14);
    assign udp_length = is_report ? 16'(REPORT_BYTES - 34) : 16'(REPLY_BYTES - 34);
    // It is some bytes further.
    always_ff @(posedge clk) reported <= row;
    assign flags = reported.kind == narrows_pkg::EVENT_DROP ? FLAG_DROPPED
        : reported.kind == narrows_pkg::EVENT_MARK ? FLAG_CONGESTED : 8'd0;

    assign udp_headers = {
        to_mac, own_mac, ETHERTYPE_IP,
        IP_START, ip_length, 16'd0, DONT_FRAGMENT, TTL_UDP, checksum, own_ip, to_ip,
        // UDP without a checksum (RFC 768).
        narrows_board_pkg::MANAGEMENT_PORT, to_port, udp_length, 16'd0
    };
    assign reply = {
        narrows_board_pkg::MAGIC, narrows_board_pkg::PROTOCOL_VERSION, operation | 8'h80, tag,
        address, status, 8'd0, value
    };
    assign report = {
        GROUP, sequence_number, own_ip, INDIVIDUAL, flags, METADATA,
        direction, 6'd0, reported.kind, 5'd0, reported.reason, 8'd0,
        {(64 - narrows_pkg::NUMBER_W){1'b0}}, reported.number, reported.at,
        {(32 - narrows_pkg::COUNTED_W){1'b0}}, reported.counted,
        {(32 - narrows_pkg::PACKETS_W){1'b0}}, reported.packets,
        {(64 - narrows_pkg::BYTES_W){1'b0}}, reported.bytes, reported.sojourn
    };
    // Ethernet and IPv4, addresses of 6 and 4 bytes, an answer; zeros to the shortest frame.
    assign arp = {
        64'h0001_0800_0604_0002, own_mac, own_ip, to_mac, to_ip, REPLY_PAD
    };

    always_comb begin
        if (is_arp) frame = {to_mac, own_mac, ETHERTYPE_ARP, arp, ROW_PAD};
        else if (is_report) frame = report_frame[ROW_W*ROWS-1 -: ROW_W*SHARED];
        else frame = {udp_headers, reply, ROW_PAD};
    end

    assign report_frame = {udp_headers, report, REPORT_PAD};
    assign is_last = index == (is_report ? REPORT_LAST : REPLY_LAST);
    assign takes = state == SEND && (!out_valid || out_ready);
    assign moves = takes || state == FILL;
    assign whole = {frame, report_frame[ROW_W*(ROWS-SHARED)-1:0]};

    for (genvar n = 0; n < ROWS; n++) begin : rows
        logic [ROW_W-1:0] sixteen;
        logic [15:0]      picked;
        assign sixteen = whole[ROW_W * (ROWS - 1 - n) +: ROW_W];
        always_ff @(posedge clk) if (moves) picked <= sixteen[{~index[2:0], 4'd0} +: 16];
        assign column[16*n +: 16] = picked;
    end

    // The header's checksum: the sum of its words, twice with its carry added at the other end.
    always_ff @(posedge clk) begin
        sum <= {3'd0, IP_START} + {3'd0, ip_length} + {3'd0, DONT_FRAGMENT} + {3'd0, TTL_UDP}
            + {3'd0, own_ip[31:16]} + {3'd0, own_ip[15:0]} + {3'd0, to_ip[31:16]}
            + {3'd0, to_ip[15:0]};
        folded <= {1'b0, sum[15:0]} + {14'd0, sum[18:16]};
        checksum <= ~(folded[15:0] + {15'd0, folded[16]});
    end

    always_ff @(posedge clk) begin
        done <= takes && is_last && !rst;
        if (out_ready) out_valid <= 1'b0;
        if (moves) begin
            index <= index + 1;
            row_index <= index[5:3];
            next_word <= column[{row_index, 4'd0} +: 16];
        end
        if (takes) begin
            out_data <= {next_word[7:0], next_word[15:8]};
            out_last <= is_last;
            out_valid <= 1'b1;
        end
        case (state)
            IDLE: if (start) state <= DECODE;
            DECODE: begin
                index <= '0;
                state <= FILL;
            end
            // The checksum is right when its word is taken, 12 cycles later.
            FILL: if (index[0]) state <= SEND;
            default: if (takes && is_last) state <= IDLE;
        endcase
        if (rst) begin
            state <= IDLE;
            out_valid <= 1'b0;
        end
    end
endmodule
