"""Config files: what is read from them and where it stands, what breaks them, and which of them are looked at."""

from __future__ import annotations

import pytest

from nanlint.source.configs.entries import Entry, read_documents
from nanlint.source.configs.words import is_training_config, states_settings
from nanlint.source.read import UnreadableSource


def read(text: str, path: str = "a.yaml") -> dict[str, object]:
    """Dotted path -> value, of all documents."""
    return {".".join(entry.path): entry.value for document in read_documents(text, path) for entry in document}


def place(text: str, key: str, path: str = "a.yaml") -> str:
    """The text at the place of a key."""
    (entry,) = (entry for document in read_documents(text, path) for entry in document if entry.path[-1] == key)
    return _at(entry, text)


def _at(entry: Entry, text: str) -> str:
    span = entry.span
    assert span.line == span.end_line
    return text.splitlines()[span.line - 1][span.column - 1 : span.end_column - 1]


# -- values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("1e-5", 1e-5, id="a number without a point"),
        pytest.param("5.", 5.0, id="a number without decimals"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param(".inf", float("inf"), id="infinity"),
        pytest.param("on", True, id="a switch"),
        pytest.param("No", False, id="a switch in upper case"),
        pytest.param("~", None, id="nothing"),
        pytest.param("", None, id="nothing at all"),
        pytest.param('"1e-5"', "1e-5", id="quotes"),
        pytest.param("${optim.lr}", "${optim.lr}", id="an interpolation"),
        pytest.param("!ref <lr>", "!ref <lr>", id="a tag"),
        pytest.param("[0.9, 0.98]", (0.9, 0.98), id="a list"),
        pytest.param("1.2.3", "1.2.3", id="a version"),
        pytest.param("0x1G", "0x1G", id="no number"),
    ],
)
def test_a_yaml_value_is_read_as_people_mean_it(written: str, value: object) -> None:
    assert read(f"key: {written}\n") == {"key": value}


def test_anchors_merge_keys_and_keys_given_twice_are_read() -> None:
    text = "base: &base\n  lr: 1\n  fp16: true\nrun:\n  <<: *base\n  fp16: false\n  lr: 2\n  lr: 3\n"
    assert read(text) == {"base.lr": 1, "base.fp16": True, "run.lr": 3, "run.fp16": False}


def test_a_list_of_merged_mappings_is_read_first_one_first() -> None:
    assert read("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc:\n  <<: [*a, *b]\n")["c.x"] == 1


def test_an_alias_that_leads_to_itself_ends() -> None:
    assert read("a: &a\n  b: 1\n  c: *a\n")["a.b"] == 1


@pytest.mark.parametrize(
    ("first", "form", "part"),
    [
        pytest.param("{x: 1, y: 2}", "{%s}", "k%d: *%s", id="mappings"),
        pytest.param("[[]]", "[%s]", "%.0s*%s", id="lists that hold no setting"),
        pytest.param("{}", "{<<: [%s]}", "%.0s*%s", id="merged mappings that hold no setting"),
    ],
)
def test_aliases_within_aliases_do_not_explode(first: str, form: str, part: str) -> None:
    lines = [f"a0: &a0 {first}"]
    lines += [f"a{n}: &a{n} " + form % ", ".join(part % (i, f"a{n - 1}") for i in range(9)) for n in range(1, 19)]
    assert len(read("\n".join(lines) + "\n")) <= 20_000


def test_several_documents_are_several_configs() -> None:
    assert [len(document) for document in read_documents("a: 1\nb: 2\n---\nc: 3\n", "a.yaml")] == [2, 1]


def test_a_custom_tag_on_a_mapping_is_the_value_of_its_key() -> None:
    found = read("opt: !name:torch.optim.Adadelta\n  rho: 0.95\n")
    assert found == {"opt": "!name:torch.optim.Adadelta", "opt.rho": 0.95}


def test_json_is_read_with_comments_and_trailing_commas() -> None:
    text = '{\n  // the rate\n  "lr": 1e-3,\n  "fp16": {"enabled": true,},\n  "betas": [0.9, 0.999],\n  "x": [{"y": null}]\n}\n'
    found = read(text, "a.json")
    assert found == {"lr": 1e-3, "fp16.enabled": True, "betas": (0.9, 0.999), "x.0.y": None}


def test_toml_is_read_with_tables_and_arrays_of_tables() -> None:
    text = 'lr = 1e-3\n[train]\nfp16 = true\n[[stage]]\nlr = 5\n[[stage]]\nname = "b"\n'
    found = read(text, "a.toml")
    assert found == {"lr": 1e-3, "train.fp16": True, "stage.0.lr": 5, "stage.1.name": "b"}


