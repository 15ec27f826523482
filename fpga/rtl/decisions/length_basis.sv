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
    // The check sequence, the shortest frame with it, and preamble and gap (IEEE 802.3 clause 4).
    localparam logic [W-1:0] CHECK = 4;
    localparam logic [W-1:0] SHORTEST = 64;
    localparam logic [W-1:0] PREAMBLE_AND_GAP = 20;

    logic [W-1:0] frame, checked;
    assign frame = {1'b0, frame_bytes};
    assign checked = frame + CHECK;

    always_comb begin
        case (basis)
            narrows_pkg::BASIS_IP: counted = frame < HEADER ? '0 : frame - HEADER;
            narrows_pkg::BASIS_WIRE:
                counted = (checked < SHORTEST ? SHORTEST : checked) + PREAMBLE_AND_GAP;
            default: counted = frame;
        endcase
    end
endmodule
