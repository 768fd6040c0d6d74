"""The command `scorespace`: streams and signals are made safe before anything slow is loaded."""

import atexit
import gc
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; an interrupt at any moment ends it in a word, with nothing left behind."""
    ended: list[object] = []
    atexit.register(_end, ended)  # registered before all others, so that it is called after them
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file that is opened would take its place, and what is printed would go there
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - until the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"):
        number = getattr(signal, name, None)
        # What is ignored stays so, as under nohup; only Python itself ignores readers that have gone.
        if number is not None and (name == "SIGPIPE" or signal.getsignal(number) is not signal.SIG_IGN):
            signal.signal(number, _leave)
    gc.set_threshold(250_000, 20, 20)  # loading makes much and leaves no cycles: to look for them takes a tenth of it
    # Sums of a million products are done before threads of the algebra library wake, which then stand in the way of
    # ours; and on one thread they have the same last digit on every machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import warnings

    if not sys.warnoptions:  # what libraries warn of is for us; users read notes
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", message="the plug-in")
    from scorespace.cli import main as run

    try:
        run()
        ended.append(None)
    except SystemExit as end:
        ended.append(end.code)
        raise


def _end(ended: list[object]) -> None:
    """Leave once all is done: to take apart what goes with the process anyway takes a sixth of a short run."""
    if not ended or not isinstance(ended[0], int | None):
        return  # an error or words, which Python tells
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads any more
        pass
    os._exit(ended[0] or 0)


def _leave(number: int, _: FrameType | None) -> None:
    """End at once. An exception instead could surface anywhere, also where libraries swallow or print it."""
    files = sys.modules.get("scorespace.files")
    if files is not None and hasattr(files, "remove_scratch"):
        files.remove_scratch()
    if number == signal.SIGINT:
        os.write(2, b"stopped\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
