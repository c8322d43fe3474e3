"""A model as ONNX, for whatever runs that: double precision, primitive operators only.

    X (N, n)  ->  fill, scale  ->  K = k(X, Z)  ->  h = K tau + b, or votes  ->  label

The graph needs no operators for machine learning and no other program's kernels: it is
made of MatMul, Exp, Where, ArgMax and their like, as ONNX has had them since version 13
of its operators. The scores (N, Q) are those of ``Model.outputs``, and the label is the
class, as text, by the rules of ``Model.labels``. A sample with a missing value that the
model does not fill in has no scores (NaN) and the label of a tie, since no graph can
refuse a sample. A model with a calibration also gives its probabilities (N, Q).

With ``ovo`` the support vectors stand class after class, s_k of them for class k, and
G_k = K_k tau_k is (N, Q). The decisions of all pairs are f_kl = G_k[l] + G_l[k] + b_kl.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from msvm_select.errors import SettingsError
from msvm_select.extras import need
from msvm_select.files import write_whole
from msvm_select.phrases import listed
from msvm_select.records import TIE as ROUNDING

if TYPE_CHECKING:
    from msvm_select.model.model import Model

ENDING = ".onnx"
KERNELS = ("linear", "polynomial", "rbf", "sigmoid")
OPERATORS, FILE_VERSION = 17, 8  # what runtimes have read since 2022
INPUT, SCORES, LABEL, PROBABILITIES = "X", "scores", "label", "probabilities"
LARGEST = 2**31 - 2**20  # bytes of a file: a limit of its format
TIED = "?"
Tables = tuple[NDArray[Any], NDArray[Any]]


def check(machine: str, loss: str, kernel: str, degree: float | None = None) -> None:
    """Refuse, before training, what cannot be written; and to write without onnx."""
    if kernel not in KERNELS:
        raise SettingsError(
            f"A machine of the {kernel} kernel cannot be written as ONNX; those of "
            f"{listed(KERNELS)} can."
        )
    need("onnx", "A model as ONNX")


def beside(path: str | Path) -> tuple[Path, ...]:
    """No other file is written."""
    return ()


def write(model: Model, path: str | Path) -> None:
    """The model file, written whole."""
    check(model.machine, model.training.loss, model.kernel.name)
    size = 8 * (model.Z.size + model.tau.size)
    if size > LARGEST:
        raise SettingsError(
            f"{path}: the support vectors take {size} bytes, and an ONNX file holds "
            f"{LARGEST}."
        )
    write_whole(path, document(model).SerializeToString())


def remarks(model: Model, path: str | Path) -> list[str]:
    """What one has to know to use the file, a line each."""
    names = model.columns.features
    told = [
        f"Input {INPUT!r}: {len(names)} features as doubles, unscaled, in the order "
        f"{listed(names)}; outputs {listed(outputs_of(model))}"
    ]
    if model.columns.missing == "mean":
        told.append("A missing value (NaN) takes the mean, as in the training.")
    else:
        told.append(f"A missing value (NaN) gives the label {TIED!r}, and no error.")
    return told


def outputs_of(model: Model) -> list[str]:
    """The names of what it gives."""
    return [LABEL, SCORES, *([PROBABILITIES] if model.calibration else [])]


class _Graph:
    """Nodes and constants, as they are added; a value is known by its name."""

    def __init__(self) -> None:
        """Empty."""
        self.nodes: list[Any] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def add(self, operator: str, *inputs: Any, out: str = "", **known: Any) -> str:
        """A node; what is no name among its inputs is a constant."""
        from onnx import helper

        output = out or f"v{len(self.nodes)}"
        names = [one if isinstance(one, str) else self.held(one) for one in inputs]
        self.nodes.append(helper.make_node(operator, names, [output], **known))
        return output

    def split(self, value: str, sizes: list[int]) -> list[str]:
        """The columns of a table, in blocks of these sizes."""
        from onnx import helper

        names = [f"v{len(self.nodes)}_{k}" for k in range(len(sizes))]
        inputs = [value, self.held(np.array(sizes))]
        self.nodes.append(helper.make_node("Split", inputs, names, axis=1))
        return names

    def held(self, value: Any) -> str:
        """The name of a constant."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def cast(self, value: str, kind: type) -> str:
        """The value as another type of numbers."""
        from onnx import TensorProto

        types = {float: TensorProto.DOUBLE, int: TensorProto.INT64}
        return self.add("Cast", value, to=types[kind])


