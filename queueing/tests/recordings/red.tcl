# RED in ns-2.35, packet by packet: writes red.csv, which tests/red.rs compares with ours.
#
#   ns red.tcl > red.csv
#
# Bursts and pauses of datagrams go into a link of 10 Mb/s. After each arrival the script notes
# RED's average and max_p. The n-th random number that RED draws stands in the n-th row.

set rate 10000000.0
set arrivals 1000

# Numbers from 0 to 1 for the arrivals, apart from RED's generator (Park and Miller 1988).
set state 42
proc draw {} {
    global state
    set state [expr {($state * 16807) % 2147483647}]
    return [expr {$state / 2147483647.0}]
}

proc arrive {i bytes} {
    global udp red row
    $udp send $bytes
    set row($i) [format "%.12f,%.12f" [$red set ave_] [$red set cur_max_p_]]
}

# One run: a name for its rows, then RED's settings.
proc record {name settings} {
    global udp red row rate arrivals state defaultRNG
    set state 42
    set ns [new Simulator]
    set a [$ns node]
    set b [$ns node]
    $ns simplex-link $a $b $rate 1ms RED
    set red [[$ns link $a $b] queue]
    $red set thresh_ 5
    $red set maxthresh_ 15
    $red set q_weight_ 0.02
    $red set linterm_ 10
    $red set limit_ 60
    $red set bytes_ false
    $red set queue_in_bytes_ false
    $red set setbit_ false
    $red set mean_pktsize_ 500
    $red set drop_tail_ true
    $red set wait_ false
    foreach {key value} $settings { $red set $key $value }
    set udp [new Agent/UDP]
    $udp set packetSize_ 2000
    set sink [new Agent/Null]
    $ns attach-agent $a $udp
    $ns attach-agent $b $sink
    $ns connect $udp $sink
    set trace [open "|cat > /tmp/red-$name.tr" w]
    $ns trace-queue $a $b $trace
    [[$ns link $a $b] queue] reset

    set now_ns 1000001
    for {set i 0} {$i < $arrivals} {incr i} {
        # 100 packets a phase: calm, then ever fuller, then a pause.
        set load [lindex {0.6 1.1 1.4 0.9 4.0 0.4 1.2 1.8 0.7 1.05} [expr {$i / 100}]]
        set bytes [expr {int(64 + 1400 * [draw])}]
        set gap [expr {2.0 * [draw] * 764 * 8e9 / $rate / $load}]
        if {$i % 100 == 0} { set gap [expr {$gap + 8e6}] }
        incr now_ns [expr {int($gap) * 2 + 1 - int($gap)}]
        set came($i) "$now_ns,$bytes"
        $ns at [format %.9f [expr {$now_ns / 1e9}]] "arrive $i $bytes"
    }
    $ns at [expr {$now_ns / 1e9 + 1}] "$ns halt"
    $defaultRNG seed 7
    $ns run
    close $trace

    set in [open "/tmp/red-$name.tr"]
    while {[gets $in line] >= 0} {
        if {[lindex $line 0] == "d"} { set fate([lindex $line end]) dropped }
    }
    close $in
    $defaultRNG seed 7
    for {set i 0} {$i < $arrivals} {incr i} {
        set what [expr {[info exists fate($i)] ? "dropped" : "sent"}]
        puts "$name,$came($i),$row($i),[format %.17g [$defaultRNG uniform 0 1]],$what"
    }
}

set part [lindex $argv 0]
switch $part {
    red { record red {gentle_ false adaptive_ 0} }
    gentle { record gentle {gentle_ true adaptive_ 0} }
    adaptive { record adaptive {gentle_ false adaptive_ 1 interval_ 0.05} }
    default {
        puts "run,time_ns,bytes,average,max_p,random,fate"
        foreach run {red gentle adaptive} { puts -nonewline [exec ns [info script] $run]\n }
    }
}
exit 0
