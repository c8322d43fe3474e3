"""A cell that is no number: what it may be, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from msvm_select.phrases import quoted

# What a cell looks like, what it has, the way out.
LOOKS: tuple[tuple[str, str, str], ...] = (
    (
        r"[-+]?\d{1,3},\d{3}",
        "a comma",
        "say --decimal comma if it is a decimal comma; if it parts thousands, leave it "
        "out",
    ),
    (
        r"[-+]?\d+,\d+([eE][-+]?\d+)?",
        "a decimal comma",
        "say --decimal comma, or write decimal points",
    ),
    (r"[-+]?\d+\.\d+([eE][-+]?\d+)?", "a decimal point", "leave out --decimal comma"),
    (
        r"[-+]?\d{1,3}([.,' _\u00a0\u2009\u202f]\d{3})+([.,]\d*)?",
        "a thousands separator",
        "write the digits without it",
    ),
    (r"[-+]?\d+(_\d+)+(\.\d*)?", "an underscore", "write the digits without it"),
    (r"[\u2212\u2013]\d.*", "a minus that is another character", "write '-'"),
    (r"[-+]?[\d.,]+\s?%", "a percent sign", "write the number alone"),
    (r"[$\u20ac\u00a3]\s?[-+]?[\d.,]+", "a currency", "write the number alone"),
    (r"0[xX][\da-fA-F]+", "hexadecimal digits", "write decimal ones"),
    (r"[-+]?\d+(\.\d*)?[dD][-+]?\d+", "a Fortran exponent", "write e for d"),
)


@dataclass
class NoNumbers:
    """The cells of one column that are no numbers: the first, how many, which."""

    line: int
    value: str
    count: int = 0
    distinct: set[str] = field(default_factory=set)

    def what_to_do(self, name: str, m: int, option: str, guessed: bool) -> str:
        """Of ``m`` rows; in words, for the column ``name``.

        ``option`` is what --id-column and --target call it. Where the target was
        ``guessed`` the column may be the true one.
        """
        name, shown, option = quoted(name), quoted(self.value), quoted(option)
        said = f"{shown} is not a number"
        for look, what, way_out in LOOKS:
            if re.fullmatch(look, self.value):
                return f"{said}: it has {what}; {way_out}"
        if self.count == m and len(self.distinct) == m > 2:
            return (
                f"{said}, and every row has another text here: say --id-column "
                f"{option} if it names the rows, or --one-hot {name} if it is a "
                "category"
            )
        if self.count * 2 >= m:
            is_class = f"--target {option} if it is the class, or " if guessed else ""
            return f"{said}: say {is_class}--one-hot {name} if it is a category"
        return (
            f"{said} ({self.count} such of {m} rows): correct it, or say --na-values "
            f"{shown} if it stands for a missing value, or --one-hot {name} if the "
            "column is a category"
        )
