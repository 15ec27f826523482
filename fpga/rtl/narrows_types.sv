// The records that modules pass: settings and rows of the ledger.
//
// They are outside the package because Icarus 11 reads no structure in one.

// The settings that take effect together, at one instant.
typedef struct packed {
    logic [narrows_pkg::RATE_W-1:0]      rate;
    logic [1:0]                          basis;
    logic [1:0]                          limit_kind;
    // Packets, bytes or picoseconds.
    logic [narrows_pkg::TIME_W-1:0]      limit;
    // Which thresholds of ECN are in force: bit MARK_PACKETS, MARK_BYTES, MARK_TIME.
    logic [2:0]                          ecn_enable;
    logic [narrows_pkg::TIME_W-1:0]      ecn_packets;
    logic [narrows_pkg::TIME_W-1:0]      ecn_bytes;
    logic [narrows_pkg::TIME_W-1:0]      ecn_time;
    // The loss probability times 2^53, rounded up; 0 is no loss.
    logic [53:0]                         loss_threshold;
    // Whether the generator of losses starts from this state.
    logic                                loss_set_state;
    logic [255:0]                        loss_state;
    // Propagation delay after the transmission.
    logic [narrows_pkg::TIME_W-1:0]      delay;
    // Whether CoDel is in force, and marks ECN-capable packets instead of dropping them.
    logic                                codel_enable;
    logic                                codel_marks;
    logic [narrows_pkg::TARGET_W-1:0]    codel_target;
    logic [narrows_pkg::INTERVAL_W-1:0]  codel_interval;
    logic [narrows_pkg::MTU_W-1:0]       codel_mtu;
} narrows_settings_t;

// A row of the ledger: an event of a packet at the queue.
typedef struct packed {
    logic [narrows_pkg::NUMBER_W-1:0]    number;
    logic [narrows_pkg::TIME_W-1:0]      at;
    logic [1:0]                          kind;
    logic [narrows_pkg::REASON_W-1:0]    reason;
    logic [narrows_pkg::COUNTED_W-1:0]   counted;
    // The queue after the event.
    logic [narrows_pkg::PACKETS_W-1:0]   packets;
    logic [narrows_pkg::BYTES_W-1:0]     bytes;
    // How long a dequeued packet waited; 0 for other events.
    logic [narrows_pkg::TIME_W-1:0]      sojourn;
} narrows_row_t;

// The pins of an SDRAM of 32 bits without masks, but for its clock; `writes`: the data is driven.
typedef struct packed {
    logic        ras_n;
    logic        cas_n;
    logic        we_n;
    logic [1:0]  bank;
    logic [10:0] address;
    logic        writes;
    logic [31:0] data;
} narrows_sdram_t;
