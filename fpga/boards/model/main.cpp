// A board in software: Verilator's model of bottleneck_board between two TAP interfaces.
//
//   board TAP0 TAP1
//
// The model's clock is slower than a board's by the factor that it was built with (SLOWER), and so
// is its line. Its time base counts that clock, so its picoseconds are those of the real clock as
// long as the machine keeps up. It runs until its standard input ends. Then it prints the cycles
// and the longest time by which it was late.

#include "tap.h"
#include "wire.h"

#include "Vbottleneck_board.h"
#include "verilated.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace {
using Clock = std::chrono::steady_clock;
constexpr double CLOCK_HZ = 125e6 / SLOWER;
// Cycles between two looks at the machine's clock.
constexpr int SLICE = 256;
constexpr int RESET_CYCLES = 128;
// Cycles between two looks for a frame while a port receives none.
constexpr int LOOK = 16;

struct Board {
    VerilatedContext context;
    std::unique_ptr<Vbottleneck_board> top = std::make_unique<Vbottleneck_board>(&context);
    Tap taps[2];
    ToPhy in[2];
    FromPhy out[2];
    int idle[2] = {0, 0};
    // Whether the core's clock falls in this cycle of the line's, twice as fast.
    bool is_second = false;

    Board(const char *first, const char *second) : taps{Tap(first), Tap(second)} {
        top->rst = 1;
        for (int n = 0; n < RESET_CYCLES; ++n) cycle();
        top->rst = 0;
    }

    // One cycle of the line's clock and the receivers', half a one of the core's.
    void cycle() {
        for (int port = 0; port < 2; ++port) receive(port);
        const Signal first = in[0].next(), second = in[1].next();
        top->rx_0_valid = first.valid;
        top->rx_0_data = first.data;
        top->rx_1_valid = second.valid;
        top->rx_1_data = second.data;
        set_clocks(1);
        set_clocks(0);
        is_second = !is_second;
        if (auto frame = out[0].take({top->tx_0_valid != 0, top->tx_0_data}))
            taps[0].send(*frame);
        if (auto frame = out[1].take({top->tx_1_valid != 0, top->tx_1_data}))
            taps[1].send(*frame);
    }

    // A frame that waits follows the one before it without a pause.
    void receive(int port) {
        if (!in[port].is_idle()) {
            idle[port] = 0;
        } else if (idle[port]++ % LOOK == 0) {
            if (auto frame = taps[port].receive()) in[port].send(*frame);
        }
    }

    void set_clocks(int level) {
        if (level) top->clk = !is_second;
        top->line_clk = level;
        top->rx_0_clk = level;
        top->rx_1_clk = level;
        top->eval();
    }
};

bool has_ended() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char byte;
    return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}
}  // namespace

int main(int count, char **given) {
    if (count != 3) {
        std::fprintf(stderr, "usage: board TAP0 TAP1\n");
        return 2;
    }
    try {
        Board board(given[1], given[2]);
        std::puts("ready");
        std::fflush(stdout);
        const auto start = Clock::now();
        double cycles = 0, latest_s = 0;
        while (!has_ended()) {
            for (int n = 0; n < SLICE; ++n) board.cycle();
            cycles += SLICE;
            const std::chrono::duration<double> passed = Clock::now() - start;
            const double ahead_s = cycles / CLOCK_HZ - passed.count();
            latest_s = std::max(latest_s, -ahead_s);
            if (ahead_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(ahead_s));
        }
        std::printf("%.0f cycles, latest %.6f s\n", cycles, latest_s);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "board: %s\n", error.what());
        return 1;
    }
}
