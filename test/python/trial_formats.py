"""Formats that only a build with OCTAVO_TRIAL_FORMATS has (test/trial), which pages do not list."""
import json
import os
import pathlib
import subprocess

_OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
TABLES = json.loads(subprocess.run([_OCTAVO, "formats", "--json"], capture_output=True, check=True).stdout)
TRIAL = {row["name"] for table in TABLES.values() for row in table if row["source"] == "a trial: test/trial"}
RELEASED = [row["name"] for row in TABLES["scaled_formats"] if row["name"] not in TRIAL]
