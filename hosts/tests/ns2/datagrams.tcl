# ns-2 as the oracle of our datagrams: CBR over UDP from one node, over one bottleneck.
#   ns datagrams.tcl KEY VALUE ...
#   ns datagrams.tcl cbr "1000 0.01 0 500 0.016 0.003" mbps 1.009433 ms 10 queue 21 seconds 100
# `cbr`: length in bytes with headers, interval and start in seconds of each flow. Of each flow the
# datagrams that arrived and those that their receiver missed are printed.
set options { cbr {} mbps 1 ms 10 queue 21 seconds 100 }
foreach {key value} [concat $options $argv] { set $key $value }

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to ${mbps}Mb ${ms}ms DropTail
$ns queue-limit $from $to $queue

set flows 0
foreach {bytes interval start} $cbr {
    set udp($flows) [new Agent/UDP]
    $udp($flows) set packetSize_ $bytes
    set monitor($flows) [new Agent/LossMonitor]
    $ns attach-agent $from $udp($flows)
    $ns attach-agent $to $monitor($flows)
    $ns connect $udp($flows) $monitor($flows)
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $bytes
    $source set interval_ $interval
    $source attach-agent $udp($flows)
    $ns at $start "$source start"
    incr flows
}
$ns at $seconds {
    for {set n 0} {$n < $flows} {incr n} {
        puts "[$monitor($n) set npkts_] [$monitor($n) set nlost_]"
    }
    exit 0
}
$ns run
