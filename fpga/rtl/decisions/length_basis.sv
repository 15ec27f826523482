// The bytes of a frame that count against a rate or a limit.
//
// `frame_bytes` is the frame from its addresses to its last byte, without check sequence
// (common/src/length.rs). `counted` is right in the cycle after a change of the frame.
module length_basis #(
    // Bits that the longest packet has.
    parameter int BITS = narrows_pkg::COUNTED_W
) (
    input  logic                              clk,
    input  logic [1:0]                        basis,
    /* verilator lint_off UNUSEDSIGNAL */ // The longest packet may have fewer bits.
    input  logic [narrows_pkg::FRAME_W-1:0]   frame_bytes,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [narrows_pkg::COUNTED_W-1:0] counted
);
    localparam int W = BITS;
    // Ethernet's addresses and type.
    localparam logic [W-1:0] HEADER = 14;
    // The shortest frame without check sequence; a shorter one is padded (IEEE 802.3 clause 4).
    localparam logic [W-1:0] SHORTEST = 60;
    // The check sequence, 4 bytes, and preamble and gap, 20.
    localparam logic [W-1:0] AROUND = 24;

    logic [W-1:0] frame, as_ip, as_frame, as_wire, chosen;
    logic         is_headless, is_short;
    assign frame = W'(frame_bytes);
    assign counted = narrows_pkg::COUNTED_W'(chosen);

    always_ff @(posedge clk) begin
        as_ip <= frame - HEADER;
        as_frame <= frame;
        as_wire <= frame + AROUND;
        is_headless <= frame < HEADER;
        is_short <= frame < SHORTEST;
    end

    always_comb begin
        case (basis)
            narrows_pkg::BASIS_IP: chosen = is_headless ? '0 : as_ip;
            narrows_pkg::BASIS_WIRE: chosen = is_short ? SHORTEST + AROUND : as_wire;
            default: chosen = as_frame;
        endcase
    end
endmodule
