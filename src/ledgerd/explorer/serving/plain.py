"""Pages for programs: whether the explorer works, its figures, and what crawlers may read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ledgerd.explorer.pages.answering import PageReply
from ledgerd.explorer.serving.visitors import Visitors

TEXT = "text/plain; charset=utf-8"
ROBOTS = "User-agent: *\nDisallow: /search\nDisallow: /choose\nDisallow: /live\nDisallow: /*?\nDisallow: /*.csv\n"


def robots(_visitors: Visitors, *, is_own: bool) -> PageReply:  # noqa: ARG001 - all plain pages are asked alike
    """What crawlers may read: pages, but not every filter of every list."""
    return PageReply(200, ROBOTS.encode(), TEXT)


def health(_visitors: Visitors, *, is_own: bool) -> PageReply:  # noqa: ARG001 - the same
    return PageReply(200, b"ok\n", TEXT)


def ready(visitors: Visitors, *, is_own: bool) -> PageReply:  # noqa: ARG001 - the same
    away = visitors.watch.away
    return PageReply(503, b"the node is away\n", TEXT) if away else PageReply(200, b"ready\n", TEXT)


def metrics(visitors: Visitors, *, is_own: bool) -> PageReply:
    """Figures for Prometheus, to programs of this machine alone."""
    if not is_own:
        return PageReply(404, b"not here\n", TEXT)
    figures = {
        "requests_total": visitors.answered,
        "refused_total": visitors.refused,
        "pages_drawn_total": visitors.answering.drawn,
        "connections": len(visitors.connections),
        "open_pages": len(visitors.streams),
        "head_block_number": visitors.watch.head,
        "node_answers": int(not visitors.watch.away),
    }
    lines = "".join(
        f"# TYPE ledgerd_explorer_{name} {'counter' if name.endswith('_total') else 'gauge'}\n"
        f"ledgerd_explorer_{name} {value}\n"
        for name, value in figures.items()
    )
    return PageReply(200, lines.encode(), "text/plain; version=0.0.4; charset=utf-8")


PLAIN: Mapping[str, Callable[..., PageReply]] = {
    "/robots.txt": robots,
    "/health": health,
    "/ready": ready,
    "/metrics": metrics,
}
