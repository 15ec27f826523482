// Finds the frames that are for the board: requests, and questions for its address (ARP, RFC 826).
//
// It watches a stream that goes to the data path as well, and says which frames that one must leave
// out. What it has found stays until it is `taken`. Until then it looks at no other frame, so a
// sender that does not wait loses requests, and nothing else happens.
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
    // The seven bytes before this one, and this one.
    logic [55:0] previous;
    logic [63:0] recent;
    // What the bytes so far may be.
    logic        may_be_own, may_be_request, may_be_arp, watches;
    logic        fits_request, fits_arp, ends_request, ends_arp, found;
    logic [7:0]  own_mac_byte, own_ip_byte;
    // Which byte of the address is next: 3 at index 30 and 38.
    logic [1:0]  own_ip_lane;

    assign recent = {previous, data};
    assign own_mac_byte = own_mac[8 * (5 - index[2:0]) +: 8];
    assign own_ip_byte = own_ip[8 * own_ip_lane +: 8];
    assign own_ip_lane = 2'd1 - index[1:0];
    assign is_for_board = may_be_own && index > 7'd5;
    assign ends_request = may_be_request && fits_request && index >= REQUEST_END;
    assign ends_arp = may_be_arp && fits_arp && index >= ARP_END;
    assign found = is_request || is_arp;

    // Whether this byte is a request's: IPv4 without options or fragments, UDP, the magic number.
    always_comb begin
        case (index)
            7'd12: fits_request = data == 8'h08;
            7'd13: fits_request = data == 8'h00;
            7'd14: fits_request = data == 8'h45;
            7'd16: fits_request = data == IP_LENGTH[15:8];
            7'd17: fits_request = data == IP_LENGTH[7:0];
            7'd20: fits_request = data[5:0] == 6'd0;
            7'd21: fits_request = data == 8'd0;
            7'd23: fits_request = data == 8'd17;
            7'd30, 7'd31, 7'd32, 7'd33: fits_request = data == own_ip_byte;
            7'd36: fits_request = data == narrows_board_pkg::MANAGEMENT_PORT[15:8];
            7'd37: fits_request = data == narrows_board_pkg::MANAGEMENT_PORT[7:0];
            7'd38: fits_request = data == UDP_LENGTH[15:8];
            7'd39: fits_request = data == UDP_LENGTH[7:0];
            7'd42: fits_request = data == narrows_board_pkg::MAGIC[15:8];
            7'd43: fits_request = data == narrows_board_pkg::MAGIC[7:0];
            7'd44: fits_request = data == narrows_board_pkg::PROTOCOL_VERSION;
            default: fits_request = 1'b1;
        endcase
    end

    // Whether this byte is that of a question for the board's Ethernet address.
    always_comb begin
        case (index)
            7'd12, 7'd16: fits_arp = data == 8'h08;
            7'd13, 7'd18: fits_arp = data == 8'h06;
            7'd14, 7'd17, 7'd20: fits_arp = data == 8'h00;
            7'd15, 7'd21: fits_arp = data == 8'h01;
            7'd19: fits_arp = data == 8'h04;
            7'd38, 7'd39, 7'd40, 7'd41: fits_arp = data == own_ip_byte;
            default: fits_arp = 1'b1;
        endcase
    end

    always_ff @(posedge clk) begin
        is_malformed <= 1'b0;
        is_missed <= 1'b0;
        if (beat) begin
            previous <= recent[55:0];
            index <= last ? '0 : index == '1 ? index : index + 1;
            may_be_own <= last || (may_be_own && (index > 7'd5 || data == own_mac_byte));
            may_be_request <= last || (may_be_request && fits_request);
            may_be_arp <= last || (may_be_arp && fits_arp);
            // The data path takes no byte in the cycle after a frame's last one.
            if (last) watches <= 1'b0;
            if (last && !error && watches) begin
                is_request <= is_for_board && ends_request;
                is_arp <= ends_arp;
                is_malformed <= is_for_board && !ends_request && !ends_arp;
            end
            is_missed <= last && !error && !watches && is_for_board;
        end
        if (taken) begin
            is_request <= 1'b0;
            is_arp <= 1'b0;
        end
        if (index == 0 && !beat) watches <= !found;
        if (rst) begin
            index <= '0;
            may_be_own <= 1'b1;
            may_be_request <= 1'b1;
            may_be_arp <= 1'b1;
            watches <= 1'b1;
            is_request <= 1'b0;
            is_arp <= 1'b0;
        end
    end

    always_ff @(posedge clk) begin
        if (beat && watches) begin
            case (index)
                7'd11: client_mac <= recent[47:0];
                7'd29: if (may_be_request) client_ip <= recent[31:0];
                7'd31: if (may_be_arp) client_ip <= recent[31:0];
                7'd35: client_port <= recent[15:0];
                7'd45: operation <= recent[7:0];
                7'd49: tag <= recent[31:0];
                7'd51: address <= recent[15:0];
                7'd61: value <= recent[63:0];
                default: ;
            endcase
        end
    end
endmodule
