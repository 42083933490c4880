"""Values are kept while their table is the same, and no more of them than wanted."""

from slowwave.index.table_cache import TableCache


class Value:
    def __init__(self, name: str) -> None:
        self.name, self.closed = name, False

    def close(self) -> None:
        self.closed = True


def test_a_value_is_made_again_only_when_the_mark_of_its_key_is_another():
    marks, made = {"ada": 1, "bob": 1}, []

    def make(key: str, mark: int, before: str | None) -> str:
        made.append((key, mark, before))
        return f"{key} {mark}"

    cache = TableCache(marks.__getitem__, make)
    assert [cache.of(key) for key in ("ada", "bob", "ada")] == ["ada 1", "bob 1", "ada 1"]
    marks["ada"] = 2
    assert [cache.of(key) for key in ("ada", "bob")] == ["ada 2", "bob 1"]
    assert made == [("ada", 1, None), ("bob", 1, None), ("ada", 2, "ada 1")]


def test_what_cannot_be_made_leaves_what_was_kept():
    marks = {"ada": 1}

    def make(key: str, mark: int, before: str | None) -> str:
        if mark == 2:
            raise OSError
        return f"{key} {mark} after {before}"

    cache = TableCache(marks.__getitem__, make)
    cache.of("ada")
    for mark, found in ((2, None), (1, "ada 1 after None"), (3, "ada 3 after ada 1 after None")):
        marks["ada"] = mark
        try:
            assert cache.of("ada") == found
        except OSError:
            assert found is None


def test_the_least_used_go_first_and_are_closed():
    values: dict[str, Value] = {}
    cache = TableCache(lambda _: 0, lambda key, *_: values.setdefault(key, Value(key)), max_entries=2)
    for key in ("ada", "bob", "ada", "cleo"):
        cache.of(key)
    assert [name for name, one in values.items() if one.closed] == ["bob"]
    cache.close()
    assert all(one.closed for one in values.values())
