"""Services of the web process, built once from the settings, the database and the signing key."""

from __future__ import annotations

from functools import partial
from typing import Any

from auth.settings import Mode
from benchmark.disclosure import PUBLIC
from leaderboard.board.reported_results import bundled_results
from predictions.sandbox import read_isolated
from receipts.signing import Signer
from settings import Settings
from storage import label_imports, weak_hiding
from storage.database import Database
from storage.uploads import Uploads
from submissions.quota import QuotaPolicy
from submissions.service import SubmissionService


def submission_service(settings: Settings, database: Database, signer: Signer) -> SubmissionService:
    read = partial(read_isolated, benchmark=settings.manifest_path or settings.benchmark)
    policy = QuotaPolicy(label_revision=settings.label_revision)  # without sign-in there is nobody to hold a quota
    if settings.identity.mode is Mode.OPENID:
        policy = QuotaPolicy(
            settings.quota_per_day,
            settings.quota_per_year,
            settings.quota_exempt_orgs,
            settings.label_revision,
            settings.account_age_days,
            settings.approve_first_upload,
            settings.null_votes_approval / 100,
            settings.null_votes_probe / 100,
            settings.ladder_margin / 100 or None,
        )
    stated = partial(policy_facts, settings)
    return SubmissionService(
        database, Uploads(settings.uploads_url), read, settings.benchmark, signer, policy, stated, bundled_results
    )


def policy_facts(settings: Settings, session: Any) -> dict[str, Any]:
    """Return what governs submitting beside the quotas; recorded with every submission."""
    here = settings.identity.mode
    revisions = [spec.revision for spec in settings.label_specs] or [settings.label_revision]
    configured = dict.fromkeys(revisions, PUBLIC) | dict(settings.hidden_labels)
    return {
        "sign_in": settings.identity.issuer if here is Mode.OPENID else None,
        "mode": here.value,
        "upload_limit_bytes": settings.upload_limit_bytes,
        "requests_per_minute": settings.requests_per_minute or None if here is not Mode.LOCAL else None,
        "disclosure": label_imports.disclosure_policy(session, settings.benchmark, configured),
        "weakly_hidden": _weakly_hidden(session, settings.benchmark),
    }


def _weakly_hidden(session: Any, benchmark: str) -> dict[str, str]:
    """Label revision -> what everybody may know of how little hides it."""
    found = weak_hiding.known(session, benchmark, drafts=False)
    return {one.revision: one.sentence for one in sorted(found, key=lambda one: -one.submissions)}
