// Finds the frames that are for the board: requests, and questions for its address (ARP, RFC 826).
//
// It watches a stream that goes to the data path as well, and says which frames that one must
// leave out. What it has found stays until it is `taken`. Until then it looks at no other frame, so
// a sender that does not wait loses requests, and nothing else happens.
module request_receiver (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_board_pkg::MAC_W-1:0]   own_mac,
    input  logic [narrows_board_pkg::IP_W-1:0]    own_ip,

    // Two bytes in each cycle with `beat`, the first one is the lower. A frame's last word may have
    // one. No word comes in the four cycles after a last one (frame_writer.sv).
    input  logic                                  beat,
    input  logic [15:0]                           data,
    input  logic                                  odd,
    input  logic                                  last,
    input  logic                                  error,
    // Right at a frame's last word: the frame ends here.
    output logic                                  is_for_board,

    // Of what has been found, one is high. The rest is steady from the cycle after.
    output logic                                  is_request,
    output logic                                  is_arp,
    input  logic                                  taken,
    output logic [narrows_board_pkg::MAC_W-1:0]   client_mac,
    output logic [narrows_board_pkg::IP_W-1:0]    client_ip,
    output logic [narrows_board_pkg::PORT_W-1:0]  client_port,
    output logic [7:0]                            operation,
    output logic [31:0]                           tag,
    output logic [15:0]                           address,
    output logic [narrows_board_pkg::VALUE_W-1:0] value,

    // High for one cycle: a frame for the board was not a request, or came too early.
    output logic                                  is_malformed,
    output logic                                  is_missed
);
    localparam logic [15:0] IP_LENGTH = 16'd48, UDP_LENGTH = 16'd28;
    // The last word of a request, and of an ARP question without padding. Word n has the bytes 2n
    // and 2n + 1.
    localparam int REQUEST_END = 30, ARP_END = 20;

    // The word's number in its frame, or the greatest value for later ones. The cycle after, which
    // of them it is, a bit each; then, what is expected of it; then, whether it is that.
    logic [4:0]           index;
    logic                 near, near_last, near_error, seen, seen_last, seen_error;
    logic                 known, known_last, known_error;
    // In the order of the wire.
    logic [15:0]          word_near, word_seen, word_known;
    /* verilator lint_off UNUSEDSIGNAL */ // Nothing is expected of some.
    logic [REQUEST_END:0] at;
    /* verilator lint_on UNUSEDSIGNAL */
    logic                 is_near_address, is_near_request, is_near_arp;
    logic                 is_past_address, is_past_request, is_past_arp;
    logic                 is_known_address, is_known_request, is_known_arp;
    logic [15:0]          request_word, request_mask, arp_word, arp_mask, own_word;
    logic                 fits_request, fits_arp, fits_own, is_own_word;
    // Where a field ends: of the word that is seen, of the one that is known, and of the one before
    // it, if it is to be kept.
    logic [7:0]           ends_field, ended, keeps;
    // The four words before the one that is known.
    logic [63:0]          previous;
    // What the words so far may be.
    logic                 may_be_own, may_be_request, may_be_arp, watches;
    logic                 is_own, ends_request, ends_arp, found;

    assign is_own = may_be_own && is_known_address;
    // The address is known four words after its last one; a frame that ends before is a runt.
    assign is_for_board = may_be_own && index >= 5'd7;
    assign ends_request = may_be_request && fits_request && is_known_request;
    assign ends_arp = may_be_arp && fits_arp && is_known_arp;
    assign found = is_request || is_arp;

    always_ff @(posedge clk) begin
        near <= beat && !rst;
        word_near <= {data[7:0], data[15:8]};
        near_last <= last;
        near_error <= error;
        for (int n = 0; n <= REQUEST_END; n++) at[n] <= index == 5'(n);
        is_near_address <= index >= 5'd3;
        is_near_request <= index >= 5'(REQUEST_END + 1) || (index == 5'(REQUEST_END) && !odd);
        is_near_arp <= index >= 5'(ARP_END + 1) || (index == 5'(ARP_END) && !odd);
        if (rst) index <= '0;
        else if (beat) index <= last ? '0 : index == '1 ? index : index + 1;
    end

    // The words of a request: IPv4 without options or fragments, UDP, the magic number.
    always_ff @(posedge clk) begin
        request_word <= (at[6] ? 16'h0800 : 16'd0) | (at[7] ? 16'h4500 : 16'd0)
            | (at[8] ? IP_LENGTH : 16'd0) | (at[11] ? 16'd17 : 16'd0)
            | (at[15] ? own_ip[31:16] : 16'd0) | (at[16] ? own_ip[15:0] : 16'd0)
            | (at[18] ? narrows_board_pkg::MANAGEMENT_PORT : 16'd0)
            | (at[19] ? UDP_LENGTH : 16'd0) | (at[21] ? narrows_board_pkg::MAGIC : 16'd0)
            | (at[22] ? {narrows_board_pkg::PROTOCOL_VERSION, 8'd0} : 16'd0);
        // Of the word of the flags, those that a fragment has.
        request_mask <= {16{|{at[6], at[8], at[16:15], at[19:18], at[21]}}}
            | (at[7] || at[22] ? 16'hFF00 : 16'd0) | (at[11] ? 16'h00FF : 16'd0)
            | (at[10] ? 16'h3FFF : 16'd0);
    end

    // The words of a question for the board's Ethernet address.
    always_ff @(posedge clk) begin
        arp_word <= (at[6] ? 16'h0806 : 16'd0) | (at[7] || at[10] ? 16'h0001 : 16'd0)
            | (at[8] ? 16'h0800 : 16'd0) | (at[9] ? 16'h0604 : 16'd0)
            | (at[19] ? own_ip[31:16] : 16'd0) | (at[20] ? own_ip[15:0] : 16'd0);
        arp_mask <= {16{|{at[10:6], at[20:19]}}};
    end

    always_ff @(posedge clk) begin
        own_word <= (at[0] ? own_mac[47:32] : 16'd0) | (at[1] ? own_mac[31:16] : 16'd0)
            | (at[2] ? own_mac[15:0] : 16'd0);
        is_own_word <= |at[2:0];
    end

    always_ff @(posedge clk) begin
        seen <= near && !rst;
        word_seen <= word_near;
        seen_last <= near_last;
        seen_error <= near_error;
        is_past_address <= is_near_address;
        is_past_request <= is_near_request;
        is_past_arp <= is_near_arp;
        ends_field <= {at[5], at[14], at[15], at[17], at[22], at[24], at[25], at[30]};
        known <= seen && !rst;
        word_known <= word_seen;
        known_last <= seen_last;
        known_error <= seen_error;
        is_known_address <= is_past_address;
        is_known_request <= is_past_request;
        is_known_arp <= is_past_arp;
        ended <= ends_field;
        fits_request <= ((word_seen ^ request_word) & request_mask) == 0;
        fits_arp <= ((word_seen ^ arp_word) & arp_mask) == 0;
        fits_own <= word_seen == own_word || !is_own_word;
    end

    always_ff @(posedge clk) begin
        is_malformed <= 1'b0;
        is_missed <= 1'b0;
        if (known) begin
            previous <= {previous[47:0], word_known};
            may_be_own <= known_last || (may_be_own && fits_own);
            may_be_request <= known_last || (may_be_request && fits_request);
            may_be_arp <= known_last || (may_be_arp && fits_arp);
            if (known_last) watches <= 1'b0;
            if (known_last && !known_error && watches) begin
                is_request <= is_own && ends_request;
                is_arp <= ends_arp;
                is_malformed <= is_own && !ends_request && !ends_arp;
            end
            is_missed <= known_last && !known_error && !watches && is_own;
        end
        if (taken) begin
            is_request <= 1'b0;
            is_arp <= 1'b0;
        end
        if (index == 0 && !beat && !near && !seen && !known) watches <= !found;
        if (rst) begin
            may_be_own <= 1'b1;
            may_be_request <= 1'b1;
            may_be_arp <= 1'b1;
            watches <= 1'b1;
            is_request <= 1'b0;
            is_arp <= 1'b0;
        end
    end

    always_ff @(posedge clk) begin
        keeps <= known && watches ? ended : '0;
        // The sender's address is at another place in a request and in a question.
        keeps[6] <= known && watches && ended[6] && may_be_request;
        keeps[5] <= known && watches && ended[5] && may_be_arp;
        if (keeps[7]) client_mac <= previous[47:0];
        if (keeps[6] || keeps[5]) client_ip <= previous[31:0];
        if (keeps[4]) client_port <= previous[15:0];
        if (keeps[3]) operation <= previous[7:0];
        if (keeps[2]) tag <= previous[31:0];
        if (keeps[1]) address <= previous[15:0];
        if (keeps[0]) value <= previous;
    end
endmodule
