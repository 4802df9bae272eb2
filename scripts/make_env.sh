#!/usr/bin/env bash
# Creates .venv or brings it up to date: `scripts/make_env.sh requirements.txt`. requirements.lock has all versions and hashes.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=$1
python=${PYTHON:-python3}
"$python" - <<'PY' || { echo "Python 3.11 or newer is needed; name one: make env PYTHON=python3.11" >&2; exit 1; }
import sys
sys.exit(sys.version_info < (3, 11))
PY
uv=$(command -v uv || { [ -x .venv/bin/uv ] && echo .venv/bin/uv; } || true)
[ -x .venv/bin/python ] || if [ -n "$uv" ]; then "$uv" venv --quiet --python "$python" .venv; else "$python" -m venv .venv; fi
if [ -z "$uv" ]; then
  awk '/^uv==/ { found = 1 } found { print } found && !/\\$/ { exit }' requirements.lock > .venv/uv.lock
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.lock
  uv=.venv/bin/uv
fi
echo "Installing what $wanted names into .venv"
"$uv" pip install --python .venv/bin/python --require-hashes -r "$wanted" -c requirements.lock
"$uv" pip install --quiet --python .venv/bin/python --no-deps --editable .  # the command `vlrb`, from this checkout
echo "Ready: .venv/bin/python"
