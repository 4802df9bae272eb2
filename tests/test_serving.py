"""Two runs of the suite at once never get one another's ports."""

from __future__ import annotations

import socket

import pytest

from tests.factories.services.serving import held_port


def bound(port: int, *, shared: bool = False) -> socket.socket:
    one = socket.socket()
    if shared:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(("127.0.0.1", port))
    return one


def test_a_held_port_is_given_to_nobody_but_who_asks_for_it_as_servers_do() -> None:
    with held_port() as port:
        with socket.socket() as visitor:
            assert visitor.connect_ex(("127.0.0.1", port)) != 0
        with pytest.raises(OSError):
            bound(port).close()
        given = set()
        for _ in range(3000):
            with bound(0) as other:
                given.add(other.getsockname()[1])
        assert port not in given
        with bound(port, shared=True) as server:
            server.listen()
            socket.create_connection(("127.0.0.1", port)).close()
            with pytest.raises(OSError):
                bound(port, shared=True).close()  # it has one server
