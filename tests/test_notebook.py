"""Notebooks: one Python text out, the same JSON back in."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.model import Span
from nanlint.source.lines import split_lines
from nanlint.source.notebooks.magics import is_python, mask, unmask
from nanlint.source.notebooks.notebook import Notebook
from nanlint.source.read import UnreadableSource, UnwritableSource

REPOSITORY = Path(__file__).parents[1]
PYTHON = {"kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python"}}


def code(source: Any, **extra: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 3, "metadata": {}, "outputs": [], "source": source, **extra}


def markdown(source: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def document(*cells: Any, metadata: Any = PYTHON) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def parse(*cells: Any, metadata: Any = PYTHON) -> Notebook:
    return Notebook.parse(json.dumps(document(*cells, metadata=metadata), indent=1).encode(), "a.ipynb")


def test_python_cells_are_joined_below_border_lines() -> None:
    notebook = parse(markdown("# Title"), code(["import torch\n", "x = 1"]), code(""), code("y = 2\n"), code("z = 3"))
    assert notebook.text == "import torch\nx = 1\n# ipynb cell 4\ny = 2\n\n# ipynb cell 5\nz = 3\n"


def test_the_border_is_a_line_that_no_cell_holds() -> None:
    notebook = parse(code("x = 'ipynb ipynb_'"), code("# ipynb cell 2"))
    assert notebook.text == "x = 'ipynb ipynb_'\n# ipynb__ cell 2\n# ipynb cell 2\n"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        pytest.param("%matplotlib inline\nx = 1", "pass  # ipynb 1\nx = 1", id="line magic"),
        pytest.param("!pip install torch", "pass  # ipynb 1", id="shell"),
        pytest.param("!!ls", "pass  # ipynb 1", id="shell with capture"),
        pytest.param("pip install torch", "pass  # ipynb 1", id="pip without percent sign"),
        pytest.param("pip = 1\npip if pip else 2", "pip = 1\npip if pip else 2", id="a variable called pip"),
        pytest.param("ls /content/runs/", "pass  # ipynb 1", id="a folder listed without percent sign"),
        pytest.param("rm -rf runs\ncd ..", "pass  # ipynb 1\npass  # ipynb 2", id="files without percent sign"),
        pytest.param("ls = ls / cp - mv\nls -= rm", "ls = ls / cp - mv\nls -= rm", id="variables called like commands"),
        pytest.param("?torch.log", "pass  # ipynb 1", id="help before"),
        pytest.param("torch.log?", "pass  # ipynb 1", id="help behind"),
        pytest.param("torch.log??  ", "pass  # ipynb 1", id="more help behind"),
        pytest.param("/print 1 2", "pass  # ipynb 1", id="automatic call"),
        pytest.param("files = !ls", "files = get_ipython()  # ipynb 1", id="assignment from a shell"),
        pytest.param("t = %timeit -o f()", "t = get_ipython()  # ipynb 1", id="assignment from a magic"),
        pytest.param("d['a=b'] = !ls", "d['a=b'] = get_ipython()  # ipynb 1", id="assignment to an item"),
        pytest.param("s = '= !ls'", "s = '= !ls'", id="a string that looks like an assignment"),
        pytest.param("a != b", "a != b", id="not equal"),
        pytest.param("ok = x == -1", "ok = x == -1", id="comparison"),
        pytest.param("f(a=!ls)", "f(a=!ls)", id="no magic inside a call"),
        pytest.param("if x:\n    %time f()\n", "if x:\n    pass  # ipynb 1\n", id="indented"),
        pytest.param("!a \\\n  b \\\n  c\nx", "pass  # ipynb 1\n# ipynb 2\n# ipynb 3\nx", id="continued by backslash"),
        pytest.param("x = !a \\\r\n  b\r\ny", "x = get_ipython()  # ipynb 1\r\n# ipynb 2\r\ny", id="continued, CRLF"),
        pytest.param("x = (a\n% b)", "x = (a\n% b)", id="modulo in brackets"),
        pytest.param("x = a \\\n% b", "x = a \\\n% b", id="modulo after a backslash"),
        pytest.param('"""\n%d\n!x\n"""\n%time', '"""\n%d\n!x\n"""\npass  # ipynb 1', id="text in a string"),
        pytest.param("f('(') # ((\n!ls", "f('(') # ((\npass  # ipynb 1", id="brackets in strings and comments"),
        pytest.param("f('it\\'s (')\n!ls", "f('it\\'s (')\npass  # ipynb 1", id="an escaped quote"),
        pytest.param("# what?\nx  # why?", "# what?\nx  # why?", id="questions in comments"),
        pytest.param("print('what?')", "print('what?')", id="a question in a string"),
        pytest.param("%%time\nx = 1", "pass  # ipynb 1\nx = 1", id="cell magic around Python"),
        pytest.param("\n%%capture out\nx", "\npass  # ipynb 1\nx", id="cell magic after an empty line"),
        pytest.param("%%bash?\n", "pass  # ipynb 1\n", id="help on a cell magic"),
    ],
)
def test_magics_are_replaced_line_by_line_and_restored(cell: str, expected: str) -> None:
    masked, originals = mask(cell, "ipynb")
    assert (masked, unmask(masked, originals)) == (expected, cell)


@given(
    st.lists(st.sampled_from(["%m", "!a \\", "x = !b", "y = 1", "f(", ")", "z?", "", "  %n", "'''", "\\"])), st.data()
)
def test_masking_keeps_the_line_count_and_is_undone_to_the_letter(lines: list[str], data: st.DataObject) -> None:
    cell = "".join(line + data.draw(st.sampled_from(["\n", "\r\n", "\r"])) for line in lines)
    masked, originals = mask(cell, "label")
    assert (len(split_lines(masked)), unmask(masked, originals)) == (len(split_lines(cell)), cell)


@pytest.mark.parametrize("magic", ["bash", "html", "writefile train.py", "javascript", "!", "R", "cython"])
def test_a_cell_magic_of_another_language_hides_its_cell(magic: str) -> None:
    assert parse(code(f"%%{magic}\nx = 1"), code("y = 2")).text == "y = 2\n"


@pytest.mark.parametrize("magic", ["time", "timeit -n 3", "capture", "prun", "python3", "wandb"])
def test_a_cell_magic_that_runs_python_does_not_hide_its_cell(magic: str) -> None:
    assert is_python(f"%%{magic}\nx = 1")


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        pytest.param({}, "x = 1\n", id="unsaid"),
        pytest.param({"kernelspec": "odd", "language_info": None}, "x = 1\n", id="malformed"),
        pytest.param({"language_info": {"name": "python"}}, "x = 1\n", id="Python"),
        pytest.param({"language_info": {"name": "ipython"}}, "x = 1\n", id="IPython"),
        pytest.param({"kernelspec": {"language": "R"}}, "", id="R"),
        pytest.param({"language_info": {"name": "julia"}}, "", id="Julia"),
    ],
)
def test_only_a_python_kernel_has_python_cells(metadata: Any, text: str) -> None:
    assert parse(code("x = 1"), metadata=metadata).text == text


def test_a_cell_of_another_language_in_vs_code_is_left_out() -> None:
    other = code("SELECT 1", metadata={"vscode": {"languageId": "sql"}})
    assert parse(other, code("x = 1", metadata={"vscode": {"languageId": "python"}})).text == "x = 1\n"


def test_spans_are_located_by_number_among_all_cells_and_line_in_the_cell() -> None:
    notebook = parse(markdown("#"), code("a\nbc"), markdown("#"), code("%m\nd\n"))
    assert notebook.text == "a\nbc\n# ipynb cell 4\npass  # ipynb 1\nd\n\n"
    places = [notebook.locate(Span(line, 1, line, 2)) for line in (1, 2, 3, 4, 5, 6)]
    first, second = [(2, Span(1, 1, 1, 2)), (2, Span(2, 1, 2, 2))], [(4, Span(n, 1, n, 2)) for n in (1, 2)]
    assert places == [*first, (2, Span(2, 3, 2, 3)), *second, (4, Span(2, 2, 2, 2))]


def test_a_span_that_leaves_its_cell_ends_with_it() -> None:
    notebook = parse(code("def f():\n  pass"), code("  pass"))
    assert notebook.locate(Span(1, 1, 4, 7)) == (1, Span(1, 1, 2, 7))


def test_the_lines_of_a_cell_are_the_users_own() -> None:
    notebook = parse(markdown("#"), code("%m\r\nx\n"))
    assert [notebook.lines(cell) for cell in (1, 2, 9)] == [[], ["%m", "x"], []]


@pytest.mark.parametrize("indent", [None, 1, 4, "\t"], ids=["one line", "one blank", "four blanks", "tab"])
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "plain"])
@pytest.mark.parametrize("source", ["text", "lines"])
@pytest.mark.parametrize("end", ["", "\n"], ids=["no newline at the end", "newline at the end"])
def test_only_the_source_of_the_changed_cell_changes(
    indent: int | str | None,
    ascii_only: bool,  # noqa: FBT001 - a parameter of the test, not of a call
    source: str,
    end: str,
) -> None:
    def dump(text: str) -> bytes:
        value = split_lines(text) if source == "lines" else text
        cells = markdown("é"), code(value, outputs=[{"text": ["\x1b[0m é\n"], "nan": 1e400}]), code(["é\n", "%m"])
        return (json.dumps(document(*cells), indent=indent, ensure_ascii=ascii_only) + end).encode()

    notebook = Notebook.parse(dump("%m\nx = 'é'\ny = 2"), "a.ipynb")
    assert notebook.with_text(notebook.text.replace("y = 2", "y = 3\nz = 4")) == dump("%m\nx = 'é'\ny = 3\nz = 4")


def test_text_without_changes_gives_the_same_bytes_whatever_the_style() -> None:
    data = b'\xef\xbb\xbf{"cells" :[ {"source":"x = 1\\/2", "cell_type":"code",\r\n"n":1E+02,"n":-0.0}\r\n]\r\n}  '
    notebook = Notebook.parse(data, "a.ipynb")
    assert notebook.with_text(notebook.text) == data


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('["x\\n","y"]', '["x\\n","z\\n","w"]', id="compact"),
        pytest.param('["y"]', '["z\\n", "w"]', id="one line, style from the key"),
        pytest.param('[\n "y"\n]', '[\n "z\\n",\n "w"\n]', id="one line, style from the list"),
        pytest.param('["\\u0078\\n" ,\t"y"]', '["\\u0078\\n" ,\t"z\\n" ,\t"w"]', id="spelling of a line that stays"),
    ],
)
def test_a_list_of_lines_keeps_its_layout(old: str, new: str) -> None:
    before, after = '{"cells":[{"cell_type":"code","outputs":[],"source": ', ',"metadata":{}}]}'
    notebook = Notebook.parse((before + old + after).encode(), "a.ipynb")
    assert notebook.with_text(notebook.text.replace("y", "z\nw")).decode() == before + new + after


def test_a_cell_that_loses_all_its_lines_is_an_empty_list() -> None:
    notebook = parse(code(["x = 1\n", "y = 2"]), code("z = 3"))
    written = json.loads(notebook.with_text("# ipynb cell 2\nz = 3\n"))
    assert [cell["source"] for cell in written["cells"]] == [[], "z = 3"]


def test_of_equal_keys_the_last_is_read_and_written() -> None:
    data = b'{"cells": [{"cell_type": "code", "source": "a", "source": "x = 1"}]}'
    notebook = Notebook.parse(data, "a.ipynb")
    assert notebook.with_text("x = 2\n") == data.replace(b"x = 1", b"x = 2")


def test_format_3_keeps_its_cells_in_worksheets() -> None:
    cells = [{"cell_type": "code", "language": "python", "input": ["x = 1\n", "%m"]}, {"cell_type": "heading"}]
    other = [{"cell_type": "code", "language": "bash", "input": "ls"}, {"cell_type": "code", "input": "y = 2"}]
    sheets = {"metadata": {}, "nbformat": 3, "worksheets": [{"cells": cells}, {}, {"cells": other}]}
    notebook = Notebook.parse(json.dumps(sheets).encode(), "a.ipynb")
    other[1]["input"] = "y = 3"
    assert notebook.with_text(notebook.text.replace("y = 2", "y = 3")) == json.dumps(sheets).encode()


def test_lines_inserted_above_and_below_a_magic_leave_it_where_it_was() -> None:
    notebook = parse(code("%m\nx = 1"))
    text = notebook.text.replace("x = 1", "y = 2\nif y:\n    x = 1")
    assert notebook.sources("import torch\n" + text) == {1: "import torch\n%m\ny = 2\nif y:\n    x = 1"}


def test_a_magic_that_is_indented_with_its_block_is_restored_indented() -> None:
    notebook = parse(code("%time f()\n!a \\\n  b"))
    text = "if x:\n    pass  # ipynb 1\n    pass  # ipynb 2\n# ipynb 3\n"
    assert notebook.sources(text) == {1: "if x:\n    %time f()\n    !a \\\n  b"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("# ipynb cell 2\n", "", id="a border removed"),
        pytest.param("\n# ipynb cell 2", "# ipynb cell 2", id="a border joined to a line"),
        pytest.param("pass  # ipynb 1", "pass", id="a magic overwritten"),
        pytest.param("pass  # ipynb 1\n", "", id="a magic removed"),
        pytest.param("pass  # ipynb 1", "pass  # ipynb 1\npass  # ipynb 1", id="a magic doubled"),
        pytest.param("pass  # ipynb 1\nx = 1", "x = 1\npass  # ipynb 1", id="a line above a cell magic"),
    ],
)
def test_text_that_crosses_a_border_or_harms_a_magic_is_not_accepted(old: str, new: str) -> None:
    notebook = parse(code("%%time\nx = 1"), code("y = 2"))
    text = notebook.text.replace(old, new)
    assert (notebook.accepts(notebook.text), notebook.accepts(text)) == (True, False)
    with pytest.raises(UnwritableSource, match=r"^a fix would .*; fix it by hand$"):
        notebook.with_text(text)


@given(st.lists(st.lists(st.sampled_from(["x = 1", "%m", "", "y = !z", "'é'"]), max_size=4), max_size=4))
def test_every_notebook_survives_the_round_trip_and_its_text_parses(cells: list[list[str]]) -> None:
    notebook = parse(*(code("\n".join(lines)) for lines in cells))
    ast.parse(notebook.text)
    expected = {number: "\n".join(lines) for number, lines in enumerate(cells, start=1) if any(lines)}
    assert notebook.sources(notebook.text) == expected


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        pytest.param(
            b'{"cells": [\n{"a": }]}', r"not a notebook: Expecting value in its JSON \(column 7\)", 2, id="JSON"
        ),
        pytest.param(b"", r"not a notebook: Expecting value in its JSON \(column 1\)", 1, id="empty"),
        pytest.param(b"[]", "not a notebook: its JSON is no object", 1, id="no object"),
        pytest.param(b"[" * 100_000, "not a notebook: its JSON cannot be read", None, id="too deep"),
        pytest.param(b"{}", "not a notebook: it has no list of cells", None, id="no cells"),
        pytest.param(b'{"cells": {}}', "not a notebook: it has no list of cells", None, id="cells are no list"),
        pytest.param(b'{"worksheets": [1]}', "not a notebook: it has no list of cells", None, id="bad worksheet"),
        pytest.param(b'{"cells": [1]}', "not a notebook: cell 1 is no object", None, id="cell is no object"),
        pytest.param(
            b'{"cells": [{"cell_type": "code", "source": [1]}]}',
            "not a notebook: the source of cell 1 is neither text nor a list of lines",
            None,
            id="source is no text",
        ),
        pytest.param(
            b'{"nbformat": 2}', "notebook format 2; bring it up to date with `jupyter nbconvert", None, id="old"
        ),
        pytest.param(
            b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}',
            "cell 1 holds half a surrogate pair",
            None,
            id="half",
        ),
        pytest.param(
            b'{"cells": [{"cell_type": "code", "source": "\\u0000"}]}', "cell 1 holds a null character", None, id="null"
        ),
        pytest.param(b'{"\xe9": 1}', r"not valid UTF-8 at byte 2 \(line 1\); save it as UTF-8", 1, id="no UTF-8"),
    ],
)
def test_what_is_no_notebook_is_refused_with_the_reason(data: bytes, message: str, line: int | None) -> None:
    with pytest.raises(UnreadableSource, match=f"^{message}") as caught:
        Notebook.parse(data, "a.ipynb")
    assert caught.value.line == line


def test_importing_the_module_imports_no_json() -> None:
    program = (
        "import sys, nanlint.model; sys.modules.pop('json', None); import nanlint.source.notebooks.notebook\n"
        "print('json' in sys.modules, 'nanlint.source.notebooks.magics' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"
