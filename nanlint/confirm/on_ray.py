"""Jobs as tasks of a Ray cluster: `RayHarness` has the face of `Harness`, and the child processes are on other machines.

A job is a task, its answer a `concurrent.futures.Future`. What a lost machine had is run again by another one; a job
always gives the same answer, and each has one future, so nothing is told twice. Answers come as bytes and are judged
here, as those of a child on this machine are.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as LateAnswer
from typing import TYPE_CHECKING, Any

from nanlint import __version__
from nanlint.confirm.answer_lines import LONGEST, TOO_LONG, read
from nanlint.confirm.harness import GRACE, Harness
from nanlint.confirm.on_node import answered
from nanlint.confirm.shipping import folder_of, packed
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from types import TracebackType

    from nanlint.confirm.shipping import Project

Json = dict[str, Any]
RETRIES = 3
"""How often a job begins again on another machine when its own is lost."""
PATIENCE = 300.0
"""Seconds that a job may wait for a machine, beyond its own limit for each time that it begins."""
_WITHOUT_RAY = "--executor ray needs Ray: pip install 'nanlint[ray]'"
_WITHOUT_NANLINT = "the machines of the cluster need nanlint: pip install 'nanlint[ray,torch]' on each"


def _connect(ray: Any, address: str) -> None:
    # A linter tells nobody that it is used.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address or None, logging_level=logging.ERROR, log_to_driver=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise NanlintError(f"--executor {address or 'ray'}: {error}") from None


def _opened(said: bytes) -> Json:
    """The answer that a machine sent."""
    if len(said) > 2 * LONGEST:
        return {"died": TOO_LONG}
    told = read(said)
    if "failed" in told:
        raise NanlintError(str(told["failed"]))
    answer = told.get("answer", told)
    return answer if isinstance(answer, dict) else {"died": "what a machine sent is no answer"}


def on_a_node(request: bytes, shipped: list[Any]) -> bytes:
    """A task: the project is fetched from Ray's store only where it is not unpacked yet."""
    import ray  # noqa: PLC0415 - an extra

    return answered(request, lambda: bytes(ray.get(shipped[0])))


class RayHarness:
    """A context manager around the connection to a cluster; one that was there already stays."""

    def __init__(self, address: str = "") -> None:
        """An empty address is that of RAY_ADDRESS or of the cluster on this machine; where there is none, Ray starts one."""
        try:
            import ray  # noqa: PLC0415 - an extra
        except ImportError:
            raise NanlintError(_WITHOUT_RAY) from None
        self._ray: Any = ray
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _connect(ray, address)
        self._here = Harness()
        self._shipped: dict[str, tuple[Project, Any]] = {}
        self._running: set[Any] = set()
        self._lock = threading.Lock()
        self._is_stopped = False

    def __enter__(self) -> RayHarness:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def devices(self, wanted: str) -> list[str]:
        """The kind of device that every task gets: a GPU if the cluster has some and the user does not say otherwise."""
        gpus = int(self._ray.cluster_resources().get("GPU", 0))
        if wanted not in {"auto", "cpu", "cuda"} or (wanted == "cuda" and not gpus):
            raise NanlintError(
                f"--device {wanted}: the cluster has {gpus} GPUs, and chooses among them; use auto or cpu"
            )
        return ["cuda" if gpus and wanted != "cpu" else "cpu"]

    def at_a_time(self, devices: list[str]) -> int:
        """As many findings as there are processors or GPUs in the cluster."""
        return max(1, int(self._ray.cluster_resources().get("GPU" if devices == ["cuda"] else "CPU", 1)))

    def ask(self, job: Json) -> Json:
        """The answer of a child process somewhere; `{"died": reason}` if there is none."""
        if job["do"] == "proof":
            # A saved proof is a file of this machine.
            return self._here.ask(job)
        if self._is_stopped:
            return {"died": "the run was stopped"}
        reference = self._submitted(job)
        try:
            return _opened(reference.future().result((job["timeout"] + GRACE) * (RETRIES + 1) + PATIENCE))
        except LateAnswer:
            self._ray.cancel(reference, force=True)
            return {"died": "no machine of the cluster answered"}
        except (CancelledError, self._ray.exceptions.RayError) as error:
            if "No module named 'nanlint" in str(error):
                raise NanlintError(_WITHOUT_NANLINT) from None
            return {"died": f"the machine that ran it was lost {RETRIES + 1} times: {type(error).__name__}"}
        finally:
            with self._lock:
                self._running.discard(reference)

    def _submitted(self, job: Json) -> Any:
        project, content = self._of(folder_of(job))
        request = {"job": job, "folder": project.folder, "digest": project.digest, "version": __version__}
        gpus = 1 if str(job.get("device", "cpu")).startswith("cuda") else 0
        task = self._ray.remote(on_a_node).options(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)
        with self._lock:
            reference = task.remote(json.dumps(request).encode(), [content])
            self._running.add(reference)
        return reference

    def _of(self, folder: str) -> tuple[Project, Any]:
        with self._lock:
            if folder not in self._shipped:
                project = packed(folder)
                self._shipped[folder] = (project, self._ray.put(project.packed))
            return self._shipped[folder]

    def stop(self) -> None:
        """Call back what is running; who asks from now on is told so."""
        self._is_stopped = True
        with self._lock:
            running = list(self._running)
        for reference in running:
            self._ray.cancel(reference, force=True)
        self._here.stop()
        if self._is_ours:
            self._ray.shutdown()
