"""What all tests share: how Hypothesis searches, and a cache of their own.

In CI Hypothesis tries the same examples every time, elsewhere new ones.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None)
settings.load_profile("repeatable" if os.environ.get("CI") else "searching")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept between runs comes from these tests and not from what was run before them."""
    folder = str(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", folder)
        patch.setenv("LOCALAPPDATA", folder)
        yield
