"""Newton on the free variables: an active set whose factor is updated, not made anew.

With M the free variables (0 < alpha < C), H their Hessian and A their rows e_{y_i} -
e_k, the optimum on the face solves   H d + A b = g_M,  A' d = 0.   Kept are the
Cholesky factor H + rho I = U'U (upper, row-major: every inner loop runs along memory)
and, column by column, Y = U^{-T} A and z = U^{-T} g_M.  Then

    b = (Y'Y)^+ Y'z,      d = U^{-1} (z - Y b),
 one back-substitution a step.  The step goes to the first bound; the variable that hits
it leaves: its column is cut out of U and Givens rotations, applied to Y and z too, make
U triangular again.  After a step t the right-hand side is known without a product by H:
z <- z - t (z - Y b).  A change costs O(n^2) and some ten microseconds at n = 100.

K is used with a constant added (shift): on balanced flows that changes nothing, since
it adds shift * A A' to H, and it keeps A' H^-1 A of one size where H alone is singular.
Where H is singular still (a linear kernel with more free variables than dimensions,
duplicate rows), rho lets d run far along the null space, as it should: the curvature
met along d, ||z - Y b||^2 - rho d'd, is nearly zero there, and the step ends at a
bound. Elsewhere the step is 1: what d leaves of the null space is then walked next.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from msvm_select.solvers.compiled import INNER, inner, kernel

FULL = 1e300


@inner
def _entry(K, Z, i, j):
    """K_ij, or z_i . z_j where K is empty."""
    if K.shape[0] > 0:
        return K[i, j]
    s = 0.0
    for c in range(Z.shape[1]):
        s += Z[i, c] * Z[j, c]
    return s


@inner
def _hessian(K, Z, y, shift, i, k, j, l):
    """H_(ik),(jl) = (K_ij + shift) <e_{y_i} - e_k, e_{y_j} - e_l>."""
    c = 0.0
    if y[i] == y[j]:
        c += 1.0
    if y[i] == l:
        c -= 1.0
    if k == y[j]:
        c -= 1.0
    if k == l:
        c += 1.0
    return c * (_entry(K, Z, i, j) + shift) if c != 0.0 else 0.0


@inner
def _append(K, Z, y, shift, rho, U, Y, rows, cols, n, i, k):
    """One more variable (i, k) at the end: a column of U, a row of Y."""
    x = np.empty(n + 1)
    for j in range(n):
        x[j] = _hessian(K, Z, y, shift, rows[j], cols[j], i, k)
    own = _hessian(K, Z, y, shift, i, k, i, k)
    left = own + rho
    Q1 = Y.shape[1]
    arc = np.zeros(Q1)
    if y[i] < Q1:
        arc[y[i]] = 1.0
    if k < Q1:
        arc[k] -= 1.0
    for j in range(n):
        x[j] /= U[j, j]
        s = x[j]
        for c in range(j + 1, n):
            x[c] -= s * U[j, c]
        left -= s * s
        for c in range(Q1):
            arc[c] -= s * Y[j, c]
        U[j, n] = s
    U[n, n] = np.sqrt(max(left, 0.5 * rho))
    for c in range(Q1):
        Y[n, c] = arc[c] / U[n, n]
    rows[n], cols[n] = i, k
    return n + 1


@inner
def _drop(U, Y, z, rows, cols, n, p):
    """Variable p leaves: cut its column, rotate U back to triangular form."""
    for j in range(n):
        first = max(p, j - 1) if j > p else p
        for c in range(first, n - 1):
            U[j, c] = U[j, c + 1]
    for c in range(p, n - 1):
        rows[c], cols[c] = rows[c + 1], cols[c + 1]
    for j in range(p, n - 1):
        a, b = U[j, j], U[j + 1, j]
        r = np.hypot(a, b)
        cs, sn = a / r, b / r
        Uj, Uk = U[j], U[j + 1]
        for c in range(j, n - 1):
            v, w = Uj[c], Uk[c]
            Uj[c] = cs * v + sn * w
            Uk[c] = cs * w - sn * v
        for c in range(Y.shape[1]):
            v, w = Y[j, c], Y[j + 1, c]
            Y[j, c] = cs * v + sn * w
            Y[j + 1, c] = cs * w - sn * v
        v, w = z[j], z[j + 1]
        z[j] = cs * v + sn * w
        z[j + 1] = cs * w - sn * v
    return n - 1


@inner
def _rebuild(K, Z, y, shift, rho, U, Y, rows, cols, n):
    """The factor of all n variables, made anew (LAPACK)."""
    H = np.empty((n, n))
    for p in range(n):
        for q in range(p + 1):
            H[p, q] = _hessian(K, Z, y, shift, rows[p], cols[p], rows[q], cols[q])
            H[q, p] = H[p, q]
        H[p, p] += rho
    L = np.linalg.cholesky(H)
    Q1 = Y.shape[1]
    for p in range(n):
        for q in range(p, n):
            U[p, q] = L[q, p]
        for c in range(Q1):
            Y[p, c] = 0.0
        if y[rows[p]] < Q1:
            Y[p, y[rows[p]]] = 1.0
        if cols[p] < Q1:
            Y[p, cols[p]] -= 1.0
    for p in range(n):
        for c in range(Q1):
            Y[p, c] /= U[p, p]
        for q in range(p + 1, n):
            for c in range(Q1):
                Y[q, c] -= U[p, q] * Y[p, c]


@inner
def _forward(U, n, v):
    """v <- U^{-T} v."""
    for j in range(n):
        v[j] /= U[j, j]
        s = v[j]
        Uj = U[j]
        for c in range(j + 1, n):
            v[c] -= s * Uj[c]


@njit(**INNER, fastmath={"reassoc", "contract"})
def _backward(U, n, v):
    """v <- U^{-1} v."""
    for j in range(n - 1, -1, -1):
        s = v[j]
        Uj = U[j]
        for c in range(j + 1, n):
            s -= Uj[c] * v[c]
        v[j] = s / Uj[j]


@inner
def _eliminate(S):
    """x with S[:, :-1] x = S[:, -1]; an unknown without a pivot of its own stays 0."""
    size = S.shape[0]
    least = np.empty(size)
    for a in range(size):
        least[a] = 1e-11 * S[a, a]
    x = np.zeros(size)
    kept = np.zeros(size, np.bool_)
    for a in range(size):
        if S[a, a] > least[a]:
            kept[a] = True
            for c in range(size):
                if c != a:
                    f = S[c, a] / S[a, a]
                    for e in range(a, size + 1):
                        S[c, e] -= f * S[a, e]
    for a in range(size):
        if kept[a]:
            x[a] = S[a, size] / S[a, a]
    return x


@inner
def _multipliers(Y, z, n):
    """b with Y'Y b = Y'z, the last class at 0; what no free arc ties stays 0."""
    Q1 = Y.shape[1]
    S = np.zeros((Q1, Q1 + 1))
    for p in range(n):
        for a in range(Q1):
            v = Y[p, a]
            if v != 0.0:
                for c in range(Q1):
                    S[a, c] += v * Y[p, c]
                S[a, Q1] += v * z[p]
    return _eliminate(S)


@inner
def _balance(y, rows, cols, n, Q1, d, owed):
    """d <- the nearest one with A'd = owed: d - A (A'A)^+ (A'd - owed).

    Along the null space of H, d is large and its balance only as good as U's condition.
    """
    S = np.zeros((Q1, Q1 + 1))
    for a in range(Q1):
        S[a, Q1] = -owed[a]
    for p in range(n):
        a, c = y[rows[p]], cols[p]
        if a < Q1:
            S[a, a] += 1.0
            S[a, Q1] += d[p]
        if c < Q1:
            S[c, c] += 1.0
            S[c, Q1] -= d[p]
        if a < Q1 and c < Q1:
            S[a, c] -= 1.0
            S[c, a] -= 1.0
    x = _eliminate(S)
    for p in range(n):
        a, c = y[rows[p]], cols[p]
        d[p] -= (x[a] if a < Q1 else 0.0) - (x[c] if c < Q1 else 0.0)


@inner
def _restore_flow(y, A, box, rows, cols, n, Q1):
    """Take the imbalance that rounding has left out of the free variables."""
    Q, m = A.shape
    owed = np.zeros(Q1)
    for i in range(m):
        for k in range(Q):
            if A[k, i] != 0.0:
                if y[i] < Q1:
                    owed[y[i]] -= A[k, i]
                if k < Q1:
                    owed[k] += A[k, i]
    d = np.zeros(n)
    _balance(y, rows, cols, n, Q1, d, owed)
    for p in range(n):
        a = A[cols[p], rows[p]] + d[p]
        if not 0.0 < a < box[rows[p]]:
            return
    for p in range(n):
        A[cols[p], rows[p]] += d[p]


@inner
def _sync(K, Z, y, A, box, shift, rho, U, Y, z, rows, cols, n):
    """Make the list and the factor those of the variables now free; -> n."""
    Q, m = A.shape
    listed = np.zeros((Q, m), np.bool_)
    gone = 0
    for p in range(n):
        listed[cols[p], rows[p]] = True
        a = A[cols[p], rows[p]]
        if not 0.0 < a < box[rows[p]]:
            gone += 1
    free = 0
    for k in range(Q):
        for i in range(m):
            if 0.0 < A[k, i] < box[i]:
                free += 1
    if free > U.shape[0]:
        return -1
    if 2 * gone + (free - n + gone) > 8 + free // 8:
        n = 0
        for k in range(Q):
            for i in range(m):
                if 0.0 < A[k, i] < box[i]:
                    rows[n], cols[n] = i, k
                    n += 1
        _rebuild(K, Z, y, shift, rho, U, Y, rows, cols, n)
        return n
    for p in range(n - 1, -1, -1):
        a = A[cols[p], rows[p]]
        if not 0.0 < a < box[rows[p]]:
            n = _drop(U, Y, z, rows, cols, n, p)
    for k in range(Q):
        for i in range(m):
            if 0.0 < A[k, i] < box[i] and not listed[k, i]:
                n = _append(K, Z, y, shift, rho, U, Y, rows, cols, n, i, k)
    return n


@inner
def _walk(y, A, box, rho, U, Y, z, rows, cols, n):
    """Newton steps on the face, dropping what hits a bound; -> (n, systems solved)."""
    solves = 0
    d, back = np.empty(n), np.empty(n)
    level = np.zeros(Y.shape[1])
    while n > 0:
        b = _multipliers(Y, z, n)
        rise = 0.0
        for p in range(n):
            s = z[p]
            for c in range(Y.shape[1]):
                s -= Y[p, c] * b[c]
            d[p] = s
            rise += s * s
        if rise == 0.0:
            break
        _backward(U, n, d)
        _balance(y, rows, cols, n, Y.shape[1], d, level)
        solves += 1
        norm = 0.0
        for p in range(n):
            norm += d[p] * d[p]
        curve = rise - rho * norm
        full = 1.0 if curve > 1e-3 * rise else FULL
        t = full
        for p in range(n):
            a = A[cols[p], rows[p]]
            room = (box[rows[p]] - a) if d[p] > 0.0 else a
            if room < t * abs(d[p]):
                t = room / abs(d[p])
        for p in range(n):
            s = z[p]
            for c in range(Y.shape[1]):
                s -= Y[p, c] * b[c]
            z[p] -= t * s
        if rho * norm > 1e-6 * rise:  # H d = (U'U - rho) d: put rho d back
            for p in range(n):
                back[p] = t * rho * d[p]
            _forward(U, n, back)
            for p in range(n):
                z[p] += back[p]
        hit = False
        for p in range(n - 1, -1, -1):
            old, top = A[cols[p], rows[p]], box[rows[p]]
            a = old + t * d[p]
            if t < full and (a <= 1e-13 * old or a >= top * (1.0 - 1e-13)):
                A[cols[p], rows[p]] = 0.0 if a < 0.5 * top else top
                n = _drop(U, Y, z, rows, cols, n, p)
                hit = True
            else:
                A[cols[p], rows[p]] = min(max(a, 0.0), top)
        if not hit:
            break
    return n, solves


@kernel
def newton_on_face(K, Z, y, A, F, box, shift, rho, U, Y, rows, cols, n, refinements):
    """From A, F to the optimum on the face of the free variables.

    The factor of the call before (U, Y, rows, cols, n) is brought up to date first; F
    is recomputed from what moved and the walk repeated (iterative refinement) until the
    step is rounding.  -> (n or -1 when the block is too small, systems solved)
    """
    Q, m = A.shape
    z = np.empty(U.shape[0])
    n = _sync(K, Z, y, A, box, shift, rho, U, Y, z, rows, cols, n)
    solves = 0
    if n < 0:
        return n, solves
    old = A.copy()
    for _ in range(refinements):
        if n == 0:
            break
        _restore_flow(y, A, box, rows, cols, n, Q - 1)
        _carry_over(K, Z, y, A, old, F)
        for p in range(n):
            i, k = rows[p], cols[p]
            z[p] = 1.0 - F[y[i], i] + F[k, i]
        _forward(U, n, z)
        before = n
        n, made = _walk(y, A, box, rho, U, Y, z, rows, cols, n)
        solves += made
        moved = _carry_over(K, Z, y, A, old, F)
        if n == before and moved <= 1e-13 * np.max(A):
            break
    return n, solves


@inner
def _carry_over(K, Z, y, A, old, F):
    """F += K (tau - tau_old), and old <- A; -> the largest change of an alpha."""
    Q, m = A.shape
    change = np.zeros((m, Q))
    largest = 0.0
    for k in range(Q):
        for i in range(m):
            step = A[k, i] - old[k, i]
            if step != 0.0:
                change[i, y[i]] += step
                change[i, k] -= step
                old[k, i] = A[k, i]
                largest = max(largest, abs(step))
    if K.shape[0] > 0:
        for i in range(m):
            Ki = K[i]
            for k in range(Q):
                s = change[i, k]
                if s != 0.0:
                    Fk = F[k]
                    for j in range(m):
                        Fk[j] += s * Ki[j]
    else:
        w = np.zeros(Z.shape[1])
        for k in range(Q):
            for c in range(w.size):
                w[c] = 0.0
                for i in range(m):
                    w[c] += change[i, k] * Z[i, c]
            for j in range(m):
                for c in range(w.size):
                    F[k, j] += w[c] * Z[j, c]
    return largest
