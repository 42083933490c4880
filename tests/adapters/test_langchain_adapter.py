"""LangChain: its own tests of retrievers, feedback by callback, and an agent that calls the tools."""

from __future__ import annotations

from typing import Any

import pytest
from adapter_home import BATTERY, DEPLOY, SECRET, is_quoted
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from langgraph.prebuilt import ToolNode
from pydantic import Field

from slowwave.adapters.langchain import (
    Feedback,
    SlowwaveRetriever,
    answer_text,
    observe,
    rate,
    save_documents,
    tools,
)
from slowwave.errors import ArgumentError
from slowwave.journal import FEEDBACK_KINDS
from slowwave.lifecycle.forgetting import ProtectedError


class TestRetriever(RetrieversIntegrationTests):
    """The framework's own tests."""

    @pytest.fixture(autouse=True)
    def _memory(self, known):
        self.memory = known.memory

    @property
    def retriever_constructor(self) -> type[SlowwaveRetriever]:
        return SlowwaveRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory, "k": 2}

    @property
    def retriever_query_example(self) -> str:
        return "the deploy day, the battery of the gauge and the keys of the harbour"

    test_ainvoke_returns_documents = pytest.mark.asyncio(
        RetrieversIntegrationTests.test_ainvoke_returns_documents
    )


def test_a_document_has_what_feedback_needs_and_its_text_is_quoted(known):
    found = SlowwaveRetriever(memory=known.memory, explain=True).invoke("when is the deploy day?")
    best = found[0]
    assert best.id == best.metadata["memory_id"] == known.deploy
    assert best.page_content == f'> title: "Deploy day"\n> {DEPLOY}'
    assert best.metadata["rank"] == 1
    assert best.metadata["tags"] == ["ops"]
    rows = best.metadata["explanation"]["contributions"]
    assert sum(row["value"] for row in rows) == pytest.approx(best.metadata["score"], abs=1e-6)
    assert all(is_quoted(one.page_content) for one in found if one.id == known.order)
    assert not {known.secret, known.foreign} & {one.id for one in found}
    plain = SlowwaveRetriever(memory=known.memory, quote=False, memory_tags=("ops",))
    assert [one.page_content for one in plain.invoke("the code of the harbour gate")] == [DEPLOY]
    assert "quuxzyx" not in str(SlowwaveRetriever(memory=known.memory, k=50).invoke(SECRET))


def test_documents_are_saved_through_the_gate_and_say_what_became_of_them(memory):
    documents = [
        Document(DEPLOY, id="deploy", metadata={"title": "Deploy day", "tags": ["ops"], "page": 3}),
        Document("ok"),
    ]
    first, hollow = save_documents(memory, documents)
    assert (first.status, hollow.status) == ("live", "quarantined")
    record = memory.get(first.memory_id)
    assert (record.title, record.tags, record.metadata) == ("Deploy day", ("ops",), '{"page":3}')
    (again,) = save_documents(memory, [Document(DEPLOY.replace("Thursday", "Friday"), id="deploy")])
    assert again.memory_id == first.memory_id
    assert "Friday" in memory.get(first.memory_id).content


@pytest.mark.parametrize(
    "more", [[], [Document("The otter came back to the mill pond in April.", id="otter")]]
)
def test_a_document_is_lent_nothing_that_a_person_said_and_replaces_nothing_protected(memory, more):
    person = {"state": "candidate", "importance_tier": "important", "retrieval_priority": "high"}
    name = memory.save(DEPLOY, key="deploy", sensitivity="public", **person).memory_id
    changed = Document(DEPLOY.replace("Thursday", "Friday"), id="deploy")
    assert save_documents(memory, [changed, *more])[0].status == "live"
    columns = [*person, "sensitivity", "content"]
    (row,) = memory.store.read("memories", f"memory_id = '{name}'", columns=columns).to_dicts()
    assert row == {
        "state": "accepted", "importance_tier": "normal", "retrieval_priority": "normal",
        "sensitivity": "public", "content": changed.page_content,
    }  # fmt: skip
    for label in ({"source_of_truth": True}, {"importance_tier": "critical"}, {"state": "canonical"}):
        memory.save(DEPLOY, key="deploy", **{"source_of_truth": False, "importance_tier": "normal"} | label)
        saves = memory.journal.count("ada", "save")
        with pytest.raises(ProtectedError):
            save_documents(memory, [*more, changed])
        assert memory.journal.count("ada", "save") == saves


