"""What every source and every sink must keep to: suites that a connector's own tests subclass.

::

    from falkirk.testing.contracts import SinkContract

    class TestMySink(SinkContract):
        @pytest.fixture
        def make(self, tmp_path):
            return lambda: MySink(tmp_path)

        @pytest.fixture
        def shown(self, tmp_path):
            return lambda: read_what_is_there(tmp_path)
"""

import pytest

pytest.register_assert_rewrite(
    "falkirk.testing.contracts.sinks", "falkirk.testing.contracts.sources"
)

from falkirk.testing.contracts.batches import Broken, Rows, Torn  # noqa: E402
from falkirk.testing.contracts.sinks import SinkContract  # noqa: E402
from falkirk.testing.contracts.sources import SourceContract  # noqa: E402

__all__ = ["Broken", "Rows", "SinkContract", "SourceContract", "Torn"]
