"""A web server on a thread of its own."""

import socket
import ssl
import time
from threading import Thread
from typing import Any

import uvicorn

from falkirk.core.errors import ConnectorError

START_SECONDS = 30.0
STOP_SECONDS = 5


class Serving:
    """A server that runs until it is closed; its port is known when it is made."""

    def __init__(
        self,
        app: Any,
        host: str,
        port: int,
        certificate: str | None = None,
        private_key: str | None = None,
        client_authority: str | None = None,
    ) -> None:
        """Binds, starts, and waits until it serves. Port 0 is any free one."""
        self._socket = bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            host=host,
            port=self.port,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
            ssl_certfile=certificate,
            ssl_keyfile=private_key,
            ssl_ca_certs=client_authority,
            ssl_cert_reqs=ssl.CERT_NONE if client_authority is None else ssl.CERT_REQUIRED,
        )
        self._server, self._error = uvicorn.Server(config), list[BaseException]()
        self._thread = Thread(target=self._run, name="falkirk-http", daemon=True)
        self._thread.start()
        self._wait(host)

    def close(self) -> None:
        """Stops; open connections get what they wait for first."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        except BaseException as error:
            self._error.append(error)

    def _wait(self, host: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                self.close()
                reason = f": {self._error[0]}" if self._error else ""
                raise ConnectorError(
                    f"no server could be started at {host}:{self.port}{reason}. Look at its"
                    " certificate and private key, if it has some"
                )
            time.sleep(0.005)


def bound(host: str, port: int) -> socket.socket:
    """A socket of ``host`` and ``port`` that may be listened to."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise ConnectorError(
            f"{host}:{port} cannot be listened to: {error.strerror or error}. Choose another port,"
            " or end who has it"
        ) from error
    return made
