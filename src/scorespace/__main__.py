"""The command `scorespace`: prepares streams and signals before anything slow is imported."""

import os
import signal
import sys
import warnings
from types import FrameType


def main() -> None:
    """Run the command line; an interrupt at any moment ends it without a traceback and leaves no temporary file."""
    _open_streams()
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"):
        number = getattr(signal, name, None)
        # What is ignored stays ignored, as under nohup; SIGPIPE is ignored by Python itself.
        if number is not None and (name == "SIGPIPE" or signal.getsignal(number) is not signal.SIG_IGN):
            signal.signal(number, _end_by_signal)
    # One thread: sums of products have the same last digit on every machine, and do not compete with our own threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not sys.warnoptions:  # warnings of libraries are for developers; users read notes
        warnings.simplefilter("ignore")
        for shown in ("the plug-in", ".* is now called"):
            warnings.filterwarnings("always", message=shown)
    from scorespace.cli import main as run

    run()


def _open_streams() -> None:
    """Open closed standard streams: the next file that is opened would take their place and receive the output."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - open until the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _end_by_signal(number: int, _: FrameType | None) -> None:
    """Remove temporary files, then end by the signal itself: an exception could surface inside any library."""
    files = sys.modules.get("scorespace.files")
    if files is not None and hasattr(files, "remove_temporary_files"):
        files.remove_temporary_files()
    if number == signal.SIGINT:
        os.write(2, b"stopped\n")
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    main()
