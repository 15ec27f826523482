// Queue discs of ns-3.37 on given arrivals: writes ns3_queue_discs.csv, which tests/ns3.rs compares
// with our disciplines.
//
//   g++ -std=c++17 ns3_queue_discs.cc -lns3-core -lns3-network -lns3-traffic-control -o oracle
//   ./oracle > ns3_queue_discs.csv
//
// Packets of four flows go into a link of 10 Mb/s. A row is an arrival, in order. The n-th random
// number that a queue disc draws stands in the n-th row. Then each run has a column: how long the
// packet waited in nanoseconds, with a "d" in front where it was dropped then.

#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/traffic-control-module.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr int kArrivals = 2800;
constexpr int kPhase = 700;
constexpr int64_t kNsPerByte = 800;
constexpr int64_t kStream = 5;

// A packet of a flow.
class Item : public QueueDiscItem {
  public:
    Item(uint32_t bytes, int number, uint32_t flow)
        : QueueDiscItem(Create<Packet>(bytes), Mac48Address(), 0), number(number), flow(flow) {}
    void AddHeader() override {}
    bool Mark() override { return false; }
    uint32_t Hash(uint32_t) const override { return flow; }
    const int number;
    const uint32_t flow;
};

struct Arrival {
    int64_t at_ns;
    uint32_t bytes;
    uint32_t flow;
    std::string fate = "waits";
    int64_t fate_ns = 0;
};

// Numbers from 0 to 1 for the arrivals (Park and Miller 1988).
double draw() {
    static int64_t state = 42;
    state = state * 16807 % 2147483647;
    return state / 2147483647.0;
}

std::vector<Arrival> arrivals() {
    // The load of each phase; a pause comes before it.
    const double loads[] = {1.3, 0.6, 1.25, 0.9};
    std::vector<Arrival> all;
    int64_t now_ns = 1000001;
    for (int i = 0; i < kArrivals; ++i) {
        const uint32_t bytes = 64 + static_cast<uint32_t>(1400 * draw());
        const double gap = 2.0 * draw() * 764 * kNsPerByte / loads[i / kPhase];
        now_ns += static_cast<int64_t>(gap) + 1 + (i % kPhase == 0 ? 20000000 : 0);
        const double which = draw();
        const uint32_t flow = which < 0.6 ? 0 : which < 0.85 ? 1 : which < 0.97 ? 2 : 3;
        all.push_back({now_ns, bytes, flow});
    }
    return all;
}

class Port {
  public:
    Port(Ptr<QueueDisc> disc, std::vector<Arrival>& all) : disc(disc), all(all) {
        disc->TraceConnectWithoutContext("Drop", MakeCallback(&Port::Dropped, this));
        disc->Initialize();
        for (size_t i = 0; i < all.size(); ++i) {
            Simulator::Schedule(NanoSeconds(all[i].at_ns), &Port::Arrive, this, i);
        }
    }

  private:
    void Dropped(Ptr<const QueueDiscItem> item) {
        Arrival& one = all[DynamicCast<const Item>(item)->number];
        one.fate = "dropped";
        one.fate_ns = Simulator::Now().GetNanoSeconds();
    }
    void Arrive(size_t i) {
        disc->Enqueue(Create<Item>(all[i].bytes, static_cast<int>(i), all[i].flow));
        if (!busy) {
            Send();
        }
    }
    void Send() {
        Ptr<QueueDiscItem> item = disc->Dequeue();
        busy = item != nullptr;
        if (busy) {
            Arrival& one = all[DynamicCast<Item>(item)->number];
            one.fate = "sent";
            one.fate_ns = Simulator::Now().GetNanoSeconds();
            Simulator::Schedule(NanoSeconds(one.bytes * kNsPerByte), &Port::Send, this);
        }
    }

    Ptr<QueueDisc> disc;
    std::vector<Arrival>& all;
    bool busy = false;
};

std::vector<std::string> names;
std::vector<std::vector<Arrival>> runs;

void record(const char* name, Ptr<QueueDisc> disc, const std::vector<Arrival>& offered) {
    names.push_back(name);
    runs.push_back(offered);
    Port port(disc, runs.back());
    Simulator::Stop(NanoSeconds(offered.back().at_ns) + Seconds(10));
    Simulator::Run();
    Simulator::Destroy();
}

void write(const std::vector<Arrival>& offered) {
    auto numbers = CreateObject<UniformRandomVariable>();
    numbers->SetStream(kStream);
    std::printf("time_ns,flow,bytes,random");
    for (const std::string& name : names) {
        std::printf(",%s", name.c_str());
    }
    for (size_t i = 0; i < offered.size(); ++i) {
        std::printf("\n%lld,%u,%u,%.15g", static_cast<long long>(offered[i].at_ns),
                    offered[i].flow, offered[i].bytes, numbers->GetValue());
        for (const std::vector<Arrival>& run : runs) {
            std::printf(",%s%lld", run[i].fate == "dropped" ? "d" : "",
                        static_cast<long long>(run[i].fate_ns - run[i].at_ns));
        }
    }
    std::printf("\n");
}

}  // namespace

int main() {
    const std::vector<Arrival> offered = arrivals();
    const QueueSizeValue limit(QueueSize("1000p"));

    auto codel = CreateObject<CoDelQueueDisc>();
    codel->SetAttribute("MaxSize", limit);
    codel->SetAttribute("MinBytes", UintegerValue(1500));
    record("codel", codel, offered);

    auto pie = CreateObject<PieQueueDisc>();
    pie->SetAttribute("MaxSize", limit);
    pie->SetAttribute("MaxBurstAllowance", TimeValue(Seconds(0)));
    pie->AssignStreams(kStream);
    record("pie", pie, offered);

    auto derandomised = CreateObject<PieQueueDisc>();
    derandomised->SetAttribute("MaxSize", limit);
    derandomised->SetAttribute("MaxBurstAllowance", TimeValue(Seconds(0)));
    derandomised->SetAttribute("UseDerandomization", BooleanValue(true));
    derandomised->AssignStreams(kStream);
    record("pie-spread", derandomised, offered);

    auto fq_codel = CreateObject<FqCoDelQueueDisc>();
    fq_codel->SetAttribute("MaxSize", QueueSizeValue(QueueSize("60p")));
    fq_codel->SetQuantum(1514);
    record("fq-codel", fq_codel, offered);

    auto cobalt = CreateObject<CobaltQueueDisc>();
    cobalt->SetAttribute("MaxSize", QueueSizeValue(QueueSize("60p")));
    cobalt->AssignStreams(kStream);
    record("cobalt", cobalt, offered);

    write(offered);
    return 0;
}
