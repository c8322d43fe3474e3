"""Contracts of every kernel, and what each one's formula says."""

from __future__ import annotations

import numpy as np
import pytest

from msvm_select.columns import Row
from msvm_select.errors import DataError, KernelError, SettingsError
from msvm_select.kernels.base import Kernel
from msvm_select.kernels.inner_products import Linear, Polynomial, Sigmoid
from msvm_select.kernels.mercer import is_indefinite, smallest_eigenvalue
from msvm_select.kernels.precomputed import Precomputed
from msvm_select.kernels.rbf import Rbf
from msvm_select.kernels.sequences import Mismatch, Spectrum, as_numbers
from msvm_select.names import KERNELS
from msvm_select.records import Gram

SETTINGS: list[Kernel] = [
    Linear(),
    Polynomial(),
    Polynomial(gamma=0.5, degree=2.0, coef0=0.0),
    Polynomial(gamma=0.1, degree=5.0, coef0=2.0),
    Rbf(0.1),
    Rbf(20.0),
    Sigmoid(0.3, -0.5),
    Spectrum(2.0),
    Mismatch(3.0),
]
vector_kernels = pytest.mark.parametrize("kernel", SETTINGS, ids=repr)


@pytest.fixture(name="X")
def samples(request: pytest.FixtureRequest) -> np.ndarray:
    """Forty samples, some of them equal, far from the origin in one direction.

    For the kernels of sequences they are forty sequences.
    """
    rng = np.random.default_rng(0)
    kernel = getattr(request.node, "callspec", None)
    if kernel is not None and kernel.params["kernel"].of == "sequences":
        X = as_numbers(("".join(rng.choice(list("acgt?"), 9)) for _ in range(40)), 9)
    else:
        X = rng.standard_normal((40, 4))
        X[:, 2] += 5.0
    X[7], X[31] = X[3], X[3]
    return X


def test_every_kernel_is_under_contract():
    """A kernel that is added to KERNELS has a setting in the table above."""
    assert {*map(type, SETTINGS), Precomputed} == set(KERNELS.values())
    assert all(KERNELS[kind.name] is kind for kind in KERNELS.values())


@vector_kernels
def test_gram_is_exactly_symmetric(kernel, X):
    """K_ij and K_ji are the same number."""
    K = kernel.gram(X).matrix
    assert np.array_equal(K, K.T)


@vector_kernels
def test_gram_holds_the_values_between_the_samples(kernel, X):
    """The Gram matrix is the kernel between X and itself, and between its parts."""
    K = kernel.gram(X).matrix
    scale = np.abs(K).max()
    assert kernel.between(X, X) == pytest.approx(K, abs=1e-13 * scale)
    assert kernel.between(X[:5], X[20:]) == pytest.approx(K[:5, 20:], abs=1e-13 * scale)


@vector_kernels
def test_equal_samples_have_equal_rows(kernel, X):
    """Duplicates cannot be told apart by the kernel."""
    K = kernel.gram(X).matrix
    assert K[7] == pytest.approx(K[3], rel=1e-12, abs=1e-12)


@vector_kernels
def test_psd_where_theory_says_so(kernel, X):
    """No eigenvalue is below 0 by more than rounding, found in full or the fast way."""
    gram = kernel.gram(X)
    true = float(np.linalg.eigvalsh(gram.matrix)[0])
    fast = smallest_eigenvalue(gram)
    scale = float(np.abs(gram.diagonal).max())
    assert fast == pytest.approx(true, abs=1e-11 * scale)
    assert is_indefinite(fast, gram) == is_indefinite(true, gram)
    if kernel.always_psd:
        assert not is_indefinite(fast, gram)


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        (Linear(), 4.0),
        (Polynomial(gamma=0.5, degree=3.0, coef0=1.0), 27.0),
        (Polynomial(gamma=2.0, degree=0.5, coef0=1.0), 3.0),
        (Rbf(0.25), np.exp(-1.5)),
        (Sigmoid(0.25, -0.5), np.tanh(0.5)),
    ],
    ids=repr,
)
def test_formulas(kernel, value):
    """k((1, 2), (2, 1)) + k((1, 2), (-1, 3)) worked by hand where they differ."""
    x, z = np.array([[1.0, 2.0, 1.0]]), np.array([[2.0, 1.0, 0.0]])
    if isinstance(kernel, Rbf):
        z = np.array([[2.0, 1.0, -1.0]])
    assert kernel.between(x, z)[0, 0] == pytest.approx(value, rel=1e-14)


