"""Why the kernel's TCP and ours differ on the path of `kernel.py`, by variant.

Counters are those of the sender's namespace after such a run (`testbed/targets/linux/checks.py`).
"""

REASONS: dict[str, str] = {
    "cubic": """\
HyStart ends the kernel's slow start at 61 segments, by a train of ACKs 2 ms apart at most
(TCPHystartTrainDetect 1, TCPHystartTrainCwnd 61); ours goes on to the first losses. Between 0.1
and 0.2 s Linux's receiver sends 36 ACKs for 48 segments of 1.2 ms each; ours, which delays them
from the beginning, 26 for 72.""",
    "bbr": """\
The kernel's greatest sample of the rate is 9.78 Mb/s, 2 % above what the link has for payload: ACKs
bunch where threads wake late. BBR goes by the greatest of ten round trips, and so fills the queue
until its window bounds it; in virtual time the samples are exact.""",
    "vegas": """\
The kernel leaves slow start without a loss, at 39 segments, of which one stands in a queue when a
round's least round trip is 1.1 ms above the base; why a round earlier than ours, which goes on to
the first losses, was not traced. From then on it keeps 40 segments, ours 42 to 44.""",
    "new-aimd": """\
After five losses the base in the kernel's whole segments is one, and nothing is given up any more;
ours goes on halving a fraction. Both then lose in most round trips; that ours grows on from 73
segments to 82 meanwhile was not traced.""",
    "app-tcp": """\
At 8 of 10 Mb/s the queue is the sender's bursts alone, and the kernel's are longer by a packet. A
run in which threads woke 22 ms late had 3.9 ms: the machine is part of it.""",
}
