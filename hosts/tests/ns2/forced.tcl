# The oracle of the forced losses in ns2.rs, one line a run:
#   ns forced.tcl AGENT SINK "NUMBERS" ["VARIABLE VALUE ..."]
#   ns forced.tcl TCP/Newreno TCPSink "60 62 64" "newreno_changes1_ 0"
# prints packets acknowledged, sent again, time-outs, window cuts, ssthresh at 10 s; with
# TRACE set in the environment the window's changes go there.
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 8Mb 50ms DropTail
$ns queue-limit $a $b 1000
$ns queue-limit $b $a 1000
set tcp [new Agent/[lindex $argv 0]]
$tcp set window_ 30
foreach {variable value} [lindex $argv 3] { $tcp set $variable $value }
set sink [new Agent/[lindex $argv 1]]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
if {[llength [lindex $argv 2]] > 0} {
    # The list model counts packets of any kind on the link from 1.
    set loss [new ErrorModel/List]
    $loss unit pkt
    set at {}
    foreach number [lindex $argv 2] { lappend at $number }
    $loss droplist $at
    $ns lossmodel $loss $a $b
}
set ftp [new Application/FTP]
$ftp attach-agent $tcp
if {[info exists env(TRACE)]} {
    set trace [open $env(TRACE) w]
    $tcp attach $trace
    foreach variable {cwnd_ ssthresh_ ack_ t_seqno_ nrexmit_ nrexmitpack_} { $tcp trace $variable }
}
$ns at 0 "$ftp start"
$ns at 10 {
    set line {}
    foreach v {ack_ nrexmitpack_ nrexmit_ ncwndcuts_ ssthresh_} { lappend line [$tcp set $v] }
    puts [join $line /]
    exit 0
}
$ns run