def test_use_is_said_of_documents(known):
    memory, retriever = known.memory, SlowwaveRetriever(memory=known.memory, project="spring")
    deploy, battery = retriever.invoke("the deploy day?"), retriever.invoke("the battery of the gauge?")
    seen = observe(memory, [*deploy, *battery], "It is Thursday.", cited=[deploy[0]])
    assert [one.search_id for one in seen] == [one[0].metadata["search_id"] for one in (deploy, battery)]
    verdicts = {one.memory_id: one.verdict for one in seen[0].verdicts}
    assert verdicts[known.deploy] == "used"
    assert rate(memory, battery[0], "helpful").memory_id == battery[0].metadata["memory_id"]
    with pytest.raises(ArgumentError, match="no search_id"):
        rate(memory, Document(DEPLOY), "helpful")
    assert set(memory.journal.read(kinds=FEEDBACK_KINDS)["kind"]) == {"observation", "feedback"}


def test_a_callback_observes_what_a_chain_answers(known):
    answer = BATTERY
    retriever = SlowwaveRetriever(memory=known.memory)
    chain = (
        {"context": retriever, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template("{context}\n\n{question}")
        | RunnableLambda(lambda prompt: AIMessage(answer))
    )
    feedback = Feedback(known.memory)
    chain.invoke("how long does the battery of the gauge last?", {"callbacks": [feedback]})
    (seen,) = feedback.observed
    assert {one.memory_id: one.verdict for one in seen.verdicts}[known.battery] == "used"
    assert not feedback._found
    assert not feedback._roots

    def failing(_: object) -> str:
        raise ValueError("no answer")

    with pytest.raises(ValueError, match="no answer"):
        (retriever | RunnableLambda(failing)).invoke("the deploy day?", {"callbacks": [feedback]})
    assert len(feedback.observed) == 1
    assert not feedback._found


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("a", "a"), (AIMessage("b"), "b"), ({"answer": "c"}, "c"), ({"messages": [AIMessage("d")]}, "d"),
        ({"messages": []}, ""), ([1], ""), (None, ""),
    ],
)  # fmt: skip
def test_what_a_chain_answers_is_found(outputs, text):
    assert answer_text(outputs) == text


class Scripted(BaseChatModel):
    """A model that says what a script says."""

    script: list[AIMessage]
    told: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.told.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.script[len(self.told) - 1])])


def test_an_agent_calls_the_tools_and_reads_why_a_call_failed(known):
    def calls(name: str, **arguments: Any) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])

    made = tools(known.memory)
    model = Scripted(
        script=[
            calls("memory_search", query="where are the keys of the harbour?"),
            calls("memory_history", memory_id=known.secret),
            calls("memory_search", query="x", limit="many"),
            AIMessage("In the office."),
        ]
    )
    node, messages = ToolNode(made), [AIMessage("Where are the keys?")]
    bound = model.bind_tools(made)
    while (said := bound.invoke(messages)).tool_calls:
        # as a graph of an agent does: the model's word, then what the tools answer
        messages = [*messages, said, *_run(node, said)]
    told = [one.text for one in messages if isinstance(one, ToolMessage)]
    assert said.text == "In the office."
    assert is_quoted(told[0])
    assert "has no memory" in told[1]
    assert "quuxzyx" not in str(told)
    assert told[2].startswith("memory_search: limit = 'many'")


def _run(node: ToolNode, said: AIMessage) -> list[BaseMessage]:
    from langgraph.graph import END, START, MessagesState, StateGraph

    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").add_edge("tools", END)
    answered: list[BaseMessage] = graph.compile().invoke({"messages": [said]})["messages"]
    return answered[1:]
