// Sends the board's own frames: answers to requests, answers to ARP, and reports of the ledger.
//
// Each word of two bytes is a constant or one of the inputs' words. `index` counts them: first it
// gives the constant and which word; then come the words of each part; then the one that leaves.
// A report is a Telemetry Report 2.0 (P4.org,
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
    input  logic                                  is_second,
    input  narrows_row_t                          row_0,
    input  narrows_row_t                          row_1,
    output logic                                  done,

    // Words of two bytes, the first one lower; all frames have even lengths.
    output logic                                  out_valid,
    input  logic                                  out_ready,
    output logic [15:0]                           out_data,
    output logic                                  out_last
);
    // The lengths of frames, IP packets and UDP datagrams with their headers.
    localparam int REPLY_BYTES = 62, REPORT_BYTES = 106;
    // What `index` is when the last word leaves: it is three words ahead.
    localparam logic [5:0] REPLY_LAST = 6'(REPLY_BYTES / 2 + 2);
    localparam logic [5:0] REPORT_LAST = 6'(REPORT_BYTES / 2 + 2);
    localparam logic [15:0] ETHERTYPE_IP = 16'h0800, ETHERTYPE_ARP = 16'h0806;
    localparam logic [15:0] IP_START = 16'h4500, DONT_FRAGMENT = 16'h4000, TTL_UDP = 16'h4011;
    // Report version 2, no hardware number; RepType INT, no packet, words; metadata bits.
    localparam logic [15:0] GROUP = 16'b0010_0000_0000_0000;
    localparam logic [23:0] INDIVIDUAL = 24'h100D0B;
    localparam logic [63:0] METADATA = 64'h0000_4E41_0400_0000;
    localparam logic [7:0] FLAG_DROPPED = 8'h80, FLAG_CONGESTED = 8'h40;
    // The words of a row behind those of a report's first 64 bytes.
    localparam int ROW_WORDS = REPORT_BYTES / 2 - 32;

    // Inputs by words, the first of each, and the zeros after them.
    localparam logic [3:0]
        TO_MAC = 4'd0, TO_IP = 4'd3, TO_PORT = 4'd5, CHECKSUM = 4'd6, SEQUENCE = 4'd7, TAG = 4'd8,
        ADDRESS = 4'd10, VALUE = 4'd11, NOTHING = 4'd15;

    localparam logic [1:0] IDLE = 2'd0, DECODE = 2'd1, FILL = 2'd2, SEND = 2'd3;
    logic [1:0]  state;
    logic [5:0]  index;
    logic        is_report, is_arp, is_last, takes, moves;
    logic [15:0] ip_length, udp_length, checksum;
    logic [18:0] sum;
    logic [16:0] folded;
    // Of the next word: its constant, its input, what else it has, and the row's word.
    logic [15:0] constant, fixed, input_word, row_word_0, row_word_1, next_word;
    logic [3:0]  input_index;
    logic        has_group, has_operation, has_status, has_flags, has_kind;
    logic [4:0]  row_index;
    logic        is_of_row, takes_row;
    logic [1:0]  row_kind;
    logic [7:0]  flags;
    logic [16*16-1:0]        inputs;
    logic [16*ROW_WORDS-1:0] words_0, words_1;

    always_ff @(posedge clk) begin
        is_report <= kind == narrows_board_pkg::FRAME_REPORT;
        is_arp <= kind == narrows_board_pkg::FRAME_ARP;
        row_kind <= is_second ? row_1.kind : row_0.kind;
    end
    assign ip_length = is_report ? 16'(REPORT_BYTES - 14) : 16'(REPLY_BYTES - 14);
    assign udp_length = is_report ? 16'(REPORT_BYTES - 34) : 16'(REPLY_BYTES - 34);
    assign flags = row_kind == narrows_pkg::EVENT_DROP ? FLAG_DROPPED
        : row_kind == narrows_pkg::EVENT_MARK ? FLAG_CONGESTED : 8'd0;
    assign is_last = index == (is_report ? REPORT_LAST : REPLY_LAST);
    assign takes = state == SEND && (!out_valid || out_ready);
    assign moves = takes || state == FILL;

    // Word 0 of each is the lowest.
    assign inputs = {
        16'd0, value[15:0], value[31:16], value[47:32], value[63:48], address, tag[15:0],
        tag[31:16], sequence_number[15:0], checksum, to_port, to_ip[15:0], to_ip[31:16],
        to_mac[15:0], to_mac[31:16], to_mac[47:32]
    };
    report_words of_row_0 (.row(row_0), .words(words_0));
    report_words of_row_1 (.row(row_1), .words(words_1));

    always_ff @(posedge clk) if (moves) begin
        constant <= '0;
        input_index <= NOTHING;
        {has_group, has_operation, has_status, has_flags, has_kind} <= '0;
        is_of_row <= index[5];
        row_index <= index[4:0];
        case (index)
            6'd0, 6'd1, 6'd2: input_index <= TO_MAC + index[3:0];
            6'd3: constant <= own_mac[47:32];
            6'd4: constant <= own_mac[31:16];
            6'd5: constant <= own_mac[15:0];
            6'd6: constant <= is_arp ? ETHERTYPE_ARP : ETHERTYPE_IP;
            // Ethernet and IPv4, addresses of 6 and 4 bytes, an answer.
            6'd7: constant <= is_arp ? 16'h0001 : IP_START;
            6'd8: constant <= is_arp ? 16'h0800 : ip_length;
            6'd9: constant <= is_arp ? 16'h0604 : 16'd0;
            6'd10: constant <= is_arp ? 16'h0002 : DONT_FRAGMENT;
            6'd11: constant <= is_arp ? own_mac[47:32] : TTL_UDP;
            6'd12: begin
                constant <= is_arp ? own_mac[31:16] : 16'd0;
                input_index <= is_arp ? NOTHING : CHECKSUM;
            end
            6'd13: constant <= is_arp ? own_mac[15:0] : own_ip[31:16];
            6'd14: constant <= is_arp ? own_ip[31:16] : own_ip[15:0];
            6'd15: begin
                constant <= is_arp ? own_ip[15:0] : 16'd0;
                input_index <= is_arp ? NOTHING : TO_IP;
            end
            6'd16: input_index <= is_arp ? TO_MAC : TO_IP + 1;
            6'd17: begin
                constant <= is_arp ? 16'd0 : narrows_board_pkg::MANAGEMENT_PORT;
                input_index <= is_arp ? TO_MAC + 1 : NOTHING;
            end
            6'd18: input_index <= is_arp ? TO_MAC + 2 : TO_PORT;
            6'd19: begin
                constant <= is_arp ? 16'd0 : udp_length;
                input_index <= is_arp ? TO_IP : NOTHING;
            end
            // UDP without a checksum (RFC 768).
            6'd20: input_index <= is_arp ? TO_IP + 1 : NOTHING;
            default:
                if (is_report) begin
                    case (index)
                        6'd21: begin
                            constant <= GROUP;
                            has_group <= 1'b1;
                        end
                        6'd22: input_index <= SEQUENCE;
                        6'd23: constant <= own_ip[31:16];
                        6'd24: constant <= own_ip[15:0];
                        6'd25: constant <= INDIVIDUAL[23:8];
                        6'd26: begin
                            constant <= {INDIVIDUAL[7:0], 8'd0};
                            has_flags <= 1'b1;
                        end
                        6'd27: constant <= METADATA[63:48];
                        6'd28: constant <= METADATA[47:32];
                        6'd29: constant <= METADATA[31:16];
                        6'd30: constant <= METADATA[15:0];
                        6'd31: has_kind <= 1'b1;
                        default: ;
                    endcase
                end else if (!is_arp) begin
                    case (index)
                        6'd21: constant <= narrows_board_pkg::MAGIC;
                        6'd22: begin
                            constant <= {narrows_board_pkg::PROTOCOL_VERSION, 8'd0};
                            has_operation <= 1'b1;
                        end
                        6'd23, 6'd24: input_index <= TAG + (index[3:0] - 4'd7);
                        6'd25: input_index <= ADDRESS;
                        6'd26: has_status <= 1'b1;
                        6'd27, 6'd28, 6'd29, 6'd30: input_index <= VALUE + (index[3:0] - 4'd11);
                        default: ;
                    endcase
                end
        endcase
    end

    always_ff @(posedge clk) if (moves) begin
        fixed <= constant | (has_group ? {10'd0, sequence_number[21:16]} : 16'd0)
            | (has_operation ? {8'd0, operation | 8'h80} : 16'd0)
            | (has_status ? {status, 8'd0} : 16'd0) | (has_flags ? {8'd0, flags} : 16'd0)
            | (has_kind ? {7'd0, is_second, 6'd0, row_kind} : 16'd0);
        input_word <= inputs[{input_index, 4'd0} +: 16];
        row_word_0 <= words_0[{row_index, 4'd0} +: 16];
        row_word_1 <= words_1[{row_index, 4'd0} +: 16];
        takes_row <= is_of_row;
        next_word <= !takes_row ? fixed | input_word : is_second ? row_word_1 : row_word_0;
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
        if (moves) index <= index + 1;
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
            FILL: if (index[1]) state <= SEND;
            default: if (takes && is_last) state <= IDLE;
        endcase
        if (rst) begin
            state <= IDLE;
            out_valid <= 1'b0;
        end
    end
endmodule
