// TCP through a queue disc of ns-3.37: the runs of ns3_dumbbell.json, which against_ns3.py compares
// with ours. `python -m tests.validation.disciplines.record_ns3` builds this and runs it.
//
//   ns3_dumbbell --discipline=codel --starts=0,0.27 --extra_ms=0,0 --ecn=0 --seconds=60 --run=1
//
// Each flow has a sender and a receiver with links of 1 Gb/s and 0.5 ms. A link of 10 Mb/s and
// 20 ms is between them. `starts` has the seconds at which the flows open, `extra_ms` what is added
// to a sender's link each way. Prints one line of JSON. With --segments=1, it also prints each
// segment that arrives at the queue: time, flow from 0, sequence number.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr uint64_t kRateBps = 10'000'000;
constexpr uint16_t kPort = 5001;

struct Options {
    std::string discipline = "drop-tail";
    std::string starts = "0";
    std::string extra_ms = "0";
    double seconds = 60;
    uint32_t run = 1;
    bool ecn = false;
    bool segments = false;
} options;

std::vector<double> numbers(const std::string& text) {
    std::vector<double> found;
    std::stringstream list(text);
    for (std::string one; std::getline(list, one, ',');) {
        found.push_back(std::stod(one));
    }
    return found;
}

// Reno's window as ours computes it. TcpNewReno halves what is in flight, without SACKed segments,
// and drops the fraction of a byte by which an ACK opens the window, which is up to a tenth here.
class Reno : public TcpNewReno {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("Reno").SetParent<TcpNewReno>().AddConstructor<Reno>();
        return id;
    }
    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override {
        return std::max(2 * state->m_segmentSize, state->m_cWnd.Get() / 2);
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<Reno>(this); }

  protected:
    void CongestionAvoidance(Ptr<TcpSocketState> state, uint32_t segments) override {
        if (segments > 0) {
            const uint32_t cwnd = state->m_cWnd;
            const uint32_t total = state->m_segmentSize * state->m_segmentSize + remainder;
            state->m_cWnd += total / cwnd;
            remainder = total % cwnd;
        }
    }

  private:
    uint32_t remainder = 0;
};

// An end of the link in the middle. It takes a packet from its queue disc when the one before has
// left, as our port does; ns-3's devices hold another packet. Only IP's bytes count.
class End : public SimpleNetDevice {
  public:
    Ptr<End> peer;
    double waited_s = 0;
    uint64_t left = 0;
    uint64_t drops = 0;
    uint64_t marks = 0;
    bool shows_segments = false;

    void Begin(Ptr<QueueDisc> queue) {
        disc = queue;
        disc->TraceConnectWithoutContext("Drop", MakeCallback(&End::Dropped, this));
        disc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&End::HeadDropped, this));
        disc->TraceConnectWithoutContext("Mark", MakeCallback(&End::Marked, this));
        disc->Initialize();
    }
    bool Send(Ptr<Packet> packet, const Address& to, uint16_t protocol) override {
        Ipv4Header header;
        packet->RemoveHeader(header);
        if (shows_segments) {
            Show(packet, header.GetSource());
        }
        disc->Enqueue(Create<Ipv4QueueDiscItem>(packet, to, protocol, header));
        if (!is_busy) {
            Next();
        }
        return true;
    }

  private:
    // Each flow has two networks behind the one in the middle.
    void Show(Ptr<const Packet> packet, Ipv4Address from) {
        TcpHeader tcp;
        if (packet->PeekHeader(tcp) < packet->GetSize()) {
            const uint32_t flow = ((from.Get() >> 8 & 0xff) - 1) / 2;
            std::printf("%.9f %u %u\n", Simulator::Now().GetSeconds(), flow,
                        tcp.GetSequenceNumber().GetValue());
        }
    }
    void Dropped(Ptr<const QueueDiscItem>) { ++drops; }
    void Marked(Ptr<const QueueDiscItem>, const char*) { ++marks; }
    // Our mean has the packets that a discipline drops at the head.
    void HeadDropped(Ptr<const QueueDiscItem> item, const char*) { Left(item); }
    void Left(Ptr<const QueueDiscItem> item) {
        ++left;
        waited_s += (Simulator::Now() - item->GetTimeStamp()).GetSeconds();
    }
    void Next() {
        Ptr<QueueDiscItem> item = disc->Dequeue();
        is_busy = item != nullptr;
        if (!is_busy) {
            return;
        }
        Left(item);
        const Time takes = NanoSeconds(item->GetSize() * 8'000'000'000ull / kRateBps);
        item->AddHeader();
        Simulator::Schedule(takes, &End::Next, this);
        Simulator::Schedule(takes + MilliSeconds(20), &End::Arrive, this, item->GetPacket());
    }
    void Arrive(Ptr<Packet> packet) {
        const auto address = [](Ptr<End> end) {
            return Mac48Address::ConvertFrom(end->GetAddress());
        };
        peer->Receive(packet, Ipv4L3Protocol::PROT_NUMBER, address(peer), address(this));
    }

    Ptr<QueueDisc> disc;
    bool is_busy = false;
};

