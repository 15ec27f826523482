# ns-2 as the oracle of our senders: some flows from one node, over an access link and a bottleneck.
#   ns oracle.tcl KEY VALUE ...
#   ns oracle.tcl agent Agent/TCP/Newreno lose "60 62 64" window 30 seconds 10
# Keys and their defaults are below. With `access_mbps 0` the flows start at the bottleneck. The
# variables' changes go to the file `trace`; `acked NUMBER` of each flow's packets is printed.
# `writes "0 30 5 20"`: instead of data without end, 30 packets at 0 s and 20 more at 5 s.
# `follow t_seqno_`: other variables in the trace too.
# `mark_acks "10 11"`: the packets with these numbers on the way back get a congestion mark.
set options {
    agent Agent/TCP sink Agent/TCPSink variables {} select_ca {}
    flows 1 stagger 0.1 window 20 seconds 10 lose {}
    access_mbps 0 access_ms 10 mbps 8 ms 50 queue 1000 trace trace writes {} mark_acks {} follow {}
}
foreach {key value} [concat $options $argv] { set $key $value }

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
set near $from
if {$access_mbps > 0} {
    set near [$ns node]
    $ns duplex-link $from $near ${access_mbps}Mb ${access_ms}ms DropTail
    foreach {a b} [list $from $near $near $from] { $ns queue-limit $a $b 100000 }
}
$ns duplex-link $near $to ${mbps}Mb ${ms}ms DropTail
$ns queue-limit $near $to $queue
$ns queue-limit $to $near 100000
if {[llength $lose] > 0} {
    # The list model counts packets of any kind on the link, the SYN being 0.
    set loss [new ErrorModel/List]
    $loss unit pkt
    $loss droplist $lose
    $ns lossmodel $loss $near $to
}
if {[llength $mark_acks] > 0} {
    set marks [new ErrorModel/List]
    $marks unit pkt
    $marks set markecn_ true
    $marks droplist $mark_acks
    $ns lossmodel $marks $to $near
}

set out [open $trace w]
for {set n 0} {$n < $flows} {incr n} {
    set tcp($n) [new $agent]
    $tcp($n) set window_ $window
    foreach {variable value} $variables { $tcp($n) set $variable $value }
    if {[string match Agent/TCP/FullTcp* $agent]} {
        set receiver [new $agent]
    } else {
        set receiver [new $sink]
        catch { $receiver set ts_echo_rfc1323_ true }
    }
    $ns attach-agent $from $tcp($n)
    $ns attach-agent $to $receiver
    $ns connect $tcp($n) $receiver
    if {[string match Agent/TCP/FullTcp* $agent]} { $receiver listen }
    if {$select_ca != ""} { $ns at 0 "$tcp($n) select_ca $select_ca" }
    set ftp($n) [new Application/FTP]
    $ftp($n) attach-agent $tcp($n)
    $tcp($n) attach $out
    foreach variable [concat {cwnd_ ssthresh_ ack_ nrexmit_ nrexmitpack_ ncwndcuts_} $follow] {
        $tcp($n) trace $variable
    }
    if {$writes == ""} {
        $ns at [expr $n * $stagger] "$ftp($n) start"
    }
    foreach {at packets} $writes { $ns at $at "$ftp($n) producemore $packets" }
}
$ns at $seconds {
    close $out
    for {set n 0} {$n < $flows} {incr n} { puts "acked [$tcp($n) set ack_]" }
    exit 0
}
$ns run
