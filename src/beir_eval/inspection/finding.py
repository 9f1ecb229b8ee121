"""``Finding``: what a user is told about an input, and how much must be seen before it.

The texts of all are in ``texts.toml``, which is read when the first one is needed.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

#: More than this share of the rankings must have a property, ...
MOST_RANKINGS = 0.5
#: ... or so many rankings of so many documents each, and this share of them.
LEAST_RANKINGS, LEAST_LONG, LEAST_SHARE = 3, 5, 0.1
#: Fewer queries show nothing about all of them.
LEAST_QUERIES = 6
#: How many different documents, or judgements, show something; fewer documents of a ranking may
#: ascend, or be the judged ones, by chance.
LEAST_DIFFERENT, LEAST_DOCUMENTS = 30, 3
#: How many documents of a ranking show whose ranking it is.
TOP = 10
#: By how many standard errors a number must differ from what is expected by chance.
STANDARD_ERRORS = 3.0
#: How many examples a finding has: each may be a pair of ids, and more than five are not read.
MOST_EXAMPLES = 2
#: The subject of what is about the judgements, so that it is the same for every run.
QRELS = "qrels"


#: "error": scores are wrong or meaningless, or cannot be computed; "warning": likely a mistake;
#: "note": a property of the data that readers of the scores should know.
Level: TypeAlias = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@cache
def finding_texts() -> dict[str, dict[str, Any]]:
    """Return {code: {name: text}} of all findings, in the order of the documentation.

    Each has "level" and "remedy", and "subject" if it is about the judgements, whatever the run;
    what ``validate`` may find has a "meaning" and a "consequence" too. A warning with "looks_wrong"
    stands above the conclusions, as an error does.
    """
    # Most evaluations have no finding and import neither.
    import tomllib  # noqa: PLC0415
    from importlib.resources import files  # noqa: PLC0415

    return tomllib.loads((files("beir_eval.inspection") / "texts.toml").read_text(encoding="utf-8"))


class Finding(BaseModel):
    """One suspicious property of an input.

    Attributes:
        code: its name, one of ``inspection/texts.toml``.
        level: "error", "warning" or "note".
        subject: the file or the system that it is about; in a result "qrels" if it is the same for
            every run, else "".
        fact: what was found, as a clause.
        count: how many queries, documents, judgements or lines it concerns.
        total: of how many; None if that is not known.
        examples: up to two of them.
        remedy: what to do, as sentences.
    """

    model_config = FROZEN

    code: str
    level: Level
    subject: str
    fact: str
    count: int
    total: int | None = None
    examples: tuple[str, ...] = ()
    remedy: str

    @classmethod
    def from_code(  # noqa: PLR0913 - the parts of what is told
        cls,
        code: str,
        fact: str,
        *,
        count: int,
        total: int | None = None,
        examples: Iterable[str] = (),
        reason: str = "",
    ) -> Self:
        """Return a finding with the level and the remedy of its code.

        Args:
            code: one of ``inspection/texts.toml``.
            fact: what was found.
            count: how many it concerns.
            total: of how many.
            examples: the first two are kept.
            reason: the likely reason, as a clause; it comes before the remedy.
        """
        texts = finding_texts()[code]
        return cls(
            code=code,
            level=texts["level"],
            subject=texts.get("subject", ""),
            fact=fact,
            count=count,
            total=total,
            examples=tuple(islice(examples, MOST_EXAMPLES)),
            remedy=f"Likely reason: {reason}. {texts['remedy']}" if reason else texts["remedy"],
        )

    @property
    def looks_wrong(self) -> bool:
        """Whether the input is probably not what was meant, so that scores say nothing yet."""
        return bool(finding_texts()[self.code].get("looks_wrong", self.level == "error"))

    @property
    def sentence(self) -> str:
        """What was found and what to do."""
        examples = f" ({'; '.join(self.examples)})" if self.examples else ""
        return f"{self.fact}{examples}. {self.remedy.removesuffix('.')}"


def about(subject: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings with the file or the system that they are about."""
    return (finding.model_copy(update={"subject": subject}) for finding in findings)


def without(findings: Iterable[Finding], *codes: str) -> tuple[Finding, ...]:
    """Return the findings of other codes."""
    return tuple(finding for finding in findings if finding.code not in codes)
