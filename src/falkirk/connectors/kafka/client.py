"""Makes clients of Kafka, where the package for it is installed."""

from typing import TYPE_CHECKING, Any

from falkirk.connectors.kafka.settings import Settings
from falkirk.core.errors import ConfigurationError

if TYPE_CHECKING:
    from falkirk.connectors.kafka.cluster import Cluster


def cluster_of(settings: Settings, group: str | None = None) -> "Cluster":
    """A client for questions."""
    check_installed()
    from falkirk.connectors.kafka.cluster import Cluster

    return Cluster(settings, group)


def fetching_of(settings: Settings, headers: bool = False) -> Any:
    """A client that reads spans."""
    check_installed()
    from falkirk.connectors.kafka.fetching import Fetching

    return Fetching(settings.native, headers)


def check_installed() -> None:
    """Refuses Kafka where the client is missing."""
    try:
        import confluent_kafka  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            f"Kafka needs a client that is not installed: {error}. Next: pip install"
            " 'falkirk[kafka]'"
        ) from error
