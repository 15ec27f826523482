// Finds frames in the bytes of a PHY, and checks them: preamble, check sequence, length.
//
// A frame comes out without preamble and check sequence. `out_error` counts with its last byte: the
// check sequence is wrong, the PHY saw an error, or the frame is longer than MOST_BYTES. Such a
// frame ends there, so a carrier that never ends can't keep what follows. What is too short to have
// a check sequence is a byte with an error.
module mac_receiver #(
    parameter int MOST_BYTES = 16383
) (
    // The PHY's clock.
    input  logic       clk,
    input  logic       rst,
    input  logic       rx_valid,
    input  logic       rx_error,
    input  logic [7:0] rx_data,

    output logic       out_valid,
    output logic [7:0] out_data,
    output logic       out_last,
    output logic       out_error
);
    localparam logic [7:0] PREAMBLE = 8'h55, DELIMITER = 8'hD5;
    localparam logic [31:0] RESIDUE = 32'hDEBB20E3;
    // A frame's last byte is known once four more have come, and then none.
    localparam int HELD = 5;
    localparam int LENGTH_W = $clog2(MOST_BYTES + 1);

    localparam logic [1:0] IDLE = 2'd0, START = 2'd1, DATA = 2'd2, SKIP = 2'd3;
    logic [1:0]          state;
    logic [8*HELD-1:0]   held;
    logic [2:0]          held_count;
    logic [LENGTH_W-1:0] length;
    logic [31:0]         crc, next_crc;
    logic                has_error, is_full, is_too_long, ends;

    crc32_byte check (.crc, .data(rx_data), .next(next_crc));

    assign is_full = held_count == 3'(HELD);
    assign ends = state == DATA && (!rx_valid || is_too_long);

    always_ff @(posedge clk) begin
        out_valid <= state == DATA && (is_full || ends) && !rst;
        out_data <= held[8*HELD-1 -: 8];
        out_last <= ends;
        // Of the length in the next cycle.
        is_too_long <= state == DATA && length == LENGTH_W'(MOST_BYTES - 1);
        out_error <= has_error || is_too_long || !is_full || crc != RESIDUE;
        if (state == DATA) begin
            held <= {held[8*HELD-9:0], rx_data};
            crc <= next_crc;
            if (!is_full) held_count <= held_count + 1;
            length <= length + 1;
            if (rx_error) has_error <= 1'b1;
        end else begin
            held_count <= '0;
            length <= '0;
            crc <= '1;
            has_error <= 1'b0;
        end
        if (rst) begin
            state <= IDLE;
        end else begin
            case (state)
                IDLE, START:
                    if (!rx_valid) state <= IDLE;
                    else if (rx_error) state <= SKIP;
                    else if (rx_data == DELIMITER) state <= DATA;
                    else state <= rx_data == PREAMBLE ? START : SKIP;
                DATA: if (ends) state <= rx_valid ? SKIP : IDLE;
                default: if (!rx_valid) state <= IDLE;
            endcase
        end
    end
endmodule
