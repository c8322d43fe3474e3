"""Model <-> file: JSON or npz, written whole, checked when read; never a pickle.

A model can also be written for other programs (see ``libsvm`` and ``onnx``), but is
not read again from there.

Both hold the same: the numbers of the machine as arrays, and about it whatever JSON
knows. The JSON file is one object with a line for each of its entries; the npz file has
the arrays under their names, and the rest as a JSON text under ``meta``.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msvm_select.errors import DataError, SettingsError
from msvm_select.files import check_writable, write_whole
from msvm_select.metrics.calibration import BINS, Calibration, Reliability
from msvm_select.model import libsvm, onnx
from msvm_select.model.model import Certificate, Model, Training
from msvm_select.names import KERNELS, MACHINES
from msvm_select.phrases import did_you_mean
from msvm_select.records import Columns, Floats, Scaling

FORMAT = "msvm-select model"
FORMAT_VERSION = 4  # 3 knows all rows and the whole kernel, 2 no weights or groups
SINCE_4 = ("drawn_from", "low_rank", "rank_error")  # of the training
ENDINGS = (".json", ".npz")
EXPORTS = {one.ENDING: one for one in (libsvm, onnx)}
"""The modules that write a model for other programs, by the ending of the file."""
ARRAYS = ("fill", "shift", "scale", "support", "Z", "tau", "b")
ZIP = b"PK"
DAMAGE = (
    *(KeyError, TypeError, ValueError, AttributeError, OverflowError),
    SettingsError,
)


def check_model_path(path: str | Path, *inputs: str | Path) -> None:
    """Refuse, before training, a path that no model could be saved to."""
    if Path(path).suffix.lower() not in (*ENDINGS, *EXPORTS):
        raise SettingsError(
            f"{path}: a model is a .json or a .npz file; for other programs it is also "
            f"written as {onnx.ENDING}, and with --machine ovo as {libsvm.ENDING}, for "
            "LIBSVM."
        )
    check_writable(path, *inputs)
    if (export := exporter(path)) is not None:
        for other in export.beside(path):
            check_writable(other, *inputs)


def exporter(path: str | Path) -> Any:
    """What writes the model for another program, by the ending; None for our own."""
    return EXPORTS.get(Path(path).suffix.lower())


def save_model(model: Model, path: str | Path) -> None:
    """Write the model whole; the ending of ``path`` says as what."""
    check_model_path(path)
    if (export := exporter(path)) is not None:
        export.write(model, path)
        return
    meta, arrays = _meta(model), _arrays(model)
    if Path(path).suffix.lower() == ".npz":
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, meta=np.array(json.dumps(meta)), **arrays)
        write_whole(path, packed.getvalue())
        return
    entries = {**meta, **{name: _plain(array) for name, array in arrays.items()}}
    lines = (f"{json.dumps(name)}: {_json(value)}" for name, value in entries.items())
    write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")


def load_model(path: str | Path) -> Model:
    """The model in a file that ``save_model`` wrote; a DataError for any other."""
    data = _bytes(Path(path))
    if exporter(path) is not None:
        raise DataError(
            f"{path} is a model for other programs; keep it as .json or .npz, too, to "
            "read it here."
        )
    meta, arrays = (_from_npz if data.startswith(ZIP) else _from_json)(path, data)
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise DataError(f"{path} is no model file: msvm-select fit writes one.")
    version = meta.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise DataError(
            f"{path} has the model format {version}, and this program reads "
            f"{FORMAT_VERSION}: update msvm-select, or fit the model again."
        )
    try:
        model = _model(meta, arrays or meta)
        _check(model)
    except DAMAGE as error:
        what = f"no entry {error}" if isinstance(error, KeyError) else error
        raise DataError(f"{path} is a damaged model file: {what}.") from None
    return model


def _meta(model: Model) -> dict[str, Any]:
    """What is known of the model but its arrays; only what JSON knows."""
    return {
        "format": FORMAT,
        "format_version": _version(model),
        "versions": model.versions,
        "kernel": {"name": model.kernel.name, **model.kernel.parameters},
        "C": model.C,
        "classes": list(model.classes),
        "training": _training(model.training),
        "certificate": {k: _finite(v) for k, v in asdict(model.certificate).items()},
        "columns": stored(model.columns),
        "scaling": model.scaling.kind,
        **({} if model.machine == "ww" else {"machine": model.machine}),
        **_calibrated(model.calibration),
    }


def _training(training: Training) -> dict[str, Any]:
    """Without what older programs do not know, where there is nothing to say of it."""
    told = asdict(training)
    return {k: v for k, v in told.items() if k not in SINCE_4 or v is not None}


def _version(model: Model) -> int:
    """The first version that knows all that there is to say of the model."""
    columns = model.columns
    if any(getattr(model.training, name) is not None for name in SINCE_4):
        return 4
    if columns.weight_column is not None or columns.group_column is not None:
        return 3
    return 1 if model.machine == "ww" else 2


def _arrays(model: Model) -> dict[str, NDArray[Any]]:
    """The arrays by name: those of the scaling, then the model's own."""
    held = [getattr(model.scaling, name) for name in ARRAYS[:3]]
    held += [getattr(model, name) for name in ARRAYS[3:]]
    arrays = dict(zip(ARRAYS, held, strict=True))
    return {**arrays, "y": model.y} if model.machine == "ovo" else arrays


