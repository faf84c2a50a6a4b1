"""Hand grades without a judge: how well people agree with one another, which is the most a judge could be held to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.analysis.graded import clusters_of, grade_matrix
from evenhand.errors import InvalidInput
from evenhand.stats.alpha import krippendorff_alpha
from evenhand.stats.ceiling import ONE_RATER, HumanCeiling, PairwiseAgreement, human_ceiling, pairwise_agreement
from evenhand.stats.estimates import Estimate
from evenhand.stats.icc import IntraclassCorrelations, intraclass_correlations
from evenhand.stats.planning import detectable_rho
from evenhand.stats.resampling import Bootstrap
from evenhand.store.grades import Grades
from evenhand.wording import plural

__all__ = ["RaterAgreement", "rater_agreement"]

_TENTATIVE = 0.667  # Krippendorff's convention


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RaterAgreement:
    """What hand grades alone say.

    Attributes:
        n: items with a usable grade.
        n_raters: raters with a usable grade.
        ceiling: each rater against the mean of the others.
        pairwise: every two raters; None with one rater.
        alpha: ordinal, between raters.
        icc: of one rater and of the mean of all.
        rater_means: rater to mean grade: where they differ, so does leniency.
        detectable_rho: the smallest rho of a judge that so many items would show in four of five studies; of clustered
            items as though a source were one item, since what they are worth shows only with a judge.
    """

    grades: Grades
    n: int
    n_raters: int
    ceiling: HumanCeiling
    pairwise: PairwiseAgreement | None
    alpha: Estimate
    icc: IntraclassCorrelations
    rater_means: Mapping[str, float]
    detectable_rho: float | None
    bootstrap: Bootstrap

    def document(self) -> dict[str, Any]:
        """As `--json` prints it, under the keys of a validation."""
        bound = None if self.pairwise is None else self.pairwise.bound.document()
        return {
            "schema": "evenhand.raters/1",
            "grades": {"name": self.grades.name, "reading": self.grades.reading, "raters": list(self.grades.raters)},
            "bootstrap": {
                "resamples": self.bootstrap.n_resamples,
                "seed": self.bootstrap.seed,
                "over": "items" if self.bootstrap.clusters is None else "clusters",
            },
            "n_items": self.n,
            "n_raters": self.n_raters,
            "counts": {
                "grades": sum(len(given) for given in self.grades.values.values()),
                "grades_missing": self.grades.n_missing,
                "grades_out_of_scale": len(self.grades.out_of_scale),
            },
            "ceiling": {
                **self.ceiling.mean.document(),
                "raters": [
                    {"rater": self.grades.raters[one.rater], "human": one.human.document()}
                    for one in self.ceiling.raters
                ],
                "mean_pairwise_rho": None if self.pairwise is None else self.pairwise.mean.document(),
                "bound": bound,
            },
            "alpha": self.alpha.document(),
            "icc": {label: one.document() for label, one in self.icc.by_label().items()},
            "rater_means": dict(self.rater_means),
            "detectable": {
                "rho": self.detectable_rho,
                "alpha": 0.05,
                "power": 0.8,
                "n_clusters": None if self.bootstrap.clusters is None else len(set(self.bootstrap.clusters)),
            },
            "sentences": list(self.sentences()),
        }

    def sentences(self) -> Iterator[str]:
        """What it comes to."""
        yield "No judge is given: this is what the grades alone say; name a judge's scores to validate them."
        one = self.ceiling.mean
        if self.n_raters < 2:
            yield "There is no human ceiling: one rater has nobody to agree with."
        elif one.value is None:
            yield f"There is no human ceiling: {one.undefined}."
        else:
            within = "" if one.low is None or one.high is None else f" [{one.low:.2f}, {one.high:.2f}]"
            yield (
                f"One human agrees with the mean of the others to rho {one.value:.2f}{within}, n {one.n}: a judge that "
                "does so on the same targets is as good as one more human."
            )
        if self.alpha.value is not None and self.alpha.value < _TENTATIVE:
            yield (
                f"The raters agree too little to build on (alpha {self.alpha.value:.2f}; Krippendorff asks for "
                f"{_TENTATIVE:g}): talk over what the levels mean before judges are held to them."
            )
        single, alike = self.icc.agreement_single.value, self.icc.consistency_single.value
        if single is not None and alike is not None and alike - single > 0.05:  # a gap of .05 shows in two digits
            low, high = min(self.rater_means.values()), max(self.rater_means.values())
            yield (
                f"Some are kinder than others (means {low:.2f} to {high:.2f}): ICC {single:.2f} by agreement, "
                f"{alike:.2f} by consistency."
            )
        if self.detectable_rho is not None and self.bootstrap.clusters is not None:
            n = len(set(self.bootstrap.clusters))
            yield (
                f"{plural(n, 'source')} would show a judge's rho of {self.detectable_rho:.2f} in four of "
                f"five studies, were "
                "each worth one item; with a judge it is told what they are worth."
            )
        elif self.detectable_rho is not None:
            yield (
                f"{plural(self.n, 'item')} would show a judge's rho of {self.detectable_rho:.2f} in four "
                f"of five studies."
            )


def rater_agreement(
    grades: Grades, *, cluster: str | None = None, n_resamples: int = 1999, seed: int = 7
) -> RaterAgreement:
    """How well the raters agree.

    Args:
        cluster: the column of the items' sources, over which intervals are made.
    Raises:
        InvalidInput: no usable grade, or an item has no cluster.
    """
    import numpy as np

    items = [item for item in grades.items if grades.values.get(item)]
    if not items:
        out, missing = len(grades.out_of_scale), grades.n_missing
        raise InvalidInput(f"{grades.name}: no usable grade ({out} out of scale, {missing} missing)")
    matrix = grade_matrix(grades, items)
    held = [bool((~np.isnan(column)).any()) for column in matrix.T]
    bootstrap = Bootstrap(n_resamples=n_resamples, seed=seed, clusters=clusters_of(items, cluster, grades.clusters))
    several = sum(held) > 1
    return RaterAgreement(
        grades=grades,
        n=len(items),
        n_raters=sum(held),
        ceiling=human_ceiling(matrix, bootstrap=bootstrap, names=grades.raters),
        pairwise=pairwise_agreement(matrix, bootstrap=bootstrap, names=grades.raters) if several else None,
        alpha=krippendorff_alpha(matrix, bootstrap=bootstrap)
        if several
        else Estimate.of_nothing(ONE_RATER, n=len(items)),
        icc=intraclass_correlations(matrix, bootstrap=bootstrap),
        rater_means={
            rater: float(np.nanmean(column))
            for rater, column, any_ in zip(grades.raters, matrix.T, held, strict=True)
            if any_
        },
        detectable_rho=detectable_rho(len(items if bootstrap.clusters is None else set(bootstrap.clusters))),
        bootstrap=bootstrap,
    )
