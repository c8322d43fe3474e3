"""Bad data: refused with its place, what is wrong and the way out."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from msvm_select.data.doubts import UnusableDataError
from msvm_select.data.read import load_csv
from msvm_select.errors import DataError, SettingsError
from tests.conftest import read, run

PLAIN = "a,b,class\n1,2,x\n3,4,y\n5,6,x\n"
HOLES = "a,c,class\n1,red,x\n?,blue,y\n3,,y\n5,red,\n7,blue,y\n"


def refusal(text: str | bytes, **options: object) -> str:
    """The message with which the text is refused."""
    with pytest.raises(DataError) as caught:
        read(text, **options)
    return str(caught.value)


def test_decimal_comma_does_not_hide_the_semicolon() -> None:
    """Commas inside of numbers are told as such, not taken for delimiters."""
    said = refusal("1,5;3,5;setosa\n4,0;4.5;b\n", header=False)
    assert "line 1, column 'x1'" in said
    assert "decimal comma" in said


def test_missing_is_refused() -> None:
    """Without a policy, each kind of gap is told with its place and the ways out."""
    said = refusal(HOLES, one_hot=["c"])
    assert "line 3, column 'a'" in said
    assert "2 missing in 2 of 5 rows: a 1, c 1" in said
    assert "--missing drop" in said
    assert "--missing mean" in said
    assert "line 5, column 'class': the class label is missing" in said
    assert "label is missing" in refusal(HOLES, one_hot=["c"], missing="mean")


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        ("", {}, ["empty"]),
        ("\n\n", {}, ["empty"]),
        ("a,b,class\n", {}, ["no sample below"]),
        ("a,b,class\n1,2,x\n3,4,x\n", {}, ["'x'", "two classes"]),
        ("a,b,class\n1,2,x\n3,4\n5,y\n", {}, ["line 3: 2 fields", "has 3", "2 such"]),
        ("a,a,class\n1,2,x\n3,4,y\n", {}, ["line 1", "'a'", "1 and 2", "same name"]),
        (PLAIN, {"target": "clas"}, ["--target 'clas'", "did you mean 'class'?"]),
        (PLAIN, {"target": 4}, ["--target '4'", "no such column"]),
        (PLAIN, {"id_column": "B"}, ["--id-column 'B'", "did you mean 'b'?"]),
        (PLAIN, {"id_column": "class"}, ["also the target"]),
        (PLAIN, {"one_hot": ["aa"]}, ["--one-hot 'aa'", "did you mean 'a'?"]),
        ("class\nx\ny\n", {}, ["no feature column", "--delimiter"]),
        ("1 1:2 2:3\n2 1:4\n", {}, ["--input-format libsvm"]),
        (
            "a,b,class\n1,x,p\n2,y,q\n3,x,q\n",
            {},
            ["line 2, column 'b'", "--one-hot 'b'"],
        ),
        ("a,b,class\n1,u,p\n2,v,q\n3,w,q\n", {}, ["--id-column 'b'"]),
        ("a,class\n1,p\n2,q\n3,q\nx,q\n", {}, ["line 5", "--na-values 'x'", "1 such"]),
        ("a,class\n1,p\n2_0,q\n", {}, ["'2_0' is not a number"]),
        ("a,class\n1,p\ninf,q\n-inf,q\n", {}, ["line 3, column 'a'", "infinite", "2"]),
        ("a,class\n1,p\n1e999,q\n", {"missing": "mean"}, ["line 3", "infinite"]),
        ("a,class\n1,p\nnan,q\n", {}, ["line 3, column 'a'", "missing"]),
        ("a,class\n,p\n,q\n", {"missing": "mean"}, ["'a'", "no value at all"]),
        ("a,class\n,p\n,q\n", {"missing": "drop"}, ["every row"]),
        ("a,class\n,p\n,q\n", {}, ["2 missing in 2 of 2 rows"]),
        ("a,b,class\n1,2,x\n", {"header": False}, ["line 1"]),
        ('a,class\n1,"x\n2,y\n', {}, ["line 2", "quote"]),
        (",a,class\n1,2,x\n2,2,y\n", {}, ["column 1 has no name", "--id-column 1"]),
        (b"a,class\n1,\x81\n2,y\n", {}, ["line 2", "0x81", "--encoding latin-1"]),
        (
            b"a,class\n1,\xe9\n2,y\n",
            {"encoding": "utf-8"},
            ["line 2", "0xe9", "--encoding latin-1"],
        ),
        ("a,class\n1,x\n".encode("utf-16"), {}, ["--encoding utf-16"]),
        (b"a,class\n1,\0\n", {}, ["line 2", "zero byte"]),
        (b"PK\x03\x04xyz", {}, ["spreadsheet"]),
        ("class,label,a\n1,2,3\n4,5,6\n", {}, ["'class', 'label'", "--target"]),
        (b"\x89HDF\r\n", {}, ["HDF5", "CSV"]),
        (b"\x1f\x8b\x08", {}, ["gzip", "unpack"]),
        (b"%PDF-1.4\n%\xe2", {}, ["PDF"]),
        (b"<!DOCTYPE html>\n<html>", {}, ["web page"]),
        (b'[\n  {"a": 1, "class": "x"}]', {}, ["JSON"]),
        (b"@RELATION iris\n", {}, ["no @data"]),
        ("a,class\n1,x\n2,y\n".encode("utf-16-le"), {}, ["--encoding utf-16-le"]),
        ("a,class\n1,x\n2,y\n".encode("utf-32"), {}, ["--encoding utf-32"]),
        ("sep=;\na;class\n1;x\n", {}, ["line 1", "Excel", "delete"]),
        ("a,b,class\n1,5,2,x\n", {}, ["line 2", "4 fields", "decimal comma"]),
        (
            "a;class\n1,234;x\n2;y\n",
            {},
            ["--decimal comma", "--thousands comma"],
        ),
        ("a;class\n1.234,5;x\n2;y\n", {}, ["thousands separator"]),
        ("a,class\n1_000,x\n2,y\n", {}, ["'1_000'", "thousands separator"]),
        ("a,class\n0x1f,x\n2,y\n", {}, ["hexadecimal"]),
        ("a,class\n\u22122,x\n2,y\n", {}, ["minus"]),
        ("a,class\n10%,x\n2,y\n", {}, ["percent"]),
        ("a,class\n1e300,x\n2,y\n", {}, ["line 2", "1e+300", "another unit"]),
        ("a,class\n1e-320,x\n2e-320,y\n", {}, ["too small", "another unit"]),
        ("a,class\n1,NA\n2,y\n", {}, ["line 2", "missing", "rename the class"]),
        ("class,class,a\nx,y,1\n", {}, ["--target", "number 1 and 2"]),
    ],
)
def test_refusals(
    text: str | bytes, options: dict[str, object], parts: list[str]
) -> None:
    """Bad data is refused with its place, what is wrong and the way out."""
    said = refusal(text, **options)
    assert [part for part in parts if part not in said] == []


def test_header_taken_for_a_sample() -> None:
    """--no-header on a file with a header is told as just that."""
    assert "leave out --no-header" in refusal(PLAIN, header=False)


def test_several_problems_at_once() -> None:
    """All kinds of problems are gathered, each with its place."""
    text = "a,b,class\n1,2,x\n3,,y\n1,inf,x\n1,2\nfoo,3,x\n4,3,\n"
    with pytest.raises(UnusableDataError) as caught:
        read(text)
    found = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 5
    for part in ("line 5: 2 fields", "line 6, column 'a'", "line 4, column 'b'"):
        assert part in found
    assert "line 3, column 'b'" in found
    assert "line 7, column 'class'" in found


def test_line_numbers_count_quoted_line_ends() -> None:
    """A cell that runs over lines does not shift the lines of what follows."""
    said = refusal('a,class\n1,"x\nx"\n\nfoo,y\n2,y\n3,y\n')
    assert "line 5, column 'a'" in said


def test_missing_file(tmp_path: Path) -> None:
    """A misspelt file is told with its neighbour; so are folders."""
    (tmp_path / "iris.csv").write_text(PLAIN)
    with pytest.raises(DataError, match=r"no such file \(did you mean 'iris.csv'\?\)"):
        load_csv(tmp_path / "irs.csv")
    with pytest.raises(DataError, match="no folder"):
        load_csv(tmp_path / "nowhere" / "iris.csv")
    with pytest.raises(DataError, match="is a folder"):
        load_csv(tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "median"},
        {"input_format": "xml"},
        {"decimal": "dot"},
        {"delimiter": "::"},
        {"encoding": "utf-88"},
        {"input_format": "libsvm", "target": "1"},
    ],
)
def test_options_of_no_choice(options: dict[str, object]) -> None:
    """An option that is not of its form is a mistake of the settings, not the data."""
    with pytest.raises(SettingsError):
        read(PLAIN, **options)


@pytest.mark.parametrize("token", ["0:3", "x:3", "4", "2:y", "1:3", "-1:2", "2:1_0"])
def test_libsvm_bad_token(token: str) -> None:
    """A bad token is told with its line."""
    said = refusal(f"a 1:1\nb 1:2 {token}\n", input_format="libsvm")
    assert f"line 2: {token!r}" in said


def test_a_column_of_text_may_be_the_class() -> None:
    """Where the last column was taken for the class, --target is a way out too."""
    text = "len,species,mass\n1,a,2\n2,b,1\n3,a,5\n4,b,6\n"
    assert "say --target 'species' if it is the class, or --one-hot" in refusal(text)
    assert "--target" not in refusal(text, target="mass")
    assert "--target" not in refusal(text.replace("mass", "class"))
    bare = text.split("\n", 1)[1]
    assert "say --target '2'" in refusal(bare, header=False)
    assert read(bare, header=False, target="2").classes == ("a", "b")


def test_ten_thousand_characters_and_columns() -> None:
    """Long names are cut in messages; of many problems the first are told."""
    long = "h" * 10_000
    assert len(refusal(f"{long},class\n1,x\nfoo,y\n2,x\n3,y\n4,x\n")) < 500
    assert len(refusal(f"{long},{long},class\n1,2,x\n3,4,y\n")) < 300
    assert len(refusal(f"a,class\n1,{long}\n2,{long}\n")) < 300
    assert len(refusal("a,class\n1,x\n2,y\n", target=long)) < 300
    names = ",".join(f"c{i}" for i in range(10_000))
    cells = ",".join(["foo"] * 10_000)
    assert len(refusal(f"{names},class\n{cells},x\n{cells},y\n")) < 1000
    assert len(refusal(f"{','.join(['c', 'd'] * 5000)},class\n{cells},x\n")) < 600


@pytest.mark.parametrize("encoding", ["rot13", "hex", "undefined", "no-such"])
def test_encodings_that_are_none(encoding: str) -> None:
    """A codec that makes no text of bytes is refused as a setting."""
    with pytest.raises(SettingsError, match="no such encoding"):
        load_csv(io.BytesIO(b"a,class\n1,x\n"), encoding=encoding)


def test_data_that_are_no_file(tmp_path: Path) -> None:
    """An address, nothing, a folder, a config, an empty device: exit 3, a reason."""
    for name, part in [
        ("https://example.org/iris.csv", "does not use the network"),
        ("", "no name"),
        (str(tmp_path), "is a folder"),
        ("configs/iris.toml", "`msvm-select run` takes it"),
        ("/dev/null", "empty"),
        ("-", "empty"),
    ]:
        done = run("check", name, input="")
        assert done.exit_code == 3
        assert part in done.stderr
