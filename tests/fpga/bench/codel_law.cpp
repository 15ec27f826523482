// Holds codel_law against doubles: every count of a range for an interval, or random pairs.
//
//   codel_law every INTERVAL_PS FIRST LAST
//   codel_law random SEED PAIRS
//   codel_law hard SEED PAIRS     intervals near multiples of roots
//
// Prints how many pairs agree and how many were rounded up; ends with 1 at the first that differs.

#include "Vcodel_law.h"
#include "verilated.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {
constexpr uint64_t LEAST_PS = 1000, MOST_PS = 100'000'000'000'000;
constexpr int MOST_CYCLES = 400;

struct Law {
    VerilatedContext context;
    Vcodel_law top{&context};
    uint64_t agreed = 0, rounded_up = 0, cycles = 0, most_cycles = 0;

    void cycle() {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
        ++cycles;
    }

    Law() {
        top.rst = 1;
        cycle();
        top.rst = 0;
    }

    void check(uint32_t count, uint64_t interval_ps) {
        top.count = count;
        top.interval_ps = interval_ps;
        top.start = 1;
        cycle();
        top.start = 0;
        const uint64_t before = cycles;
        while (!top.done && cycles < before + MOST_CYCLES) cycle();
        if (cycles - before > most_cycles) most_cycles = cycles - before;
        const uint64_t found = top.whole_ps + top.is_rounded_up;
        const auto expected = static_cast<uint64_t>(
            static_cast<double>(interval_ps) / std::sqrt(static_cast<double>(count)));
        if (!top.done || found != expected) {
            std::printf("interval %" PRIu64 ", count %" PRIu32 ": %" PRIu64 " in %" PRIu64
                        " cycles; expected %" PRIu64 "\n",
                        interval_ps, count, found, cycles - before, expected);
            std::exit(1);
        }
        ++agreed;
        rounded_up += top.is_rounded_up;
    }
};

// From 1, of any length.
uint32_t some_count(std::mt19937_64 &random) {
    return std::max(static_cast<uint32_t>(random() >> (32 + random() % 32)), 1u);
}

uint64_t number(const char *text) { return std::strtoull(text, nullptr, 10); }

// An interval near a multiple of the root, below it by less than a double can say.
void hard(Law &law, std::mt19937_64 &random) {
    const auto count = some_count(random);
    const long double root = std::sqrt(static_cast<long double>(count));
    const auto multiple = static_cast<uint64_t>(static_cast<long double>(MOST_PS) / root);
    const long double exact = root * static_cast<long double>(multiple - random() % (multiple / 2));
    for (int64_t around = -1; around <= 1; ++around) {
        const auto interval_ps = static_cast<uint64_t>(std::roundl(exact)) + around;
        if (interval_ps >= LEAST_PS && interval_ps <= MOST_PS) law.check(count, interval_ps);
    }
}
}  // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    Law law;
    if (what == "every" && argc == 5) {
        for (uint64_t count = number(argv[3]); count <= number(argv[4]); ++count)
            law.check(static_cast<uint32_t>(count), number(argv[2]));
    } else if (what == "random" && argc == 4) {
        std::mt19937_64 random(number(argv[2]));
        for (uint64_t n = number(argv[3]); n > 0; --n) {
            const uint64_t interval_ps = LEAST_PS + (random() >> (17 + random() % 37));
            law.check(some_count(random),
                      interval_ps < MOST_PS ? interval_ps : MOST_PS);
        }
    } else if (what == "hard" && argc == 4) {
        std::mt19937_64 random(number(argv[2]));
        for (uint64_t n = number(argv[3]); n > 0; --n) hard(law, random);
    } else {
        std::puts("usage: codel_law every INTERVAL_PS FIRST LAST | (random | hard) SEED PAIRS");
        return 2;
    }
    std::printf("%" PRIu64 " agree, %" PRIu64 " rounded up, at most %" PRIu64 " cycles\n", law.agreed,
                law.rounded_up, law.most_cycles);
    return 0;
}
