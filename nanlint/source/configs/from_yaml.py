"""YAML to entries, by PyYAML's nodes: composed and never constructed, so that no tag is run and none is unknown.

Interpolations (`${a.b}`), tags (`!new:`, `!ref`), anchors, merge keys, keys given twice and several documents are all
read. A merged key has its place where it was written first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from nanlint.model import Span
from nanlint.source.configs.entries import DEEPEST, MOST_ENTRIES, Document, Entry, Scalar, plain_scalar
from nanlint.source.read import UnreadableSource

if TYPE_CHECKING:
    from collections.abc import Iterator

_Pair = tuple[yaml.ScalarNode, yaml.Node]
_STANDARD = "tag:yaml.org,2002:"
_TOO_DEEP = "nested too deeply to be read; it was not checked"
# The C code is at ease with 10,000 levels.
_DEEPEST_BRACKETS = 1000
# Aliases of lists of aliases, nested, would be visited for hours though each list has a few words.
_MOST_NODES = 100_000
_BRACKET = re.compile(r"[\[\]{}]")
_DASHES = re.compile(r"(?:[-?:][ \t]+){1000}")


def yaml_documents(text: str) -> list[Document]:
    """The documents of a YAML text; UnreadableSource with the line where it breaks."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if _is_too_deep(text):
        raise UnreadableSource(_TOO_DEEP)
    try:
        nodes = [node for node in yaml.compose_all(text, Loader=loader) if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UnreadableSource(_why(error), mark.line + 1 if mark is not None else None) from None
    except RecursionError:
        raise UnreadableSource(_TOO_DEEP) from None
    except yaml.YAMLError as error:
        raise UnreadableSource(f"not valid YAML: {str(error).splitlines()[0]}; it was not checked") from None
    return [_document(node) for node in nodes]


def _is_too_deep(text: str) -> bool:
    """Whether brackets or dashes are nested so deeply that PyYAML's C code would overflow its stack, which nobody survives."""
    if _DASHES.search(text):
        return True
    depth = 0
    if text.count("[") + text.count("{") > _DEEPEST_BRACKETS:
        for bracket in _BRACKET.findall(text):
            depth += 1 if bracket in "[{" else -1
            if depth > _DEEPEST_BRACKETS:
                return True
    return False


def _why(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or error.context or "it cannot be read"
    return f"not valid YAML: {problem}; it was not checked"


def _document(root: yaml.Node) -> Document:
    found: dict[tuple[str, ...], Entry] = {}
    for entry in _below(root, (), iter(range(_MOST_NODES))):
        found[entry.path] = entry  # of a key that is given twice the last one counts
        if len(found) >= MOST_ENTRIES:
            break
    return list(found.values())


def _below(node: yaml.Node, path: tuple[str, ...], visits: Iterator[int]) -> Iterator[Entry]:
    """The entries below `node`, as far as `visits` last; an alias that leads back to itself ends where DEEPEST does."""
    if len(path) > DEEPEST or next(visits, None) is None:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in _pairs(node, len(path), visits):
            yield from _entries(key, value, (*path, key.value), visits)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            if not isinstance(item, yaml.ScalarNode):
                yield from _below(item, (*path, str(index)), visits)


def _entries(key: yaml.ScalarNode, value: yaml.Node, path: tuple[str, ...], visits: Iterator[int]) -> Iterator[Entry]:
    if isinstance(value, yaml.ScalarNode):
        yield Entry(path, _scalar(value), _span(key, value))
        return
    if not value.tag.startswith(_STANDARD):
        yield Entry(path, value.tag, _span(key, key))
    if isinstance(value, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in value.value):
        yield Entry(path, tuple(_scalar(item) for item in value.value), _span(key, value))
        return
    yield from _below(value, path, visits)


def _pairs(node: yaml.MappingNode, depth: int, visits: Iterator[int]) -> Iterator[_Pair]:
    """The keys of a mapping with their values: what is merged into it first, so that its own come last and win."""
    own: list[_Pair] = []
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value != "<<" or key.style:
            own.append((key, value))
            continue
        merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
        for source in reversed(merged):
            if not isinstance(source, yaml.MappingNode) or source is node or depth >= DEEPEST:
                continue
            if next(visits, None) is not None:
                yield from _pairs(source, depth + 1, visits)
    yield from own


def _scalar(node: yaml.ScalarNode) -> Scalar:
    text: str = node.value
    if not node.tag.startswith(_STANDARD):
        return f"{node.tag} {text}"
    return text if node.style else plain_scalar(text)


def _span(key: yaml.ScalarNode, value: yaml.Node) -> Span:
    """The key with its value; the key alone if the value is not on its line."""
    start, end = key.start_mark, value.end_mark if value.end_mark.line == key.start_mark.line else key.end_mark
    if end.index < start.index:  # an alias has the marks of its anchor
        end = key.end_mark
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)
