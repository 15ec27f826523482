# The dumbbell of bench/peers in ns-2: `ns dumbbell.tcl FLOWS RATE_BPS QUEUE_PACKETS SECONDS`.
#
# SACK senders without end over one DropTail bottleneck; access links of ten times its rate.
# Prints the packets that left the bottleneck. Its trace is off: the monitor only counts.
# As in bench/peers/__init__.py: one way 0.05 ms + 9.9 ms + 0.05 ms, frames of 1,500 bytes.

lassign $argv flows rate_bps queue_packets seconds

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate_bps 9.9ms DropTail
$ns queue-limit $left $right $queue_packets
$ns queue-limit $right $left $queue_packets
set monitor [$ns monitor-queue $left $right ""]

Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 100000
for {set i 0} {$i < $flows} {incr i} {
    set sender [$ns node]
    set receiver [$ns node]
    $ns duplex-link $sender $left [expr {$rate_bps * 10}] 0.05ms DropTail
    $ns duplex-link $right $receiver [expr {$rate_bps * 10}] 0.05ms DropTail
    $ns queue-limit $sender $left 10000
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $sender $tcp
    $ns attach-agent $receiver $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr {0.001 * $i}] "$ftp start"
}
$ns at $seconds {
    puts [$monitor set pdepartures_]
    exit 0
}
$ns run
