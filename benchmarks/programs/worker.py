"""A process of one peer, driven over its standard input: first it prints what preparing took, or why there is
nothing to run; then, for each line with a number, the seconds of as many runs. All as JSON, a line each.

    worker.py PEER KIND PROGRAM FOLDER THREADS
    worker.py onnx_export KIND PROGRAM FOLDER -     writes what ONNX Runtime runs
    worker.py export - PROGRAM FOLDER -             writes what octavo runs, and XLA's results
    worker.py compare - PROGRAM FOLDER -            the cosine of octavo's results to them
"""
import importlib
import json
import os
import pathlib
import subprocess
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"


def memory(which):
    """Bytes that the process holds (VmRSS), or the most that it has held since `reset_peak` (VmHWM)."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(status.split(which + ":")[1].split()[0])


def reset_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def serve(peer, kind, name, folder, threads, say):
    import measured
    import numpy as np
    import program as programs

    expected = np.load(folder / "expected.npy")
    try:
        if peer == "onnx_runtime":
            export_to_onnx(kind, name, folder)
        module = importlib.import_module(f"peers.{peer}")
        empty = memory("VmRSS")
        program = measured.build(name)
        reset_peak()
        call, arrays, seconds = module.prepare(program, kind, folder, threads)
        found = programs.first(arrays(call()))
    except Exception as error:  # a peer that cannot run a program is a result
        return say({"missing": said(error)})
    say({"compile_seconds": seconds, "memory": memory("VmHWM") - empty, "cosine": programs.cosine(found, expected)})
    for line in sys.stdin:
        taken = []
        for _ in range(int(line)):
            begin = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begin)
        say(taken)


def export_to_onnx(kind, name, folder):
    """In another process, so that memory and threads of torch are none of ONNX Runtime's."""
    done = subprocess.run([sys.executable, __file__, "onnx_export", kind, name, folder, "-"], capture_output=True,
                          text=True)
    answer = json.loads(done.stdout) if done.stdout else {"missing": f"torch.onnx ended with {done.returncode}"}
    if "missing" in answer:
        raise RuntimeError(answer["missing"])


def said(error):
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed"
    lines = str(error).strip().splitlines() or [""]
    return lines[0][:150] if isinstance(error, RuntimeError) else f"{type(error).__name__}: {lines[0][:150]}"


def main():
    peer, kind, name, folder, threads = sys.argv[1:]
    folder = pathlib.Path(folder)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer

    def say(answer):
        print(json.dumps(answer), file=out, flush=True)

    if peer == "export":
        import jax
        import measured
        import numpy as np
        import program as programs

        program = measured.build(name)
        programs.export(program, folder)
        results = jax.jit(program.function)(program.weights, *program.inputs.values())
        np.save(folder / "expected.npy", np.asarray(programs.first(results), np.float32))
        say({"work": program.work, "unit": program.unit})
    elif peer == "onnx_export":
        try:
            import measured
            from peers import onnx_export

            onnx_export.export(measured.build(name), kind, folder)
            say({})
        except Exception as error:
            say({"missing": said(error)})
    elif peer == "compare":
        import numpy as np
        import program as programs

        # The first output's file sorts first: octavo names it after its number, or its place in a tuple.
        found = np.load(sorted((folder / "outputs").iterdir())[0])
        say({"cosine": programs.cosine(found, np.load(folder / "expected.npy"))})
    else:
        serve(peer, kind, name, folder, int(threads), say)


main()
