"""What a person decides from the web page, and what people are told: real runs, real sensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg
import pytest
from dagster_parts import sensor
from learning_rows import night, put_ready
from webhook_server import Webhook, serving

from slowwave.assets.resources import SlowwaveResource
from slowwave.learning.events import REGRESSION, learning_events, write_event
from slowwave.memory import Memory
from slowwave.orchestration.alerts import failed_runs
from slowwave.orchestration.definitions import definitions

ANN = {"namespace": "ada", "who": "Ann", "why": "looked at it"}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def ready(memory: Memory) -> Memory:
    put_ready(memory.store, memory._space.now())
    return memory


@pytest.fixture
def launch(
    memory: Memory, fast_embedder: Any, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dg.ExecuteInProcessResult]:
    """Runs a job with what a person says in the Launchpad."""
    monkeypatch.setattr("slowwave.embedding.load_embedder", lambda *_: fast_embedder)
    (memory.settings.home / "slowwave.toml").write_text(
        f'[embedding]\nmodel = "{fast_embedder.name}"\n[learning]\nenabled = true\n'
    )

    def run(name: str, **config: Any) -> dg.ExecuteInProcessResult:
        defs = definitions(SlowwaveResource(home=str(memory.settings.home)))
        job = defs.resolve_job_def(name)
        return job.execute_in_process(instance=instance, raise_on_error=False, run_config=config)

    return run


def told(done: dg.ExecuteInProcessResult) -> dict[str, Any]:
    """Metadata of the op, or of its failure."""
    for event in done.all_events:
        if event.event_type_value == "STEP_OUTPUT":
            return {name: value.value for name, value in event.step_output_data.metadata.items()}
        if event.event_type_value == "STEP_FAILURE":
            failure = event.step_failure_data.user_failure_data
            return {"said": failure.description, **{k: v.value for k, v in failure.metadata.items()}}
    raise AssertionError("neither ended nor failed")


def decided(memory: Memory) -> list[tuple[str, str]]:
    return [(act.action, act.who) for act in learning_events(memory.journal, "ada")]


# -- jobs ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_approval_from_the_page_is_refused_with_the_evidence(launch, memory):
    done = launch("approve_learning", **ANN)
    assert not done.success
    assert told(done)["said"].startswith(
        "Learning of words in ada cannot be approved yet. Missing: cycles 0/2 closed"
    )
    assert "| cycles | insufficient | 0/2 closed | 2 closed |" in told(done)["evidence"]
    assert decided(memory) == []


@pytest.mark.slow
def test_a_persons_life_with_learning_from_the_page(launch, ready):
    done = launch("approve_learning", **ANN)
    assert done.success
    assert (told(done)["who"], told(done)["why"]) == ("Ann", "looked at it")
    assert "| approval | open | by Ann on " in told(done)["evidence"]
    assert launch("approve_learning", **ANN).success  # pressed twice
    night(ready._space)
    done = launch("rollback_learning", **ANN, scope="principal", value="bob")
    assert (told(done)["deleted rows"], told(done)["terms without effect now"]) == (24, 24)
    assert launch("withdraw_learning", **ANN).success
    assert not launch("withdraw_learning", **ANN).success
    assert decided(ready) == [("approve", "Ann"), ("rollback", "Ann"), ("withdraw", "Ann")]
    assert ready.store.count("learned_triggers", "namespace = 'ada'") == 24
    assert {act.detail["through"] for act in learning_events(ready.journal, "ada")} == {"web page"}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"scope": "memory"}, "takes a value"),
        ({"scope": "everything", "value": "x"}, "takes no value"),
        ({"scope": "since", "value": "soon"}, "is no date and time"),
        ({"scope": "everything", "who": " "}, "`who` is empty"),
    ],
)
def test_a_rollback_that_means_nothing_is_refused(launch, ready, config, said):
    done = launch("rollback_learning", **(ANN | config))
    assert not done.success
    assert said in told(done)["said"]
    assert decided(ready) == []


def test_the_launchpad_knows_what_can_be_taken_back(launch, ready):
    with pytest.raises(dg.DagsterInvalidConfigError, match="scope"):
        launch("rollback_learning", **ANN, scope="all")


@pytest.mark.parametrize("name", ["approve_learning", "withdraw_learning", "rollback_learning"])
def test_a_form_that_nobody_filled_in_decides_nothing_and_says_what_it_lacks(launch, ready, name):
    done = launch(name)
    assert not done.success
    assert "`who` is empty" in told(done)["said"]
    assert decided(ready) == []


def test_what_is_refused_is_not_tried_again(memory):
    repository = definitions(SlowwaveResource(home=str(memory.settings.home))).get_repository_def()
    for name in ("approve_learning", "withdraw_learning", "rollback_learning"):
        assert repository.get_job(name).tags["dagster/max_retries"] == "0"


# -- sensors ---------------------------------------------------------------------------------------


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with serving() as made:
        yield made


@pytest.fixture
def resource(memory: Memory, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> SlowwaveResource:
    monkeypatch.setenv("SLOWWAVE_ALERTS__WEBHOOK", hook.url)
    return SlowwaveResource(home=str(memory.settings.home))


def test_both_sensors_run_from_the_start(resource):
    sensors = {one.name: one for one in definitions(resource).get_repository_def().sensor_defs}
    for name in ("failed_runs", "regressions"):
        assert sensors[name].default_status is dg.DefaultSensorStatus.RUNNING


def failed(run: dg.ExecuteInProcessResult, instance: dg.DagsterInstance, resource: SlowwaveResource) -> Any:
    """What the sensor makes of a failed run."""
    (event,) = [one for one in run.all_events if one.event_type_value in ("RUN_FAILURE", "PIPELINE_FAILURE")]
    stored = instance.get_run_by_id(run.run_id)
    with dg.build_run_status_sensor_context(
        sensor_name="failed_runs", dagster_instance=instance, dagster_run=stored, dagster_event=event,
        resources={"slowwave": resource},
    ) as context:  # fmt: skip
        return failed_runs(context.for_run_failure())


def test_a_run_that_failed_is_told_with_its_reason(launch, instance, resource, hook):
    run = launch("approve_learning", **ANN)
    assert not run.success
    failed(run, instance, resource)
    (message,) = hook.got
    assert message["title"] == "The run of approve_learning failed"
    assert message["text"].splitlines()[1].startswith("Learning of words in ada cannot be approved yet.")
    assert (message["facts"]["job"], message["facts"]["run"]) == ("approve_learning", run.run_id)


def test_a_run_that_broke_is_told_with_the_error_at_its_root(launch, instance, resource, hook, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("slowwave.learning.review.Learning.approve", broken)
    failed(launch("approve_learning", **ANN), instance, resource)
    assert hook.got[0]["text"].endswith("OSError: the disk is full")


def test_a_run_that_is_tried_again_is_not_told(launch, instance, resource, hook):
    run = launch("approve_learning", **ANN)
    instance.add_run_tags(run.run_id, {"dagster/will_retry": "true"})
    assert isinstance(failed(run, instance, resource), dg.SkipReason)
    assert hook.got == []


def test_a_webhook_that_fails_fails_no_tick(launch, instance, resource, hook, monkeypatch):
    monkeypatch.setattr("slowwave.home.alerts.PAUSE", 0)
    hook.status = 500
    failed(launch("approve_learning", **ANN), instance, resource)
    assert hook.got


class Ticks:
    """Ticks of the sensor, the cursor carried from tick to tick."""

    def __init__(self, resource: SlowwaveResource, instance: dg.DagsterInstance) -> None:
        self._resource, self._instance, self._cursor = resource, instance, None

    def tick(self) -> str | None:
        """A tick; why it was skipped."""
        with dg.build_sensor_context(
            self._instance, cursor=self._cursor, resources={"slowwave": self._resource}
        ) as context:
            result = sensor("regressions")(context)
        if isinstance(result, dg.SkipReason):
            return result.skip_message
        self._cursor = result.cursor
        return None


def test_a_regression_is_told_once(memory, resource, instance, hook):
    ticks = Ticks(resource, instance)
    assert "No regression" in ticks.tick()
    for number, why in enumerate(("MRR@5 is worse", "worse again"), start=1):
        write_event(
            memory.journal, "ada", REGRESSION, who="guard", why=why, at=memory._space.now(), detail={}
        )
        assert ticks.tick() is None
        assert len(hook.got) == number
        assert why in hook.got[-1]["text"]
        assert "No regression" in ticks.tick()
    assert hook.got[0]["title"] == "Learning in ada made results worse and was rolled back"
    assert hook.got[0]["facts"]["namespace"] == "ada"


def test_what_people_decide_is_no_regression(memory, resource, instance, hook):
    memory.learning.roll_back("everything", who="ann")
    assert "No regression" in Ticks(resource, instance).tick()
    assert hook.got == []