# -- places ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "path", "written"),
    [
        pytest.param("a:\n  lr: 1e-5  # low\n", "a.yaml", "lr: 1e-5", id="yaml"),
        pytest.param('{"é": 1,\n "lr": 1e-5}\n', "a.json", '"lr": 1e-5', id="json"),
        pytest.param('[a]\nx = "#"\nlr = 1e-5 # "low"\n', "a.toml", "lr = 1e-5", id="toml"),
        pytest.param("a:\r\n  lr: 1e-5\r\n", "a.yaml", "lr: 1e-5", id="windows line ends"),
        pytest.param('{"lr":\n 1e-5}\n', "a.json", '"lr":', id="the value on the next line"),
        pytest.param("a: {x: é, lr: 1e-5}\n", "a.yaml", "lr: 1e-5", id="behind an accent"),
    ],
)
def test_a_setting_stands_where_its_key_is(text: str, path: str, written: str) -> None:
    assert place(text, "lr", path) == written


# -- what is broken --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "path", "line", "message"),
    [
        pytest.param("a: [1\nb: {\n", "a.yaml", 2, "not valid YAML", id="yaml"),
        pytest.param("a: *nobody\n", "a.yaml", 1, "not valid YAML", id="an alias of nothing"),
        pytest.param("a: 1\n\tb: 2\n", "a.yaml", 2, "not valid YAML", id="a tab"),
        pytest.param('{"a": 1\n "b": 2}', "a.json", 2, "not valid JSON: a comma is missing", id="no comma"),
        pytest.param('{"a": [1, 2', "a.json", 1, "never closed", id="an open bracket"),
        pytest.param('{"a": tru}', "a.json", 1, "`tru` is no value", id="half a word"),
        pytest.param('{"a" 1}', "a.json", 1, "no colon", id="no colon"),
        pytest.param('{"a": 1} x', "a.json", 1, "more text", id="text behind the end"),
        pytest.param('{"a": "b\n', "a.json", 1, "not valid JSON", id="an open string"),
        pytest.param("[" * 100 + "]" * 100, "a.json", 1, "nested too deeply", id="too deep"),
        pytest.param("a = 1\nb = \n", "a.toml", 2, "not valid TOML", id="toml"),
    ],
)
def test_what_is_broken_is_told_with_its_line(text: str, path: str, line: int, message: str) -> None:
    with pytest.raises(UnreadableSource) as caught:
        read_documents(text, path)
    assert caught.value.line == line
    assert message in caught.value.message


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 200_000, "- " * 100_000, "a: " + "{x: " * 100_000], ids=["lists", "dashes", "maps"]
)
def test_yaml_that_would_overflow_the_stack_is_not_read(text: str) -> None:
    with pytest.raises(UnreadableSource, match="nested too deeply"):
        read_documents(text, "a.yaml")


# -- which files are looked at ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("trainer:\n  lr: 1e-4\n  max_epochs: 3\n", id="a trainer"),
        pytest.param('{"optimizer": {"type": "AdamW"}, "fp16": {"enabled": true}}', id="deepspeed"),
        pytest.param("distributed_type: MULTI_GPU\nmixed_precision: bf16\n", id="accelerate"),
        pytest.param("learning_rate = 1e-4\nmax_grad_norm = 1.0\n", id="toml"),
        pytest.param("LR: 1e-4\nBATCH_SIZE: 3\n", id="upper case"),
    ],
)
def test_a_training_config_is_known_by_its_words(text: str) -> None:
    assert is_training_config(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("on: push\njobs:\n  test:\n    steps:\n      - run: pytest\n", id="a workflow"),
        pytest.param('{"name": "x", "dependencies": {"lr": "1.0"}}', id="a manifest"),
        pytest.param("temperature: 0\ntop_p: 1\nmax_steps: 3\n", id="a sampler"),
        pytest.param("", id="nothing"),
    ],
)
def test_any_other_file_is_not(text: str) -> None:
    assert not is_training_config(text.encode())


def test_a_file_of_a_megabyte_is_no_config() -> None:
    assert not is_training_config(b"lr: 1\nfp16: true\n" + b"#" * 1_000_000)


def test_code_without_torch_must_look_like_a_config() -> None:
    assert states_settings(b"LEARNING_RATE = 1e-4\nBATCH_SIZE = 3\n", is_torch=False)
    assert not states_settings(b"print('learning_rate')\n", is_torch=False)
    assert states_settings(b"f(learning_rate=1)\n", is_torch=True)
