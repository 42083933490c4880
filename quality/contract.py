"""The batch contract: what every accepted note of a night keeps to, as a Great Expectations suite (rule 1).

The gate judges note by note, with expressions of its own; the contract is stated apart from it, as data, and
asked once per batch: a fault that the gate lets through is found by something that does not share its code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from slowwave.quality.structure import KNOWN_WORDS, NAMESPACE

if TYPE_CHECKING:
    from types import ModuleType

    from slowwave.quality.gate_policy import GatePolicy

Severity = Literal["error", "warn"]

# Python's `$` also matches before a last line break.
_END = r"\Z"
_SOUND_PATH = r"^(?![/\\]|[A-Za-z]:[/\\])(?!(?:[^\x00]*[/\\])?\.\.(?:[/\\]|\Z))[^\x00-\x1f\x7f-\x9f]+" + _END
_EXAMPLES = 5

BATCH_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "staged_id": pl.String,
    "day": pl.String,
    "namespace": pl.String,
    "memory_id": pl.String,
    "title": pl.String,
    "content": pl.String,
    "characters": pl.Int64,
    "source": pl.String,
    **dict.fromkeys(KNOWN_WORDS, pl.String),
    "created_at": pl.Datetime("us", "UTC"),
    "quality_score": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One clause of the contract.

    Attributes:
        name: name of the check in Dagster and in the suite.
        description: what it says, for people.
        columns: the columns it is about.
        expectation: class of the expectation in `great_expectations.expectations`.
        arguments: its arguments, given what the gate asks for.
        when: ``always``: the store relies on it, so a breach is an error; ``gate``: a rule of the gate, so a
            breach is an error from the moment on from which the gate enforces, and a warning before.
    """

    name: str
    description: str
    columns: tuple[str, ...]
    expectation: str
    arguments: Callable[[GatePolicy], Mapping[str, Any]]
    when: Literal["always", "gate"] = "gate"

    def severity(self, *, enforced: bool) -> Severity:
        """How bad a breach is."""
        return "error" if enforced or self.when == "always" else "warn"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes:
        name: name of the check.
        description: what it says.
        expectation: type of the expectation, as Great Expectations writes it.
        passed: whether every note keeps to it.
        severity: how bad a breach is.
        unexpected: number of notes that break it.
        unexpected_percent: the same, in percent of the batch.
        examples: a few of them: staged_id, value.
    """

    name: str
    description: str
    expectation: str
    passed: bool
    severity: Severity
    unexpected: int = 0
    unexpected_percent: float = 0.0
    examples: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ContractResult:
    """What the contract found in one batch: the number of notes, and a result per check in `CHECKS` order."""

    notes: int
    checks: tuple[CheckResult, ...]


CHECKS: tuple[Check, ...] = (
    Check(
        "unique_id", "No two notes of the batch have the same id.", ("staged_id",),
        "ExpectColumnValuesToBeUnique", lambda _: {"column": "staged_id"}, when="always",
    ),
    Check(
        "namespace_is_valid", "A namespace is a word of letters, digits and the marks _ - . /.",
        ("namespace",),
        "ExpectColumnValuesToMatchRegex",
        lambda _: {"column": "namespace", "regex": NAMESPACE.removesuffix("$") + _END}, when="always",
    ),
    Check(
        "title_is_given", "A title is not blank.", ("title",),
        "ExpectColumnValuesToMatchRegex", lambda _: {"column": "title", "regex": r"\S"},
    ),
    Check(
        "content_is_long_enough", "A content has the least number of characters after trimming.",
        ("characters",), "ExpectColumnValuesToBeBetween",
        lambda policy: {"column": "characters", "min_value": max(1, policy.least_characters)},
    ),
    Check(
        "path_is_relative", "A path is relative, has no '..' part and no control characters.", ("source",),
        "ExpectColumnValuesToMatchRegex", lambda _: {"column": "source", "regex": _SOUND_PATH},
    ),
    Check(
        "creation_is_known", "The moment of creation is known.", ("created_at",),
        "ExpectColumnValuesToNotBeNull", lambda _: {"column": "created_at"},
    ),
    *(
        Check(
            f"{label}_is_known", f"The {label.replace('_', ' ')} is one of the known words.", (label,),
            "ExpectColumnValuesToBeInSet",
            lambda _, label=label: {"column": label, "value_set": sorted(KNOWN_WORDS[label])},  # type: ignore[misc]
        )
        for label in KNOWN_WORDS
    ),
    Check(
        "score_is_high_enough", "The quality score, where there is one, is the least one asked for or above.",
        ("quality_score",), "ExpectColumnValuesToBeBetween",
        lambda policy: {"column": "quality_score", "min_value": policy.min_quality, "max_value": 1.0},
    ),
)  # fmt: skip


def run_contract(batch: pl.DataFrame, policy: GatePolicy, *, enforced: bool) -> ContractResult:
    """What the contract finds in one batch of accepted notes.

    Args:
        batch: one row per accepted note, columns of `BATCH_SCHEMA`; day (of a batch over several) and
            quality_score may be missing, and a score that is null is not judged.
        policy: what the gate asks for.
        enforced: whether the gate enforces its rules on this batch.

    Raises:
        ValueError: a column is missing.
        RuntimeError: Great Expectations could not evaluate a check.
    """
    batch = _prepared(batch)
    if batch.is_empty():
        return ContractResult(0, tuple(_result(check, None, batch, enforced=enforced) for check in CHECKS))
    gx = _great_expectations()
    context = _context(gx)
    definition = _batch_definition(context)
    validated = definition.get_batch({"dataframe": _pandas(batch)}).validate(
        _suite(gx, policy, enforced=enforced),
        result_format={"result_format": "SUMMARY", "partial_unexpected_count": _EXAMPLES},
    )
    found = {one.expectation_config.meta["check"]: one for one in validated.results}
    return ContractResult(
        batch.height,
        tuple(_result(check, found[check.name], batch, enforced=enforced) for check in CHECKS),
    )


def write_data_docs(batch: pl.DataFrame, folder: Path, policy: GatePolicy, *, enforced: bool) -> Path:
    """Write the contract and what it finds in `batch` as a site of HTML pages into `folder`.

    Returns:
        The page to open.
    """
    gx = _great_expectations()
    context = _context(gx)
    site = {
        "class_name": "SiteBuilder",
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "store_backend": {
            "class_name": "TupleFilesystemStoreBackend",
            "base_directory": str(folder.absolute()),
        },
    }
    for name in list(context.get_site_names()):
        context.delete_data_docs_site(name)
    context.add_data_docs_site(site_name="contract", site_config=site)
    suite = context.suites.add(_suite(gx, policy, enforced=enforced))
    validation = context.validation_definitions.add(
        gx.ValidationDefinition(name="accepted notes", data=_batch_definition(context), suite=suite)
    )
    checkpoint = context.checkpoints.add(
        gx.Checkpoint(
            name="batch contract",
            validation_definitions=[validation],
            actions=[gx.checkpoint.UpdateDataDocsAction(name="write the pages", site_names=["contract"])],
            result_format={"result_format": "SUMMARY", "partial_unexpected_count": _EXAMPLES},
        )
    )
    checkpoint.run(batch_parameters={"dataframe": _pandas(_prepared(batch))})
    return folder / "index.html"


def _great_expectations() -> ModuleType:
    """The library, imported when it is first needed: that takes seconds, and most commands do without."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations

    return great_expectations


