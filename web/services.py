"""Services of the web process, built once from the settings, the database and the signing key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry

import leaderboard.board.pages
from auth import Identity
from auth.crypto import random_id
from auth.render import AccountPages
from auth.service import AuthService
from auth.settings import Mode
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.reported_results import bundled_results
from leaderboard.site.cache import BoardCache
from leaderboard.site.queries import DatabaseSnapshots
from leaderboard.site.render import account_pages
from leaderboard.site.render_context import RenderContext, contexts_of
from maintenance.action_context import ActionContext
from operation.alarms import Alarms, service_alarms
from operation.litestream import Litestream
from operation.metrics import InstallationCollector, make_registry
from operation.restore import replicating_litestream
from receipts.jws import Signer
from receipts.service import ReceiptService
from settings import ServedSettings, Settings
from storage.database import Database, Session
from storage.files.spool import Spool
from storage.files.uploads import Uploads
from storage.labels import label_levels
from submissions.activity import ActivityRules
from submissions.metadata import parse_metadata
from submissions.notifications.delivery import EmailDelivery
from submissions.notifications.subscriptions import EmailSubscriptions
from submissions.quota import QuotaPolicy
from submissions.sandbox import read_isolated
from submissions.service import SubmissionService
from submissions.status import Status, get_status
from web.actions import ACTIONS


@dataclass(frozen=True, slots=True)
class BenchmarkServices:
    """What routes and pages of one benchmark work with."""

    served: ServedSettings
    submissions: SubmissionService
    submission_status: Callable[[str, Identity], Status | None]
    receipts: ReceiptService
    account_pages: AccountPages
    board: BoardCache
    items: ItemCatalog
    actions: ActionContext  # each request adds its user
    activity: ActivityRules  # what owners may be told of their entries

    @property
    def id(self) -> str:
        """The id of the benchmark."""
        return self.served.id

    @property
    def context(self) -> RenderContext:
        """The context of its pages."""
        return self.board.context


@dataclass(frozen=True, slots=True)
class Services:
    """What routes, pages and background tasks work with. `benchmarks`: those that are served, the first one first."""

    settings: Settings
    database: Database
    auth: AuthService
    spool: Spool
    registry: CollectorRegistry
    alarms: Alarms
    litestream: Litestream | None = None
    benchmarks: tuple[BenchmarkServices, ...] = ()
    email: EmailDelivery | None = None  # where SMTP_URL is set

    @property
    def first(self) -> BenchmarkServices:
        """The benchmark whose addresses have no prefix."""
        return self.benchmarks[0]


def build_services(settings: Settings, database: Database, *, signer: Signer) -> Services:
    """Return the services; none of them reads the database yet."""
    litestream = replicating_litestream(settings.database_url, settings.replica)
    titles = {served.id: served.spec.title for served in settings.served}
    alarms: Alarms = partial(service_alarms, paths=(settings.state_dir,), litestream=litestream, benchmarks=titles)
    registry = make_registry(InstallationCollector(database, settings.state_dir, alarms, litestream))
    contexts = contexts_of([served.spec for served in settings.served], local_mode=settings.identity.mode is Mode.LOCAL)
    services = Services(
        settings,
        database,
        auth=AuthService.create(database, settings.identity),
        spool=Spool(settings.spool_dir, settings.upload_limit_bytes),
        registry=registry,
        alarms=alarms,
        litestream=litestream,
    )
    benchmarks = tuple(
        _benchmark_services(services, served, context, signer=signer)
        for served, context in zip(settings.served, contexts, strict=True)
    )
    email = _email_delivery(settings, services.auth, rules=[benchmark.activity for benchmark in benchmarks])
    return replace(services, benchmarks=benchmarks, email=email)


def _email_delivery(settings: Settings, auth: AuthService, *, rules: list[ActivityRules]) -> EmailDelivery | None:
    if (server := settings.mail_server) is None:
        return None
    subscriptions = EmailSubscriptions(auth.database, auth.seal, site=settings.identity.public_url)
    brand, name = settings.spec.brand, f"web-{random_id()[:8]}"
    return EmailDelivery(auth.database, subscriptions, server=server, rules=rules, brand=brand, name=name)


def _benchmark_services(
    common: Services, served: ServedSettings, context: RenderContext, *, signer: Signer
) -> BenchmarkServices:
    settings, database, spec = common.settings, common.database, served.spec
    snapshots = DatabaseSnapshots(database, spec)
    items = ItemCatalog(served.manifest_path, served.item_texts_path, relations_body=snapshots.relations, spec=spec)
    public_url, warm = settings.identity.public_url, leaderboard.board.pages.front_page
    return BenchmarkServices(
        served=served,
        submissions=_submission_service(common, served, signer),
        submission_status=partial(get_status, database, spec),
        receipts=ReceiptService(database, spec, signer=signer),
        account_pages=account_pages(context),
        board=BoardCache(snapshots, context=context, public_url=public_url, warm=warm),
        items=items,
        actions=ActionContext(
            database=database,
            benchmark=served.id,
            parse=parse_metadata,
            shipped=partial(bundled_results, spec),
            identity=settings.identity,
            paths=(settings.state_dir,),
            import_dirs=() if settings.role == "web" else (settings.import_dir,),
            items=items,
            public_events=ACTIONS.public_events(),
            alarms=common.alarms,
        ),
        activity=ActivityRules(spec, ACTIONS.owner_sentences()),
    )


def _submission_service(common: Services, served: ServedSettings, signer: Signer) -> SubmissionService:
    settings, litestream = common.settings, common.litestream
    return SubmissionService(
        common.database,
        Uploads(settings.uploads_url),
        read=partial(read_isolated, benchmark=served.manifest_path or served.id, definitions=settings.definitions),
        benchmark=served.id,
        signer=signer,
        policy=_quota_policy(settings, served),
        stated=partial(_policy_facts, settings, served),
        shipped=partial(bundled_results, served.spec),
        replicated=litestream.wait if litestream is not None else None,
    )


def _quota_policy(settings: Settings, served: ServedSettings) -> QuotaPolicy:
    if settings.identity.mode is not Mode.OPENID:  # without sign-in there is nobody to hold a quota
        return QuotaPolicy(label_revision=served.label_revision)
    return QuotaPolicy(
        per_day=settings.quota_per_day,
        per_year=settings.quota_per_year,
        exempt_organisations=settings.quota_exempt_orgs,
        label_revision=served.label_revision,
        approve_first=settings.approve_first_upload,
    )


def _policy_facts(settings: Settings, served: ServedSettings, session: Session) -> dict[str, Any]:
    """Return what governs submitting beside the quotas; recorded with every submission."""
    here = settings.identity.mode
    return {
        "sign_in": settings.identity.issuer if here is Mode.OPENID else None,
        "mode": here.value,
        "upload_limit_bytes": settings.upload_limit_bytes,
        "requests_per_minute": settings.requests_per_minute or None if here is not Mode.LOCAL else None,
        "disclosure": label_levels.of_known(session, served.id),
        "measured": label_levels.measured(session, served.id),
    }
