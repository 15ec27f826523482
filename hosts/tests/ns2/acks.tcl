# ns-2 as the oracle of ACK filtering and reconstruction: one flow, whose ACKs come back over a slow link.
#   ns acks.tcl KEY VALUE ...
# Printed are the ACKs that came (+) to a queue and left (-) it: `slow`, which filters, and `made`, in
# front of the sender, where they are reconstructed: queue, sign, time in us, number in packets.
#
# `repaired`: ns-2.35 reads the number of an ACK that it has taken apart after it has freed the packet,
# which by then is 0, and so neither notes when it came nor that a duplicate of it is one. Gaps then
# count from the last ACK that went through whole, and what waits grows without end. Its rule for
# the spacing, which is Tcl, makes up for that here.
#
# Departures of data are late by up to a millisecond, so that few ACKs come and leave at one instant.
# The gap before the first ACK is made to be `ackInterArr_`.
set options { adaptive 0 repaired 1 back 19kb queue 1000 seconds 1 window 30 trace trace }
foreach {key value} [concat $options $argv] { set $key $value }

set ns [new Simulator]
foreach node {from router to} { set $node [$ns node] }
$ns duplex-link $from $router 100Mb 0ms DropTail
$ns simplex-link $router $to 2Mb 20ms DropTail
$ns simplex-link $to $router $back 20ms DropTail
$ns queue-limit $router $to $queue
$ns queue-limit $to $router 1000

foreach {key value} {
    deltaAckThresh_ 2 ackInterArr_ 0.010 ackSpacing_ 0.010 delack_ 2 alpha_ 0.25
    lastTime_ 0 lastAck_ 0 lastRealTime_ 0.04702 lastRealAck_ -1 size_ 1000
} { Agent/AckReconsClass set $key $value }
Agent/AckReconsClass set adaptive_ $adaptive
if {$repaired} {
    set body [Agent/AckReconsClass info instbody spacing]
    Agent/AckReconsClass instproc spacing ack "
        \$self instvar newest_ lastRealAck_
        if {\[info exists newest_]} { set lastRealAck_ \$newest_ }
        set newest_ \$ack
        $body
        set lastRealTime_ \[\$ns now]
    "
}

proc semantic {a b filters} {
    global ns
    set packets [new PacketQueue/Semantic]
    foreach key {acksfirst_ replace_head_ priority_drop_ random_drop_ random_ecn_ reconsAcks_} {
        $packets set $key false
    }
    $packets set filteracks_ $filters
    [[$ns link $a $b] queue] packetqueue-attach $packets
    return $packets
}
semantic $to $router true
set controller [new AckReconsControllerClass]
$controller set queue_ [[$ns link $router $from] queue]
[semantic $router $from false] ackrecons $controller

set source [new Agent/TCP/Reno]
$source set window_ $window
$source set overhead_ 0.001
set sink [new Agent/TCPSink]
$ns attach-agent $from $source
$ns attach-agent $to $sink
$ns connect $source $sink
set ftp [new Application/FTP]
$ftp attach-agent $source
$ns at 0 "$ftp start"
set file [open $trace w]
$ns trace-queue $to $router $file
$ns trace-queue $router $from $file
$ns at $seconds {
    $ns flush-trace
    close $file
    set file [open $trace]
    while {[gets $file line] >= 0} {
        if {[lindex $line 4] != "ack" || [lindex $line 0] == "r"} { continue }
        set queue [expr {[lindex $line 2] == [$to id] ? "slow" : "made"}]
        puts "$queue [lindex $line 0] [expr {round([lindex $line 1] * 1e6)}] [lindex $line 10]"
    }
    exit 0
}
$ns run
