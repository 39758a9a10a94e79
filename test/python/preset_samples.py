"""Values at which presets differ."""
import numpy as np

F32 = np.float32


def sample(block, exponents, seed):
    """256 rows of blocks: normal values of many sizes; amaxes at the rules' edges, one ulp beside
    too; ties of the elements; zeros of both signs; subnormals."""
    rng = np.random.default_rng(seed)
    low, high = exponents
    x = rng.standard_normal((256, 8, block)).astype(F32)
    with np.errstate(over="ignore"):
        x = np.ldexp(x, rng.integers(low, high, (256, 8, 1))).astype(F32)
    edges = np.array([1, 1.25, 1.5, 1.75, 1.875, 1.9375, 1.984375, 1.2], F32)
    amax = np.ldexp(rng.choice(edges, (64, 8)), rng.integers(max(low, -120), high, (64, 8)))
    amax = (amax.astype(F32).view(np.int32) + rng.integers(-1, 2, (64, 8), np.int32)).view(F32)
    x[:64] = rng.uniform(-0.99, 0.99, (64, 8, block)).astype(F32) * amax[..., None]
    x[:64, :, 3] = amax
    ties = rng.integers(-64, 65, (64, 8, block)).astype(F32) / F32(8)
    x[64:128] = np.ldexp(ties, rng.integers(max(low, -100), min(high, 100), (64, 8, 1)))
    x[128] = rng.choice([0.0, -0.0], (8, block))
    x[129] = rng.integers(-8, 9, (8, block)) * np.finfo(F32).smallest_subnormal
    x[130, :, ::2] = -0.0
    x[~np.isfinite(x)] = 1
    return x.reshape(256, 8 * block)
