# ns-2 as the oracle of our TFRC: flows from one node over one bottleneck.
#   ns tfrc.tcl KEY VALUE ...
#   ns tfrc.tcl lose_every 100 mbps 100 queue 1000
# `lose_every`: of the packets on the link each so manieth is lost, 0 none. `tcp`: so many
# Agent/TCP/Sack1 flows beside, whose packets leave up to `late_s` late. `tick_s`: of TFRC's clock. Without the options of RFC 5348: no discounting, no damping. Printed are
# the packets of each flow that arrived between `from_s` and `seconds`, those of TFRC first.
set options { tfrc 1 tcp 0 lose_every 0 mbps 8 ms 50 queue 50 from_s 20 seconds 120 window 1000 late_s 0 seed 1 tick_s 0.1 trace trace }
foreach {key value} [concat $options $argv] { set $key $value }

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to ${mbps}Mb ${ms}ms DropTail
$ns queue-limit $from $to $queue
$ns queue-limit $to $from 100000
if {$lose_every > 0} {
    set loss [new ErrorModel/Periodic]
    $loss unit pkt
    $loss set period_ $lose_every
    $loss set offset_ 0
    $ns lossmodel $loss $from $to
}

ns-random $seed
Agent/TFRC set ca_ 0
Agent/TFRC set tcp_tick_ $tick_s
Agent/TFRCSink set discount_ 0
for {set n 0} {$n < $tfrc + $tcp} {incr n} {
    if {$n < $tfrc} {
        set source($n) [new Agent/TFRC]
        set sink [new Agent/TFRCSink]
    } else {
        set source($n) [new Agent/TCP/Sack1]
        $source($n) set window_ $window
        $source($n) set overhead_ $late_s
        set sink [new Agent/TCPSink/Sack1]
    }
    $source($n) set fid_ $n
    $ns attach-agent $from $source($n)
    $ns attach-agent $to $sink
    $ns connect $source($n) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $source($n)
    $ns at [expr $n * 0.1] "$ftp start"
}
set file [open $trace w]
$ns trace-queue $from $to $file
$ns at $seconds {
    $ns flush-trace
    close $file
    for {set n 0} {$n < $tfrc + $tcp} {incr n} { set arrived($n) 0 }
    set file [open $trace]
    while {[gets $file line] >= 0} {
        if {[lindex $line 0] == "r" && [lindex $line 1] >= $from_s} { incr arrived([lindex $line 7]) }
    }
    for {set n 0} {$n < $tfrc + $tcp} {incr n} { puts $arrived($n) }
    exit 0
}
$ns run
