"""Pin every action of the workflows to the commit of its tag: python scripts/pin_actions.py.

It asks GitHub for the commits (``git ls-remote``), so the owner runs it where the network allows.
``uses: owner/name@tag`` becomes ``uses: owner/name@commit # tag``; a pinned action stays.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
USES = re.compile(r"(uses: )([\w.-]+/[\w.-]+)((?:/[\w./-]+)?)@([\w./-]+)(?=\s*$)", re.MULTILINE)


def main() -> None:
    """Rewrite the workflows and the action."""
    for path in (*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / "action.yml"):
        text = path.read_text(encoding="utf-8")
        pinned = USES.sub(_pinned, text)
        if pinned != text:
            path.write_text(pinned, encoding="utf-8")
            print(path.relative_to(ROOT))


def _pinned(match: re.Match[str]) -> str:
    uses, repository, folder, tag = match.groups()
    if re.fullmatch(r"[0-9a-f]{40}", tag):
        return match[0]
    return f"{uses}{repository}{folder}@{commit_of(repository, tag)} # {tag}"


def commit_of(repository: str, tag: str) -> str:
    """Return the commit of a tag or branch of a repository on GitHub.

    Raises:
        SystemExit: there is no such tag.
        subprocess.CalledProcessError: GitHub cannot be reached.
    """
    command = ["git", "ls-remote", f"https://github.com/{repository}", tag, f"{tag}^{{}}"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    commits: dict[str, str] = {}
    for line in listed.splitlines():
        commit, name = line.split("\t")
        commits[name] = commit
    # An annotated tag is an object of its own; ^{} is the commit that it names.
    for full_name in (f"refs/tags/{tag}^{{}}", f"refs/tags/{tag}", f"refs/heads/{tag}"):
        if full_name in commits:
            return commits[full_name]
    msg = f"{repository} has no tag or branch {tag}"
    raise SystemExit(msg)


if __name__ == "__main__":
    main()
