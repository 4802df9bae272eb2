#!/usr/bin/env bash
# Installs Chromium and PostgreSQL where they are missing and can be installed, says which suites cannot run and why, and runs
# the rest in four processes (on two cores: often one of them waits for a service or a page), each file in one of them. With CI
# set, nothing may be missing, but for the real files with REAL_FILES=absent. Arguments go to pytest (-n 0 runs everything in one
# process, for a debugger). `--unit` as the first argument chooses quick tests that need none of these.
set -euo pipefail
cd "$(dirname "$0")/.."

export HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1 GRADIO_ANALYTICS_ENABLED=False
unset PYTHONDONTWRITEBYTECODE  # each process would compile the tests and what they import anew
# The files of tests live in memory where there is room (KiB): on a disk SQLite waits at each commit.
room=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1) || true
if [ -z "${TMPDIR:-}" ] && [ "${room:-0}" -gt 8000000 ]; then
  TMPDIR=$(mktemp -d /dev/shm/tests.XXXXXX)
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi
if [ "${1:-}" = --unit ]; then
  .venv/bin/python -m pytest -n 2 --dist worksteal "$@"
  exit
fi

have_shell() { command -v chromium-headless-shell; }  # where both are, tests take it: it is the lighter one
have_browser() { have_shell || command -v chromium || command -v chromium-browser || command -v google-chrome; }
have_postgres() { command -v initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb"; }

wanted=()
have_shell >/dev/null || wanted+=(chromium-headless-shell)
have_postgres >/dev/null || wanted+=(postgresql)
if [ ${#wanted[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing for the tests: ${wanted[*]}"
  export DEBIAN_FRONTEND=noninteractive
  {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${wanted[@]}"
    have_browser || apt-get install -y -qq --no-install-recommends chromium  # not every distribution has the lighter one
    have_postgres || apt-get install -y -qq --no-install-recommends postgresql
  } >/dev/null 2>&1 || true
fi

scripts/make_s3_env.sh || true

missing=()
skip=()
have_browser >/dev/null || { missing+=("browser tests (no Chromium)"); skip+=("not browser"); }
have_postgres >/dev/null || { missing+=("PostgreSQL tests (no PostgreSQL server)"); skip+=("not postgres"); }
[ -x .venv-s3/bin/moto_server ] || missing+=("tests against S3 (scripts/make_s3_env.sh failed)")
if [ "${REAL_FILES:-}" = absent ]; then
  echo "Left out: tests on the real files (REAL_FILES=absent)"
else
  [ -d ../shared/data ] || missing+=("tests on the real files (no ../shared/data)")
fi
if [ ${#missing[@]} -gt 0 ]; then
  printf 'Cannot run here: %s\n' "${missing[@]}"
  if [ -n "${CI:-}" ]; then echo "CI is set, so nothing may be missing." >&2; exit 1; fi
fi

arguments=()
for expression in "${skip[@]}"; do
  [ ${#arguments[@]} -gt 0 ] && arguments=(-m "${arguments[1]} and $expression") || arguments=(-m "$expression")
done
.venv/bin/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder "${arguments[@]}" "$@"
