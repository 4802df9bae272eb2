"""A Hub that speaks the routes which creating a Space needs; what it was told is in `spaces` and `buckets`."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import yaml
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

_COLORS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
_SDKS = ("gradio", "docker", "static")


@dataclass
class FakeSpace:
    """A Space as the Hub knows it."""

    sdk: str
    private: bool = False
    secrets: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    volumes: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    commits: int = 0


@dataclass
class FakeSpaceHub:
    """All that one token owns. `stages`: what a Space answers, one after the other; the last one stays."""

    token: str
    spaces: dict[str, FakeSpace] = field(default_factory=dict)
    buckets: dict[str, str] = field(default_factory=dict)  # name -> visibility
    stages: list[str] = field(default_factory=lambda: ["BUILDING", "RUNNING"])
    checked_readmes: list[str] = field(default_factory=list)  # kinds of repository whose README was checked
    requests: int = 0
    fails_at: int | None = None  # the number of the request that is refused, before it does anything

    def application(self) -> FastAPI:
        """Return the server."""
        app = FastAPI()
        base = "/api/spaces/{owner}/{name}"

        @app.middleware("http")
        async def admit(request: Request, call_next: Any) -> Response:
            if request.headers.get("authorization") != f"Bearer {self.token}":
                return JSONResponse({"error": "Invalid username or password."}, 401)
            self.requests += 1
            if self.requests == self.fails_at:
                return JSONResponse({"error": "refused"}, 400)
            return await call_next(request)  # type: ignore[no-any-return]

        @app.post("/api/buckets/{owner}/{name}")
        async def bucket(owner: str, name: str, *, request: Request) -> Any:
            known = f"{owner}/{name}" in self.buckets
            self.buckets.setdefault(f"{owner}/{name}", (await request.json())["visibility"])
            found = {"url": f"https://huggingface.co/buckets/{owner}/{name}"}
            return JSONResponse(found | {"error": "exists"}, 409) if known else found

        @app.post("/api/repos/create")
        async def create(request: Request) -> Any:
            body = await request.json()
            full = f"{body['organization']}/{body['name']}"
            if full in self.spaces:
                return JSONResponse({"error": "You already created this space", "url": full}, 409)
            self.spaces[full] = FakeSpace(body["sdk"], body.get("visibility") == "private")
            return {"url": f"https://huggingface.co/spaces/{full}", "name": full}

        @app.post("/api/validate-yaml")
        async def validate(request: Request) -> Any:
            body = await request.json()
            self.checked_readmes.append(body["repoType"])
            errors = [{"message": found} for found in _errors(body["content"])]
            return JSONResponse({"errors": errors, "warnings": []}, 400 if errors else 200)

        @app.get(base)
        def info(owner: str, name: str) -> Any:
            if f"{owner}/{name}" not in self.spaces:
                return JSONResponse({"error": "not found"}, 404, {"X-Error-Code": "RepoNotFound"})
            return {"_id": "1", "id": f"{owner}/{name}", "sha": "0" * 40, "private": False, "siblings": [], "tags": []}

        @app.get(f"{base}/runtime")
        def runtime(owner: str, name: str) -> dict[str, Any]:
            stage = self.stages.pop(0) if len(self.stages) > 1 else self.stages[0]
            hardware = {"current": "cpu-basic", "requested": "cpu-basic"}
            volumes = self.spaces[f"{owner}/{name}"].volumes
            return {"stage": stage, "hardware": hardware, "gcTimeout": None, "volumes": volumes}

        @app.get(f"{base}/{{kind}}s")
        def settings(owner: str, name: str, *, kind: str) -> dict[str, Any]:
            found = self.spaces[f"{owner}/{name}"]
            if kind == "secret":  # the Hub never returns a value of them
                return {key: {"key": key} for key in found.secrets}
            return {key: {"value": value} for key, value in found.variables.items()}

        @app.post(f"{base}/{{kind}}")
        async def setting(owner: str, name: str, *, kind: str, request: Request) -> Any:
            body, found = await request.json(), self.spaces[f"{owner}/{name}"]
            kept = found.secrets if kind == "secrets" else found.variables
            kept[body["key"]] = body["value"]
            return {key: {"value": value} for key, value in found.variables.items()}

        @app.put(f"{base}/volumes")
        async def volumes(owner: str, name: str, *, request: Request) -> dict[str, Any]:
            self.spaces[f"{owner}/{name}"].volumes = (await request.json())["volumes"]
            return {}

        @app.post(f"{base}/preupload/main")
        async def preupload(request: Request) -> dict[str, Any]:
            asked = (await request.json())["files"]
            return {"files": [{"path": one["path"], "uploadMode": "regular", "shouldIgnore": False} for one in asked]}

        @app.post(f"{base}/commit/main")
        async def commit(owner: str, name: str, *, request: Request) -> dict[str, Any]:
            found = self.spaces[f"{owner}/{name}"]
            lines = [json.loads(line) for line in (await request.body()).split(b"\n") if line]
            files = [line["value"] for line in lines[1:] if line["key"] == "file"]
            found.files |= {one["path"]: base64.b64decode(one["content"]) for one in files}
            found.commits += 1
            oid = hashlib.sha1(str(found.commits).encode()).hexdigest()
            return {"success": True, "commitOid": oid, "commitUrl": f"https://huggingface.co/spaces/x/y/commit/{oid}"}

        return app


def _errors(read_me: str) -> list[str]:
    """Return what the Hub refuses in the metadata at the top of a Space's README."""
    begin, _, rest = read_me.partition("---\n")
    head, end, _ = rest.partition("\n---\n")
    try:
        found = yaml.safe_load(head) if not begin and end else None
    except yaml.YAMLError as error:
        return [str(error)]
    if not isinstance(found, dict):
        return ["empty or missing yaml metadata"]
    wrong = [name for name in ("colorFrom", "colorTo") if found.get(name, "gray") not in _COLORS]
    return [f'"{name}" must be one of the colors' for name in wrong] + ([] if found.get("sdk") in _SDKS else ['"sdk"'])