def document(model: Model) -> Any:
    """The model as onnx has it, checked by onnx."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = _Graph()
    scaled, lost = _scaled(graph, model)
    if model.machine == "ovo" and model.training.low_rank is not None:
        Z, tau = _some(model.Z, model.tau)
        K = _kernel(graph, model, scaled, Z)
        h, graded = _votes(graph, model, _decided(graph, model, K, tau))
    elif model.machine == "ovo":
        Z, tau, sizes = _in_classes(model)
        K = _kernel(graph, model, scaled, Z)
        h, graded = _votes(graph, model, _of_classes(graph, K, tau, sizes))
    else:
        Z, tau = _some(model.Z, model.tau)
        K = _kernel(graph, model, scaled, Z)
        h = graded = graph.add("Add", graph.add("MatMul", K, tau), model.b)
    _label(graph, model, h, lost)
    graph.add("Where", lost, math.nan, h, out=SCORES)
    if model.calibration is not None:
        likely = _probabilities(graph, graded, model.calibration.temperature)
        graph.add("Where", lost, math.nan, likely, out=PROBABILITIES)
    n, Q = len(model.columns.features), len(model.classes)
    made = helper.make_graph(
        graph.nodes,
        "msvm-select",
        [helper.make_tensor_value_info(INPUT, TensorProto.DOUBLE, ["N", n])],
        [
            helper.make_tensor_value_info(LABEL, TensorProto.STRING, ["N"]),
            *(
                helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["N", Q])
                for name in outputs_of(model)[1:]
            ),
        ],
        [numpy_helper.from_array(v, name) for name, v in graph.constants.items()],
    )
    whole = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPERATORS)],
        ir_version=FILE_VERSION,
        producer_name="msvm-select",
        producer_version=model.versions.get("msvm-select", ""),
    )
    helper.set_model_props(whole, dict(_about(model)))
    onnx.checker.check_model(whole, full_check=True)
    return whole


def _about(model: Model) -> Iterable[tuple[str, str]]:
    """What the file says of itself, by name; lists as JSON."""
    yield "classes", json.dumps(model.classes, ensure_ascii=False)
    yield "features", json.dumps(model.columns.features, ensure_ascii=False)
    yield "machine", model.machine
    yield "kernel", str(model.kernel)
    yield "C", repr(model.C)
    yield "loss", model.training.loss
    yield "missing", model.columns.missing
    if model.training.low_rank is not None:
        yield "low_rank", str(model.training.low_rank)


def _scaled(graph: _Graph, model: Model) -> tuple[str, str]:
    """The scaled samples, and (N, 1) in which rows a value is missing."""
    gaps, X = graph.add("IsNaN", INPUT), INPUT
    if model.columns.missing == "mean":
        X = graph.add("Where", gaps, model.scaling.fill, X)
        gaps = graph.add("IsNaN", X)
    lost = graph.add("ReduceMax", graph.cast(gaps, int), axes=[1], keepdims=1)
    centred = graph.add("Sub", X, model.scaling.shift)
    scaled = graph.add("Div", centred, model.scaling.scale)
    return scaled, graph.add("Greater", lost, np.int64(0))


def _some(Z: NDArray[Any], tau: NDArray[Any]) -> Tables:
    """Support vectors and their weights; one of weight 0 where there are none."""
    if len(Z):
        return Z, tau
    return np.zeros((1, Z.shape[1])), np.zeros((1, tau.shape[1]))


def _in_classes(model: Model) -> tuple[NDArray[Any], NDArray[Any], list[int]]:
    """Z and tau class after class, and how many are of each class, 1 or more."""
    blocks = []
    for k in range(len(model.classes)):
        rows = np.flatnonzero(model.y == k)
        blocks.append(_some(model.Z[rows], model.tau[rows]))
    Z, tau = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return Z, tau, [len(part) for part, _ in blocks]


def _kernel(graph: _Graph, model: Model, X: str, Z: NDArray[Any]) -> str:
    """k(x, z) of the scaled samples and the rows of Z."""
    name, values = model.kernel.name, model.kernel.parameters
    if name == "rbf":
        return graph.add("Exp", _distances(graph, X, Z, -values["gamma"]))
    # gamma is within the constant: onnxruntime would make one operator of a product and
    # a factor behind it, and keep 7 digits of the factor
    inner = graph.add("MatMul", X, values.get("gamma", 1.0) * Z.T)
    if name == "linear":
        return inner
    affine = graph.add("Add", inner, values["coef0"])
    if name == "sigmoid":
        return graph.add("Tanh", affine)
    return _power(graph, affine, values["degree"])


def _distances(graph: _Graph, X: str, Z: NDArray[Any], factor: float) -> str:
    """factor ||x - z||^2, by ||x||^2 + ||z||^2 - 2 <x, z> around the mean of Z."""
    centre = Z.mean(axis=0)
    B = Z - centre
    A = graph.add("Sub", X, centre)
    of_A = graph.add("ReduceSum", graph.add("Mul", A, A), np.array([1]), keepdims=1)
    sizes = graph.add("Add", of_A, np.einsum("ij,ij->i", B, B)[None, :])
    D = graph.add("Sub", sizes, graph.add("MatMul", A, 2.0 * B.T))
    return graph.add("Mul", graph.add("Max", D, 0.0), factor)


def _power(graph: _Graph, K: str, degree: float) -> str:
    """K^degree, by squaring where the degree is whole, as the kernel does it."""
    if not float(degree).is_integer():
        return graph.add("Pow", K, degree)
    if degree == 1:
        return K
    root = _power(graph, K, degree // 2)
    square = graph.add("Mul", root, root)
    return graph.add("Mul", square, K) if degree % 2 else square


def _decided(graph: _Graph, model: Model, K: str, tau: NDArray[Any]) -> str:
    """f_kl less its bias at [k, l], k < l, and 0 elsewhere, of a kernel of low rank."""
    Q, (k, l) = len(model.classes), model.pairs.T
    wide = np.zeros((len(tau), Q, Q))
    wide[:, k, l] = tau
    flat = graph.add("MatMul", K, wide.reshape(len(tau), Q * Q))
    return graph.add("Reshape", flat, np.array([-1, Q, Q]))


def _of_classes(graph: _Graph, K: str, tau: NDArray[Any], sizes: list[int]) -> str:
    """The same by the support vectors of each class; below the diagonal as above it."""
    starts = np.cumsum([0, *sizes])
    tables = [
        graph.add("MatMul", part, tau[first:last])
        for part, first, last in zip(
            graph.split(K, sizes), starts, starts[1:], strict=False
        )
    ]
    one = np.array([1])
    G = graph.add("Concat", *(graph.add("Unsqueeze", t, one) for t in tables), axis=1)
    return graph.add("Add", G, graph.add("Transpose", G, perm=[0, 2, 1]))


def _votes(graph: _Graph, model: Model, decided: str) -> tuple[str, str]:
    """How many pairs each class wins; f_kl > 0 is a vote for k, else for l.

    And the same with a part below 1/3 for how clear it is, see ``graded_votes``.
    """
    Q, one = len(model.classes), np.array([1])
    b, there = np.zeros((Q, Q)), np.zeros((Q, Q))
    k, l = model.pairs.T
    known = np.isfinite(model.b)
    b[k, l] = np.where(known, model.b, 0.0)
    there[k, l] = known
    f = graph.add("Add", decided, b)
    won = graph.cast(graph.add("Greater", f, 0.0), float)
    of_first = graph.add("Mul", won, there)
    of_second = graph.add("Sub", there, of_first)
    firsts = graph.add("ReduceSum", of_first, np.array([2]), keepdims=0)
    seconds = graph.add("ReduceSum", of_second, one, keepdims=0)
    votes = graph.add("Add", firsts, seconds)
    known_f = graph.add("Mul", f, there)
    towards = graph.add("ReduceSum", known_f, np.array([2]), keepdims=0)
    against = graph.add("ReduceSum", known_f, one, keepdims=0)
    sums = graph.add("Sub", towards, against)
    absent = np.where((there + there.T).any(axis=1), 0.0, -np.inf)
    return votes, graph.add("Add", _graded(graph, votes, sums), absent)


def _graded(graph: _Graph, votes: str, sums: str) -> str:
    """``left_out.graded_votes``."""
    size = graph.add("Mul", graph.add("Add", graph.add("Abs", sums), 1.0), 3.0)
    h = graph.add("Add", votes, graph.add("Div", sums, size))
    most = graph.add("Equal", votes, graph.add("ReduceMax", votes, axes=[1]))
    best = graph.add("ReduceMax", graph.add("Where", most, h, -math.inf), axes=[1])
    first = graph.add("ArgMax", graph.cast(most, int), axis=1)
    return graph.add("Where", _at(graph, votes, first), best, h)


def _at(graph: _Graph, table: str, column: str) -> str:
    """Where a table (N, Q) is in the column (N, 1) of its row."""
    shape = graph.add("Shape", table)
    one, zero = np.array([1]), np.int64(0)
    count = graph.add("Squeeze", graph.add("Gather", shape, one), np.array([0]))
    return graph.add("Equal", graph.add("Range", zero, count, np.int64(1)), column)


def _probabilities(graph: _Graph, h: str, T: float) -> str:
    """``calibration.probabilities``: softmax(h / T), the predicted class first."""
    top = graph.add("ReduceMax", h, axes=[1])
    near = graph.add("GreaterOrEqual", h, graph.add("Sub", top, ROUNDING))
    best = graph.add("ArgMax", graph.cast(near, int), axis=1)
    alike = graph.add("Where", near, top, h)
    e = graph.add("Exp", graph.add("Div", graph.add("Sub", alike, top), T))
    p = graph.add("Div", e, graph.add("ReduceSum", e, np.array([1])))
    most = graph.add("ReduceMax", p, axes=[1])
    differs = graph.add("Not", graph.add("Equal", graph.add("ArgMax", p, axis=1), best))
    raised = graph.add("And", _at(graph, h, best), differs)
    # a factor so near to 1 would be optimised away
    more = graph.add("Add", most, graph.add("Mul", most, 2.0**-52))
    return graph.add("Where", raised, more, p)


def _label(graph: _Graph, model: Model, h: str, lost: str) -> None:
    """The name of the first of the largest; ``?`` where two tie in ``ww``."""
    top = graph.add("ReduceMax", h, axes=[1], keepdims=1)
    leads = graph.add("GreaterOrEqual", h, graph.add("Sub", top, ROUNDING))
    marks = graph.cast(leads, int)
    code = graph.add("ArgMax", marks, axis=1, keepdims=1)
    count = graph.add("ReduceSum", marks, np.array([1]), keepdims=1)
    Q = np.int64(len(model.classes))
    most = np.int64(1 if model.machine == "ww" else Q)
    tied = graph.add("Greater", count, most)
    none = graph.add("Less", count, np.int64(1))  # outputs that are no numbers
    unsure = graph.add("Or", graph.add("Or", tied, none), lost)
    code = graph.add("Where", unsure, Q, code)
    code = graph.add("Squeeze", code, np.array([1]))
    names = np.array([*model.classes, TIED], dtype=object)
    graph.add("Gather", names, code, out=LABEL)
