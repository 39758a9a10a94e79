"""Programs that octavo has written, run by XLA's CPU through JAX."""
import numpy as np
import pytest


def on_xla(text, *arrays):
    """The results of @main; a test is skipped where there is no JAX."""
    jax = pytest.importorskip("jax")
    ir = pytest.importorskip("jaxlib.mlir.ir")
    from jax._src.interpreters import mlir
    from jaxlib import xla_client

    with mlir.make_ir_context(), ir.Location.unknown():
        text = str(ir.Module.parse(text))
    device = jax.devices("cpu")[0]
    with jax.enable_x64(True):
        executable = device.client.compile_and_load(text.encode(), xla_client.DeviceList((device,)), xla_client.CompileOptions())
        return [np.asarray(array) for array in executable.execute([jax.device_put(array, device) for array in arrays])]
