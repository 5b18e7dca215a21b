"""The bodies of a simulation at its present time as a table of pandas or a dataset of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._optional import need

if TYPE_CHECKING:
    from ._riprap import Simulation

__all__ = ["bodies_to_pandas", "bodies_to_xarray"]

AXES = ["x", "y", "z"]
VECTORS = {
    "position": ("positions", "m"),
    "velocity": ("velocities", "m/s"),
    "angular_velocity": ("angular_velocities", "rad/s"),
}


def bodies_to_pandas(run: Simulation) -> Any:
    """One row per body: name, mass [kg], position [m], velocity [m/s], angular velocity [rad/s]."""
    pandas = need("pandas", by="Simulation.to_pandas")
    arrays = run.arrays()
    columns: dict[str, Any] = {"mass [kg]": run.masses}
    for name, (key, unit) in VECTORS.items():
        columns.update({f"{name}_{axis} [{unit}]": arrays[key][:, k] for k, axis in enumerate(AXES)})
    return pandas.DataFrame(columns, index=pandas.Index(run.names, name="body"))


def bodies_to_xarray(run: Simulation) -> Any:
    """A dataset over body and axis, with the time [s] as a scalar coordinate."""
    xarray = need("xarray", by="Simulation.to_xarray")
    arrays = run.arrays()
    variables: dict[str, Any] = {"mass": ("body", run.masses, {"units": "kg"})}
    for name, (key, unit) in VECTORS.items():
        variables[name] = (("body", "axis"), arrays[key], {"units": unit})
    variables["rotation"] = (("body", "component"), arrays["rotations"], {"units": "-"})
    coordinates = {
        "body": run.names,
        "axis": AXES,
        "component": ["w", "x", "y", "z"],
        "time": ((), run.time, {"units": "s"}),
    }
    return xarray.Dataset(variables, coords=coordinates)
