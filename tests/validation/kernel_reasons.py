"""Why the kernel's TCP and ours differ on the path of `kernel.py`, by variant.

Counters are those of the sender's namespace after such a run (`testbed/targets/linux/checks.py`).
"""

REASONS: dict[str, str] = {
    "cubic": """\
HyStart ends the kernel's slow start at 61 segments, because ACKs come at most 2 ms apart
(TCPHystartTrainDetect 1, TCPHystartTrainCwnd 61). Ours continues to the first losses. Between 0.1
and 0.2 s Linux's receiver sends 36 ACKs for 48 segments of 1.2 ms each. Ours delays ACKs from the
beginning, and sends 26 for 72.""",
    "bbr": """\
The kernel's greatest rate sample is 9.78 Mb/s, 2 % above the link's rate for payload, because ACKs
bunch when threads wake late. BBR uses the greatest sample of ten round trips, so it fills the queue
until its window limits it. In virtual time the samples are exact.""",
    "vegas": """\
The kernel leaves slow start without a loss, at 39 segments. One of them waits in a queue when a
round's least round trip is 1.1 ms above the base. Ours continues to the first losses, a round
later. We did not trace why. From then on the kernel keeps 40 segments, ours 42 to 44.""",
    "new-aimd": """\
After five losses the base is one segment in the kernel, which counts whole segments, so it gives up
nothing more. Ours still halves a fraction. Both then lose in most round trips. Ours grows from 73
segments to 82 meanwhile; we did not trace why.""",
    "app-tcp": """\
At 8 of 10 Mb/s only the sender's bursts queue, and the kernel's are longer by a packet. A run with
threads that woke 22 ms late had 3.9 ms, so the machine contributes.""",
}