Ptr<QueueDisc> make_disc() {
    const std::string& name = options.discipline;
    const BooleanValue marks(options.ecn);
    Ptr<QueueDisc> disc;
    if (name == "codel") {
        disc = CreateObjectWithAttributes<CoDelQueueDisc>("UseEcn", marks);
    } else if (name == "pie") {
        // In a burst ns-3 keeps the probability at zero; RFC 8033 and ours do not. With ECN nothing
        // is spread, since a mark does not empty ns-3's accumulated probability.
        disc = CreateObjectWithAttributes<PieQueueDisc>(
            "UseEcn", marks, "UseDerandomization", BooleanValue(!options.ecn), "MaxBurstAllowance",
            TimeValue(Seconds(0)));
    } else if (name == "fq-codel") {
        auto queues = CreateObjectWithAttributes<FqCoDelQueueDisc>("UseEcn", marks);
        queues->SetQuantum(1514);
        disc = queues;
    } else if (name == "cobalt") {
        disc = CreateObjectWithAttributes<CobaltQueueDisc>("UseEcn", marks);
    } else {
        disc = CreateObject<FifoQueueDisc>();
    }
    disc->SetMaxSize(QueueSize(name == "drop-tail" ? "100p" : "1000p"));
    return disc;
}

void set_tcp() {
    const auto useEcn = options.ecn ? TcpSocketState::On : TcpSocketState::Off;
    const TypeIdValue recovery(TcpClassicRecovery::GetTypeId());
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(Reno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", recovery);
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", EnumValue(useEcn));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // ns-3 restarts its timer at a recovery's first partial ACK only (RFC 6582's "impatient"), so
    // that the many losses of a long slow start end in a time-out.
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(20 * 1460));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    // ns-3.37 crashes when a sender fills the window.
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
}

class Dumbbell {
  public:
    Ptr<End> there = CreateObject<End>();
    std::vector<Ptr<PacketSink>> sinks;

    Dumbbell() {
        routers.Create(2);
        stack.Install(routers);
        Ptr<End> back = CreateObject<End>();
        auto channel = CreateObject<SimpleChannel>();
        there->peer = back;
        back->peer = there;
        NetDeviceContainer middle;
        for (Ptr<End> end : {there, back}) {
            end->SetAttribute("PointToPointMode", BooleanValue(true));
            end->SetAddress(Mac48Address::Allocate());
            end->SetChannel(channel);
            routers.Get(middle.GetN())->AddDevice(end);
            middle.Add(end);
        }
        there->shows_segments = options.segments;
        there->Begin(make_disc());
        back->Begin(CreateObject<FifoQueueDisc>());
        addresses.Assign(middle);
        addresses.NewNetwork();
    }

    void AddFlow(double start_s, double extra_ms) {
        NodeContainer hosts(2);
        stack.Install(hosts);
        Join(hosts.Get(0), routers.Get(0), 0.5 + extra_ms);
        const Ipv4Address to = Join(hosts.Get(1), routers.Get(1), 0.5);
        const std::string tcp = "ns3::TcpSocketFactory";
        PacketSinkHelper sink(tcp, InetSocketAddress(Ipv4Address::GetAny(), kPort));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(hosts.Get(1)).Get(0)));
        BulkSendHelper bulk(tcp, InetSocketAddress(to, kPort));
        bulk.SetAttribute("SendSize", UintegerValue(14600));
        bulk.Install(hosts.Get(0)).Start(Seconds(start_s));
    }

  private:
    // Returns the host's address.
    Ipv4Address Join(Ptr<Node> host, Ptr<Node> router, double ms) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(ms * 1000)));
        link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000p"));
        NetDeviceContainer devices = link.Install(host, router);
        const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        addresses.NewNetwork();
        return interfaces.GetAddress(0);
    }

    NodeContainer routers;
    InternetStackHelper stack;
    Ipv4AddressHelper addresses{"10.0.0.0", "255.255.255.0"};
};

uint64_t timeouts = 0;

void congestion_state(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now) {
    timeouts += now == TcpSocketState::CA_LOSS;
}

void count_timeouts() {
    Config::ConnectWithoutContext("/NodeList/*/$ns3::TcpL4Protocol/SocketList/*/CongState",
                                  MakeCallback(&congestion_state));
}

}  // namespace

int main(int argc, char* argv[]) {
    CommandLine command;
    command.AddValue("discipline", "drop-tail, codel, pie, fq-codel, cobalt", options.discipline);
    command.AddValue("starts", "seconds, a number per flow", options.starts);
    command.AddValue("extra_ms", "milliseconds, a number per flow", options.extra_ms);
    command.AddValue("seconds", "simulated", options.seconds);
    command.AddValue("run", "of the random numbers", options.run);
    command.AddValue("ecn", "ECN at the ends and in the queue", options.ecn);
    command.AddValue("segments", "print each", options.segments);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(options.run);
    set_tcp();

    Dumbbell dumbbell;
    const std::vector<double> starts = numbers(options.starts);
    std::vector<double> extra_ms = numbers(options.extra_ms);
    extra_ms.resize(starts.size());
    for (size_t i = 0; i < starts.size(); ++i) {
        dumbbell.AddFlow(starts[i], extra_ms[i]);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    // All sockets exist once the last flow has opened; none has timed out before.
    const double last_s = *std::max_element(starts.begin(), starts.end());
    Simulator::Schedule(Seconds(last_s) + NanoSeconds(1), &count_timeouts);
    Simulator::Stop(Seconds(options.seconds));
    Simulator::Run();

    std::printf("{\"goodputs_mbps\": [");
    for (size_t i = 0; i < starts.size(); ++i) {
        const double bits = dumbbell.sinks[i]->GetTotalRx() * 8.0;
        std::printf("%s%.4f", i ? ", " : "", bits / (options.seconds - starts[i]) / 1e6);
    }
    const Ptr<End> end = dumbbell.there;
    std::printf("], \"delay_ms\": %.4f, \"drops\": %lu, \"marks\": %lu, \"timeouts\": %lu}\n",
                end->waited_s / end->left * 1e3, end->drops, end->marks, timeouts);
    Simulator::Destroy();
    return 0;
}
