"""More than a hundred broken checkpoints, for `octavo checkpoint lint` to find or to refuse."""
from broken import configurations, files, groups, numbers, readers  # noqa: F401 (each adds its cases)
from broken.cases import CASES  # noqa: F401
