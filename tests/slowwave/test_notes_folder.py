"""The notes of a folder: which files count, and which links are followed."""

from __future__ import annotations

import os

import pytest

from slowwave.notes.folder import iter_vault, list_vault, others_remark


def write(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_iter_vault_lists_notes_sorted_by_source(tmp_path):
    for name in ["b.md", "a/z.markdown", "a/b/c.TXT", "a.jsonl", "pic.png", "noext", ".hidden.md"]:
        write(tmp_path / name)
    for folder in [".obsidian", ".git", ".trash", "a/.cache"]:
        write(tmp_path / folder / "x.md")
    (tmp_path / "folder.md").mkdir()
    big = write(tmp_path / "e\u0301t\u00e9 🚀.md", "four")
    os.utime(big, ns=(5, 7))
    found = list(iter_vault(tmp_path))
    assert [file.source for file in found] == ["a.jsonl", "a/b/c.TXT", "a/z.markdown", "b.md", "été 🚀.md"]
    assert (found[-1].size, found[-1].mtime_ns) == (4, 7)
    assert found[-1].path.read_text() == "four"


def test_iter_vault_follows_links_only_inside_and_not_in_circles(tmp_path):
    root = tmp_path / "vault"
    write(root / "real" / "a.md")
    write(root / "other" / "b.md")
    write(tmp_path / "outside" / "secret.md")
    (root / "outside").symlink_to(tmp_path / "outside")
    (root / "secret.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "broken.md").symlink_to(root / "gone.md")
    (root / "self.md").symlink_to(root / "self.md")
    (root / "copy.md").symlink_to(root / "real" / "a.md")
    (root / "shortcut").symlink_to(root / "real")
    (root / "real" / "up").symlink_to(root)
    (root / "real" / "here").symlink_to(root / "real")
    (root / "other" / "cross").symlink_to(root / "real")
    (root / "real" / "cross").symlink_to(root / "other")
    assert [file.source for file in iter_vault(root)] == [
        "copy.md",
        "other/b.md",
        "other/cross/a.md",
        "real/a.md",
        "real/cross/b.md",
        "shortcut/a.md",
    ]
    expected = {place.source for place in list_vault(root).unseen if place.expected}
    assert expected == {"outside", "secret.md", "broken.md", "self.md"}


def test_a_linked_root_is_read(tmp_path):
    write(tmp_path / "vault" / "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    write(tmp_path / "vault" / "b" / "c.md")
    (tmp_path / "vault" / "d").symlink_to(tmp_path / "vault" / "b")
    assert [file.source for file in iter_vault(tmp_path / "link")] == ["a.md", "b/c.md", "d/c.md"]


def test_a_file_name_that_is_not_utf8_has_a_source_that_is(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    [file] = iter_vault(tmp_path)
    assert file.source == "caf\ufffd.md"
    assert file.path.read_text() == "x"


def test_iter_vault_says_what_is_wrong_with_the_root(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No vault at .*missing: check the path"):
        list(iter_vault(tmp_path / "missing"))
    with pytest.raises(NotADirectoryError, match="is a file: give the folder"):
        list(iter_vault(write(tmp_path / "a.md")))


def test_files_that_are_no_notes_are_counted_by_their_suffix(tmp_path):
    for name in ("a.md", "board.canvas", "plan.ORG", "notes.org", "README", ".hidden.png", "in/one.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")

    listing = list_vault(tmp_path)

    assert [file.source for file in listing.files] == ["a.md"]
    assert listing.others == {".canvas": 1, ".org": 2, "": 1, ".png": 1}
    assert others_remark(listing.others) == (
        "5 other files not read: .org 2, no suffix 1, .canvas 1, .png 1. "
        "Notes are .jsonl, .markdown, .md, .txt."
    )
    assert others_remark({}) == ""


def test_only_the_commonest_suffixes_are_named():
    remark = others_remark({f".{letter}": 2 for letter in "abcdefgh"} | {".z": 9})

    assert remark.startswith("25 other files not read: .z 9, .a 2, .b 2, .c 2, .d 2, .e 2 and more.")


@pytest.mark.parametrize("name", ["Dr. Lee's letter", "a." + "q" * 80, "x.[red]y", "b.\x1b[31m", "d. ", "e."])
def test_the_end_of_an_odd_name_is_no_suffix(tmp_path, name):
    (tmp_path / name).write_text("text")

    assert list_vault(tmp_path).others == {"": 1}
