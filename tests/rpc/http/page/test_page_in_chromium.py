"""The page in a browser: it is live, is used by keyboard, read on a phone and in the dark, and shows nothing of others
as anything but text.
"""

from __future__ import annotations

import json
import struct
import time
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledgerd.rpc.api.node.node_status import NodeDetails, PeerFacts, Problem, SlotFacts, WatchedSlotFacts
from scripts.chromium import Chromium, Tab
from scripts.draw_page import IMAGES, KEYWORD, PICTURES, fingerprint, marked
from scripts.sample_node import SampleNode, sample_details, sample_node, sample_status
from tests.node.processes import NodeProcess

SIZES = {"phone": (390, 844), "desk": (1280, 900)}
NOT_KNOWN = "\N{EN DASH}"
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'

CONTRASTS = """(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("body *")].filter((each) => each.innerText && each.offsetParent).map((each) => {
    const [one, two] = [light(getComputedStyle(each).color), light(ground(each))].sort((a, b) => b - a);
    return [(one + 0.05) / (two + 0.05), each.id || each.className || each.tagName];
  });
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as started:
        yield started


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    """A node whose HTTP and WebSocket are one endpoint."""
    folder = tmp_path_factory.mktemp("one") / "chain"
    with NodeProcess(
        "dev", "--data-dir", str(folder), "--block-time=3600", "--http=127.0.0.1:0", "--ws=127.0.0.1:0"
    ) as it:
        yield it


@pytest.fixture
def sample() -> Iterator[SampleNode]:
    with sample_node(sample_details(sample_status(now=time.time()))) as it:
        yield it


def shown(tab: Tab) -> Tab:
    tab.wait_for("/[0-9]/.test(document.getElementById('head').textContent)")
    return tab


def mine(node: NodeProcess) -> str:
    """Make a block; its number as the page writes it."""
    return f"{node.call('dev_api', 'mine_blocks', 1)['head_block_number']:,}"


def wait_for_head(tab: Tab, number: str) -> None:
    tab.wait_for(f"document.getElementById('head').textContent === '{number}'")


def test_a_new_block_is_shown_over_the_socket_of_the_own_origin(browser: Chromium, node: NodeProcess) -> None:
    tab = shown(browser.open(f"http://127.0.0.1:{node.port()}/"))
    for _ in range(3):
        wait_for_head(tab, mine(node))
    assert tab.text("#connection") == "live"
    assert tab.evaluate("document.title").startswith(f"{tab.text('#head')} ")
    assert [each["url"] for each in tab.events("Network.webSocketCreated")] == [f"ws://127.0.0.1:{node.port()}/"]
    tab.close()


def test_where_the_socket_is_elsewhere_the_page_polls_and_is_as_quick(browser: Chromium, tmp_path: Path) -> None:
    words = ("--block-time=3600", "--http=127.0.0.1:0", "--ws=localhost:0")
    with NodeProcess("dev", "--data-dir", str(tmp_path / "chain"), *words) as node:
        tab = shown(browser.open(f"http://127.0.0.1:{node.port()}/"))
        for _ in range(3):
            wait_for_head(tab, mine(node))
        assert tab.text("#connection") == "live, by polling"
        assert len([each for each in tab.events("Network.requestWillBeSent") if "postData" in each["request"]]) < 20
        tab.close()


def test_a_node_that_ends_is_said_to_have_and_one_that_comes_back_is_followed(browser: Chromium) -> None:
    details = sample_details(sample_status(now=time.time()))
    with sample_node(details) as node:
        tab = shown(browser.open(node.urls[0]))
        ports = [int(url.rstrip("/").rpartition(":")[2]) for url in node.urls]
    tab.wait_for("document.getElementById('connection').textContent.startsWith('not connected')")
    tab.wait_for("document.getElementById('problems').textContent === 'the node does not answer'")
    tab.wait_for("document.getElementById('connection').textContent === 'not connected: Failed to fetch'")
    later = sample_status(now=time.time(), head=80_000_000)
    with sample_node(sample_details(later), ports):
        wait_for_head(tab, "80,000,000")
        tab.wait_for("document.getElementById('connection').textContent === 'live'")
        tab.wait_for("document.getElementById('problems').textContent === 'Nothing is wrong.'")
        tab.close()


def test_it_is_used_by_keyboard_alone(browser: Chromium, node: NodeProcess) -> None:
    tab = shown(browser.open(f"http://127.0.0.1:{node.port()}/"))

    def focused() -> str:
        found: str = tab.evaluate("document.activeElement.id || document.activeElement.tagName")
        return found

    tab.press("Tab")
    assert focused() == "pause"
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.press(" ")
    assert tab.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    before = tab.text("#head")
    mine(node)
    after = mine(node)
    tab.evaluate("new Promise((resolve) => setTimeout(resolve, 300))")
    assert tab.text("#head") == before != after
    tab.press(" ")
    wait_for_head(tab, mine(node))
    tab.press("Tab")
    assert tab.evaluate("document.activeElement.getAttribute('aria-labelledby')") == "slots-title"
    tab.press("Tab")
    assert focused() == "SUMMARY"
    tab.press("Enter")
    assert tab.evaluate("document.querySelector('details').open")
    places = [focused()]
    for _ in range(4):
        tab.press("Tab")
        places.append(tab.evaluate("document.activeElement.getAttribute('href')") or focused())
    assert places == ["SUMMARY", "PRE", "openrpc.json", "health", "ready"]
    tab.close()


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("endpoint", [0, 1], ids=["public", "operator"])
def test_it_can_be_read_on_a_phone_and_in_the_dark(
    browser: Chromium, sample: SampleNode, endpoint: int, size: str, *, is_dark: bool
) -> None:
    width, height = SIZES[size]
    tab = shown(browser.open(sample.urls[endpoint], width=width, height=height, is_dark=is_dark))
    tab.wait_for("document.getElementById('problems').children.length > 0")

    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("Math.min(...[...document.querySelectorAll('button')].map((each) => each.offsetHeight))") >= 40
    assert tab.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 16
    assert [(round(ratio, 2), place) for ratio, place in tab.evaluate(CONTRASTS) if ratio < 4.5] == []
    ground = brightness(tab.picture(scale=0.1))
    assert ground < 60 if is_dark else ground > 200
    tab.close()


def brightness(png: bytes) -> float:
    """The middle brightness of a picture, of every pixel in its rows; 0 to 255."""
    width, height, depth, colours = struct.unpack(">IIBB", png[16:26])
    assert (depth, colours) in {(8, 2), (8, 6)}
    parts, place = bytearray(), 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            parts += png[place + 8 : place + 8 + length]
        place += length + 12
    raw, wide = zlib.decompress(bytes(parts)), 3 if colours == 2 else 4
    stride, above = 1 + width * wide, bytes(width * wide)
    total = 0.0
    for row in range(height):
        kind, line = raw[row * stride], bytearray(raw[row * stride + 1 : (row + 1) * stride])
        unfilter(kind, line, above, wide)
        above = bytes(line)
        total += sorted(line[::wide])[width // 2]
    return float(total / height)


def unfilter(kind: int, line: bytearray, above: bytes, wide: int) -> None:
    """Undo the filter of a row of a PNG."""
    for at in range(len(line)):
        left = line[at - wide] if at >= wide else 0
        up, corner = above[at], above[at - wide] if at >= wide else 0
        if kind == 1:
            line[at] = (line[at] + left) & 255
        elif kind == 2:
            line[at] = (line[at] + up) & 255
        elif kind == 3:
            line[at] = (line[at] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda each: abs(guess - each))
            line[at] = (line[at] + nearest) & 255


def test_whatever_others_say_is_text(browser: Chromium, sample: SampleNode) -> None:
    status = replace(sample_status(now=time.time()), slots=(SlotFacts(HOSTILE, 7, 10),), network=HOSTILE, number=9)
    peer = PeerFacts(HOSTILE, HOSTILE, False, 1, 1, 0, 0)
    details = sample_details(status)
    watched = replace(details.watched[1], name=HOSTILE, slots=(WatchedSlotFacts(1, 0, -1, HOSTILE),))
    sample.show(NodeDetails(status, (peer,), (Problem(HOSTILE, HOSTILE),), (HOSTILE,), (watched,)))
    sample.reason = HOSTILE
    for url in sample.urls:
        tab = shown(browser.open(url))
        tab.wait_for("document.getElementById('problems').textContent.includes('<img')")
        assert tab.text("#network") == HOSTILE
        assert HOSTILE in tab.text("#slots")
        assert tab.evaluate("document.images.length") == 0
        assert tab.evaluate("window.hacked") is None
        tab.close()


def test_the_policy_lets_nothing_else_run_and_nothing_elsewhere_be_asked(browser: Chromium, sample: SampleNode) -> None:
    tab = shown(browser.open(sample.urls[0]))
    assert [each["entry"]["text"] for each in tab.events("Log.entryAdded")] == []
    asked = {each["request"]["url"] for each in tab.events("Network.requestWillBeSent")}
    assert {url for url in asked if not url.startswith((sample.urls[0], "data:"))} == set()

    tab.evaluate("""{
      const script = document.createElement("script");
      script.textContent = "window.hacked = 1";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<p id=styled style='color: red' onclick='hacked = 1'>x</p>");
      document.getElementById("styled").click();
    }""")
    assert tab.evaluate("window.hacked") is None
    assert tab.evaluate("getComputedStyle(document.getElementById('styled')).color") != "rgb(255, 0, 0)"
    refused = tab.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', (problem) => problem.message)")
    assert refused == "Failed to fetch"
    violations = [each["entry"]["text"] for each in tab.events("Log.entryAdded")]
    assert sum("Content Security Policy" in text for text in violations) >= 3
    tab.close()


def test_a_stranger_sees_what_json_rpc_tells_and_the_operator_what_the_other_endpoint_tells(
    browser: Chromium, sample: SampleNode
) -> None:
    details = sample_details(sample_status(now=time.time()))
    secrets = [*(peer.address for peer in details.peers), *details.lines, details.problems[0].advice]
    secrets += ["1204.118", "46,763,700"]
    public, private = (shown(browser.open(url)) for url in sample.urls)
    private.wait_for("!document.getElementById('operator').hidden")

    text = public.evaluate("document.documentElement.outerHTML")
    assert [secret for secret in secrets if secret in text] == []
    frames = [each["response"]["payloadData"] for each in public.events("Network.webSocketFrameReceived")]
    assert frames
    private_words = ("watched", "round_trip", "address", "lines", "problems", "1204118000")
    assert [word for word in private_words for frame in frames if word in frame] == []
    assert [secret for secret in secrets for frame in frames if json.dumps(secret)[1:-1] in frame] == []
    seen = private.evaluate("document.body.innerText")
    assert [secret for secret in secrets if secret not in seen] == []

    told = public.evaluate("""fetch("/", { method: "POST", body: JSON.stringify(
      { jsonrpc: "2.0", id: 1, method: "node_api.follow_status", params: [] }) }).then((answer) => answer.json())""")
    assert public.text("#head") == f"{told['result']['head']:,}"
    assert public.text("#connections") == str(told["result"]["peers"]["connections"])
    refused = public.evaluate("""fetch("/", { method: "POST", body: JSON.stringify(
      { jsonrpc: "2.0", id: 1, method: "operator_api.follow", params: [] }) }).then((answer) => answer.json())""")
    assert "error" in refused
    public.close()
    private.close()


def test_the_operator_sees_round_trips_of_peers_and_the_watched_validators(
    browser: Chromium, sample: SampleNode
) -> None:
    tab = shown(browser.open(sample.urls[1]))
    tab.wait_for("!document.getElementById('monitor').hidden")
    cells = "[...document.querySelectorAll('#%s tr')].map((row) => [...row.cells].map((cell) => cell.innerText))"
    peers, watched = tab.evaluate(cells % "peers"), tab.evaluate(cells % "watched")

    assert [row[4:6] for row in peers[:5]] == [
        ["12 ms", "310 ms"], ["31 ms", "355 ms"], ["50 ms", "400 ms"], ["69 ms", "445 ms"], ["88 ms", NOT_KNOWN]
    ]  # fmt: skip
    assert watched == [
        ["amber", "●●●", "4,117", "0", "212 ms", "48,210,000", "0 %", "1204.118", "scheduled"],
        ["larch", "✗✗✗", "3,902", "3", "212 ms", "46,763,700", "3 %", "1204.118", "no key"],
    ]
    assert tab.text("#misses").count("larch missed its slot ") == 3
    assert tab.evaluate("document.querySelector('#watched .made').title").endswith(", after 140 ms")

    sample.show(replace(sample_details(sample_status(now=time.time())), watched=()))
    tab.wait_for("document.getElementById('monitor').hidden")
    tab.close()


def test_the_slots_of_each_validator_stand_in_a_row(browser: Chromium, sample: SampleNode) -> None:
    tab = shown(browser.open(sample.urls[0]))
    rows = tab.evaluate(
        "[...document.querySelectorAll('#slots tr')].map((row) => [...row.cells].map((c) => c.innerText))"
    )
    assert len(rows) == 21
    found = {name: (marks, missed) for name, marks, missed, _ in rows}
    assert found["amber"] == ("●●●", "0")
    assert found["ember"] == ("●✗●", "1")
    assert found["larch"] == ("✗✗✗", "3")
    assert all(one < two for one, two in pairwise(name for name, *_ in rows))
    assert (
        tab.evaluate("document.querySelectorAll('#slots td.slots')[4].getAttribute('aria-label')") == "2 made, 1 missed"
    )
    tab.close()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_documents_shows_the_page_of_today(name: str) -> None:
    picture = (IMAGES / f"{name}.png").read_bytes()

    assert KEYWORD + b"\0" + fingerprint().encode() in picture, "run `make pictures`"
    assert marked(picture) != picture
    size = struct.unpack(">II", picture[16:24])
    assert size[0] == PICTURES[name][1][0]
