// The bytes of a frame that count against a rate or a limit.
//
// `frame_bytes` is the frame from its addresses to its last byte, without check sequence
// (common/src/length.rs).
module length_basis (
    input  logic [1:0]                        basis,
    input  logic [narrows_pkg::FRAME_W-1:0]   frame_bytes,
    output logic [narrows_pkg::COUNTED_W-1:0] counted
);
    localparam int W = narrows_pkg::COUNTED_W;
    // Ethernet's addresses and type.
    localparam logic [W-1:0] HEADER = 14;
    // The shortest frame without check sequence; a shorter one is padded (IEEE 802.3 clause 4).
    localparam logic [W-1:0] SHORTEST = 60;
    // The check sequence, 4 bytes, and preamble and gap, 20.
    localparam logic [W-1:0] AROUND = 24;

    logic [W-1:0] frame;
    assign frame = {1'b0, frame_bytes};

    always_comb begin
        case (basis)
            narrows_pkg::BASIS_IP: counted = frame < HEADER ? '0 : frame - HEADER;
            narrows_pkg::BASIS_WIRE: counted = frame < SHORTEST ? SHORTEST + AROUND : frame + AROUND;
            default: counted = frame;
        endcase
    end
endmodule
