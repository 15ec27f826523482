# The oracle of the saturated path in ns2.rs:
#   ns saturated.tcl AGENT SINK ["VARIABLE VALUE ..."]
#   ns saturated.tcl TCP/Newreno TCPSink; ns saturated.tcl TCP/Sack1 TCPSink/Sack1
# writes the file `trace`; its last ack_, nrexmitpack_ and nrexmit_ are the packets acknowledged,
# those sent again and the time-outs, the times of ncwndcuts_ those of the cuts.
# The timers of 2004: "minrto_ 1 rtxcur_init_ 6 precisionReduce_ false updated_rttvar_ false".
set ns [new Simulator]
set a [$ns node]
set r [$ns node]
set b [$ns node]
$ns duplex-link $a $r 10Mb 10ms DropTail
$ns duplex-link $r $b 2Mb 50ms DropTail
$ns queue-limit $a $r 1000
$ns queue-limit $r $b 20
set tcp [new Agent/[lindex $argv 0]]
$tcp set window_ 1000
foreach {variable value} [lindex $argv 2] { $tcp set $variable $value }
set sink [new Agent/[lindex $argv 1]]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set trace [open trace w]
$tcp attach $trace
foreach variable {ack_ ssthresh_ cwnd_ nrexmit_ nrexmitpack_ ncwndcuts_} { $tcp trace $variable }
$ns at 0 "$ftp start"
$ns at 60 "close $trace; exit 0"
$ns run
