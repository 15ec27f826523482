// Finds the frames that are for the board: requests, and questions for its address (ARP, RFC 826).
//
// It watches a stream that goes to the data path as well, and says which frames that one must
// leave out. It runs on the clock of port 0's PHY. What it has found stays until it is `taken`.
// Until then it looks at no other frame, so a sender that does not wait loses requests, and
// nothing else happens.
module request_receiver (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic [narrows_board_pkg::MAC_W-1:0]   own_mac,
    input  logic [narrows_board_pkg::IP_W-1:0]    own_ip,

    // A byte in each cycle with `beat`.
    input  logic                                  beat,
    input  logic [7:0]                            data,
    input  logic                                  last,
    input  logic                                  error,
    // Right at a frame's last byte: the frame ends here.
    output logic                                  is_for_board,

    // Of what has been found, one is high.
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
    // The frame's last byte, of a request and of an ARP question without padding.
    localparam int REQUEST_END = 61, ARP_END = 41;

    // The byte's number in its frame, or the greatest value for later ones. The cycle after, which
    // of them it is, a bit each; then, what is expected of it; then, whether it is that.
    logic [6:0]           index;
    logic                 near, near_last, near_error, seen, seen_last, seen_error;
    logic                 known, known_last, known_error;
    logic [7:0]           byte_near, byte_seen, byte_known;
    /* verilator lint_off UNUSEDSIGNAL */ // Nothing is expected of some.
    logic [REQUEST_END:0] at;
    /* verilator lint_on UNUSEDSIGNAL */
    logic                 is_near_address, is_near_request, is_near_arp;
    logic                 is_past_address, is_past_request, is_past_arp;
    logic                 is_known_address, is_known_request, is_known_arp;
    logic [7:0]           request_byte, request_mask, arp_byte, arp_mask, own_byte, own_mask;
    logic                 fits_request, fits_arp, fits_own;
    // Where a field ends: of the byte that is seen, and of the one that is known.
    logic [7:0]           ends_field, ended;
    logic                 at_mac, at_arp_ip, at_ip, at_port, at_operation, at_tag, at_address;
    logic                 at_value;
    // The seven bytes before it, and it.
    logic [55:0]          previous;
    logic [63:0]          recent;
    // What the bytes so far may be.
    logic                 may_be_own, may_be_request, may_be_arp, watches;
    logic                 is_own, ends_request, ends_arp, found;

    assign recent = {previous, byte_known};
    assign is_own = may_be_own && is_known_address;
    // The address is known four bytes after its last one; a frame that ends before is a runt.
    assign is_for_board = may_be_own && index > 7'd9;
    assign ends_request = may_be_request && fits_request && is_known_request;
    assign ends_arp = may_be_arp && fits_arp && is_known_arp;
    assign found = is_request || is_arp;

    always_ff @(posedge clk) begin
        near <= beat && !rst;
        byte_near <= data;
        near_last <= last;
        near_error <= error;
        for (int n = 0; n <= REQUEST_END; n++) at[n] <= index == 7'(n);
        is_near_address <= index > 7'd5;
        is_near_request <= index >= 7'(REQUEST_END);
        is_near_arp <= index >= 7'(ARP_END);
        if (rst) index <= '0;
        else if (beat) index <= last ? '0 : index == '1 ? index : index + 1;
    end

    // The bytes of a request: IPv4 without options or fragments, UDP, the magic number.
    always_ff @(posedge clk) begin
        request_byte <= (at[12] ? 8'h08 : 8'h00) | (at[14] ? 8'h45 : 8'h00)
            | (at[16] ? IP_LENGTH[15:8] : 8'h00) | (at[17] ? IP_LENGTH[7:0] : 8'h00)
            | (at[23] ? 8'd17 : 8'h00)
            | (at[30] ? own_ip[31:24] : 8'h00) | (at[31] ? own_ip[23:16] : 8'h00)
            | (at[32] ? own_ip[15:8] : 8'h00) | (at[33] ? own_ip[7:0] : 8'h00)
            | (at[36] ? narrows_board_pkg::MANAGEMENT_PORT[15:8] : 8'h00)
            | (at[37] ? narrows_board_pkg::MANAGEMENT_PORT[7:0] : 8'h00)
            | (at[38] ? UDP_LENGTH[15:8] : 8'h00) | (at[39] ? UDP_LENGTH[7:0] : 8'h00)
            | (at[42] ? narrows_board_pkg::MAGIC[15:8] : 8'h00)
            | (at[43] ? narrows_board_pkg::MAGIC[7:0] : 8'h00)
            | (at[44] ? narrows_board_pkg::PROTOCOL_VERSION : 8'h00);
        // Of the byte of the flags, those that a fragment has.
        request_mask <= {8{|{at[12 +: 3], at[16 +: 2], at[21], at[23], at[30 +: 4], at[36 +: 4],
                             at[42 +: 3]}}} | (at[20] ? 8'h3F : 8'h00);
    end

    // The bytes of a question for the board's Ethernet address.
    always_ff @(posedge clk) begin
        arp_byte <= (at[12] || at[16] ? 8'h08 : 8'h00) | (at[13] || at[18] ? 8'h06 : 8'h00)
            | (at[15] || at[21] ? 8'h01 : 8'h00) | (at[19] ? 8'h04 : 8'h00)
            | (at[38] ? own_ip[31:24] : 8'h00) | (at[39] ? own_ip[23:16] : 8'h00)
            | (at[40] ? own_ip[15:8] : 8'h00) | (at[41] ? own_ip[7:0] : 8'h00);
        arp_mask <= {8{|{at[12 +: 10], at[38 +: 4]}}};
    end

    always_ff @(posedge clk) begin
        own_byte <= (at[0] ? own_mac[47:40] : 8'h00) | (at[1] ? own_mac[39:32] : 8'h00)
            | (at[2] ? own_mac[31:24] : 8'h00) | (at[3] ? own_mac[23:16] : 8'h00)
            | (at[4] ? own_mac[15:8] : 8'h00) | (at[5] ? own_mac[7:0] : 8'h00);
        own_mask <= {8{|at[5:0]}};
    end

    assign {at_mac, at_ip, at_arp_ip, at_port, at_operation, at_tag, at_address, at_value} = ended;
    always_ff @(posedge clk) begin
        seen <= near && !rst;
        byte_seen <= byte_near;
        seen_last <= near_last;
        seen_error <= near_error;
        is_past_address <= is_near_address;
        is_past_request <= is_near_request;
        is_past_arp <= is_near_arp;
        ends_field <= {at[11], at[29], at[31], at[35], at[45], at[49], at[51], at[61]};
        known <= seen && !rst;
        byte_known <= byte_seen;
        known_last <= seen_last;
        known_error <= seen_error;
        is_known_address <= is_past_address;
        is_known_request <= is_past_request;
        is_known_arp <= is_past_arp;
        ended <= ends_field;
        fits_request <= ((byte_seen ^ request_byte) & request_mask) == 0;
        fits_arp <= ((byte_seen ^ arp_byte) & arp_mask) == 0;
        fits_own <= ((byte_seen ^ own_byte) & own_mask) == 0;
    end

    always_ff @(posedge clk) begin
        is_malformed <= 1'b0;
        is_missed <= 1'b0;
        if (known) begin
            previous <= recent[55:0];
            may_be_own <= known_last || (may_be_own && fits_own);
            may_be_request <= known_last || (may_be_request && fits_request);
            may_be_arp <= known_last || (may_be_arp && fits_arp);
            // No byte comes in the six cycles after a frame's last one.
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
        if (known && watches) begin
            if (at_mac) client_mac <= recent[47:0];
            if (at_ip && may_be_request) client_ip <= recent[31:0];
            if (at_arp_ip && may_be_arp) client_ip <= recent[31:0];
            if (at_port) client_port <= recent[15:0];
            if (at_operation) operation <= recent[7:0];
            if (at_tag) tag <= recent[31:0];
            if (at_address) address <= recent[15:0];
            if (at_value) value <= recent[63:0];
        end
    end
endmodule
