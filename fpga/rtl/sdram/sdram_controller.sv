// Runs jobs on an SDRAM: each reads or writes up to 16 words of 32 bits in one row.
//
// The SDRAM has four banks and rows of 256 words, as the M12L64322A. A job opens its row, gives a
// column command per word (burst length 1, so a job has any length), and the last one closes the
// row. The next job's row is opened at once if it is in another bank. Words are laid out so that
// 16 words are followed by those of the next bank.
//
// Cycles at 8 ns, and what they cover (litedram/modules.py; ESMT's slowest grade where it is more):
//   open to column 3: tRCD 20 ns;  open to close 6: tRAS 42 ns;  close to open 3: tRP 20 ns;
//   open to open 11: tRC 63 ns, and 7 for two banks: tRRD 14 ns;  a refresh 9: tRFC 70 ns;
//   last word written to close 2: tWR 15 ns, tRDL two cycles.
module sdram_controller #(
    // Bits of a word's address; 21 are 8 MB.
    parameter int WORD_W = 20,
    // Cycles before the first command: 200 us.
    parameter int REST_CYCLES = 25_000,
    // 4,096 refreshes in 64 ms are one in 1,953 cycles; a job may delay one by 30.
    parameter int REFRESH_CYCLES = 1_900
) (
    input  logic              clk,
    input  logic              rst,
    // The SDRAM takes jobs.
    output logic              is_ready,

    input  logic              job_valid,
    output logic              job_ready,
    input  logic              job_is_write,
    input  logic [WORD_W-1:0] job_at,
    // The words after the first one, none beyond the next multiple of 16.
    input  logic [3:0]        job_more,
    // High for one cycle: the job's last command is given, so its words were taken.
    output logic              job_done,

    // The words of a write, by the low bits of their addresses: each two cycles after its address.
    output logic [9:0]        write_at,
    input  logic [31:0]       write_data,
    // The words of the reads, in the order of the jobs.
    output logic              read_valid,
    output logic [31:0]       read_data,

    // From and to registers at the pins.
    output narrows_sdram_t    sdram,
    input  logic [31:0]       sdram_data
);
    // From a read command in `sdram` to its word in `sdram_data`: the pin's register, half a cycle
    // to the SDRAM's clock, a latency of three, half a cycle to the next edge of this clock.
    localparam int READ_STAGES = 5;
    localparam logic [2:0]
        // ras_n, cas_n, we_n.
        NOP = 3'b111, ACTIVATE = 3'b011, READ = 3'b101, WRITE = 3'b100, PRECHARGE = 3'b010,
        REFRESH = 3'b001, LOAD_MODE = 3'b000;
    // A latency of three, bursts of one word.
    localparam logic [10:0] MODE = 11'h030;
    // Address bit 10 closes: the row after a column command, all banks with a precharge.
    localparam logic [10:0] CLOSES = 11'h400;
    localparam logic [3:0]
        PRECHARGE_PAUSE = 4'd3, REFRESH_PAUSE = 4'd8, MODE_PAUSE = 4'd3;
    localparam int REST_W = $clog2(REST_CYCLES + 1);
    localparam int REFRESH_W = $clog2(REFRESH_CYCLES + 1);
    localparam logic [2:0] REST = 3'd0, SET_UP = 3'd1, IDLE = 3'd2, OPEN = 3'd3, COLUMNS = 3'd4;

    logic [2:0]           state = REST;
    logic [REST_W-1:0]    rest_left;
    logic [REFRESH_W-1:0] refresh_left;
    logic                 has_rested, is_refresh_due;
    // Steps of the set-up, and cycles to the next command.
    logic [3:0]           step, pause, open_left;
    // The bank that was open last, and whether it is not closed yet. All others are: a job takes
    // longer than that after the one before it.
    logic [3:0]           closing;
    logic [1:0]           bank;
    // The next job waits here; a cycle later its bank is compared.
    logic                 has_next, is_compared, is_same_bank, opens, next_is_write;
    logic [20:0]          next_at;
    logic [3:0]           next_more;

    // The job in progress.
    logic                 is_write;
    logic [20:0]          at;
    logic [3:0]           more;

    // No command until the reset.
    logic [2:0]           command = NOP;
    logic [1:0]           command_bank;
    logic [10:0]          command_address;
    logic [READ_STAGES:0] reads;
    logic [16:0]          pins = {NOP, 14'd0};
    logic [48:0]          leaving = {NOP, 46'd0};

    assign job_ready = !has_next;
    assign opens = state == IDLE && pause == 0 && !is_refresh_due && is_compared
        && (closing == 0 || !is_same_bank);
    assign write_at = {at[9:4], at[3:0]};
    assign read_data = sdram_data;
    assign read_valid = reads[READ_STAGES];

    always_ff @(posedge clk) begin
        has_rested <= rest_left == 0;
        if (rst) rest_left <= REST_W'(REST_CYCLES);
        else if (!has_rested) rest_left <= rest_left - 1;

        if (!is_ready || refresh_left == 0) refresh_left <= REFRESH_W'(REFRESH_CYCLES);
        else refresh_left <= refresh_left - 1;
    end

    always_ff @(posedge clk) begin
        has_next <= (has_next ? !opens : job_valid) && !rst;
        is_compared <= has_next && !opens && !rst;
        is_same_bank <= next_at[5:4] == bank;
        if (job_ready) begin
            next_is_write <= job_is_write;
            next_at <= 21'(job_at);
            next_more <= job_more;
        end
    end

    always_ff @(posedge clk) begin
        command <= NOP;
        job_done <= 1'b0;
        if (pause != 0) pause <= pause - 1;
        closing <= closing << 1;
        if (refresh_left == 0) is_refresh_due <= 1'b1;
        case (state)
            REST: if (has_rested) state <= SET_UP;
            SET_UP:
                if (pause == 0) begin
                    // All banks are closed, eight refreshes, the mode.
                    step <= step + 1;
                    command_bank <= '0;
                    command_address <= step == 0 ? CLOSES : MODE;
                    command <= step == 0 ? PRECHARGE : step == 9 ? LOAD_MODE : REFRESH;
                    pause <= step == 0 ? PRECHARGE_PAUSE : step == 9 ? MODE_PAUSE : REFRESH_PAUSE;
                    if (step == 9) begin
                        state <= IDLE;
                        is_ready <= 1'b1;
                    end
                end
            IDLE: begin
                if (is_refresh_due && pause == 0 && closing == 0) begin
                    command <= REFRESH;
                    pause <= REFRESH_PAUSE;
                    is_refresh_due <= 1'b0;
                end
                if (opens) begin
                    command <= ACTIVATE;
                    command_bank <= next_at[5:4];
                    command_address <= next_at[20:10];
                    bank <= next_at[5:4];
                    // A write waits a cycle more, for the last word of a read to leave the pins. A
                    // short job waits until its row was open for long enough.
                    open_left <= (next_is_write ? 4'd3 : 4'd2)
                        + (next_more[3:2] == 0 ? 4'd3 : 4'd0);
                    state <= OPEN;
                end
                is_write <= next_is_write;
                at <= next_at;
                more <= next_more;
            end
            OPEN: begin
                open_left <= open_left - 1;
                if (open_left == 1) state <= COLUMNS;
            end
            default: begin
                command <= is_write ? WRITE : READ;
                command_address <= {more == 0, 2'b00, at[9:6], at[3:0]};
                at[3:0] <= at[3:0] + 1;
                more <= more - 1;
                if (more == 0) begin
                    state <= IDLE;
                    closing <= 4'd1;
                    job_done <= 1'b1;
                end
            end
        endcase
        if (rst) begin
            state <= REST;
            is_ready <= 1'b0;
            is_refresh_due <= 1'b0;
            step <= '0;
            pause <= '0;
            closing <= '0;
        end
    end

    // A word of a write comes two cycles after its address, as its command does. The registers
    // after that are halfway between the block RAM and the pins.
    always_ff @(posedge clk) begin
        pins <= {command, command_bank, command_address, command == WRITE};
        leaving <= {pins, write_data};
        reads <= {reads[READ_STAGES-1:0], pins[16:14] == READ && !rst};
    end
    assign sdram = leaving;
endmodule
