"""The bundled models against fastembed, which ran them before and still runs the models of its catalogue."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from slowwave.embedding import bundled, bundled_weights, load_embedder, reranking
from slowwave.embedding.onnx_model import MODEL_FILES, OnnxModel, session_options
from slowwave.embedding.parallel import core_count, embed_in_parallel
from slowwave.errors import ModelError
from slowwave.settings import EmbeddingSettings

ROOT = Path(__file__).parents[2]
TEXTS = [
    "The deploy day is Thursday.",
    "x",
    ".",
    "a\u0301cce\u0301nts composed and décomposés",
    "UPPER case and lower CASE",
    "[CLS] a text with [SEP] [MASK] [PAD] [UNK] in it ##ing",
    "kubectl get pods -n kube-system --field-selector=status.phase!=Running | awk '{print $1}'",
    "```python\ndef f(x: int) -> int:\n\treturn x ** 2\n```",
    "https://example.org/a/very/long/path?with=parameters&and=more#fragment",
    "0x7f 3.14159 1e-12 2026-06-11T13:30:00Z 192.168.0.1",
    "Das Wochenende beginnt am Freitagnachmittag, nicht am Donnerstag; die Straße ist gesperrt.",
    "La mémoire oublie ce qui ne sert pas. ¿Dónde está la llave? Não sei, talvez amanhã.",
    "Дежурит Ишбель по нечётным неделям.",
    "日本語のメモ: 木曜日にデプロイする",
    "谁带领黑豹队擒杀对方的四分卫？",
    "في أي مدينة تعيش أختي؟",
    "내 누나는 어느 도시에 사나요?",
    "ทีมรับของแพนเธอร์สยอมแพ้ที่คะแนนเท่าไร",
    "मेरी बहन किस शहर में रहती है?",
    "🌊 👩‍👩‍👧 🇳🇴",
    "tabs\tand\nnew lines\r\n and \u00a0 spaces \u200b of \u3000 all kinds \x00\x07",
    "antidisestablishmentarianism" * 8,
    "word " * 509,
    "word " * 510,
    "word " * 511,
    "The battery of the northern gauge lasts eleven weeks in winter. " * 150,
    "海" * 3_000,
]
QUESTIONS = ["On which day do we deploy?", "x", "谁带领黑豹队", "How long does the battery last? " * 60]
CLOSE = 1e-5


@pytest.fixture(scope="module")
def oracle():
    """fastembed over the same files: vectors (n, 384) of texts."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model="oracle/bge", pooling=PoolingType.CLS, normalization=True,
        sources=ModelSource(url="local://bundled"), dim=384, model_file="model.onnx",
    )  # fmt: skip
    model = TextEmbedding("oracle/bge", specific_model_path=str(bundled._bundled_folder()), threads=2)
    return lambda texts, size=1: np.stack(list(model.embed(texts, batch_size=size)))


@pytest.fixture(scope="module")
def embedder():
    return load_embedder(EmbeddingSettings())


# -- the same numbers ------------------------------------------------------------------------------


def test_documents_have_the_vectors_that_fastembed_gives(embedder, oracle):
    assert np.abs(embedder.embed_documents(TEXTS) - oracle(TEXTS)).max() <= CLOSE


def test_questions_have_the_vectors_that_fastembed_gives_with_the_prefix(embedder, oracle):
    prefixed = [f"Represent this sentence for searching relevant passages: {text}" for text in TEXTS]
    found = np.stack([embedder.embed_query(text) for text in TEXTS])
    assert np.abs(found - oracle(prefixed)).max() <= CLOSE


def test_a_batch_of_several_is_padded_as_fastembed_pads_it(oracle):
    texts = sorted(TEXTS[:16], key=len)
    found = load_embedder(EmbeddingSettings(batch_size=4)).embed_documents(texts)
    assert np.abs(found - oracle(texts, 4)).max() <= CLOSE


@pytest.mark.soak
def test_the_vectors_do_not_depend_on_threads_or_company(embedder):
    together = embedder.embed_documents(TEXTS)
    for threads in (1, 3):
        others = load_embedder(EmbeddingSettings(threads=threads))
        assert np.array_equal(others.embed_documents(TEXTS), together)
    half = len(TEXTS) // 2
    halves = (embedder.embed_documents(TEXTS[:half]), embedder.embed_documents(TEXTS[half:]))
    assert np.array_equal(np.concatenate(halves), together)
    assert np.array_equal(np.stack([embedder.embed_documents([text])[0] for text in TEXTS]), together)


@pytest.mark.soak
def test_pairs_have_the_scores_that_fastembed_gives():
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    TextCrossEncoder.add_custom_model(
        "oracle/minilm", sources=ModelSource(url="local://bundled"), model_file="model.onnx"
    )
    ours = reranking.CrossEncoder()
    oracle = TextCrossEncoder("oracle/minilm", specific_model_path=str(ours._folder), threads=2)
    oracle.model.tokenizer.enable_truncation(max_length=reranking.MAX_TOKENS)
    for question in QUESTIONS:
        logits = np.array(list(oracle.rerank(question, TEXTS, batch_size=1)), dtype=np.float64)
        expected = 1 / (1 + np.exp(-logits / reranking.SOFTNESS))
        assert np.abs(ours.scores(question, TEXTS) - expected).max() <= CLOSE


