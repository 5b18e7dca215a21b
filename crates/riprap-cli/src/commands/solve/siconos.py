"""Solves contact problems with the solvers of Siconos, for `riprap solve --compare siconos`.

Arguments: tolerance, seconds per solve, then problems in the text format of Siconos. Prints a line of JSON per problem and
solver, with the mean processor time of a solve from zero impulses; impulses are written next to the problem."""

import json
import os
import resource
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import siconos.numerics as sn

GAUSS_SEIDEL = sn.SICONOS_FRICTION_3D_NSGS
SOLVERS = {
    "nsgs": (GAUSS_SEIDEL, None),
    "nsgs-quartic": (GAUSS_SEIDEL, sn.SICONOS_FRICTION_3D_ONECONTACT_QUARTIC),
    "nsgs-projection": (GAUSS_SEIDEL, sn.SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration),
    "nsgs-newton": (GAUSS_SEIDEL, sn.SICONOS_FRICTION_3D_ONECONTACT_NSN),
    "admm": (sn.SICONOS_FRICTION_3D_ADMM, None),
    "prox": (sn.SICONOS_FRICTION_3D_PROX, None),
    "newton": (sn.SICONOS_FRICTION_3D_NSN_AC, None),
    "newton-hybrid": (sn.SICONOS_FRICTION_3D_NSN_AC, "hybrid"),
    "newton-fb": (sn.SICONOS_FRICTION_3D_NSN_FB, None),
    "tresca": (sn.SICONOS_FRICTION_3D_TFP, None),
}


def options(name, tolerance):
    solver, part = SOLVERS[name]
    chosen = sn.SolverOptions(solver)
    if part == "hybrid":
        chosen.iparam[sn.SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY] = sn.SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN
    elif part is not None:
        sn.solver_options_update_internal(chosen, 0, part)
    chosen.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    chosen.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 10_000_000
    return chosen


def load(path, name):
    """The problem: in blocks for Gauss–Seidel, as a sparse matrix for the solvers that factorize it."""
    if SOLVERS[name][0] == GAUSS_SEIDEL:
        return sn.frictionContact_new_from_filename(path)
    from scipy.sparse import bsr_matrix

    with open(path) as file:
        words = np.array(file.read().split(), dtype=float)
    n, count = int(words[1]), int(words[5])
    at = 10 + 2 * n
    starts, columns = words[at : at + n + 1].astype(int), words[at + n + 1 : at + n + 1 + count].astype(int)
    at += n + 1 + count
    parts = words[at : at + 10 * count].reshape(count, 10)[:, 1:].reshape(count, 3, 3).transpose(0, 2, 1)
    q, friction = words[at + 10 * count :][: 3 * n].copy(), words[at + 10 * count + 3 * n :].copy()
    w = bsr_matrix((parts, columns, starts), shape=(3 * n, 3 * n)).tocsc()
    w.indices, w.indptr = w.indices.astype(np.int64), w.indptr.astype(np.int64)
    return sn.FrictionContactProblem(3, n, w, q, friction)


def measure(problem, name, tolerance, pipe, target):
    n = problem.dimension * problem.numberOfContacts
    times = []
    while sum(times) < 0.1 and len(times) < 51:
        r, u, chosen = np.zeros(n), np.zeros(n), options(name, tolerance)
        begin = time.process_time()
        sn.fc3d_driver(problem, r, u, chosen)
        times.append(time.process_time() - begin)
    r.astype("<f8").tofile(target)
    result = {"seconds": sum(times) / len(times), "iterations": int(chosen.iparam[sn.SICONOS_IPARAM_ITER_DONE])}
    os.write(pipe, json.dumps(result).encode())


def run(path, name, tolerance, limit):
    """In a process of its own: a solver may take too long, or end the interpreter."""
    target = f"{path}.{name}"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        seconds = max(1, int(np.ceil(limit)))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        try:
            measure(load(path, name), name, tolerance, writer, target)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    result = json.loads(text) if text else {"seconds": None, "iterations": None}
    print(json.dumps({"file": path, "solver": name, "impulses": target if text else None, **result}), flush=True)


if __name__ == "__main__":
    tolerance, limit = float(sys.argv[1]), float(sys.argv[2])
    for path in sys.argv[3:]:
        for name in SOLVERS:
            run(path, name, tolerance, limit)
