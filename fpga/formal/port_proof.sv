// A port loses no packet and makes none, for ever, whatever its arithmetic, CoDel, its packets'
// times and the ledger's taker do.
//
//   arrivals = refused + dropped by CoDel + sent, dropped or diverted by egress + in the queue
//
// It is proven by induction: the assertions about states say what the step needs. The modules in
// abstract/ stand for the arithmetic, and widths are small (tests/fpga/test_formal.py).
module port_proof (
    input logic clk
);
    localparam int DEPTH_LOG2 = 2;
    localparam int TIME_W = narrows_pkg::TIME_W;
    localparam int NUMBER_W = narrows_pkg::NUMBER_W;

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

    // The port's own signals, by their names.
    (* hierconn *) logic                \port.fifo_push , \port.fifo_pop , \port.head_valid ;
    (* hierconn *) logic                \port.fifo_full , \port.discards , \port.has_due ;
    (* hierconn *) logic [4:0]          \port.state ;
    (* hierconn *) logic [DEPTH_LOG2:0] \port.count , \port.queue.stored ;
    (* hierconn *) logic                \port.queue.reading ;
    localparam logic [4:0]
        COMPARE = 5'd2, CHOOSE = 5'd3, ADMIT = 5'd7, DEPART = 5'd9, CHECK = 5'd10,
        MARK_LATE = 5'd11, DEQUEUE = 5'd12, EGRESS = 5'd13, DROP_LATE = 5'd16, CODEL = 5'd21,
        MARK_HEAD = 5'd22, REFILL = 5'd23;
    logic       enters, leaves, needs_head, is_open;
    logic [4:0] state;
    assign state = \port.state ;
    assign enters = arrival_ready && admitted;
    assign leaves = \port.fifo_pop ;

    // Packets so far: those that arrived, and what became of them.
    logic [NUMBER_W-1:0] arrived = '0, refused = '0, left = '0, discards = '0, finished = '0;
    always_ff @(posedge clk) begin
        rst <= 1'b0;
        if (!rst) begin
            arrived <= arrived + NUMBER_W'(arrival_ready);
            refused <= refused + NUMBER_W'(arrival_ready && !admitted);
            left <= left + NUMBER_W'(leaves);
            discards <= discards + NUMBER_W'(discarded);
            finished <= finished + NUMBER_W'(dequeued_valid && dequeued_ready);
        end
    end

    // A departure is in progress, and its packet is at the head; or it is out, and egress has it.
    assign needs_head = ((state == COMPARE || state == CHOOSE) && \port.has_due )
        || state == DEPART || state == CHECK || state == CODEL || state == MARK_HEAD
        || state == MARK_LATE || state == DEQUEUE;
    assign is_open = state == EGRESS;

    always_comb begin
        if (!rst) begin
            // No overflow, and nothing leaves an empty queue.
            if (enters) assert (\port.fifo_push && !\port.fifo_full );
            if (leaves) assert (\port.head_valid );
            if (discarded) assert (leaves && \port.count > 1);
            assert (\port.count <= 1 << DEPTH_LOG2);
            // What came in is what went out, was dropped, or is queued.
            assert (arrived == refused + left + NUMBER_W'(\port.count ));
            assert (left == discards + finished + NUMBER_W'(is_open));
            assert (dequeued_valid == is_open);

            // What the step of the induction needs.
            assert ({2'b00, \port.count } == {2'b00, \port.queue.stored }
                + (DEPTH_LOG2 + 3)'(\port.queue.reading ) + (DEPTH_LOG2 + 3)'(\port.head_valid ));
            assert (!(\port.queue.reading && \port.head_valid ));
            if (needs_head) assert (\port.head_valid );
            if (state == ADMIT && admitted) assert (!\port.fifo_full );
            if (state == REFILL || (state == DROP_LATE && \port.discards ))
                assert (\port.count != 0);
            if ((state == MARK_LATE || state == DEQUEUE) && \port.discards )
                assert (\port.count > 1);
            if (state == CHECK || state == CODEL || state == MARK_HEAD || state == EGRESS)
                assert (!\port.discards );
            // CoDel drops a packet with bytes behind it (codel_proof.sv), and those are packets'
            // (port_order_proof.sv).
            if (state == CODEL && \port.codel_drops ) assume (\port.count > 1);
        end
    end
    (* hierconn *) logic \port.codel_drops ;
endmodule
