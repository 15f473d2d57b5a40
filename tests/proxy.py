"""A TCP proxy on loopback that can be cut: what goes through it is then neither passed on nor refused."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading


class Proxy:
    """Passes everything between its own port and a server's, until it is cut; mended, it goes on where it stopped."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._whole = threading.Event()
        self._whole.set()
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Let nothing through from now on."""
        self._whole.clear()

    def mend(self) -> None:
        """Let everything through again."""
        self._whole.set()

    def close(self) -> None:
        """Take no more connections."""
        self._closed = True
        self._whole.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self._whole.wait()
            with contextlib.suppress(OSError):
                far = socket.create_connection(self._target)
                threading.Thread(target=self._pass, args=(near, far), daemon=True).start()

    def _pass(self, near: socket.socket, far: socket.socket) -> None:
        with near, far, selectors.DefaultSelector() as selector, contextlib.suppress(OSError):
            selector.register(near, selectors.EVENT_READ, far)
            selector.register(far, selectors.EVENT_READ, near)
            while not self._closed:
                for key, _ in selector.select(0.2):
                    self._whole.wait()
                    data = key.fileobj.recv(65536)
                    if not data:
                        return
                    key.data.sendall(data)
