// What a mark needs of a frame, from its words as they pass: whether it takes marks, and the IPv4
// header's checksum with the mark.
//
// A frame takes marks if it is IPv4 without a VLAN tag and its ECN field is not zero (RFC 3168
// section 5). The checksum changes by the difference of the ECN field (RFC 1624).
module ecn_header #(
    parameter int LANES = 1
) (
    input  logic               clk,
    input  logic               beat,
    // The word's number in its frame, or the greatest value for later ones.
    input  logic [5:0]         index,
    /* verilator lint_off UNUSEDSIGNAL */ // Most bytes of a wide word are not the header's.
    input  logic [8*LANES-1:0] data,
    /* verilator lint_on UNUSEDSIGNAL */
    // Right in the third cycle after the header's last word.
    output logic               is_capable,
    output logic [15:0]        marked_checksum
);
    localparam int TYPE = 12, VERSION = 14, TOS = 15, CHECKSUM = 24;
    localparam logic [15:0] IPV4 = 16'h0800;

    logic [15:0] ether_type, checksum;
    logic [3:0]  version;
    logic [1:0]  ecn;
    logic [16:0] sum;

    always_ff @(posedge clk) begin
        if (beat && index == 6'(TYPE / LANES)) ether_type[15:8] <= data[TYPE % LANES * 8 +: 8];
        if (beat && index == 6'((TYPE + 1) / LANES))
            ether_type[7:0] <= data[(TYPE + 1) % LANES * 8 +: 8];
        if (beat && index == 6'(VERSION / LANES)) version <= data[VERSION % LANES * 8 + 4 +: 4];
        if (beat && index == 6'(TOS / LANES)) ecn <= data[TOS % LANES * 8 +: 2];
        if (beat && index == 6'(CHECKSUM / LANES)) checksum[15:8] <= data[CHECKSUM % LANES * 8 +: 8];
        if (beat && index == 6'((CHECKSUM + 1) / LANES))
            checksum[7:0] <= data[(CHECKSUM + 1) % LANES * 8 +: 8];
    end

    // ~checksum + (3 - ecn), with the carry added at the other end.
    always_ff @(posedge clk) begin
        is_capable <= ether_type == IPV4 && version == 4'd4 && ecn != 2'd0;
        sum <= {1'b0, ~checksum} + {15'd0, ~ecn};
    end
    assign marked_checksum = ~(sum[15:0] + {15'd0, sum[16]});
endmodule
