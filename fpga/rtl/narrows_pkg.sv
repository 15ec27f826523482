// Widths, units and codes that every module of the bottleneck shares.
//
// Times are picoseconds since the core's start. A packet's number counts arrivals from 0. The codes
// are those of the ledger stream; fpga/README.md has the layout.
package narrows_pkg;
    // 64 bits of picoseconds last 213 days.
    localparam int TIME_W = 64;
    // Rates below 1.0995 Tb/s.
    localparam int RATE_W = 40;
    // A frame's bytes without its check sequence.
    localparam int FRAME_W = 16;
    // Bytes that count against the rate: a frame of 65,535 bytes takes 65,559 on the wire.
    localparam int COUNTED_W = 17;
    localparam int NUMBER_W = 48;
    localparam int PACKETS_W = 24;
    localparam int BYTES_W = 41;
    // Of CoDel: a target up to 10 s, an interval up to 100 s, an mtu up to 1,000,000 bytes, drops.
    localparam int TARGET_W = 44;
    localparam int INTERVAL_W = 47;
    localparam int MTU_W = 20;
    localparam int CODEL_COUNT_W = 32;

    // Picoseconds that a byte takes at 1 bit/s.
    localparam int BYTE_PS_W = 43;
    localparam logic [BYTE_PS_W-1:0] BYTE_PS = 43'd8_000_000_000_000;
    // The largest value that counts as a rate.
    localparam logic [RATE_W-1:0] GIGABIT = 40'd1_000_000_000;

    // The bytes of a frame that count: the IP packet, the frame, or the frame on the wire.
    localparam logic [1:0] BASIS_IP = 2'd0;
    localparam logic [1:0] BASIS_FRAME = 2'd1;
    localparam logic [1:0] BASIS_WIRE = 2'd2;

    localparam logic [1:0] LIMIT_PACKETS = 2'd0;
    localparam logic [1:0] LIMIT_BYTES = 2'd1;
    localparam logic [1:0] LIMIT_TIME = 2'd2;

    localparam logic [1:0] EVENT_ENQUEUE = 2'd0;
    localparam logic [1:0] EVENT_DEQUEUE = 2'd1;
    localparam logic [1:0] EVENT_DROP = 2'd2;
    localparam logic [1:0] EVENT_MARK = 2'd3;

    localparam int REASON_W = 3;
    localparam logic [REASON_W-1:0] DROP_QUEUE_FULL = 3'd0;
    localparam logic [REASON_W-1:0] DROP_EGRESS = 3'd1;
    localparam logic [REASON_W-1:0] DROP_RANDOM = 3'd2;
    localparam logic [REASON_W-1:0] DROP_MEMORY_FULL = 3'd3;
    localparam logic [REASON_W-1:0] DROP_CODEL = 3'd4;

    localparam logic [REASON_W-1:0] MARK_PACKETS = 3'd0;
    localparam logic [REASON_W-1:0] MARK_BYTES = 3'd1;
    localparam logic [REASON_W-1:0] MARK_TIME = 3'd2;
    localparam logic [REASON_W-1:0] MARK_CODEL = 3'd3;

    // What egress did with a dequeued packet: it is sent, dropped, or goes another way.
    localparam logic [1:0] FATE_SENT = 2'd0;
    localparam logic [1:0] FATE_DROPPED = 2'd1;
    localparam logic [1:0] FATE_DIVERTED = 2'd2;
endpackage
