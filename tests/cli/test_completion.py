"""What a shell hears when it asks how the line may go on."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import split_arg_string
from click.testing import CliRunner

from msvm_select.cli import cli, completing
from msvm_select.cli.completing import SHELLS
from msvm_select.data.table import SPELLED

ODD = ["sepal length", "sepal $w", "it's", "a,b", "klasse", "naïve"]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with odd data, a config and results, to work in."""
    monkeypatch.chdir(tmp_path)
    Path("odd.csv").write_text(
        'sepal length, "sepal $w",it\'s,"a,b",klasse,naïve\n1,2,3,4,a,5\n',
        encoding="utf-8-sig",
    )
    Path("odd.csv.gz").write_bytes(gzip.compress(Path("odd.csv").read_bytes()))
    Path("odd.parquet").write_bytes(b"PAR1")
    Path("semi.txt").write_text("eins;zwei,5;Größe\n", encoding="latin-1")
    Path("configs").mkdir()
    Path("configs/odd.toml").write_text('data = "../odd.csv"\n')
    Path("ranked.csv").write_text("rank,n_sv,gap\n")
    os.mkfifo("pipe")


def completed(shell: str, line: str) -> list[str]:
    """The values that the shell is offered at the end of the line."""
    around = {"_MSVM_SELECT_COMPLETE": f"{shell}_complete", "COMP_WORDS": line}
    ended = line.endswith(" ")
    words = split_arg_string(line)
    if shell == "zsh":
        around["COMP_CWORD"] = str(len(words) if ended else len(words) - 1)
    elif shell == "fish":
        around["COMP_CWORD"] = "" if ended else re.split(r"(?<!\\) ", line)[-1]
    result = CliRunner().invoke(cli, [], prog_name="msvm-select", env=around)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.strip("\n").splitlines()
    if shell == "zsh":
        return [value for kind, value in zip(lines[::3], lines[1::3], strict=True)]
    return [line.partition(",")[2].partition("\t")[0] for line in lines if line]


def unquoted(shell: str, values: list[str]) -> list[str]:
    """Without the quotes that bash needs."""
    if shell != "bash":
        return values
    return [word for value in values for word in shlex.split(value)]


