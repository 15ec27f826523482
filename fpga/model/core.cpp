// The library of core.h: clocks Verilator's model of the decision core until an event is finished.

#include "core.h"

#include "Vdecisions_top.h"
#include "verilated.h"

#include <deque>
#include <memory>
#include <string>

namespace {
// From one row of the ledger to the next, and to an event's end. A change of the rate takes the
// most: three products of 64 bits, 17 bits a cycle.
constexpr int MOST_CYCLES = 1000;
constexpr uint32_t MOST_FRAME_BYTES = 65535;
constexpr uint64_t RATES = uint64_t{1} << 40;
// Of CoDel, as queueing/src/disciplines/codel.rs has them.
constexpr uint64_t MOST_TARGET_PS = 10'000'000'000'000;
constexpr uint64_t LEAST_INTERVAL_PS = 1000;
constexpr uint64_t MOST_INTERVAL_PS = 100'000'000'000'000;
constexpr uint32_t MOST_MTU = 1'000'000;
constexpr int FAILED = -1;
constexpr int DROP_KIND = 2;
constexpr int MEMORY_FULL = 3;
}  // namespace

struct core {
    VerilatedContext context;
    std::unique_ptr<Vdecisions_top> top;
    std::deque<core_row_t> rows;
    std::string error;
    uint64_t cycles = 0;
    bool is_open = false;

    core() : top(std::make_unique<Vdecisions_top>(&context)) {
        top->rst = 1;
        cycle();
        cycle();
        top->rst = 0;
        until([this] { return top->waiting; });
    }

    // One cycle; outputs are then those before the next rising edge.
    void cycle() {
        top->clk = 1;
        top->eval();
        top->clk = 0;
        top->eval();
        ++cycles;
        if (top->row_valid && !top->rst) keep_row();
    }

    void keep_row() {
        rows.push_back({top->row_number, top->row_at, top->row_bytes, top->row_sojourn,
                        top->row_packets, top->row_counted, top->row_kind, top->row_reason});
        if (top->row_kind == DROP_KIND && top->row_reason == MEMORY_FULL)
            error = "the core's queue has no room for another packet within its limit";
    }

    // Cycles until a condition holds; fails where it never does.
    template <typename Condition> bool until(Condition holds) {
        top->eval();
        auto seen = rows.size();
        for (int n = 0; !holds(); ++n) {
            if (rows.size() != seen) {
                seen = rows.size();
                n = 0;
            }
            if (n == MOST_CYCLES) {
                error = "the core did not finish an event";
                return false;
            }
            cycle();
        }
        return true;
    }

    int done() { return until([this] { return top->waiting; }) && error.empty() ? 1 : FAILED; }

    int fail(const char *why) {
        error = why;
        return FAILED;
    }
};

