"""OpenAPI descriptions and examples of the routes for submitters. Values only."""

from __future__ import annotations

from common.openapi import answers
from receipts.openapi_examples import RECEIPT

_PROBLEM = {"line": 12, "id": "ID", "field": "votes", "code": "unknown-item", "message": "No pair has this id."}
_SAMPLE = {
    "id": "ID",
    "reply": "1. Accuracy: ... Overall Judgment: Answer 1 is better.",
    "read": "answer 1 is better",
    "vote": 1,
}
_TOO_MUCH = "More requests or bytes (`too-many-bytes`) than one address may send; `Retry-After` says how long to wait."
_NO_ROOM = "The service has no room for uploads at the moment."
CHECK = answers(
    "What was understood of the file. `ok` is false where there is a problem; at most 100 are listed. `samples`: up to "
    "three replies of a file that could be read as a whole, with what was read from each.",
    {
        "ok": False,
        "format": "native",
        "benchmark": "vl-rewardbench",
        "revision": "v2",
        "items": 1246,
        "votes_per_item": 5,
        "parse_rate": 0.921,
        "first_shown_rate": 0.504,
        "one_order": False,
        "warnings": [],
        "problems": [_PROBLEM],
        "problem_count": 1,
        "samples": [_SAMPLE],
    },
    problems={
        (413, "too-large"): "The file is larger than this service takes.",
        (415, "file-rejected"): "This is no file of predictions.",
        (429, "too-many-requests"): _TOO_MUCH,
        (500, "internal"): "A fault of the service, not of your file.",
        (507, "no-room"): _NO_ROOM,
    },
)
SUBMIT = answers(
    "Taken and queued. `duplicate`: you had submitted these bytes before, and nothing changed. Receipt abridged here.",
    {
        "id": "e4kq2m7xwzta",
        "duplicate": False,
        "receipt": RECEIPT,
        "status_url": "/api/v1/submissions/e4kq2m7xwzta",
    },
    problems={
        (403, "account-too-young"): "Your account may submit later; `next_at` says from when.",
        (409, "name-taken"): "You have used this model and version for another file. Also: `too-similar` to somebody "
        "else's name, and `awaiting-approval` while your first submission waits for a maintainer.",
        (413, "too-large"): "The file is larger than this service takes.",
        (415, "file-rejected"): "This is no file of predictions.",
        (422, "file-rejected"): "The file or a field has problems; `problems` lists them as the check does. Also: "
        "`unreadable` where under 5% of the votes can be read, and `mostly-unreadable` where under half can and the "
        "field `accept_unreadable` is not true; both with `samples`, replies and what was read from each.",
        (429, "quota-used"): f"You have to wait; `next_at` says until when. Also, as `too-many-requests`: {_TOO_MUCH}",
        (500, "internal"): "A fault of the service, not of your file.",
        (507, "no-room"): _NO_ROOM,
    },
    status=202,
)
STATE = answers(
    "Where the submission is: awaiting-approval, queued, scoring, scored, failed or withdrawn. Others "
    "than the owner get model, version, reason, attempt and the receipt's address when it is public, not before.",
    {
        "id": "e4kq2m7xwzta",
        "state": "queued",
        "position": 2,
        "eta_seconds": 2.0,
        "reason": None,
        "entry_url": None,
        "model": "My judge 7B",
        "version": "2026-11",
        "created_at": "2026-11-21T22:00:00Z",
        "attempt": 1,
        "published": True,
        "anonymous_until": None,
        "receipt_url": "/api/v1/submissions/e4kq2m7xwzta/receipt",
    },
    problems={(404, "unknown-submission"): "There is no submission with this id."},
)
_OWNERS = {
    (403, "not-allowed"): "The entry is somebody else's.",
    (404, "unknown-submission"): "There is no submission with this id.",
}
PUBLISH = answers("The entry is on the board, or was there already.", {"changed": True}, problems=_OWNERS)
ANONYMITY = answers(
    "The entry is shown without account, organisation and links until that day.",
    {"changed": True},
    problems={
        **_OWNERS,
        (422, "metadata-rejected"): "The day has passed or is too late, or your name was shown already.",
        (429, "too-many-changes"): "The day was moved 20 times in 24 hours; `next_at` is when it can be again.",
    },
)
POLICY = answers(
    "The rules of this installation. Abridged here.",
    {
        "given_back": "when the service fails to score a submission",
        "dry_runs": "free and unlimited, without an account; they touch no label",
        "coverage": "every pair of one known revision once, with the same number of votes",
        "votes_per_item": [1, 16],
        "disclosure": {"v2": "public"},
    },
)
QUOTA = answers(
    "`next_at` is null where you may submit now; `awaiting_approval` is your first submission while it waits; `paused` "
    "is what maintainers say while they take no submissions.",
    {
        "account": "7",
        "name": "somebody",
        "attempts": 2,
        "next_at": "2026-11-22T22:00:00Z",
        "label_revision": "v2",
        "awaiting_approval": None,
        "paused": None,
    },
)
EVENTS = answers(
    "An event that concerns several entries (a re-score) is listed for each of them.",
    {
        "events": [
            {
                "seq": 117,
                "at": "2026-11-21T22:00:00Z",
                "kind": "entry.flagged",
                "entry": "e4kq2m7xwzta",
                "model": "My judge 7B",
                "version": "2026-11",
                "sentence": "It carries a public note: trained on these pairs",
                "url": "/entries/e4kq2m7xwzta",
            }
        ]
    },
    problems={(401, "sign-in-needed"): "Nobody is signed in."},
)
HEALTH = answers("This process answers.", {"status": "ok"})
READY = answers(
    "The database answers, and a worker has shown itself lately that holds the labels which the board shows.",
    {"status": "ready", "worker_age_seconds": 1.2, "paused": None, "alarms": []},
    problems={
        (503, "worker-offline"): "No worker, none with the board's labels (`labels-missing`), or no database; "
        "submissions are kept where the database is there. Or a full disk (`disk-full`), or a worker that does not "
        "get on (`worker-stuck`)."
    },
)
