"""Several charts as one picture."""

from __future__ import annotations

from collections.abc import Sequence

from scorespace.views.charts.marks import Spec


def beside_each_other(charts: Sequence[Spec], columns: int = 2) -> Spec:
    """Finished charts side by side, each with scales and tables of its own."""
    tables: dict[str, list[dict[str, object]]] = {}
    panels = []
    for place, chart in enumerate(charts, start=1):
        names = {name: f"{place} {name}" for name in chart["datasets"]}
        tables |= {names[name]: rows for name, rows in chart["datasets"].items()}
        panels.append(renamed({k: v for k, v in chart.items() if k not in _SHARED}, names))
    shared = {key: charts[0][key] for key in ("$schema", "config")}
    about = " ".join(str(chart.get("description", "")) for chart in charts)
    apart = {"scale": {"x": "independent", "y": "independent", "color": "independent"}}
    return {**shared, "concat": panels, "columns": columns, "resolve": apart, "datasets": tables, "description": about}


_SHARED = ("$schema", "config", "datasets", "background")


def renamed(part: Spec, names: dict[str, str]) -> Spec:
    """The chart, or a part of it, whose tables have other names."""
    part = dict(part)
    if part.get("data", {}).get("name") in names:
        part["data"] = {"name": names[part["data"]["name"]]}
    if "layer" in part:
        part["layer"] = [renamed(one, names) for one in part["layer"]]
    return part
