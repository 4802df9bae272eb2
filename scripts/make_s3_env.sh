#!/usr/bin/env bash
# Creates .venv-s3 with moto's S3 server: botocore wants an older python-dateutil, so it cannot live in .venv. Tests call this.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -e .venv-s3/.ready ] && exit 0
python=${PYTHON:-.venv/bin/python}
uv=$(command -v uv || { [ -x .venv/bin/uv ] && echo .venv/bin/uv; } || true)
if [ -n "$uv" ]; then
  "$uv" venv --quiet --clear --python "$python" .venv-s3
  "$uv" pip install --quiet --python .venv-s3/bin/python 'moto[server]==5.2.5'
else
  "$python" -m venv --clear .venv-s3
  .venv-s3/bin/python -m pip install --quiet --disable-pip-version-check 'moto[server]==5.2.5'
fi
touch .venv-s3/.ready