def _model(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> Model:
    """The model of what a file holds; one of DAMAGE where that is not whole."""
    kernel = dict(meta["kernel"])
    certificate: dict[str, Any] = {
        name: math.nan if value is None else value
        for name, value in meta["certificate"].items()
    }
    numbers = {name: np.asarray(arrays[name], dtype=np.float64) for name in ARRAYS}
    setting = KERNELS[kernel.pop("name")](**kernel)
    wide, b = numbers["fill"].size if setting.is_vector_kernel else 0, numbers["b"]
    machine = meta.get("machine", "ww")
    y = arrays["y"] if machine == "ovo" else ()
    return Model(
        kernel=setting,
        C=float(meta["C"]),
        classes=tuple(str(name) for name in meta["classes"]),
        columns=restored(meta["columns"]),
        scaling=Scaling(meta["scaling"], *(numbers[name] for name in ARRAYS[:3])),
        support=np.asarray(arrays["support"], dtype=np.int64),
        Z=_table(numbers["Z"], wide),
        tau=_table(numbers["tau"], _outputs(meta)),
        b=np.where(np.isnan(b), -np.inf, b),
        certificate=Certificate(**certificate),
        training=Training(**meta["training"]),
        versions=dict(meta["versions"]),
        machine=machine,
        calibration=_calibration(meta.get("calibration")),
        y=np.asarray(y, dtype=np.int64),
    )


def _outputs(meta: Mapping[str, Any]) -> int:
    """How many weights each support vector, or each pivot, has."""
    Q, by_pairs = len(meta["classes"]), meta.get("machine") == "ovo"
    low = meta["training"].get("low_rank") is not None
    return Q * (Q - 1) // 2 if by_pairs and low else Q


def _calibrated(calibration: Calibration | None) -> dict[str, Any]:
    """The entry of a model that knows probabilities."""
    if calibration is None:
        return {}
    bins = asdict(calibration.reliability)
    told = {
        "temperature": calibration.temperature,
        "calibration_error": _finite(calibration.reliability.error),
        **{name: _plain(values) for name, values in bins.items()},
    }
    return {"calibration": told}


def _calibration(told: Mapping[str, Any] | None) -> Calibration | None:
    """The same again."""
    if told is None:
        return None
    T, names = float(told["temperature"]), [one.name for one in fields(Reliability)]
    bins = [np.asarray(told[name], dtype=np.float64) for name in names]
    if not 0.0 < T < math.inf or {one.shape for one in bins} != {(BINS,)}:
        raise ValueError("calibration is no temperature with bins")
    return Calibration(T, Reliability(*bins))


def stored(columns: Columns) -> dict[str, Any]:
    """What a model file holds of the columns: only what JSON knows.

    The fields that version 1 did not have from the start are left out at their
    defaults.
    """
    plain = asdict(columns)
    plain["one_hot"] = {name: list(v) for name, v in columns.one_hot.items()}
    plain |= {k: list(v) for k, v in plain.items() if isinstance(v, tuple)}
    usual: dict[str, Any] = {"decimal": "point", "thousands": None, "drop": []}
    usual |= dict.fromkeys(("weight_column", "group_column"))
    return {k: v for k, v in plain.items() if k not in usual or v != usual[k]}


def restored(plain: Mapping[str, Any]) -> Columns:
    """The columns again, from what ``stored`` gave."""
    lists = {k: tuple(v) for k, v in plain.items() if isinstance(v, list | tuple)}
    one_hot = {name: tuple(values) for name, values in plain["one_hot"].items()}
    return Columns(**{**plain, **lists, "one_hot": one_hot})


def _table(array: Floats, width: int) -> Floats:
    """The array, with the width that JSON loses where there are no rows."""
    return array.reshape(0, width) if array.shape == (0,) else array


def _check(model: Model) -> None:
    """Arrays that fit each other and are finite; ValueError where they do not."""
    n, s, Q = len(model.columns.features), model.support.size, len(model.classes)
    wide = n if model.kernel.is_vector_kernel else 0
    if model.machine not in MACHINES:
        raise ValueError(f"there is no machine {model.machine!r}")
    ovo = model.machine == "ovo"
    biases = Q * (Q - 1) // 2 if ovo else Q
    low = model.training.low_rank is not None
    outputs, of_class = (biases if low else Q), 0 if low else s
    shapes = (
        *((n,), (n,), (n,), (s,), (s, wide), (s, outputs), (biases,)),
        *([(of_class,)] if ovo else []),
    )
    for (name, array), shape in zip(_arrays(model).items(), shapes, strict=True):
        if array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape} and not {shape}")
        if not np.isfinite(array[array != -np.inf] if name == "b" else array).all():
            raise ValueError(f"{name} has values that are not finite")
    if Q < 2 or len(set(model.classes)) < Q:
        raise ValueError("its classes are not two or more different ones")
    if model.y.size and not 0 <= model.y.min() <= model.y.max() < Q:
        raise ValueError("y has classes that there are not")
    far = model.support.max(initial=0) >= n or model.support.min(initial=0) < 0
    if far and not model.kernel.is_vector_kernel:
        raise ValueError("support points to columns that there are not")


def _from_json(path: str | Path, data: bytes) -> tuple[Any, None]:
    try:
        return json.loads(data), None
    except (ValueError, RecursionError):
        raise DataError(
            f"{path} is no model file, or not a whole one: it is not JSON."
        ) from None


def _from_npz(path: str | Path, data: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        return json.loads(arrays.pop("meta").item()), arrays
    except (*DAMAGE, zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise DataError(
            f"{path} is no model file, or not a whole one: it is not npz with 'meta'."
        ) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        near = [other.name for other in path.parent.glob("*") if other != path]
        hint = did_you_mean(path.name, near)
        raise DataError(f"{path}: {error.strerror}{hint}.") from None


def _plain(array: NDArray[Any]) -> Any:
    """Lists of numbers; None for the bias of a class without samples."""
    return [_finite(x) if array.ndim == 1 else x for x in array.tolist()]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
