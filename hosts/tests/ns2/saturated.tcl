# The oracle of `a_saturated_path_as_ns2_saw_it` in ns2.rs:
#   ns saturated.tcl Newreno TCPSink; ns saturated.tcl Sack1 TCPSink/Sack1
set type [lindex $argv 0]
set ns [new Simulator]
set a [$ns node]
set r [$ns node]
set b [$ns node]
$ns duplex-link $a $r 10Mb 10ms DropTail
$ns duplex-link $r $b 2Mb 50ms DropTail
$ns queue-limit $a $r 1000
$ns queue-limit $r $b 20
set tcp [new Agent/TCP/$type]
$tcp set window_ 1000
set sink [new Agent/[lindex $argv 1]]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set trace [open $type.tr w]
$tcp attach $trace
foreach variable {ack_ ssthresh_ nrexmit_ nrexmitpack_} { $tcp trace $variable }
$ns at 0 "$ftp start"
$ns at 60 "close $trace; exit 0"
$ns run
