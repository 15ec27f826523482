// Counts the rows of the ledger, and keeps them until they are taken.
//
// Addresses of the counts:
//   8 * kind + reason: packets;  32 + 8 * kind + reason: their bytes
//   64 + n: dequeued packets whose waiting time has n significant bits.
// A row that finds no room in the ledger's buffer is counted all the same; `lost` is high then.
module row_tally #(
    // Rows that can wait to be taken, as a power of two.
    parameter int ROWS_LOG2 = 4,
    // Bits of a packet's length, and of the queue's packets and bytes; the rest are zeros.
    parameter int LENGTH_BITS = narrows_pkg::COUNTED_W,
    parameter int PACKETS_BITS = narrows_pkg::PACKETS_W,
    parameter int BYTES_BITS = narrows_pkg::BYTES_W
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  narrows_row_t in_row,

    output logic         out_valid,
    input  logic         out_ready,
    output narrows_row_t out_row,
    output logic         lost,

    // `count` is that of `address` when `done` is high, for one cycle.
    input  logic         read,
    input  logic [6:0]   address,
    output logic         done,
    output logic [47:0]  count
);
    localparam int ROW_W = narrows_pkg::NUMBER_W + 2 * narrows_pkg::TIME_W + 2
        + narrows_pkg::REASON_W + LENGTH_BITS + PACKETS_BITS + BYTES_BITS;
    localparam logic [2:0]
        CLEAR = 3'd0, IDLE = 3'd1, FETCH = 3'd2, KEEP = 3'd3, ADD = 3'd4, STORE = 3'd5,
        LOOK_UP = 3'd6, ANSWER = 3'd7;
    localparam logic [1:0] PACKETS = 2'd0, BYTES = 2'd1;

    // What the cycle that writes a count reads is not used.
    (* no_rw_check *)
    logic [47:0]  counts [0:127];
    // A count from the block RAM, and a cycle later.
    logic [47:0]  fetched, kept, sum;
    logic [6:0]   at;
    logic [2:0]   state;
    logic [1:0]   part;
    logic [5:0]   waited_bits, group_bits;
    // Of eight bits of the waiting time: whether there is a one, and the place after the highest.
    logic [63:0]  waited;
    logic [7:0]   group_has;
    logic [31:0]  group_places;
    logic         full;
    // Of the row in progress.
    logic [narrows_pkg::COUNTED_W-1:0] counted;
    /* verilator lint_off UNUSEDSIGNAL */ // Its 64th bit is zero for 106 days.
    logic [narrows_pkg::TIME_W-1:0]    sojourn;
    /* verilator lint_on UNUSEDSIGNAL */
    logic                              is_dequeue;

    // The bits of a row that may be ones.
    logic [ROW_W-1:0]        in_bits, out_bits;
    logic [LENGTH_BITS-1:0]  out_counted;
    logic [PACKETS_BITS-1:0] out_packets;
    logic [BYTES_BITS-1:0]   out_bytes;
    assign in_bits = {in_row.number, in_row.at, in_row.kind, in_row.reason,
                      in_row.counted[LENGTH_BITS-1:0], in_row.packets[PACKETS_BITS-1:0],
                      in_row.bytes[BYTES_BITS-1:0], in_row.sojourn};
    assign {out_row.number, out_row.at, out_row.kind, out_row.reason, out_counted, out_packets,
            out_bytes, out_row.sojourn} = out_bits;
    assign out_row.counted = narrows_pkg::COUNTED_W'(out_counted);
    assign out_row.packets = narrows_pkg::PACKETS_W'(out_packets);
    assign out_row.bytes = narrows_pkg::BYTES_W'(out_bytes);

    /* verilator lint_off PINCONNECTEMPTY */
    short_fifo #(.WIDTH(ROW_W), .DEPTH_LOG2(ROWS_LOG2)) rows (
        .clk, .rst, .push(in_valid && in_ready && !full), .push_data(in_bits), .full,
        .pop(out_valid && out_ready), .valid(out_valid), .data(out_bits), .count()
    );
    /* verilator lint_on PINCONNECTEMPTY */
    assign in_ready = state == IDLE;
    assign lost = in_valid && in_ready && full;
    assign count = kept;

    // The significant bits of the waiting time, in two cycles.
    assign waited = {1'b0, sojourn[62:0]};
    always_comb begin
        group_bits = '0;
        for (int n = 0; n < 8; n++)
            if (group_has[n]) group_bits = 6'(8 * n) + {2'b00, group_places[4*n +: 4]};
    end
    always_ff @(posedge clk) begin
        for (int n = 0; n < 8; n++) begin
            group_has[n] <= |waited[8*n +: 8];
            for (int place = 0; place < 8; place++)
                if (waited[8*n + place]) group_places[4*n +: 4] <= 4'(place + 1);
        end
        waited_bits <= group_bits;
    end

    always_ff @(posedge clk) begin
        if (state == STORE || state == CLEAR) counts[at] <= sum;
        fetched <= counts[at];
        kept <= fetched;
    end

    always_ff @(posedge clk) begin
        done <= 1'b0;
        if (rst) begin
            state <= CLEAR;
            at <= '0;
            sum <= '0;
        end else begin
            case (state)
                CLEAR: begin
                    at <= at + 1;
                    if (at == '1) state <= IDLE;
                end
                IDLE: begin
                    part <= PACKETS;
                    counted <= in_row.counted;
                    sojourn <= in_row.sojourn;
                    is_dequeue <= in_row.kind == narrows_pkg::EVENT_DEQUEUE;
                    at <= in_valid ? {2'b00, in_row.kind, in_row.reason} : address;
                    if (in_valid) state <= FETCH;
                    else if (read && !done) state <= LOOK_UP;
                end
                FETCH: state <= KEEP;
                KEEP: state <= ADD;
                LOOK_UP: state <= ANSWER;
                ADD: begin
                    sum <= kept + (part == BYTES ? {31'd0, counted} : 48'd1);
                    state <= STORE;
                end
                STORE: begin
                    part <= part + 1;
                    at <= part == PACKETS ? at | 7'd32 : {1'b1, waited_bits};
                    state <= part == PACKETS || (part == BYTES && is_dequeue) ? FETCH : IDLE;
                end
                default: begin
                    done <= 1'b1;
                    state <= IDLE;
                end
            endcase
        end
    end
endmodule
