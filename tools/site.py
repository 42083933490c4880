"""The site of the documentation: pages that stand elsewhere in the repository, and links between all of them.

`properdocs.yml` names this file as its hook. Pages are written for the repository, where README.md is at the
top and docs/ below it. Here each link is led to where its target is on the site; one that leads to a file
that is no page, such as a notebook, takes the file along. A link that leads nowhere is left as it is, and the
strict build refuses it, as it does an anchor that is not there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from properdocs.config.defaults import MkDocsConfig
from properdocs.structure.files import File, Files
from properdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
}
"""Pages outside docs/, and where they are on the site."""
TAKEN = "files"  # folder of the site for files that are taken along
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_FILE = re.compile(r"^(```\w+) file=(\S+)$", re.MULTILINE)  # code with the file that it belongs to
_HERE = {site: path for path, site in ELSEWHERE.items()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings have the anchors that GitHub gives them, so that one link is right in both places."""
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": slug}
    return config


def slug(heading: str, separator: str = "-") -> str:
    """The anchor of a heading: lower case, marks left out, a hyphen for each space."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand elsewhere, and the files that any page links to."""
    for path, site in ELSEWHERE.items():
        if files.get_file_from_path(site) is None:
            files.append(File.generated(config, site, abs_src_path=str(ROOT / path)))
    for page in [*files.documentation_pages()]:
        for target in _targets(page.content_string, _path(page.src_uri)):
            if _site(target) == f"{TAKEN}/{target}" and files.get_file_from_path(_site(target)) is None:
                files.append(File.generated(config, _site(target), abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of a page to where their targets are on the site; say which file code belongs to."""
    path, folder = _path(page.file.src_uri), posixpath.dirname(page.file.src_uri)

    def led(found: re.Match[str]) -> str:
        target = _target(found[2], path)
        if target is None:
            return found[0]
        return found[1] + posixpath.relpath(_site(target), folder or ".") + found[3]

    return _FILE.sub(r"`\2`:\n\n\1", _outside_fences(markdown, lambda text: _LINK.sub(led, text)))


def _outside_fences(markdown: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [change(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(markdown[end:])])


def _targets(markdown: str, path: str) -> list[str]:
    targets = (_target(found[2], path) for found in _LINK.finditer(_FENCE.sub("", markdown)))
    return [one for one in targets if one is not None]


def _path(site: str) -> str:
    """Where a page of the site stands in the repository."""
    return _HERE.get(site, f"docs/{site}")


def _target(link: str, path: str) -> str | None:
    """What a link of a page leads to, as a path in the repository; None: an address, or nothing there."""
    if ":" in link or link.startswith("/"):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(link)))
    if (ROOT / target).is_dir():
        target = f"{target}/README.md"
    return target if (ROOT / target).is_file() and not target.startswith("..") else None


def _site(target: str) -> str:
    """Where a file of the repository is on the site."""
    if target in ELSEWHERE:
        return ELSEWHERE[target]
    return target.removeprefix("docs/") if target.startswith("docs/") else f"{TAKEN}/{target}"
