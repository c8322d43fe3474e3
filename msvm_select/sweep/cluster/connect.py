"""The connection to a Dask scheduler, or to one of our own with some processes."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msvm_select.errors import MsvmError, SettingsError
from msvm_select.handover import BLAS_THREADS
from msvm_select.settings import Settings

CONNECT = 10.0  # seconds to wait for the scheduler
PAUSE = 0.2  # seconds between two looks at a file
LOGGERS = ("distributed", "distributed.client", "distributed.nanny", "tornado")


def connected(settings: Settings) -> tuple[Any, str, Any]:
    """The client, the scheduler's name, and the processes on this machine, if any."""
    from distributed import Client

    name = str(settings.cluster)
    if name.startswith("local:"):
        local = _processes(int(name.partition(":")[2]))
        return Client(local, set_as_default=False), name, local
    if name.endswith(".json"):
        name = _address_in(name)
    security = _security(settings, name)
    try:
        client = Client(
            name, timeout=CONNECT, set_as_default=False, security=security,
            name="msvm-select",
        )  # fmt: skip
    except (OSError, RuntimeError, ValueError) as error:
        first = str(error.__cause__ or error).partition("\n")[0]
        reason = re.sub(r"\bin <[^>]*>: ", "", first)  # Dask names its own object
        reason = reason or f"nothing came within {CONNECT:g} s"
        raise MsvmError(
            f"No Dask scheduler answers at {name} ({reason}): is it running (`dask "
            "scheduler`), and can this machine reach that port?"
        ) from error
    return client, name, None


def _processes(count: int) -> Any:
    """So many on this machine, of one thread each, that only we can reach.

    They are set to compute: they are not watched for browsers that nobody opens, and
    memory that is free is not given back at every turn, as is Dask's default.
    """
    from dask import config
    from distributed import LocalCluster

    ours = {
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "500ms",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(BLAS_THREADS, 1),
    }
    with config.set(ours):
        return LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        )


def end_processes(local: Any) -> None:
    """At once, whatever they compute: each would be asked to, and given seconds."""
    for nanny in local.workers.values():
        nanny.close_gracefully()  # which would start another one
        if nanny.pid is not None:
            with suppress(OSError):
                os.kill(nanny.pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _address_in(file: str) -> str:
    """The address that a scheduler has written down; it may take a moment to come."""
    until = time.monotonic() + CONNECT
    while True:
        try:
            return str(json.loads(Path(file).read_text())["address"])
        except FileNotFoundError:
            if time.monotonic() > until:
                raise MsvmError(
                    f"{file} is not there: does a scheduler run that writes it (`dask "
                    f"scheduler --scheduler-file {file}`)?"
                ) from None
            time.sleep(PAUSE)
        except (OSError, ValueError, LookupError, TypeError):
            raise SettingsError(f"{file} is no file of a Dask scheduler.") from None


def _security(settings: Settings, address: str) -> Any:
    """Our certificate and who signed theirs; by default what Dask's config says."""
    from distributed import Security

    files = {
        "tls_ca_file": settings.tls_ca,
        "tls_client_cert": settings.tls_cert,
        "tls_client_key": settings.tls_key,
    }
    for name in ("tls_ca", "tls_cert", "tls_key"):
        path = getattr(settings, name)
        if path is not None and not Path(path).is_file():
            raise SettingsError(f"{name}: there is no file {path}.")
    if not address.startswith("tls://"):
        return None
    given = {name: path for name, path in files.items() if path is not None}
    security = Security(require_encryption=True, **given)
    if security.tls_ca_file is None or security.tls_client_cert is None:
        raise SettingsError(
            f"{address} needs certificates: --tls-ca, --tls-cert and "
            "--tls-key, or distributed.comm.tls in Dask's configuration."
        )
    return security


@contextmanager
def hushed() -> Iterator[None]:
    """Dask's own log says nothing: what matters is told by us."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