def test_the_separators_are_those_of_the_reader() -> None:
    """The spelled separators that completion offers are read as such."""
    assert completing.DELIMITERS.items() <= SPELLED.items()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("swe", ["sweep"]),
        ("sweep odd.csv --rank", ["--rank", "--rank-by"]),
        ("sweep odd.csv --kernel p", ["polynomial", "precomputed"]),
        ("sweep odd.csv --kernel rbf,lin", ["rbf,linear"]),
        ("sweep odd.csv --criteria loo,hol", ["loo,holdout"]),
        ("sweep odd.csv --criteria loo,lo", ["loo,logo", "loo,loo:balanced"]),
        ("sweep odd.csv --rank-by v", ["vc"]),
        ("sweep odd.csv --criteria cv:5,vc --rank-by v", ["vc"]),
        ("sweep odd.csv --solver ex", ["exact"]),
        ("sweep odd.csv --loss ", ["l1", "l2"]),
        ("sweep odd.csv --scale m", ["minmax"]),
        ("sweep odd.csv --format md", []),
        ("sweep odd.csv --format ma", ["markdown"]),
        ("sweep odd.csv --missing m", ["mean"]),
        ("sweep odd.csv --delimiter s", ["semicolon"]),
        ("rank ranked.csv --by n_", ["n_sv"]),
        ("rank ranked.csv --by g", ["guaranteed-risk", "gap"]),
        ("plot --paths odd.csv --target k", ["klasse"]),
        ("check odd.csv --decimal c", ["comma"]),
        ("show ker", ["kernels"]),
        ("completion z", ["zsh"]),
        ("teach k", ["kkt", "kernel-trick"]),
        ("generate p", ["proteins"]),
        ("help mar", ["margins"]),
        ("run ", ["configs/odd.toml"]),
        ("run configs/o", ["configs/odd.toml"]),
        ("sweep odd.csv --target ", ODD),
        ("sweep odd.csv --one-hot s", ["sepal length", "sepal $w"]),
        ("fit odd.csv --id-column nai", []),
        ("fit odd.csv --id-column naï", ["naïve"]),
        ("predict model.json odd.csv --target k", ["klasse"]),
        ("run configs/odd.toml --target k", ["klasse"]),
        ("run configs/odd.toml --data odd.csv --target k", ["klasse"]),
        ("sweep semi.txt --encoding latin-1 --target ", ["eins", "zwei,5", "Größe"]),
        ("sweep odd.csv --no-header --target ", []),
        ("sweep odd.csv --delimiter xx --target ", []),
        ("sweep pipe --target ", []),
        ("sweep odd.csv.gz --target k", ["klasse"]),
        ("sweep odd.parquet --target ", []),
        ("sweep odd.csv --input-format ar", ["arrow", "arff"]),
        ("sweep no.csv --target ", []),
        ("sweep configs --target ", []),
        ("sweep semi.txt --target ", []),
        ("sweep - --target ", []),
        ("nonsense --t", []),
        ("odd.csv --target k", ["klasse"]),
        ("./odd.csv --kernel lin", ["linear"]),
        ("od", ["od"]),
    ],
)
def test_the_line_goes_on(shell: str, line: str, values: list[str]) -> None:
    """The same values in each shell; nothing, silently, where there is no sense."""
    assert unquoted(shell, completed(shell, f"msvm-select {line}")) == values


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("start", ["sepal\\ le", '"sepal le', "'sepal le"])
def test_a_name_with_a_space_is_completed(shell: str, start: str) -> None:
    """Whether its space is escaped or in quotes that are still open."""
    if shell == "fish" and start[0] in "\"'":
        pytest.skip("fish hands over the word, which this test cannot cut as it does")
    found = completed(shell, f"msvm-select sweep odd.csv --target {start}")
    escaped = shell == "bash" and start[0] == "s"
    assert found == ["sepal\\ length" if escaped else "sepal length"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_value_after_an_equals_sign_is_completed(shell: str) -> None:
    """bash takes what follows the sign for a word, the others the whole."""
    found = completed(shell, "msvm-select sweep odd.csv --kernel=lin")
    assert found == ["linear" if shell == "bash" else "--kernel=linear"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", ["sweep od", "rank ra", "predict x", "fit x -o y"])
def test_files_are_left_to_the_shell(shell: str, line: str) -> None:
    """It knows best."""
    around = {"COMP_WORDS": f"msvm-select {line}", "COMP_CWORD": "2"}
    if line.startswith("fit"):
        around["COMP_CWORD"] = "4"
    if shell == "fish":
        around["COMP_CWORD"] = line.split()[-1]
    around["_MSVM_SELECT_COMPLETE"] = f"{shell}_complete"
    result = CliRunner().invoke(cli, [], prog_name="msvm-select", env=around)
    assert result.stdout.startswith("file")


def test_bash_takes_over_what_it_is_told() -> None:
    """The printed script in a real bash: names with spaces stay one reply each."""
    script = (
        'eval "$(msvm-select completion bash)"; COMP_LINE=$1; COMP_POINT=${#1}\n'
        "_msvm_select_completion msvm-select 2>/dev/null\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    line = "msvm-select sweep odd.csv --target "
    replies = in_shell("bash", "--norc", "-c", script, "bash", line)
    assert [shlex.split(reply) for reply in replies] == [[name] for name in ODD]
    replies = in_shell("bash", "--norc", "-c", script, "bash", f"{line}nonsense")
    assert replies == [""]


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_takes_over_what_it_is_told() -> None:
    """The printed script in a real fish, commas and all."""
    line = "msvm-select completion fish | source; complete -C 'msvm-select sweep o.csv "
    assert in_shell("fish", "-c", f"{line} --criteria loo,vc,cv,sp'") == [
        "loo,vc,cv,span"
    ]
    replies = in_shell("fish", "-c", f"{line.replace('o.csv', 'odd.csv')} --target '")
    assert sorted(replies) == sorted(ODD)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_reads_the_script() -> None:
    """What is printed is a script, and defines the function."""
    script = 'compdef() { print "$@"; }; eval "$(msvm-select completion zsh)"'
    assert in_shell("zsh", "-f", "-c", script) == [
        "_msvm_select_completion msvm-select"
    ]


def in_shell(*line: str) -> list[str]:
    """The lines that a shell prints; it says nothing on stderr."""
    done = subprocess.run(
        line,
        env={**os.environ, "PATH": PATH, "HOME": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_tab_loads_nothing_heavy() -> None:
    """Column names come without numpy and pandas, by the program's own road."""
    code = (
        "import sys\nfrom msvm_select.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'rich', 'numba', 'msvm_select.records'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))"
    )
    around = {"_MSVM_SELECT_COMPLETE": "bash_complete"}
    around["COMP_WORDS"] = "msvm-select run configs/odd.toml --target k"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **around},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["plain,klasse", "heavy: []"]


def test_completion_works_before_click_8_5() -> None:
    """There a CompletionItem is no generic class, and cannot be subscripted."""
    code = (
        "import sys, click.shell_completion as shell\n"
        "class Plain:\n"
        "    def __init__(self, value, type='plain', help=None):\n"
        "        self.value, self.type, self.help = value, type, help\n"
        "shell.CompletionItem = Plain\n"
        "from msvm_select.cli import main\n"
        "main()"
    )
    around = {
        "_MSVM_SELECT_COMPLETE": "bash_complete",
        "COMP_WORDS": "msvm-select sweep x.csv --kernel rb",
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **around},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("plain,rbf\n", "")
