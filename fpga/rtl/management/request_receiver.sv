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
    localparam logic [6:0] REQUEST_END = 7'd61, ARP_END = 7'd41;

    // The byte's number in its frame, or the greatest value for later ones.
    logic [6:0]  index;
    // The byte a cycle later, with what is expected of it: each depends on few bits then.
    logic        seen, seen_last, seen_error;
    logic [7:0]  byte_seen, request_byte, request_mask, arp_byte, arp_mask, own_byte, own_mask;
    logic        is_past_address, is_past_request, is_past_arp;
    logic        at_mac, at_arp_ip, at_ip, at_port, at_operation, at_tag, at_address, at_value;
    // The seven bytes before it, and it.
    logic [55:0] previous;
    logic [63:0] recent;
    // What the bytes so far may be.
    logic        may_be_own, may_be_request, may_be_arp, watches;
    logic        fits_request, fits_arp, fits_own, is_own, ends_request, ends_arp, found;

    assign recent = {previous, byte_seen};
    assign fits_request = ((byte_seen ^ request_byte) & request_mask) == 0;
    assign fits_arp = ((byte_seen ^ arp_byte) & arp_mask) == 0;
    assign fits_own = ((byte_seen ^ own_byte) & own_mask) == 0;
    assign is_own = may_be_own && is_past_address;
    // The address is known two bytes after its last one; a frame that ends before that is a runt.
    assign is_for_board = may_be_own && index > 7'd7;
    assign ends_request = may_be_request && fits_request && is_past_request;
    assign ends_arp = may_be_arp && fits_arp && is_past_arp;
    assign found = is_request || is_arp;

    // The bytes of a request: IPv4 without options or fragments, UDP, the magic number.
    always_ff @(posedge clk) begin
        request_byte <= 8'h00;
        request_mask <= 8'hFF;
        case (index)
            7'd12: request_byte <= 8'h08;
            7'd13: request_byte <= 8'h00;
            7'd14: request_byte <= 8'h45;
            7'd16: request_byte <= IP_LENGTH[15:8];
            7'd17: request_byte <= IP_LENGTH[7:0];
            7'd20: begin
                request_byte <= 8'h00;
                request_mask <= 8'h3F;
            end
            7'd21: request_byte <= 8'd0;
            7'd23: request_byte <= 8'd17;
            7'd30: request_byte <= own_ip[31:24];
            7'd31: request_byte <= own_ip[23:16];
            7'd32: request_byte <= own_ip[15:8];
            7'd33: request_byte <= own_ip[7:0];
            7'd36: request_byte <= narrows_board_pkg::MANAGEMENT_PORT[15:8];
            7'd37: request_byte <= narrows_board_pkg::MANAGEMENT_PORT[7:0];
            7'd38: request_byte <= UDP_LENGTH[15:8];
            7'd39: request_byte <= UDP_LENGTH[7:0];
            7'd42: request_byte <= narrows_board_pkg::MAGIC[15:8];
            7'd43: request_byte <= narrows_board_pkg::MAGIC[7:0];
            7'd44: request_byte <= narrows_board_pkg::PROTOCOL_VERSION;
            default: request_mask <= 8'h00;
        endcase
    end

    // The bytes of a question for the board's Ethernet address.
    always_ff @(posedge clk) begin
        arp_byte <= 8'h00;
        arp_mask <= 8'hFF;
        case (index)
            7'd12, 7'd16: arp_byte <= 8'h08;
            7'd13, 7'd18: arp_byte <= 8'h06;
            7'd14, 7'd17, 7'd20: arp_byte <= 8'h00;
            7'd15, 7'd21: arp_byte <= 8'h01;
            7'd19: arp_byte <= 8'h04;
            7'd38: arp_byte <= own_ip[31:24];
            7'd39: arp_byte <= own_ip[23:16];
            7'd40: arp_byte <= own_ip[15:8];
            7'd41: arp_byte <= own_ip[7:0];
            default: arp_mask <= 8'h00;
        endcase
    end

    always_ff @(posedge clk) begin
        own_byte <= 8'h00;
        own_mask <= 8'hFF;
        case (index)
            7'd0: own_byte <= own_mac[47:40];
            7'd1: own_byte <= own_mac[39:32];
            7'd2: own_byte <= own_mac[31:24];
            7'd3: own_byte <= own_mac[23:16];
            7'd4: own_byte <= own_mac[15:8];
            7'd5: own_byte <= own_mac[7:0];
            default: own_mask <= 8'h00;
        endcase
    end

    always_ff @(posedge clk) begin
        seen <= beat && !rst;
        byte_seen <= data;
        seen_last <= last;
        seen_error <= error;
        is_past_address <= index > 7'd5;
        is_past_request <= index >= REQUEST_END;
        is_past_arp <= index >= ARP_END;
        at_mac <= index == 7'd11;
        at_ip <= index == 7'd29;
        at_arp_ip <= index == 7'd31;
        at_port <= index == 7'd35;
        at_operation <= index == 7'd45;
        at_tag <= index == 7'd49;
        at_address <= index == 7'd51;
        at_value <= index == 7'd61;
        if (rst) index <= '0;
        else if (beat) index <= last ? '0 : index == '1 ? index : index + 1;
    end

    always_ff @(posedge clk) begin
        is_malformed <= 1'b0;
        is_missed <= 1'b0;
        if (seen) begin
            previous <= recent[55:0];
            may_be_own <= seen_last || (may_be_own && fits_own);
            may_be_request <= seen_last || (may_be_request && fits_request);
            may_be_arp <= seen_last || (may_be_arp && fits_arp);
            // No byte comes in the cycles after a frame's last one.
            if (seen_last) watches <= 1'b0;
            if (seen_last && !seen_error && watches) begin
                is_request <= is_own && ends_request;
                is_arp <= ends_arp;
                is_malformed <= is_own && !ends_request && !ends_arp;
            end
            is_missed <= seen_last && !seen_error && !watches && is_own;
        end
        if (taken) begin
            is_request <= 1'b0;
            is_arp <= 1'b0;
        end
        if (index == 0 && !beat && !seen) watches <= !found;
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
        if (seen && watches) begin
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
