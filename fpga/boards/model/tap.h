// A TAP interface of Linux: Ethernet frames without check sequence.
#pragma once

#include "wire.h"

#include <cstring>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

class Tap {
public:
    explicit Tap(const char *name) : handle(open("/dev/net/tun", O_RDWR | O_NONBLOCK)) {
        ifreq request{};
        request.ifr_flags = IFF_TAP | IFF_NO_PI;
        std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
        if (handle < 0 || ioctl(handle, TUNSETIFF, &request) < 0)
            throw std::runtime_error(std::string(name) + ": " + std::strerror(errno));
    }
    Tap(Tap &&other) noexcept : handle(std::exchange(other.handle, -1)) {}
    ~Tap() {
        if (handle >= 0) close(handle);
    }

    std::optional<Frame> receive() {
        Frame frame(MOST);
        const ssize_t count = read(handle, frame.data(), frame.size());
        if (count <= 0) return {};
        frame.resize(count);
        return frame;
    }

    // An interface that is down takes no frame, as a cable that is out.
    void send(const Frame &frame) { (void)!write(handle, frame.data(), frame.size()); }

private:
    static constexpr size_t MOST = 2048;
    int handle;
};
