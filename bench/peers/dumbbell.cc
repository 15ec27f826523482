// The dumbbell of bench/peers in ns-3: `dumbbell --flows=5 --rate_bps=... --queue_packets=...
// --seconds=...`.
//
// NewReno's window with SACK over one FIFO bottleneck; access links of ten times its rate. Prints
// the packets that left the bottleneck; no trace is written. As in bench/peers/__init__.py: one
// way 0.05 ms + 9.9 ms + 0.05 ms, frames of 1,514 bytes.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <iostream>
#include <string>

using namespace ns3;

static uint64_t departed = 0;

static void
Departed(Ptr<const Packet>)
{
    ++departed;
}

int
main(int argc, char* argv[])
{
    uint32_t flows = 5;
    uint64_t rate_bps = 100'000'000;
    uint32_t queue_packets = 167;
    double seconds = 10;
    CommandLine command;
    command.AddValue("flows", "senders", flows);
    command.AddValue("rate_bps", "of the bottleneck", rate_bps);
    command.AddValue("queue_packets", "of the bottleneck", queue_packets);
    command.AddValue("seconds", "simulated", seconds);
    command.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 << 20));

    NodeContainer routers(2);
    NodeContainer senders(flows);
    NodeContainer receivers(flows);
    InternetStackHelper stack;
    stack.InstallAll();

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate_bps)));
    bottleneck.SetChannelAttribute("Delay", StringValue("9.9ms"));
    const std::string limit = std::to_string(queue_packets) + "p";
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(limit));
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate_bps * 10)));
    access.SetChannelAttribute("Delay", StringValue("0.05ms"));
    access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));

    TrafficControlHelper traffic;
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    auto join = [&](PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer devices = link.Install(a, b);
        Ipv4InterfaceContainer interfaces = address.Assign(devices);
        // The device's queue is the only one.
        traffic.Uninstall(devices);
        address.NewNetwork();
        return std::make_pair(devices, interfaces);
    };
    auto middle = join(bottleneck, routers.Get(0), routers.Get(1));
    middle.first.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Departed));

    ApplicationContainer applications;
    for (uint32_t i = 0; i < flows; ++i)
    {
        join(access, senders.Get(i), routers.Get(0));
        auto far = join(access, routers.Get(1), receivers.Get(i)).second;
        const uint16_t port = 5000;
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(receivers.Get(i)).Start(Seconds(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(far.GetAddress(1), port));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.Install(senders.Get(i)).Start(Seconds(0.001 * i));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << departed << std::endl;
    Simulator::Destroy();
    return 0;
}
