"""Arguments that the user states in the settings, as specs: `x = {shape = [2, 5, 32], domain = "real"}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nanlint.confirm.names import domain_of
from nanlint.errors import SettingsError
from nanlint.nearest import did_you_mean

Json = dict[str, Any]
DOMAINS = ("real", "nonneg", "positive", "prob", "unit", "simplex", "logprob", "signed", "spd", "mask", "index")
_COUNT = re.compile(r"int<(\d+)$")
_KEYS = ("shape", "dtype", "domain", "allow_all_false", "grad")


def given_for(name: str, confirm: Mapping[str, Mapping[str, Any]], where: str = "") -> Json:
    """The specs of one function, `{}` if nothing is stated about it; a wrong table raises SettingsError."""
    table = confirm.get(name, {})
    place = f'{where}[tool.nanlint.confirm."{name}"]'
    call = {key: _spec(key, value, place) for key, value in table.items() if key != "ctor"}
    ctor = {key: _spec(key, value, place) for key, value in table.get("ctor", {}).items()}
    return {"ctor": ctor, "call": call} if table else {}


def _spec(name: str, value: object, place: str) -> Json:
    if not isinstance(value, Mapping) or "shape" not in value:
        return {"kind": "value", "value": value}
    for key in value:
        if key not in _KEYS:
            raise SettingsError(f"{place} {name}: there is no key `{key}`{did_you_mean(key, _KEYS)}")
    shape = value["shape"]
    if not isinstance(shape, list) or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise SettingsError(f"{place} {name}.shape: give a list of sizes, as in [2, 5, 32]")
    return {
        "kind": "tensor",
        "name": name,
        "shape": shape,
        **_domain(name, value, place),
        "grad": value.get("grad", True),
    }


def _domain(name: str, value: Mapping[str, Any], place: str) -> Json:
    domain = str(value.get("domain", "") or domain_of(name))
    below = _COUNT.match(domain)
    if below:
        return {"domain": "index", "high": int(below[1])}
    if domain == "length":
        return {"domain": "index", "low": 1, "high": 3}
    if domain not in DOMAINS:
        raise SettingsError(
            f"{place} {name}.domain: there is no `{domain}`{did_you_mean(domain, DOMAINS)}; or write int<10"
        )
    return {"domain": domain}
