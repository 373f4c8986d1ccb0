"""The frame of a page that needs nothing else: style for light and dark, title, and text that is no markup."""

from __future__ import annotations

import html

from nanlint.plot.draw import DARK, LIGHT

STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT}; --line: #8884; --good: #18794e; --back: #fff; --soft: #8881; }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK}; --good: #57c98a; --back: #16181c; }} }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: var(--text);
background: var(--back); overflow-wrap: anywhere; }}
h1 {{ font-size: 1.4rem; }} h2 {{ font-size: 1.05rem; margin: 2rem 0 .5rem; }}
pre {{ padding: .75rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; font-size: 13px; overflow-wrap: normal; }}
code {{ font-size: 92%; background: var(--soft); padding: 0 .2em; border-radius: 3px; }}
a {{ color: var(--ink0); }}
.bad, del {{ color: var(--bad); text-decoration: none; }} .good, ins {{ color: var(--good); text-decoration: none; }}
.faint {{ opacity: .75; font-size: 13px; }}
table {{ border-collapse: collapse; font-size: 13px; }} td, th {{ padding: .2rem .6rem; border-bottom: 1px solid var(--line);
text-align: left; vertical-align: top; }} td {{ font-variant-numeric: tabular-nums; }}
.curves {{ display: flex; flex-wrap: wrap; gap: 1rem; }} .curves figure {{ flex: 1 1 27rem; }} figure {{ margin: 0; }}
figcaption {{ font-size: 13px; opacity: .8; }}
ol.chain {{ list-style: none; padding: 0; border-left: 3px solid var(--bad); }} ol.chain li {{ padding: .2rem .8rem; }}
svg {{ max-width: 100%; height: auto; }} svg text {{ font: 12px system-ui, sans-serif; fill: var(--text); }} svg .title {{ font-weight: bold; }}
svg .bad {{ fill: var(--bad); }}
""".strip()


def whole(title: str, body: str) -> str:
    """The page."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def marked(text: str) -> str:
    """Text for HTML, with `code` in backticks set as code."""
    parts = html.escape(text).split("`")
    if len(parts) % 2 == 0:
        # A backtick without its twin is a backtick.
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
