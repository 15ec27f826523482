// Takes a pulse of one cycle to another clock. Pulses must be three cycles of either clock apart.
module pulse_crossing (
    input  logic in_clk,
    input  logic in_pulse,
    input  logic out_clk,
    input  logic out_rst,
    output logic out_pulse
);
    logic toggle = 1'b0;
    logic near, seen, previous;

    always_ff @(posedge in_clk) if (in_pulse) toggle <= !toggle;
    always_ff @(posedge out_clk) begin
        near <= toggle;
        seen <= near;
        previous <= seen;
        out_pulse <= seen != previous && !out_rst;
    end
endmodule
