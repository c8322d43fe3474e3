"""The columns beside features and class: weights and groups."""

import numpy as np
import pandas as pd
import pytest

from msvm_select.data.doubts import describe
from msvm_select.data.read import as_dataset
from msvm_select.errors import DataError, SettingsError
from msvm_select.settings import settings_from
from msvm_select.settings.values import class_weights
from msvm_select.train.prepare import weights_of
from tests.conftest import read

TEXT = "a,w,g,class\n1,2,p,x\n2,1,p,y\n3,0,q,x\n4,0.5,q,y\n5,1,r,x\n"


def test_weights_and_groups_are_no_features():
    """They are read from their columns, and a row of weight 0 is gone, with a note."""
    data = read(TEXT, weight_column="w", group_column="g")
    assert data.features == ("a",)
    assert data.weights.tolist() == [2.0, 1.0, 0.5, 1.0]
    assert [data.group_names[g] for g in data.groups] == ["p", "p", "q", "r"]
    assert data.lines.tolist() == [2, 3, 5, 6]
    assert "1 of 5 rows left out: their weight is 0 (first: line 4)" in data.notes
    assert data.share(np.array([True, False, False, False])) == pytest.approx(2 / 4.5)


def test_the_class_is_not_looked_for_among_them():
    """The last column is the class, unless it is a weight or a group."""
    text = "a,b,k,w\n1,2,x,1\n2,1,y,2\n3,3,x,1\n"
    data = read(text, weight_column="w")
    assert data.target == "k"
    assert data.features == ("a", "b")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weight_column": "v"}, "no such column"),
        ({"weight_column": "class", "target": "4"}, "'class' is also the target"),
        ({"group_column": "w", "weight_column": "w"}, "is also the weight"),
        ({"weight_column": "g"}, "line 2, column 'g': the weight 'p' is no number"),
        ({"group_column": "w", "drop": "w"}, "the group is in it"),
    ],
)
def test_columns_that_cannot_be_both(options, words):
    """Each with its place or its option."""
    with pytest.raises(DataError, match=words):
        read(TEXT, **options)


@pytest.mark.parametrize("bad", ["-1", "nan", "inf", "", "one"])
def test_weights_are_numbers_of_at_least_0(bad):
    """Any other is told with its line."""
    with pytest.raises(DataError, match="line 3, column 'w'"):
        read(f"a,w,class\n1,1,x\n2,{bad},y\n3,1,x\n", weight_column="w")


def test_groups_are_never_missing_and_never_one():
    """A row without a group, and a file of one group, are refused."""
    with pytest.raises(DataError, match="line 3, column 'g': the group is missing"):
        read("a,g,class\n1,p,x\n2,,y\n", group_column="g")
    with pytest.raises(DataError, match="every row is of the group 'p'"):
        read("a,g,class\n1,p,x\n2,p,y\n", group_column="g")
    with pytest.raises(DataError, match="every weight is 0"):
        read("a,w,class\n1,0,x\n2,0,y\n", weight_column="w")


def test_weights_are_written_as_the_numbers_are():
    """With decimal commas and separators, said or recognised; numbers are numbers."""
    text = "a;w;class\n1,5;0,5;x\n2;1.000,25;y\n3;2;x\n4;1;y\n"
    found = read(text, weight_column="w", decimal="comma", thousands=".")
    assert found.weights.tolist() == [0.5, 1000.25, 2.0, 1.0]
    found = read(text.replace("1.000,25", "1,25"), weight_column="w")
    assert found.weights.tolist() == [0.5, 1.25, 2.0, 1.0]
    with pytest.raises(
        DataError, match=r"'0,5' is no number of at least 0; say --deci"
    ):
        read(text.replace("1,5", "1").replace("1.000,25", "1"), weight_column="w")
    with pytest.raises(DataError, match=r"the weight '0.5' is no number"):
        read(text.replace("0,5", "0.5"), weight_column="w", decimal="comma")
    frame = pd.DataFrame({"a": ["1,5", "2"], "w": [0.5, 2.0], "class": ["x", "y"]})
    found = as_dataset(frame, target="class", weight_column="w", decimal="comma")
    assert found.weights.tolist() == [0.5, 2.0]


def test_class_weights(tmp_path):
    """Balanced, as text, as a mapping and from a file; each by the class's name."""
    data = read(TEXT, drop=("w", "g"))
    assert weights_of(data, "balanced") == pytest.approx(
        np.array([5 / 6, 5 / 4, 5 / 6, 5 / 4, 5 / 6])
    )
    path = tmp_path / "w.csv"
    path.write_text("class,weight\nx,2\n", encoding="utf-8")
    for given in ("x=2", {"x": 2}, str(path)):
        assert class_weights(given, "class_weight") == "x=2"
    assert weights_of(data, "x=2").tolist() == [2.0, 1.0, 2.0, 1.0, 2.0]
    odd = class_weights({"a,b=c": 3.0}, "class_weight")
    assert class_weights(odd, "class_weight") == odd
    with pytest.raises(SettingsError, match="no class 'z'"):
        weights_of(data, "z=2")
    weighted = read(TEXT, weight_column="w", drop="g")
    assert weights_of(weighted, "x=2").tolist() == [4.0, 1.0, 0.5, 2.0]


@pytest.mark.parametrize("bad", ["x=0", "x=-1", "x=a", "x", "x=1,x=2", "=1", 3])
def test_class_weights_that_are_none(bad):
    """Refused, with the option's name."""
    with pytest.raises(SettingsError, match="class_weight"):
        settings_from({"class_weight": bad})


def test_rows_that_may_belong_together_are_told():
    """Ids that repeat, and many equal rows, unless there are groups."""
    text = "id,a,g,class\n" + "".join(
        f"i{k // 2},{k // 3},{k % 3},{'xy'[k % 2]}\n" for k in range(12)
    )
    found = describe(read(text, id_column="id", drop="g"))
    said = " ".join(found.warnings)
    assert "rows with the id of an earlier row: 6; leave-one-out judges" in said
    assert "--group-column" in said
    grouped = describe(read(text, id_column="id", group_column="g"))
    assert grouped.groups == 3
    assert "--group-column" not in " ".join(grouped.warnings)
