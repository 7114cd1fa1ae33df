"""The dashboards as tables of panels, from which `generate_dashboards` writes Grafana's JSON."""
