"""What services find imported and filled when they fork; importing this does it, in the server of forks alone."""

from __future__ import annotations

import gc
from tempfile import TemporaryDirectory

import app  # noqa: F401
import leaderboard.site.cache
import web.gradio_app  # noqa: F401
from leaderboard.site.render import environment
from receipts.jws import open_signer
from settings import Settings
from vlrb.common.translations import languages
from web.app import create_app
from web.services import build_services
from web.startup import open_service_database, prepare_files


def prepare_service() -> None:
    """Fill the caches of this process: translations and compiled templates."""
    with TemporaryDirectory() as folder:
        settings = Settings.from_env({"DATA_DIR": folder, "IDENTITY": "local"})
        prepare_files(settings)
        database = open_service_database(settings)
        services = build_services(
            settings, database, signer=open_signer(settings.receipt_key.get_secret_value(), settings.keys_dir)
        )
        create_app(services, on_misconfigured=lambda: None)
        for language in languages():
            templates = environment(services.first.context.in_language(language))
            for name in templates.list_templates(filter_func=_is_of_a_page):
                templates.get_template(name)
        database.close()


def _is_of_a_page(template: str) -> bool:
    return template.endswith(".html") and template != "submit_parts.html"  # which has an environment of its own


leaderboard.site.cache.BROTLI_QUALITY = 5  # a board is compressed in a twentieth of the time
prepare_service()
gc.freeze()  # no child writes into the pages of what all share
