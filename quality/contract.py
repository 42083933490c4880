"""Batch contract: a Great Expectations suite over the accepted notes of a night (rule 1).

The gate judges each note with its own code. The contract is declared separately, as data, and runs once per
batch. So it finds faults that the gate lets through, without sharing its code.
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
    """One check of the contract.

    Attributes:
        name: name of the check in Dagster and in the suite.
        description: meaning, shown to users.
        column: checked column.
        expectation: class of the expectation in `great_expectations.expectations`.
        arguments: function from the gate's policy to further arguments of the expectation.
        when: ``always``: tables rely on it, so a breach is an error. ``gate``: a rule of the gate, so a
            breach is an error once the gate enforces, and a warning before.
    """

    name: str
    description: str
    column: str
    expectation: str
    arguments: Callable[[GatePolicy], Mapping[str, Any]] = lambda _: {}
    when: Literal["always", "gate"] = "gate"

    def severity(self, *, enforced: bool) -> Severity:
        """Return the severity of a breach."""
        return "error" if enforced or self.when == "always" else "warn"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check.

    Attributes:
        name: name of the check.
        description: meaning of the check.
        expectation: type of the expectation in Great Expectations.
        passed: whether every note passes.
        severity: severity of a breach.
        unexpected: notes that fail (count).
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
    """Contract results of one batch.

    It has the number of notes, and a result per check in `CHECKS` order.
    """

    notes: int
    checks: tuple[CheckResult, ...]


CHECKS: tuple[Check, ...] = (
    Check(
        "unique_id", "No two notes of the batch have the same id.", "staged_id",
        "ExpectColumnValuesToBeUnique", when="always",
    ),
    Check(
        "namespace_is_valid", "A namespace consists of letters, digits and the marks _ - . /.", "namespace",
        "ExpectColumnValuesToMatchRegex", lambda _: {"regex": NAMESPACE.removesuffix("$") + _END},
        when="always",
    ),
    Check(
        "title_is_given", "A title is not blank.", "title",
        "ExpectColumnValuesToMatchRegex", lambda _: {"regex": r"\S"},
    ),
    Check(
        "content_is_long_enough", "The trimmed content has at least the minimum number of characters.",
        "characters", "ExpectColumnValuesToBeBetween",
        lambda policy: {"min_value": max(1, policy.least_characters)},
    ),
    Check(
        "path_is_relative", "A path is relative, has no '..' part and no control characters.", "source",
        "ExpectColumnValuesToMatchRegex", lambda _: {"regex": _SOUND_PATH},
    ),
    Check(
        "creation_is_known", "The creation time is not null.", "created_at", "ExpectColumnValuesToNotBeNull",
    ),
    *(
        Check(
            f"{label}_is_known", f"The {label.replace('_', ' ')} is one of the known words.", label,
            "ExpectColumnValuesToBeInSet",
            lambda _, label=label: {"value_set": sorted(KNOWN_WORDS[label])},  # type: ignore[misc]
        )
        for label in KNOWN_WORDS
    ),
    Check(
        "score_is_high_enough", "The quality score, if there is one, is at least the gate's minimum.",
        "quality_score", "ExpectColumnValuesToBeBetween",
        lambda policy: {"min_value": policy.min_quality, "max_value": 1.0},
    ),
)  # fmt: skip


def run_contract(batch: pl.DataFrame, policy: GatePolicy, *, enforced: bool) -> ContractResult:
    """Run the contract on one batch of accepted notes.

    Args:
        batch: one row per accepted note, columns of `BATCH_SCHEMA`; day and quality_score are optional, and a
            null score is not judged.
        policy: policy of the gate.
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
    results = {result.expectation_config.meta["check"]: result for result in validated.results}
    return ContractResult(
        batch.height,
        tuple(_result(check, results[check.name], batch, enforced=enforced) for check in CHECKS),
    )


def write_data_docs(batch: pl.DataFrame, folder: Path, policy: GatePolicy, *, enforced: bool) -> Path:
    """Write the contract and its results on `batch` as HTML pages into `folder`.

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
    """Import and return Great Expectations.

    The import takes seconds, and most commands do not need it.
    """
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
                column=check.column,
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
            f"The batch has no column {', '.join(missing)}. The contract needs {list(BATCH_SCHEMA)}."
        )
    # Expectations ignore nulls, but a missing label or title is a breach.
    judged = [name for name, kind in BATCH_SCHEMA.items() if kind == pl.String]
    return (
        batch.select(BATCH_SCHEMA.keys())
        .cast(BATCH_SCHEMA)  # type: ignore[arg-type]
        .with_columns(pl.col(judged).fill_null(""), pl.col("characters").fill_null(0))
    )


def _pandas(batch: pl.DataFrame) -> Any:  # noqa: ANN401
    """Convert the batch to pandas for Great Expectations, without contents, which no check reads."""
    import pandas as pd  # type: ignore[import-untyped]

    columns = batch.drop("content")
    # Object columns, so that regular expressions are Python's and nulls turn no integer into a float.
    return pd.DataFrame({name: pd.Series(columns[name].to_list(), dtype=object) for name in columns.columns})


def _result(check: Check, outcome: Any, batch: pl.DataFrame, *, enforced: bool) -> CheckResult:  # noqa: ANN401
    kind = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in check.expectation)
    kind = kind.lstrip("_")
    severity = check.severity(enforced=enforced)
    if outcome is None:
        return CheckResult(check.name, check.description, kind, passed=True, severity=severity)
    counts = outcome.result
    if "unexpected_count" not in counts:
        raise RuntimeError(f"Cannot evaluate the check {check.name}: {outcome.exception_info}")
    rows = list(counts.get("partial_unexpected_index_list") or [])[:_EXAMPLES]
    examples = batch[rows].select("staged_id", value=pl.concat_str(check.column, ignore_nulls=True))
    return CheckResult(
        check.name,
        check.description,
        kind,
        passed=bool(outcome.success),
        severity=severity,
        unexpected=int(counts["unexpected_count"]),
        unexpected_percent=100 * int(counts["unexpected_count"]) / batch.height,
        examples=tuple((str(staged), str(value)) for staged, value in examples.iter_rows()),
    )