def _context(gx: ModuleType) -> Any:  # noqa: ANN401 - the library's own types are not loaded here
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    return context


def _batch_definition(context: Any) -> Any:  # noqa: ANN401
    source = context.data_sources.add_pandas("slowwave")
    return source.add_dataframe_asset("accepted notes").add_batch_definition_whole_dataframe("batch")


def _suite(gx: ModuleType, policy: GatePolicy, *, enforced: bool) -> Any:  # noqa: ANN401
    import great_expectations.expectations as kinds

    return gx.ExpectationSuite(
        "batch contract",
        expectations=[
            getattr(kinds, check.expectation)(
                **check.arguments(policy),
                severity="critical" if check.severity(enforced=enforced) == "error" else "warning",
                meta={"check": check.name},
                description=check.description,
            )
            for check in CHECKS
        ],
    )


def _prepared(batch: pl.DataFrame) -> pl.DataFrame:
    optional = {"day": pl.lit(""), "quality_score": pl.lit(None)}
    batch = batch.with_columns(
        value.alias(name) for name, value in optional.items() if name not in batch.columns
    )
    missing = [name for name in BATCH_SCHEMA if name not in batch.columns]
    if missing:
        raise ValueError(
            f"The batch has no column {', '.join(missing)}. The contract is about {list(BATCH_SCHEMA)}."
        )
    # An expectation passes over nulls; a label or title that is not there is a breach.
    judged = [name for name, kind in BATCH_SCHEMA.items() if kind == pl.String and name != "content_hash"]
    return (
        batch.select(BATCH_SCHEMA.keys())
        .cast(BATCH_SCHEMA)  # type: ignore[arg-type]
        .with_columns(pl.col(judged).fill_null(""), pl.col("characters").fill_null(0))
    )


def _pandas(batch: pl.DataFrame) -> Any:  # noqa: ANN401
    """The batch for Great Expectations, which reads no Polars frames; the texts stay, no check is on them."""
    import pandas as pd  # type: ignore[import-untyped]

    columns = batch.drop("content")
    # Object columns, so that regular expressions are Python's and no number turns into a float over a null.
    return pd.DataFrame({name: pd.Series(columns[name].to_list(), dtype=object) for name in columns.columns})


def _result(check: Check, found: Any, batch: pl.DataFrame, *, enforced: bool) -> CheckResult:  # noqa: ANN401
    kind = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in check.expectation)
    severity = check.severity(enforced=enforced)
    if found is None:
        return CheckResult(check.name, check.description, kind.lstrip("_"), passed=True, severity=severity)
    counts = found.result
    if "unexpected_count" not in counts:
        raise RuntimeError(f"The check {check.name} could not be evaluated: {found.exception_info}")
    rows = list(counts.get("partial_unexpected_index_list") or [])[:_EXAMPLES]
    examples = batch[rows].select(
        "staged_id", value=pl.concat_str(check.columns, separator=" · ", ignore_nulls=True)
    )
    return CheckResult(
        check.name,
        check.description,
        kind.lstrip("_"),
        passed=bool(found.success),
        severity=severity,
        unexpected=int(counts["unexpected_count"]),
        unexpected_percent=100 * int(counts["unexpected_count"]) / batch.height,
        examples=tuple((str(staged), str(value)) for staged, value in examples.iter_rows()),
    )
