// Ethernet's CRC-32 over one more byte (IEEE 802.3 section 3.2.9), least significant bit first.
//
// A frame starts with all ones. Its check sequence is the complement of the CRC, its lowest byte
// first. Over a good frame with its check sequence the CRC is RESIDUE.
module crc32_byte (
    input  logic [31:0] crc,
    input  logic [7:0]  data,
    output logic [31:0] next
);
    // The polynomial with its bits in the order of the wire.
    localparam logic [31:0] POLYNOMIAL = 32'hEDB88320;

    always_comb begin
        next = crc ^ {24'd0, data};
        for (int n = 0; n < 8; n++) next = {1'b0, next[31:1]} ^ (next[0] ? POLYNOMIAL : 32'd0);
    end
endmodule
