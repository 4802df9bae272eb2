"""A Hub that speaks the endpoints which reading a dataset needs; `writable` makes one that takes commits."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DATASET = "owner/name"
GATED, INVALID = "hf_of_somebody_else", "hf_expired"  # tokens that are refused in their own ways
NAME = "data/test-00000-of-00001.parquet"


def build(content: bytes, log: Path, token: str = "", names: tuple[str, ...] = (NAME,)) -> FastAPI:
    """Return the application; it knows one dataset at one commit, with as many files of the same content.

    Every range that was asked for is written to `log`, one `start end` a line. With `token` the dataset is private: who
    sends none learns that there is none, and who sends another one is refused.
    """
    app = FastAPI()

    @app.middleware("http")
    async def admit(request: Request, call_next: Any) -> Response:
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token and sent != token:
            known = {"X-Error-Code": "GatedRepo"} if sent == GATED else {"X-Error-Code": "RepoNotFound"}
            if sent == INVALID:
                words = "Invalid credentials in Authorization header"
                return JSONResponse({"error": words}, 401, {"X-Error-Message": words})
            return JSONResponse({"error": "refused"}, 403 if sent == GATED else 401, known)
        return await call_next(request)  # type: ignore[no-any-return]

    oid = hashlib.sha1(content).hexdigest()
    entries = {name: {"type": "file", "path": name, "size": len(content), "oid": oid} for name in names}

    @app.get(f"/api/datasets/{DATASET}")
    @app.get(f"/api/datasets/{DATASET}/revision/main")
    @app.get(f"/api/datasets/{DATASET}/revision/{COMMIT}")
    def info() -> dict[str, Any]:
        return {
            "_id": "1",
            "id": DATASET,
            "sha": COMMIT,
            "private": False,
            "siblings": [{"rfilename": name} for name in names],
            "tags": [],
        }

    @app.post(f"/api/datasets/{DATASET}/paths-info/{COMMIT}")
    async def paths_info(request: Request) -> list[dict[str, Any]]:
        body = (await request.body()).decode()
        if found := [entry for name, entry in entries.items() if name.replace("/", "%2F") in body or name in body]:
            return found
        return [{"type": "directory", "path": "data", "oid": "2"}] if "data" in body else []

    @app.get(f"/api/datasets/{DATASET}/tree/{COMMIT}")
    @app.get(f"/api/datasets/{DATASET}/tree/{COMMIT}/{{path:path}}")
    def tree(path: str = "", recursive: bool = False) -> Any:
        directory = {"type": "directory", "path": "data", "oid": "2", "size": 0}
        if path == "data":
            return list(entries.values())
        if path:
            return JSONResponse({"error": "not found"}, 404, {"X-Error-Code": "EntryNotFound"})
        return [directory, *entries.values()] if recursive else [directory]

    @app.head(f"/datasets/{DATASET}/resolve/{COMMIT}/{{name:path}}")
    @app.get(f"/datasets/{DATASET}/resolve/{COMMIT}/{{name:path}}")
    def resolve(request: Request, name: str) -> Response:
        if name not in entries:
            return JSONResponse({"error": "not found"}, 404, {"X-Error-Code": "EntryNotFound"})
        headers = {"ETag": '"e"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        asked = request.headers.get("range")
        if request.method == "HEAD":
            return Response(headers=headers | {"Content-Length": str(len(content))})
        start, end = (0, len(content) - 1) if asked is None else map(int, asked.removeprefix("bytes=").split("-"))
        with log.open("a") as file:
            file.write(f"{start} {end}\n")
        part = content[start : end + 1]
        return Response(part, 206, headers | {"Content-Range": f"bytes {start}-{end}/{len(content)}"})

    @app.api_route("/{path:path}", methods=["GET", "HEAD", "POST"])
    def unknown(path: str) -> JSONResponse:
        code = "RevisionNotFound" if DATASET in path else "RepoNotFound"
        return JSONResponse({"error": "not found"}, 404, {"X-Error-Code": code})

    return app


@dataclass
class Repository:
    """A dataset that one token may write to. `commits`: what each added, path -> content; `broken`: it answers 500;
    `meanwhile`: what somebody else does after the next listing."""

    name: str
    token: str
    commits: list[dict[str, bytes]] = field(default_factory=list)
    broken: bool = False
    asked: int = 0
    meanwhile: Callable[[], object] | None = None

    @property
    def files(self) -> dict[str, bytes]:
        """What its last commit holds."""
        return {path: content for commit in self.commits for path, content in commit.items()}

    @property
    def sha(self) -> str:
        """Its last commit."""
        return f"{len(self.commits):040x}"


def writable(repository: Repository) -> FastAPI:
    """Return the application around a dataset: listing, preupload and commit as the Hub's client uses them."""
    app = FastAPI()
    base = f"/api/datasets/{repository.name}"

    @app.middleware("http")
    async def admit(request: Request, call_next: Any) -> Response:
        repository.asked += 1
        if repository.broken:
            return JSONResponse({"error": "down for maintenance"}, 500)
        if request.headers.get("authorization") != f"Bearer {repository.token}":
            return JSONResponse({"error": "Invalid username or password."}, 401, {"X-Error-Code": "RepoNotFound"})
        return await call_next(request)  # type: ignore[no-any-return]

    @app.get(base)
    @app.get(f"{base}/revision/main")
    def info() -> dict[str, Any]:
        head = {"_id": "1", "id": repository.name, "sha": repository.sha, "siblings": [], "tags": []}
        return {**head, "private": False}

    @app.get(f"{base}/tree/{{revision}}")
    def tree(revision: str) -> list[dict[str, Any]]:
        assert revision == repository.sha
        found = [{"type": "file", "path": p, "size": len(c), "oid": _oid(c)} for p, c in repository.files.items()]
        happening, repository.meanwhile = repository.meanwhile, None
        if happening is not None:
            happening()
        return found

    @app.post(f"{base}/preupload/main")
    async def preupload(request: Request) -> dict[str, Any]:
        asked = (await request.json())["files"]
        known = repository.files
        return {
            "files": [
                {
                    "path": one["path"],
                    "uploadMode": "regular",
                    "shouldIgnore": False,
                    "oid": _oid(known[one["path"]]) if one["path"] in known else None,
                }
                for one in asked
            ]
        }

    @app.post(f"{base}/commit/main")
    async def commit(request: Request) -> Any:
        lines = [json.loads(line) for line in (await request.body()).split(b"\n") if line]
        assert lines[0]["key"] == "header"
        assert lines[0]["value"]["summary"]
        if lines[0]["value"].get("parentCommit", repository.sha) != repository.sha:
            return JSONResponse({"error": "A commit has happened since. Please refresh and try again."}, 412)
        files = [line["value"] for line in lines[1:] if line["key"] == "file"]
        repository.commits.append({one["path"]: base64.b64decode(one["content"]) for one in files})
        oid = repository.sha
        return {
            "success": True,
            "commitOid": oid,
            "commitUrl": f"https://huggingface.co/datasets/{repository.name}/commit/{oid}",
        }

    return app


def _oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
