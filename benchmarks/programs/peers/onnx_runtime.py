"""ONNX Runtime on program.onnx (onnx_export.py), which another process has written."""
import time

import numpy as np
import onnxruntime


def prepare(program, kind, folder, threads):
    program.weights.clear()  # it reads its own
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.log_severity_level = 3
    begin = time.perf_counter()
    session = onnxruntime.InferenceSession(folder / "program.onnx", settings, providers=["CPUExecutionProvider"])
    seconds = time.perf_counter() - begin
    feed = dict(zip((each.name for each in session.get_inputs()), map(np.asarray, program.inputs.values())))
    return lambda: session.run(None, feed), lambda results: results, seconds
