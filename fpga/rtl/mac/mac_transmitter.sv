// Sends frames to a PHY: preamble, check sequence, gap (IEEE 802.3 clauses 3 and 4).
//
// A frame of n bytes, at least 60, takes n + 24 cycles: 8 of preamble, its bytes, 4 of check
// sequence and a gap of 12. Its first byte leaves nine cycles after it was offered. A frame whose
// bytes don't come in time is sent with an error, so that its receiver drops it.
module mac_transmitter (
    input  logic       clk,
    input  logic       rst,
    input  logic       in_valid,
    output logic       in_ready,
    input  logic [7:0] in_data,
    input  logic       in_last,

    output logic       tx_valid,
    output logic       tx_error,
    output logic [7:0] tx_data,
    // A frame can start.
    output logic       is_idle,
    // High for one cycle.
    output logic       is_underrun
);
    localparam logic [7:0] PREAMBLE = 8'h55, DELIMITER = 8'hD5;
    // The cycle that finds a frame is the first one of its preamble.
    localparam logic [3:0] PREAMBLE_LEFT = 4'd7, CHECK_LEFT = 4'd4, GAP_LEFT = 4'd12;

    localparam logic [2:0] IDLE = 3'd0, START = 3'd1, DATA = 3'd2, CHECK = 3'd3, GAP = 3'd4;
    logic [2:0]  state;
    logic [3:0]  left;
    logic [31:0] crc, next_crc, crc_so_far;
    // The last byte is not in `crc` yet: that takes a cycle of its own.
    logic        is_fresh;

    crc32_byte check (.crc, .data(tx_data), .next(next_crc));
    assign crc_so_far = is_fresh ? next_crc : crc;

    assign in_ready = state == DATA;
    assign is_idle = state == IDLE;

    always_ff @(posedge clk) begin
        left <= left - 1;
        crc <= crc_so_far;
        is_fresh <= state == DATA && in_valid;
        tx_error <= 1'b0;
        is_underrun <= state == DATA && !in_valid && !rst;
        case (state)
            IDLE: begin
                tx_valid <= in_valid;
                tx_data <= PREAMBLE;
                left <= PREAMBLE_LEFT;
                crc <= '1;
                if (in_valid) state <= START;
            end
            START: begin
                tx_data <= left == 1 ? DELIMITER : PREAMBLE;
                if (left == 1) state <= DATA;
            end
            DATA: begin
                tx_data <= in_data;
                tx_error <= !in_valid;
                left <= CHECK_LEFT;
                if (in_valid && in_last) state <= CHECK;
            end
            CHECK: begin
                tx_data <= ~crc_so_far[7:0];
                crc <= {8'd0, crc_so_far[31:8]};
                if (left == 1) begin
                    left <= GAP_LEFT;
                    state <= GAP;
                end
            end
            default: begin
                tx_valid <= 1'b0;
                if (left == 1) state <= IDLE;
            end
        endcase
        if (rst) begin
            state <= IDLE;
            tx_valid <= 1'b0;
        end
    end
endmodule
