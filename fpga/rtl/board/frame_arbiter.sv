// Lets the data path and the board's own frames share a transmitter.
//
// A frame of the board's own is sent while no frame of the data path leaves soon (`is_quiet`), and
// so delays none. If that is not so for 2^PATIENCE_LOG2 cycles, it is sent all the same, and the
// frame that waits for it is late.
module frame_arbiter #(
    parameter int WIDTH = 17,
    parameter int PATIENCE_LOG2 = 16
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             is_quiet,
    input  logic             data_valid,
    output logic             data_ready,
    input  logic [WIDTH-1:0] data,
    input  logic             data_last,
    input  logic             own_valid,
    output logic             own_ready,
    input  logic [WIDTH-1:0] own_data,
    input  logic             own_last,

    // The transmitter; `is_idle`: a frame can start.
    input  logic             is_idle,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data,
    output logic             out_last,
    // High for one cycle: a frame of the data path found the transmitter busy.
    output logic             waited
);
    logic [PATIENCE_LOG2:0] patience;
    logic                   is_own, in_frame, is_waiting, starts_own, has_ended;

    // A word that finds the transmitter busy waits here. So the data path sees a register, and not
    // the transmitter.
    logic                   is_held, held_last, has_data, takes_data;
    logic [WIDTH-1:0]       held;
    assign data_ready = !is_held;
    assign has_data = data_valid || is_held;
    assign takes_data = !is_own && out_ready;

    always_ff @(posedge clk) begin
        is_held <= has_data && !takes_data && !rst;
        if (!is_held) {held_last, held} <= {data_last, data};
    end

    assign starts_own = own_valid && !has_data && (is_quiet || patience[PATIENCE_LOG2]);
    // Between frames the data path has the transmitter at once; the board's frame takes a cycle.
    assign out_valid = is_own ? own_valid : has_data;
    assign out_data = is_own ? own_data : is_held ? held : data;
    assign out_last = is_own ? own_last : is_held ? held_last : data_last;
    assign own_ready = is_own && out_ready;

    always_ff @(posedge clk) begin
        waited <= 1'b0;
        if (!own_valid || is_own) patience <= '0;
        else if (!patience[PATIENCE_LOG2]) patience <= patience + 1;
        // The transmitter takes nothing in the cycle after a frame's last word.
        has_ended <= out_valid && out_ready && out_last && !rst;
        if (has_ended) begin
            is_own <= 1'b0;
            in_frame <= 1'b0;
        end else if (out_valid && !in_frame) begin
            in_frame <= is_idle;
        end else if (!in_frame && is_idle && starts_own) begin
            is_own <= 1'b1;
        end
        // Once for each frame.
        is_waiting <= has_data && (is_own || (!in_frame && !is_idle));
        waited <= has_data && (is_own || (!in_frame && !is_idle)) && !is_waiting;
        if (rst) begin
            is_own <= 1'b0;
            in_frame <= 1'b0;
            is_waiting <= 1'b0;
            patience <= '0;
        end
    end
endmodule
