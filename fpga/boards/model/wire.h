// Frames as the bytes of a PHY, a byte in a cycle: preamble, check sequence, gap (IEEE 802.3).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

using Frame = std::vector<uint8_t>;

struct Signal {
    bool valid = false;
    uint8_t data = 0;
};

constexpr size_t SHORTEST = 60, CHECK = 4, PREAMBLE = 8;
constexpr int GAP = 12;

inline uint32_t check_sequence(const uint8_t *bytes, size_t count) {
    uint32_t crc = ~0u;
    for (size_t n = 0; n < count; ++n) {
        crc ^= bytes[n];
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

// Gives a frame's bytes to the board, cycle by cycle.
class ToPhy {
public:
    bool is_idle() const { return at == bytes.size() && gap == 0; }

    void send(const Frame &frame) {
        bytes.assign(PREAMBLE - 1, 0x55);
        bytes.push_back(0xD5);
        bytes.insert(bytes.end(), frame.begin(), frame.end());
        while (bytes.size() < PREAMBLE + SHORTEST) bytes.push_back(0);
        const uint32_t crc = check_sequence(&bytes[PREAMBLE], bytes.size() - PREAMBLE);
        for (int n = 0; n < 4; ++n) bytes.push_back(crc >> 8 * n);
        at = 0;
        gap = GAP;
    }

    Signal next() {
        if (at < bytes.size()) return {true, bytes[at++]};
        if (gap) --gap;
        return {};
    }

private:
    Frame bytes;
    size_t at = 0;
    int gap = 0;
};

// Makes frames of the bytes that the board sends. One whose check sequence is wrong is left out.
class FromPhy {
public:
    std::optional<Frame> take(Signal signal) {
        if (signal.valid) {
            bytes.push_back(signal.data);
            return {};
        }
        if (bytes.size() < PREAMBLE + CHECK) {
            bytes.clear();
            return {};
        }
        Frame frame(bytes.begin() + PREAMBLE, bytes.end() - CHECK);
        const uint32_t crc = check_sequence(frame.data(), frame.size());
        bool is_good = true;
        for (size_t n = 0; n < CHECK; ++n)
            is_good &= bytes[bytes.size() - CHECK + n] == uint8_t(crc >> 8 * n);
        bytes.clear();
        if (!is_good) return {};
        return frame;
    }

private:
    Frame bytes;
};
