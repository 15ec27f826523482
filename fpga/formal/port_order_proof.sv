// A port of four packets keeps their order, and its ledger's bytes are theirs, for all inputs
// within a number of cycles. port_proof.sv shows for ever that none is lost.
//
// The modules in abstract/ stand for the arithmetic: any product, verdict or loss. Widths are small
// (tests/fpga/test_formal.py). Arrivals and settings come in the order of their times, and stay
// until they are taken.
module port_order_proof (
    input logic clk
);
    localparam int DEPTH_LOG2 = 2;
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int NUMBER_W = narrows_pkg::NUMBER_W;
    localparam int BYTES_W = narrows_pkg::BYTES_W;
    localparam int COUNTED_W = narrows_pkg::COUNTED_W;

    (* anyseq *) logic arrival_valid, arrival_ecn_capable, arrival_is_stored, settings_valid;
    (* anyseq *) logic dequeued_ready, row_ready;
    (* anyseq *) logic [TIME_W-1:0] horizon, arrival_at, settings_at;
    (* anyseq *) logic [narrows_pkg::FRAME_W-1:0] arrival_frame_bytes, egress_frame_bytes;
    (* anyseq *) logic [1:0] egress_fate;
    (* anyseq *) logic [1:0] basis, limit_kind;
    (* anyseq *) logic [2:0] ecn_enable;
    (* anyseq *) logic [TIME_W-1:0] limit, threshold;
    (* anyseq *) logic codel_enable;
    narrows_settings_t settings;
    // What the abstract modules do not use stays as it is.
    always_comb begin
        settings = '0;
        settings.rate = narrows_pkg::GIGABIT;
        settings.basis = basis;
        settings.limit_kind = limit_kind;
        settings.limit = limit;
        settings.ecn_enable = ecn_enable;
        settings.ecn_packets = threshold;
        settings.ecn_bytes = threshold;
        settings.ecn_time = threshold;
        settings.codel_enable = codel_enable;
    end

    logic                rst = 1'b1;
    logic                arrival_ready, admitted, settings_ready, dequeued_valid, sent, row_valid;
    logic                discarded;
    logic [TIME_W-1:0]   dequeued_at;
    logic [NUMBER_W-1:0] dequeued_number;
    narrows_row_t        row;

    port_decisions #(.DEPTH_LOG2(DEPTH_LOG2)) port (
        .clk, .rst, .horizon,
        .arrival_valid, .arrival_ready, .arrival_at, .arrival_frame_bytes, .arrival_ecn_capable,
        .arrival_is_stored, .arrival_tag(1'b0), .admitted,
        .settings_valid, .settings_ready, .settings_at, .settings, .active(),
        .dequeued_valid, .dequeued_ready, .dequeued_at, .dequeued_number,
        .dequeued_frame_bytes(), .dequeued_tag(), .dequeued_marked(),
        .egress_fate, .egress_frame_bytes, .sent, .sent_start(), .sent_end(), .sent_counted(),
        .row_valid, .row_ready, .row, .discarded, .waiting(), .due_valid(), .due_at()
    );

    // What the environment keeps: its inputs until they are taken, and the order of times.
    logic              held = 1'b0, held_settings = 1'b0;
    logic [TIME_W-1:0] last_at, last_settings_at, promised;
    logic [narrows_pkg::FRAME_W-1:0] last_bytes;
    always_ff @(posedge clk) begin
        held <= !rst && arrival_valid && !arrival_ready;
        held_settings <= !rst && settings_valid && !settings_ready;
        last_at <= rst ? '0 : arrival_valid ? arrival_at : last_at;
        last_settings_at <= settings_at;
        last_bytes <= arrival_frame_bytes;
        promised <= rst ? '0 : arrival_valid ? arrival_at : horizon;
    end
    always_comb begin
        if (held) assume (arrival_valid && arrival_at == last_at && arrival_frame_bytes == last_bytes);
        if (held_settings) assume (settings_valid && settings_at == last_settings_at);
        if (arrival_valid && !rst) assume (arrival_at >= last_at && arrival_at >= promised);
        assume (rst || arrival_valid || horizon >= promised);
    end

    // The port's own signals, by their names.
    (* hierconn *) logic                 \port.fifo_pop , \port.head_valid ;
    (* hierconn *) logic [DEPTH_LOG2:0]  \port.count ;
    (* hierconn *) logic [BYTES_W-1:0]   \port.bytes ;
    (* hierconn *) logic [COUNTED_W-1:0] \port.counted ;
    (* hierconn *) logic [NUMBER_W-1:0]  \port.head_number ;
    logic enters, leaves;
    assign enters = arrival_ready && admitted && !rst;
    assign leaves = \port.fifo_pop && !rst;

    // The queue as it should be, the oldest first: numbers and lengths of its packets.
    logic [4*NUMBER_W-1:0]  numbers;
    logic [4*COUNTED_W-1:0] lengths;
    logic [2:0]             queued = '0, place;
    logic [BYTES_W-1:0]     waiting_bytes = '0;
    logic [NUMBER_W-1:0]    arrived = '0;
    logic                   is_open = 1'b0;
    logic [NUMBER_W-1:0]    open_number;
    assign place = queued - 3'(leaves);

    always_ff @(posedge clk) begin
        rst <= 1'b0;
        if (!rst) begin
            arrived <= arrived + NUMBER_W'(arrival_ready);
            queued <= place + 3'(enters);
            waiting_bytes <= waiting_bytes
                + (enters ? BYTES_W'(\port.counted ) : '0)
                - (leaves ? BYTES_W'(lengths[0 +: COUNTED_W]) : '0);
            if (leaves) begin
                numbers <= numbers >> NUMBER_W;
                lengths <= lengths >> COUNTED_W;
                open_number <= numbers[0 +: NUMBER_W];
            end
            if (enters) begin
                for (int n = 0; n < 4; n++)
                    if (place == 3'(n)) begin
                        numbers[n * NUMBER_W +: NUMBER_W] <= arrived;
                        lengths[n * COUNTED_W +: COUNTED_W] <= \port.counted ;
                    end
            end
            is_open <= (is_open || (leaves && !discarded)) && !(dequeued_valid && dequeued_ready);
        end
    end

    always_comb begin
        if (!rst) begin
            assert (3'(\port.count ) == queued && queued <= 4);
            assert (\port.bytes == waiting_bytes);
            // First in, first out.
            if (\port.head_valid ) assert (\port.head_number == numbers[0 +: NUMBER_W]);
            if (dequeued_valid) assert (is_open && dequeued_number == open_number);
            // CoDel leaves a packet.
            if (discarded) assert (leaves && queued > 1);
        end
    end
endmodule
