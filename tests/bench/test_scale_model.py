from __future__ import annotations

import pytest


@pytest.fixture
def model(load):
    return load("_scale_model")


def test_the_line_through_two_sizes_by_hand(model):
    line = model.fitted([(100, 12.0), (400, 22.0)], 0.5)  # roots 10 and 20
    assert (line.fixed, line.each) == (2.0, 1.0)
    assert line.at(900) == 32.0
    assert model.fitted([(10, 5.0), (20, 7.0)], 1.0).at(100) == pytest.approx(23.0)


def test_a_larger_size_is_never_foretold_to_cost_less(model):
    assert model.fitted([(100, 12.0), (400, 11.0)], 0.5).at(10**9) == 12.0


@pytest.mark.parametrize(
    ("sizes", "tenants", "place"),
    [
        ([5_000, 50_000, 200_000, 1_000_000], 1, 1),  # 5,000 rows are each compared
        ([20_000, 50_000], 1, 0),
        ([5_000, 50_000], 1, 0),  # one alone gives no line
        ([50_000, 200_000, 1_000_000], 1_000, 0),  # of each tenant there are few
    ],
)
def test_the_line_goes_through_sizes_that_are_searched_alike(model, sizes, tenants, place):
    assert model.base(sizes, tenants, 20_000) == place


def test_a_home_shared_by_tenants_by_hand(model):
    home = model.home(
        1_000_000, 100, 256, search=model.Line(10, 0.01, 0.5), disk_mb=model.Line(0, 0.005, 1),
        night_cpu_s=model.Line(36, 0.0036, 1),
    )  # fmt: skip
    assert home.search_cpu_ms == pytest.approx(20.0)  # of a million rows the root is 1,000
    assert home.disk_gb == pytest.approx(5_000 / 1_024)
    assert home.night_hours == pytest.approx(1.01)
    assert home.snapshot_gb == pytest.approx(10_000 * 3_524 / 2**30)


def test_a_first_search_of_many_tenants_grows_with_the_rows_and_any_other_with_their_root(model):
    assert model.power_of("p95_cpu_ms", 1) == 0.5
    assert model.power_of("p95_cpu_ms", 1_000) == model.power_of("disk_mb", 1) == 1.0