def test_rbf_of_equal_samples_is_exactly_one(X):
    """The diagonal and duplicates are 1 to the last digit, however far from 0."""
    K = Rbf(3.0).gram(X + 1e4).matrix
    assert (np.diagonal(K) == 1.0).all()
    assert K[3, 7] == K[7, 31] == 1.0


def test_rbf_keeps_the_digits_of_near_pairs():
    """Samples 1e-5 apart, far from 0, are at their true distance."""
    X = np.array([[1.0], [1.0 + 2.0**-17], [900.0]])
    K = Rbf(1e9).gram(X).matrix
    assert K[0, 1] == pytest.approx(np.exp(-1e9 * 2.0**-34), rel=1e-12)


def test_linear_keeps_its_features_where_they_are_few(X):
    """K = X X' stays a factor for n < m / 4 and is whole otherwise."""
    assert Linear().gram(X).factor is not None
    assert Linear().gram(X[:12]).factor is None


def test_low_rank_has_eigenvalue_zero(X):
    """m > n samples of the linear kernel have the smallest eigenvalue 0."""
    assert smallest_eigenvalue(Linear().gram(X)) == 0.0


def test_many_samples_of_a_sound_kernel_are_not_tested(X, monkeypatch):
    """Theory vouches for them: NaN, which is not indefinite; others are tested."""
    monkeypatch.setattr("msvm_select.kernels.mercer.MANY", X.shape[0] - 1)
    gram = Rbf(1.0).gram(X)
    assert np.isnan(smallest_eigenvalue(gram, always_psd=True))
    assert not is_indefinite(np.nan, gram)
    assert smallest_eigenvalue(gram, always_psd=False) >= -1e-12
    monkeypatch.setattr("msvm_select.kernels.mercer.MANY", X.shape[0])
    assert smallest_eigenvalue(gram, always_psd=True) >= -1e-12


def test_mercer_finds_a_small_negative_eigenvalue():
    """An eigenvalue of -1e-6, too small to fail a sloppy test, is found and told."""
    Q, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((30, 30)))
    values = np.linspace(0.0, 2.0, 30)
    values[0] = -1e-6
    K = (Q * values) @ Q.T
    gram = Gram(whole=(K + K.T) / 2.0)
    smallest = smallest_eigenvalue(gram)
    assert smallest == pytest.approx(-1e-6, rel=1e-6)
    assert is_indefinite(smallest, gram)


@pytest.mark.parametrize("m", [1, 2, 3, 60])
def test_mercer_of_the_identity(m):
    """All eigenvalues of the identity are 1."""
    assert smallest_eigenvalue(Gram(whole=np.eye(m))) == pytest.approx(1.0)


