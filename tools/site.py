"""Hook of the documentation site: pages from all over the repository, and links between them.

`properdocs.yml` names this file as its hook. Pages are written for the repository, with README.md at the top
and docs/ below. The hook rewrites each link to its target's place on the site, and includes linked files that
are no pages, such as a notebook. A broken link stays, and the strict build refuses it, as it does a missing
anchor.
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
"""Pages outside docs/, with their places on the site."""
TAKEN = "files"  # folder of the site for linked files
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_FILE = re.compile(r"^(```\w+) file=(\S+)$", re.MULTILINE)  # code with its file name
_HERE = {site: path for path, site in ELSEWHERE.items()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Use GitHub's heading anchors, so that a link works in both places."""
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": slug}
    return config


def slug(heading: str, separator: str = "-") -> str:
    """Return the anchor of a heading: lower case, without marks, a hyphen per space."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and the files that pages link to."""
    for path, site in ELSEWHERE.items():
        if files.get_file_from_path(site) is None:
            files.append(File.generated(config, site, abs_src_path=str(ROOT / path)))
    for page in [*files.documentation_pages()]:
        for target in _targets(page.content_string, _path(page.src_uri)):
            if _site(target) == f"{TAKEN}/{target}" and files.get_file_from_path(_site(target)) is None:
                files.append(File.generated(config, _site(target), abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page to the places of their targets; show the file name of code."""
    path, folder = _path(page.file.src_uri), posixpath.dirname(page.file.src_uri)

    def rewritten(match: re.Match[str]) -> str:
        target = _target(match[2], path)
        if target is None:
            return match[0]
        return match[1] + posixpath.relpath(_site(target), folder or ".") + match[3]

    return _FILE.sub(r"`\2`:\n\n\1", _outside_fences(markdown, lambda text: _LINK.sub(rewritten, text)))


def _outside_fences(markdown: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [change(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(markdown[end:])])


def _targets(markdown: str, path: str) -> list[str]:
    targets = (_target(match[2], path) for match in _LINK.finditer(_FENCE.sub("", markdown)))
    return [target for target in targets if target is not None]


def _path(site: str) -> str:
    """Return the path of a site's page in the repository."""
    return _HERE.get(site, f"docs/{site}")


def _target(link: str, path: str) -> str | None:
    """Return the repository path of a link; None for an address or a missing file."""
    if ":" in link or link.startswith("/"):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(link)))
    if (ROOT / target).is_dir():
        target = f"{target}/README.md"
    return target if (ROOT / target).is_file() and not target.startswith("..") else None


def _site(target: str) -> str:
    """Return the place of a repository file on the site."""
    if target in ELSEWHERE:
        return ELSEWHERE[target]
    return target.removeprefix("docs/") if target.startswith("docs/") else f"{TAKEN}/{target}"