extern "C" {

uint32_t core_abi(void) { return CORE_ABI; }
core_t *core_new(void) { return new core; }
void core_free(core_t *core) { delete core; }
const char *core_error(const core_t *core) { return core->error.c_str(); }
uint64_t core_cycles(const core_t *core) { return core->cycles; }

int core_set(core_t *core, uint64_t at_ps, const core_settings_t *settings) {
    if (!core->error.empty()) return FAILED;
    if (settings->rate_bps == 0 || settings->rate_bps >= RATES)
        return core->fail("a rate is from 1 bit/s to 1.0995 Tb/s");
    if (settings->codel_enable
        && (settings->codel_target_ps > MOST_TARGET_PS
            || settings->codel_interval_ps < LEAST_INTERVAL_PS
            || settings->codel_interval_ps > MOST_INTERVAL_PS || settings->codel_mtu > MOST_MTU))
        return core->fail("CoDel's target is up to 10 s, its interval 1 ns to 100 s, its mtu up to "
                          "1,000,000 bytes");
    auto &top = *core->top;
    top.rate = settings->rate_bps;
    top.limit = settings->limit;
    top.ecn_packets = settings->ecn_packets;
    top.ecn_bytes = settings->ecn_bytes;
    top.ecn_time = settings->ecn_time_ps;
    top.loss_threshold = settings->loss_threshold;
    top.loss_state_0 = settings->loss_state[0];
    top.loss_state_1 = settings->loss_state[1];
    top.loss_state_2 = settings->loss_state[2];
    top.loss_state_3 = settings->loss_state[3];
    top.basis = settings->basis;
    top.limit_kind = settings->limit_kind;
    top.ecn_enable = settings->ecn_enable;
    top.loss_set_state = settings->loss_set_state;
    top.codel_enable = settings->codel_enable;
    top.codel_marks = settings->codel_marks;
    top.codel_target = settings->codel_target_ps;
    top.codel_interval = settings->codel_interval_ps;
    top.codel_mtu = settings->codel_mtu;
    top.settings_at = at_ps;
    top.horizon = at_ps;
    top.settings_valid = 1;
    if (!core->until([&top] { return top.settings_ready || top.dequeued_valid; })) return FAILED;
    if (top.dequeued_valid) return core->fail("a departure is due before the settings");
    core->cycle();
    top.settings_valid = 0;
    top.horizon = 0;
    return core->done();
}

int core_offer(core_t *core, uint64_t at_ps, uint32_t frame_bytes, int is_ecn_capable) {
    if (!core->error.empty()) return FAILED;
    if (frame_bytes > MOST_FRAME_BYTES) return core->fail("a frame has up to 65,535 bytes");
    auto &top = *core->top;
    top.arrival_at = at_ps;
    top.arrival_frame_bytes = frame_bytes;
    top.arrival_ecn_capable = is_ecn_capable != 0;
    top.arrival_valid = 1;
    if (!core->until([&top] { return top.arrival_ready || top.dequeued_valid; })) return FAILED;
    if (top.dequeued_valid) return core->fail("a departure is due before the arrival");
    const int admitted = top.admitted;
    core->cycle();
    top.arrival_valid = 0;
    return core->done() == FAILED ? FAILED : admitted;
}

int core_due(const core_t *core, uint64_t *at_ps) {
    if (!core->error.empty()) return FAILED;
    *at_ps = core->top->due_at;
    return core->top->due_valid;
}

int core_dequeue(core_t *core, uint64_t by_ps, core_dequeued_t *dequeued) {
    if (!core->error.empty()) return FAILED;
    auto &top = *core->top;
    if (core->is_open) return core->fail("the packet before is not finished");
    if (!top.due_valid || top.due_at > by_ps) return 0;
    top.horizon = by_ps;
    if (!core->until([&top] { return top.dequeued_valid; })) return FAILED;
    top.horizon = 0;
    *dequeued = {top.dequeued_number, top.dequeued_at, top.dequeued_marked};
    core->is_open = true;
    return 1;
}

int core_finish(core_t *core, int fate, uint32_t frame_bytes, uint64_t *start_ps, uint64_t *end_ps) {
    if (!core->error.empty()) return FAILED;
    if (frame_bytes > MOST_FRAME_BYTES) return core->fail("a frame has up to 65,535 bytes");
    if (!core->is_open) return core->fail("no packet was dequeued");
    auto &top = *core->top;
    core->is_open = false;
    top.egress_fate = fate;
    top.egress_frame_bytes = frame_bytes;
    top.dequeued_ready = 1;
    core->cycle();
    top.dequeued_ready = 0;
    if (core->done() == FAILED) return FAILED;
    *start_ps = top.sent_start;
    *end_ps = top.sent_end;
    return 1;
}

int core_rows(core_t *core, core_row_t *rows, uint32_t most) {
    uint32_t n = 0;
    for (; n < most && !core->rows.empty(); ++n) {
        rows[n] = core->rows.front();
        core->rows.pop_front();
    }
    return static_cast<int>(n);
}
}
