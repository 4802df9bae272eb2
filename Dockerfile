FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    GRADIO_ANALYTICS_ENABLED=False HF_HUB_DISABLE_TELEMETRY=1

# Hugging Face runs a Docker Space as user 1000.
RUN useradd --create-home --uid 1000 app && install -d -o app /data
WORKDIR /app
COPY --from=ghcr.io/astral-sh/uv:0.13.9 /uv /bin/uv
COPY requirements.txt requirements.lock ./
RUN uv pip install --system --no-cache --require-hashes -r requirements.txt -c requirements.lock
COPY . .
# docker build --build-arg COMMIT=$(git rev-parse HEAD): /metrics and health name it.
ARG COMMIT=""
RUN if [ -n "$COMMIT" ]; then echo "$COMMIT" > COMMIT; fi
# Compiled once here, because the container may run with a read-only root: docker run --read-only --tmpfs /tmp -v data:/data
RUN python -m compileall -q -j 0 .

USER app
# Everything that is written goes to DATA_DIR, and to /tmp while a request lasts.
ENV DATA_DIR=/data HOST=0.0.0.0 PORT=7860 HOME=/tmp HF_HOME=/data/huggingface
VOLUME /data
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]

# Others can reach a container: it wants sign-in (docs/settings.md), or -e INSECURE_ALLOW_PUBLIC=1
CMD ["python", "app.py"]
