// What the parts of a board share: frames' addresses, the management protocol, the register bus.
//
// docs/guide/hardware-bottleneck.md has the protocol and the registers.
package narrows_board_pkg;
    localparam int MAC_W = 48;
    localparam int IP_W = 32;
    localparam int PORT_W = 16;
    localparam int VALUE_W = 64;

    // The UDP port of requests, and the first two bytes of each.
    localparam logic [PORT_W-1:0] MANAGEMENT_PORT = 16'h4E42;
    localparam logic [15:0] MAGIC = 16'h4E42;
    localparam logic [7:0] PROTOCOL_VERSION = 8'd1;

    localparam logic [7:0] OPERATION_READ = 8'd1;
    localparam logic [7:0] OPERATION_WRITE = 8'd2;

    // What became of a request.
    localparam logic [7:0] STATUS_OK = 8'd0;
    localparam logic [7:0] STATUS_OPERATION = 8'd1;
    localparam logic [7:0] STATUS_ADDRESS = 8'd2;
    localparam logic [7:0] STATUS_READ_ONLY = 8'd3;
    localparam logic [7:0] STATUS_RANGE = 8'd4;
    localparam logic [7:0] STATUS_BUSY = 8'd5;
    localparam logic [7:0] STATUS_LATE = 8'd6;

    // Kinds of a management frame.
    localparam logic [1:0] FRAME_ARP = 2'd0;
    localparam logic [1:0] FRAME_REPLY = 2'd1;
    localparam logic [1:0] FRAME_REPORT = 2'd2;
endpackage