def test_mercer_without_a_positive_diagonal():
    """A matrix with 0 on its diagonal is indefinite unless it is 0."""
    gram = Gram(whole=np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert smallest_eigenvalue(gram) == pytest.approx(-1.0)
    assert is_indefinite(-1.0, gram)


def test_odd_parameters_are_not_certain_to_be_psd():
    """A broken degree or a negative coef0 leaves Mercer's condition to a test."""
    assert Polynomial(degree=2.0).always_psd
    assert not Polynomial(degree=2.5).always_psd
    assert not Polynomial(coef0=-1.0).always_psd
    assert not Sigmoid().always_psd


def test_roughness_orders_kernels():
    """Linear, polynomials by degree and gamma, Gaussians by gamma, then the others."""
    order = [
        Linear(),
        Polynomial(1.0, 2.0),
        Polynomial(2.0, 2.0),
        Polynomial(0.1, 3.0),
        Rbf(0.1),
        Rbf(1.0),
        Sigmoid(),
        Precomputed(),
    ]
    assert sorted(reversed(order), key=lambda kernel: kernel.roughness) == order


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rbf(0.0),
        lambda: Rbf(float("nan")),
        lambda: Polynomial(degree=-1.0),
        lambda: Polynomial(gamma=-2.0),
        lambda: Sigmoid(coef0=float("inf")),
    ],
)
def test_impossible_parameters_are_refused(make):
    """A parameter out of range is an error of the settings that names it."""
    with pytest.raises(SettingsError, match="gamma|degree|coef0"):
        make()


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(), Polynomial(degree=0.5, coef0=0.0)], ids=repr
)
def test_values_that_are_not_finite_are_refused(kernel):
    """Overflow, or the root of a negative number, names the samples."""
    X = np.array([[1e200, 0.0], [-1e200, 1.0], [0.0, 1.0]])
    with pytest.raises(KernelError, match=r"between the samples \d and \d"):
        kernel.gram(X)


@pytest.mark.parametrize("exponent", [-310, -200, -100, 90])
def test_the_smallest_eigenvalue_at_any_scale(exponent):
    """That of the matrix times its scale, however small: nothing overflows."""
    B = np.random.default_rng(0).normal(size=(10, 30))
    K, scale = B @ B.T, 10.0**exponent
    found = smallest_eigenvalue(Gram(whole=K * scale)) / scale
    assert found == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-9)


def test_values_that_the_bounds_could_not_square_are_refused():
    """K of 1e240 is finite; D^4 is not."""
    X = np.array([[1e120, 0.0], [-1e120, 1.0], [0.0, 1.0]])
    with pytest.raises(KernelError, match=r"1e\+240 between the samples 1 and 1"):
        Linear().gram(X)


def test_precomputed_takes_the_matrix_as_it_is(X):
    """The Gram matrix is the features; new samples bring their values."""
    K = Rbf(0.3).gram(X).matrix
    kernel = Precomputed()
    assert np.array_equal(kernel.gram(K).matrix, K)
    assert np.array_equal(kernel.between(K[:3], K), K[:3])


def test_precomputed_refuses_what_is_no_gram_matrix(X):
    """Not square, not symmetric, not finite, not as many columns as samples."""
    K = Rbf(0.3).gram(X).matrix
    skew = K.copy()
    skew[2, 5] += 1e-6
    with pytest.raises(DataError, match=r"k\(3, 6\)|k\(6, 3\)"):
        Precomputed().gram(skew)
    with pytest.raises(DataError, match="40 samples and 39 columns"):
        Precomputed().gram(K[:, 1:])
    with pytest.raises(DataError, match="40 training samples; there are 39"):
        Precomputed().between(K[:3, 1:], K)
    skew[2, 5] = np.nan
    with pytest.raises(KernelError, match="samples 3 and 6"):
        Precomputed().gram(skew)


@vector_kernels
def test_a_kernel_and_its_rows_have_one_setting_and_one_name(kernel):
    """A row finds its kernel again, and both are told in the same words."""
    row = Row(kernel=kernel.name, **kernel.parameters, C=8.0)
    assert row.setting == kernel.setting
    assert row.parameters == kernel.parameters
    assert row.cell == f"{kernel} C=8"


def test_twins_that_rounding_tells_apart():
    """A large gamma magnifies the rounding of distances; theory vouches for K."""
    draw = np.random.default_rng(16)
    X = np.repeat(draw.normal(size=(4, 1)), 8, axis=0)
    X = X + 1e-12 * draw.normal(size=X.shape)
    kernel = Rbf(1e3)
    gram = kernel.gram(X)
    smallest = smallest_eigenvalue(gram, kernel.always_psd)
    assert smallest > -1e-12
    assert not is_indefinite(smallest, gram, kernel.always_psd)
    assert is_indefinite(-1e-10, gram, kernel.always_psd)
