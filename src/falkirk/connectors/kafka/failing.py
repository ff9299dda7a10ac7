"""What a Kafka client reports, as errors of falkirk: to wait for, to try again, or to stop at."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from falkirk.connectors.kafka.settings import Settings
from falkirk.core.errors import ConnectorError, OutageError, PermanentError

log = logging.getLogger("falkirk.kafka")

DOWN = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError._WAIT_COORD,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
    }
)
"""A cluster that does not answer, or is not ready yet."""

REFUSED = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError._SSL,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.INVALID_TRANSACTION_TIMEOUT,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
"""What stays refused, however often it is asked for."""

ALERT = re.compile(r"SSL alert number (40|4[2-9]|116)\b")
"""A broker's last words to a client whose certificate is missing, or that it does not take: to the
client a connection that broke."""

HANDSHAKE = "in state SSL_HANDSHAKE"
UNGREETED = "Does the broker take TLS at this address?"
"""One that does not may answer in plain text or hang up: the client reports these differently."""

FENCED = frozenset(
    {KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED}
)
"""Another producer with the same name has come after this one."""


IN_USE = frozenset(
    {
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.UNKNOWN_MEMBER_ID,
    }
)
"""A consumer group that others consume with, so that nobody else may commit for it."""


class Aside:
    """What a client logs, for those who want to see it; errors say what matters."""

    def log(self, level: int, *args: Any) -> None:
        """A line of the client's log."""
        log.info(*args)


ASIDE: Any = Aside()


class Heard:
    """What a client says by itself: why it cannot reach anybody, for one."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.refusal: Any = None
        self.trouble: Any = None

    def __call__(self, error: Any) -> None:
        """The client has met an error."""
        if error.code() in REFUSED or ALERT.search(error.str()):
            self.refusal = error
        elif error.code() != KafkaError._ALL_BROKERS_DOWN:  # which says nothing of why
            self.trouble = error

    def forget(self) -> None:
        """All is well again."""
        self.refusal = self.trouble = None


@contextmanager
def translated(settings: Settings, what: str, heard: Heard | None = None) -> Iterator[None]:
    """Turns what the client raises into an error that says what failed and where."""
    try:
        yield
    except KafkaException as error:
        raise described(settings, what, error.args[0], heard) from None
    except TimeoutError:
        raise OutageError(f"Kafka at {settings.servers}: {what}: no answer in time") from None
    if heard is not None:
        heard.forget()


def described(
    settings: Settings, what: str, error: Any, heard: Heard | None = None
) -> ConnectorError:
    """The error for what a client reported, without any secret."""
    refusal = heard.refusal if heard is not None else None
    code = error.code() if refusal is None else refusal.code()
    said = settings.redacted(f"{error.str()} ({error.name()})")
    because = refusal or (heard.trouble if heard is not None else None)
    if because is not None and because is not error:
        said += settings.redacted(f"; {because.str()}")
    text = f"Kafka at {settings.servers}: {what}: {said}"
    if code in FENCED:
        return PermanentError(
            f"{text}. Another run writes to this sink now: stop one of the two, or give their sinks"
            " different names"
        )
    if code in IN_USE:
        return PermanentError(f"{text}. Others consume with this group: give the source its own")
    if refusal is not None or code in REFUSED:
        return PermanentError(f"{text}. Mend the settings or the rights, and run again")
    if code in DOWN or error.retriable():
        return OutageError(f"{text}. {UNGREETED}" if HANDSHAKE in said else text)
    return ConnectorError(text)
