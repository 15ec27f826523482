// The decision core with plain ports, for a model in C++: no port is wider than 64 bits.
module decisions_top (
    input  logic        clk,
    input  logic        rst,
    input  logic [63:0] horizon,

    input  logic        arrival_valid,
    output logic        arrival_ready,
    input  logic [63:0] arrival_at,
    input  logic [15:0] arrival_frame_bytes,
    input  logic        arrival_ecn_capable,
    output logic        admitted,

    input  logic        settings_valid,
    output logic        settings_ready,
    input  logic [63:0] settings_at,
    input  logic [39:0] rate,
    input  logic [1:0]  basis,
    input  logic [1:0]  limit_kind,
    input  logic [63:0] limit,
    input  logic [2:0]  ecn_enable,
    input  logic [63:0] ecn_packets,
    input  logic [63:0] ecn_bytes,
    input  logic [63:0] ecn_time,
    input  logic [53:0] loss_threshold,
    input  logic        loss_set_state,
    input  logic [63:0] loss_state_0,
    input  logic [63:0] loss_state_1,
    input  logic [63:0] loss_state_2,
    input  logic [63:0] loss_state_3,
    input  logic        codel_enable,
    input  logic        codel_marks,
    input  logic [43:0] codel_target,
    input  logic [46:0] codel_interval,
    input  logic [19:0] codel_mtu,

    output logic        dequeued_valid,
    input  logic        dequeued_ready,
    output logic [63:0] dequeued_at,
    output logic [47:0] dequeued_number,
    output logic        dequeued_marked,
    input  logic [1:0]  egress_fate,
    input  logic [15:0] egress_frame_bytes,

    output logic        sent,
    output logic [63:0] sent_start,
    output logic [63:0] sent_end,

    output logic        row_valid,
    output logic [47:0] row_number,
    output logic [63:0] row_at,
    output logic [1:0]  row_kind,
    output logic [2:0]  row_reason,
    output logic [16:0] row_counted,
    output logic [23:0] row_packets,
    output logic [40:0] row_bytes,
    output logic [63:0] row_sojourn,

    output logic        waiting,
    output logic        due_valid,
    output logic [63:0] due_at
);
    // Room for 1,048,576 packets; testbed/targets/rtl/run.py has the same number.
    localparam int DEPTH_LOG2 = 20;
    // A transmission time in one cycle, a product of a rate and a root in four: a model has no path
    // to be short.
    localparam int STEPS = narrows_pkg::COUNTED_W;

    narrows_settings_t settings;
    narrows_row_t      row;

    assign settings.rate = rate;
    assign settings.basis = basis;
    assign settings.limit_kind = limit_kind;
    assign settings.limit = limit;
    assign settings.ecn_enable = ecn_enable;
    assign settings.ecn_packets = ecn_packets;
    assign settings.ecn_bytes = ecn_bytes;
    assign settings.ecn_time = ecn_time;
    assign settings.loss_threshold = loss_threshold;
    assign settings.loss_set_state = loss_set_state;
    assign settings.loss_state = {loss_state_3, loss_state_2, loss_state_1, loss_state_0};
    assign settings.delay = '0;
    assign settings.codel_enable = codel_enable;
    assign settings.codel_marks = codel_marks;
    assign settings.codel_target = codel_target;
    assign settings.codel_interval = codel_interval;
    assign settings.codel_mtu = codel_mtu;

    assign row_number = row.number;
    assign row_at = row.at;
    assign row_kind = row.kind;
    assign row_reason = row.reason;
    assign row_counted = row.counted;
    assign row_packets = row.packets;
    assign row_bytes = row.bytes;
    assign row_sojourn = row.sojourn;

    /* verilator lint_off PINCONNECTEMPTY */
    port_decisions #(
        .DEPTH_LOG2(DEPTH_LOG2), .STEPS(STEPS), .LAW_STEPS(STEPS)
    ) port (
        .clk, .rst, .horizon,
        .arrival_valid, .arrival_ready, .arrival_at, .arrival_frame_bytes, .arrival_ecn_capable,
        .arrival_is_stored(1'b1), .arrival_tag(1'b0), .admitted,
        .settings_valid, .settings_ready, .settings_at, .settings, .active(),
        .dequeued_valid, .dequeued_ready, .dequeued_at, .dequeued_number,
        .dequeued_frame_bytes(), .dequeued_tag(), .dequeued_marked,
        .egress_fate, .egress_frame_bytes,
        .sent, .sent_start, .sent_end, .sent_counted(),
        .row_valid, .row_ready(1'b1), .row, .discarded(),
        .waiting, .due_valid, .due_at
    );
    /* verilator lint_on PINCONNECTEMPTY */
endmodule
