"""A stand-in for Open MPI's launcher: starts ranks in process groups of their own, and ends them when it is told to."""

from __future__ import annotations

import signal
import subprocess
import sys


def main() -> None:
    """Start as many ranks as the command line says, and wait until they end."""
    rank = "import time; time.sleep(600)"
    ranks = [subprocess.Popen([sys.executable, "-c", rank], process_group=0) for _ in range(int(sys.argv[1]))]

    def end(*_: object) -> None:
        for process in ranks:
            process.terminate()
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    for process in ranks:
        process.wait()


if __name__ == "__main__":
    main()
