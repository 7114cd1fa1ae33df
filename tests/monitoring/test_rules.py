"""The alerts: `promtool` accepts them, each fires when it should and has an entry in the runbook."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from scripts.monitoring.prometheus import ALERTS, tool
from tests.monitoring.tools import MONITORING, ROOT, SECONDS, alerts, promtool

RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
CASES = Path(__file__).parent / "alert_cases.yml"
CASES_OF_HOURS = Path(__file__).parent / "alert_cases_of_hours.yml"


def test_promtool_accepts_the_rules_and_both_configurations() -> None:
    checked = promtool("check", "rules", str(ALERTS))
    assert checked.returncode == 0, checked.stderr
    assert f"{len(alerts())} rules found" in checked.stdout
    for name in ("prometheus.yml", "prometheus-compose.yml"):
        checked = promtool("check", "config", str(MONITORING / name))
        assert checked.returncode == 0, checked.stderr


def test_prometheus_has_the_options_that_the_compose_file_gives_it() -> None:
    given = set(re.findall(r'"(--[\w.-]+)=/', (MONITORING / "compose.yaml").read_text(encoding="utf-8")))
    shown = subprocess.run([tool("prometheus"), "--help"], capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603 - Debian's

    assert given
    assert [each for each in given if f"{each}=" not in shown.stdout + shown.stderr] == []


def test_every_alert_fires_in_its_case_and_is_silent_on_a_sound_node() -> None:
    tested = promtool("test", "rules", str(CASES), str(CASES_OF_HOURS))

    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_a_rule_that_does_not_fire_is_found(tmp_path: Path) -> None:
    head, case, *_ = re.split(r"^(?=  - interval)", CASES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = (head + case).replace("../../share/ledgerd/monitoring/alerts.yml", "alerts.yml")
    (tmp_path / "alerts.yml").write_text(
        ALERTS.read_text(encoding="utf-8").replace("== 0\n        for: 30s", "== 5"), "utf-8"
    )
    (tmp_path / "cases.yml").write_text(text, encoding="utf-8")

    tested = promtool("test", "rules", str(tmp_path / "cases.yml"))

    assert tested.returncode != 0
    assert "alertname: LedgerdDown" in tested.stdout + tested.stderr


def test_every_alert_has_a_case_a_severity_and_an_entry_in_the_runbook() -> None:
    text = ALERTS.read_text(encoding="utf-8")
    cases = CASES.read_text(encoding="utf-8") + CASES_OF_HOURS.read_text(encoding="utf-8")
    names = alerts()

    assert len(names) == len(set(names)) > 15
    for name, rule in zip(names, text.split("- alert: ")[1:], strict=True):
        assert f"alertname: {name}\n" in cases
        assert f"runbook: docs/runbook.md#{name.lower()}\n" in rule
        assert "severity: critical" in rule or "severity: warning" in rule
        entry = RUNBOOK.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert [word for word in ("**Means:**", "**Look at:**", "**Do:**") if word not in entry] == []
    assert [line for line in RUNBOOK.splitlines() if line.startswith("## Ledgerd") and line[3:] not in names] == []
