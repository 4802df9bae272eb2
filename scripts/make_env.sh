#!/usr/bin/env bash
# Creates .venv or brings it up to date with a lock file: `scripts/make_env.sh requirements.lock`. Uses uv where there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=$1
python=${PYTHON:-python3}
"$python" - <<'PY' || { echo "Python 3.11 or newer is needed; name one: make env PYTHON=python3.11" >&2; exit 1; }
import sys
sys.exit(sys.version_info < (3, 11))
PY
uv=$(command -v uv || { [ -x .venv/bin/uv ] && echo .venv/bin/uv; } || true)
packages=$(grep -c '^[a-z0-9].*==' "$lock")
if [ -n "$uv" ]; then with=uv; else with="pip, in a minute or two"; fi
echo "Installing $packages packages of $lock into .venv with $with"
if [ ! -x .venv/bin/python ]; then
  if [ -n "$uv" ]; then "$uv" venv --quiet --python "$python" .venv; else "$python" -m venv .venv; fi
fi
if [ -n "$uv" ]; then
  "$uv" pip install --python .venv/bin/python --require-hashes -r "$lock"
else
  # One line a package, so that somebody who waits sees how far it is; what was there before is not worth a line.
  .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off --require-hashes -r "$lock" |
    awk '/^Collecting/ { printf "\r\033[K  %d of %d %s", ++n, total, $2; fflush() } /^Installing/ { printf "\r\033[K  installing ...\n"; fflush() }' total="$packages"
fi
# The command `vlrb`, from this checkout.
if [ -n "$uv" ]; then
  "$uv" pip install --quiet --python .venv/bin/python --no-deps --editable .
else
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
fi
echo "Ready: .venv/bin/python"
