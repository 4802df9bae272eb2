"""The settings of a process, each declared once. `from_env` is the only reader of environment variables.

`WorkerSettings` is what the worker and the commands on the machine need; `Settings` adds what the web process needs.
`docs/settings.md` is generated from the declarations.
"""

from settings.benchmarks import LabelSpec, ServedSettings
from settings.declared import SettingsError
from settings.web import SECRET_NAMES, SETTING_NAMES, Settings
from settings.worker import WorkerSettings

__all__ = [
    "SECRET_NAMES",
    "SETTING_NAMES",
    "LabelSpec",
    "ServedSettings",
    "Settings",
    "SettingsError",
    "WorkerSettings",
]