# -- the session -----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 1, 8])
def test_a_session_has_no_threads_and_does_not_wait_awake(threads):
    embedder = load_embedder(EmbeddingSettings(threads=threads))
    options = bundled._loaded(embedder._folder).session.get_session_options()
    for given in (options, session_options()):
        assert (given.intra_op_num_threads, given.inter_op_num_threads) == (1, 1)
        assert given.execution_mode == onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        assert given.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_threads_that_ask_at_once_share_one_model(monkeypatch):
    loads = []
    bundled._model_of.cache_clear()
    monkeypatch.setattr(
        bundled, "OnnxModel", lambda *given, **named: loads.append(given) or OnnxModel(*given, **named)
    )
    shared = load_embedder(EmbeddingSettings())
    assert not loads
    begin = threading.Barrier(4)

    def ask(at):
        begin.wait()
        return [shared.embed_query(TEXTS[(at + step) % 4]).tolist() for step in range(8)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert len(loads) == 1
    alone = [shared.embed_query(text).tolist() for text in TEXTS[:4]]
    assert found == [[alone[(at + step) % 4] for step in range(8)] for at in range(4)]


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_a_forked_process_goes_on_with_the_model_of_its_parent():
    said = run(
        """
        import os, signal
        from slowwave.embedding import load_embedder
        from slowwave.settings import EmbeddingSettings
        embedder = load_embedder(EmbeddingSettings(threads=2))
        texts = ["The deploy day is Thursday.", "Ishbel is on call.", "A third."]
        before = embedder.embed_documents(texts)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            same = (embedder.embed_documents(texts) == before).all() and embedder.embed_query("x").any()
            os._exit(0 if same else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert said == "0"


def test_the_bundled_models_need_no_fastembed():
    said = run(
        """
        import sys
        from slowwave.embedding import load_embedder
        from slowwave.embedding.reranking import load_reranker
        from slowwave.settings import EmbeddingSettings
        load_embedder(EmbeddingSettings()).embed_query("x")
        load_reranker().scores("x", ["y"])
        print(sorted({"fastembed", "huggingface_hub", "requests", "PIL"} & set(sys.modules)))
        """
    )
    assert said == "[]"


@pytest.mark.parametrize("damaged", MODEL_FILES)
def test_what_cannot_be_read_is_named_with_what_to_do(tmp_path, monkeypatch, damaged):
    for file in MODEL_FILES:
        (tmp_path / file).symlink_to(bundled._bundled_folder() / file)
    (tmp_path / damaged).unlink()
    (tmp_path / damaged).write_bytes(b"not this")
    monkeypatch.setattr(bundled, "_bundled_folder", lambda: tmp_path)
    embedder = load_embedder(EmbeddingSettings())
    with pytest.raises(ModelError) as caught:
        embedder.embed_query(TEXTS[0])
    assert str(caught.value).startswith(f"Cannot load the model in {tmp_path}: ")
    assert str(caught.value).endswith(f"If it is damaged, run: {bundled_weights.REINSTALL}")


# -- side by side ----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_what_is_made_comes_in_the_order_of_the_items(threads, count):
    assert list(embed_in_parallel(lambda one: one * one, range(count), threads)) == [
        n * n for n in range(count)
    ]


def test_one_item_or_one_thread_is_the_callers_own():
    who = threading.current_thread().name
    assert list(embed_in_parallel(lambda _: threading.current_thread().name, [1, 2], 1)) == [who, who]
    assert list(embed_in_parallel(lambda _: threading.current_thread().name, [1], 4)) == [who]
    assert who not in set(embed_in_parallel(lambda _: threading.current_thread().name, [1, 2], 4))


def test_so_many_work_at_a_time():
    meet = threading.Barrier(3)  # breaks, and raises, where fewer than three come together
    assert list(embed_in_parallel(lambda _: meet.wait(timeout=20) >= 0, range(6), 3)) == [True] * 6


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_is_told_and_no_more_is_begun(threads):
    begun = []

    def work(one):
        begun.append(one)
        raise ValueError(one)

    with pytest.raises(ValueError, match="0"):
        list(embed_in_parallel(work, range(1_000), threads))
    assert len(begun) < 20


def test_no_more_is_begun_when_the_caller_stops():
    begun = []
    made = embed_in_parallel(lambda one: begun.append(one), range(1_000), 2)
    next(made)
    made.close()
    assert len(begun) < 20
    assert not [one for one in threading.enumerate() if one.name.startswith("slowwave-model")]


def test_cores_are_those_that_the_process_may_use(monkeypatch):
    assert core_count() >= 1
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert core_count() == 2
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert core_count() == 1


def test_nothing_is_kept_or_sent_of_its_use(tmp_path):
    """onnxruntime keeps a device id and events for its maker in the user's folder, unless told not to."""
    script = (
        "from slowwave.embedding import load_embedder\n"
        "from slowwave.settings import EmbeddingSettings\n"
        "load_embedder(EmbeddingSettings(model='bge-small-en-v1.5')).embed_query('the bell of the ferry')\n"
    )
    subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert list(tmp_path.rglob("*")) == []
