"""The gallery: every figure drawn from real runs, with their scenario beside it."""

from __future__ import annotations

from pathlib import Path

from narrows.analysis.figures import FIGURES, NAMES
from narrows.testbed.reference.markdown import codes, page, sentence
from narrows.testbed.site.runs import Shown, SiteError, draw

RATE_CHANGE = Shown("scenarios/rate-change.toml")
NEW_AIMD = Shown(
    "scenarios/new-aimd.toml",
    ("sweep.flow.count=[1,3,5]", "flow.app.bytes=2000KB", "sweep.repeat=1"),
)
RANDOM_LOSS = Shown("scenarios/random-loss.toml", ("duration=20s", "sweep.repeat=1"))
BUFFERS = Shown(
    "scenarios/standard-path.toml",
    (
        'sweep.bottleneck.queue=["0.1bdp","0.25bdp","0.5bdp","1bdp","2bdp"]',
        'sweep.flow.variant=["reno","cubic"]',
        "event=[]",
    ),
)
SHARED = Shown(
    "scenarios/standard-path.toml",
    (
        "sweep.flow.count=[1,2,4]",
        'sweep.flow.variant=["reno","cubic","bbr"]',
        'flow.start={ every = "2s" }',
        "event=[]",
    ),
)
CVE = Shown("scenarios/cve.toml", ("duration=10s",))
PAIRS = '["reno","cubic","vegas","bbr"]'
MATRIX = Shown(
    "scenarios/matrix.toml",
    (
        f"sweep.flow.0.variant={PAIRS}",
        f"sweep.flow.1.variant={PAIRS}",
        'sweep.bottleneck.delay=["4ms"]',
        'sweep.bottleneck.queue=["0.5bdp"]',
    ),
)
TWO_RTTS = Shown(
    "scenarios/tcpeval/fairness-two-rtts.toml",
    (
        "duration=120s",
        'sweep.link.0.queue=["100ms"]',
        'sweep.choice.rtt=["20ms","80ms","160ms"]',
    ),
)
STANDARD_TCP = Shown(
    "scenarios/tcpeval/standard-tcp.toml",
    (
        "duration=60s",
        "sweep.repeat=1",
        'sweep.choice.load=["10Mbps-100"]',
        'sweep.choice.new=["reno","cubic","bbr"]',
    ),
)
RAMP_UP = Shown(
    "scenarios/tcpeval/ramp-up.toml",
    ("duration=120s", "sweep.repeat=1", 'sweep.choice.rtt=["80-and-80ms"]'),
)
TRANSIENTS = Shown(
    "scenarios/tcpeval/transients.toml",
    (
        'sweep.choice.transient=["rise"]',
        'sweep.flow.0.variant=["reno","cubic"]',
        "duration=60s",
    ),
)
FALL = Shown(
    "scenarios/tcpeval/transients.toml",
    (
        'sweep.choice.transient=["fall"]',
        'sweep.flow.0.variant=["reno","cubic"]',
        "duration=60s",
    ),
)
BUFFERBLOAT = Shown("scenarios/aqm/bufferbloat.toml", ("duration=10s",))
QUEUES = Shown("scenarios/aqm/queues.toml")
SHORT_FLOWS = Shown("scenarios/aqm/short-flows.toml", ("duration=10s",))

SOURCES: dict[str, Shown] = {
    "completion_time": NEW_AIMD,
    "flow_completion": SHORT_FLOWS,
    "queue_delay_by_rtt": NEW_AIMD,
    "delay_cdf": NEW_AIMD,
    "queue_delay_cdf": BUFFERBLOAT,
    "queue_delay_box": NEW_AIMD,
    "throughput_delay": NEW_AIMD,
    "utilization_delay": BUFFERBLOAT,
    "drops_and_marks": BUFFERBLOAT,
    "queue_depths": QUEUES,
    "fairness": NEW_AIMD,
    "convergence": SHARED,
    "rtt_fairness": TWO_RTTS,
    "goodput_ratio": TWO_RTTS,
    "gain_loss": STANDARD_TCP,
    "ramp_up": RAMP_UP,
    "window_recovery": FALL,
    "cross_losses": TRANSIENTS,
    "smoothness": SHARED,
    "shares": MATRIX,
    "sweep": SHARED,
    "both_directions": STANDARD_TCP,
    "buffer_sweep": BUFFERS,
    "loss_sweep": RANDOM_LOSS,
    "message_latency": CVE,
}
"""What figures are drawn from, where one run of two flows does not do."""
GALLERY = {name: SOURCES.get(name, RATE_CHANGE) for name in NAMES}
"""What each figure is drawn from."""


def write(directory: Path) -> None:
    """Writes the gallery's pages and pictures. Raises `SiteError`."""
    results = {shown: shown.run() for shown in dict.fromkeys(GALLERY.values())}
    cards = []
    for figure in FIGURES:
        shown = GALLERY[figure.name]
        if not draw(figure.name, results[shown], directory / f"{figure.name}.png"):
            raise SiteError(f"{figure.name} has nothing to show of: {shown.command}")
        (directory / f"{figure.name}.md").write_text(figure_page(figure.name), encoding="utf-8")
        cards.append(
            f"[![{figure.title}]({figure.name}.png){{ loading=lazy }}]({figure.name}.md)\n\n"
            f"[{figure.title}]({figure.name}.md)"
        )
    grid = "\n\n".join(f'<div class="card" markdown>\n\n{card}\n\n</div>' for card in cards)
    text = page(
        "Gallery",
        "Every figure that `narrows run` and `narrows report` draw. A figure's page has the"
        " scenario of its runs, which were made when this site was built.",
    )
    index = f'---\nhide: [toc]\n---\n{text}\n<div class="cards" markdown>\n\n{grid}\n\n</div>\n'
    (directory / "index.md").write_text(index, encoding="utf-8")


def figure_page(name: str) -> str:
    """A figure's page: the picture, how to read it, and its scenario."""
    figure, shown = next(each for each in FIGURES if each.name == name), GALLERY[name]
    needs = f"It needs the tables {codes(figure.needs)}." if figure.needs else "It needs no table."
    head = page(f"{figure.title}", f"{sentence(figure.caption)} {needs}")
    return (
        f"---\nhide: [toc]\n---\n{head}\n"
        '<div class="beside" markdown>\n<div markdown>\n\n'
        f"![{figure.title}]({name}.png)\n\n"
        "</div>\n<div markdown>\n\n"
        f"```sh\n{shown.command}\n```\n\n"
        f'```toml title="{shown.scenario}"\n{shown.text.strip()}\n```\n\n'
        "</div>\n</div>\n"
    )
