"""The peers: a module each. prepare(program, kind, folder, threads) gives a call that runs the program and is
done when it returns, what turns its results into NumPy's arrays, and the seconds that it took to compile."""
