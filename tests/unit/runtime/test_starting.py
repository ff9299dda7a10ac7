"""What is told of a Spark that did not start: its own decisive line, and who gave the settings."""

import subprocess
import sys
import time

import pytest

from falkirk.core.errors import ConfigurationError, EngineError
from falkirk.runtime.hearing import Hearing
from falkirk.runtime.starting import StartError, decisive, starting

SUBMIT = """\
WARNING: Using incubator modules: jdk.incubator.vector
Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties
26/11/17 11:09:27 WARN Utils: Set SPARK_LOCAL_IP if you need to bind to another address
Exception in thread "main" org.apache.spark.SparkException: Executor cores must be a positive number
\tat org.apache.spark.deploy.SparkSubmit.error(SparkSubmit.scala:1068)
\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)
"""
HEAP = """\
Invalid maximum heap size: -Xmxlots
Error: Could not create the Java Virtual Machine.
Error: A fatal exception has occurred. Program will exit.
"""
NO_JAVA = """\
/opt/pyspark/bin/spark-class: line 71: /nonexistent/bin/java: No such file or directory
/opt/pyspark/bin/spark-class: line 97: CMD: bad array subscript
"""
CONTEXT = """\
An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.
: org.apache.spark.SparkException: Could not parse Master URL: 'local[x]'
\tat org.apache.spark.SparkContext$.org$apache$spark$SparkContext$$create(SparkContext.scala:3391)
"""
SESSION = """\
Error while instantiating 'org.apache.spark.sql.internal.SessionStateBuilder':

JVM stacktrace:
java.lang.IllegalArgumentException: Error while instantiating '…SessionStateBuilder':
\tat org.apache.spark.sql.classic.SparkSession.sessionState(SparkSession.scala:205)
Caused by: org.apache.spark.SparkIllegalArgumentException: The value 'lots' in the config \
"spark.sql.shuffle.partitions" is invalid.
\tat org.apache.spark.internal.config.ConfigHelpers$.toNumber(ConfigBuilder.scala:36)
\t... 20 more
"""
UNRESPONSIVE = """\
26/11/17 11:11:10 ERROR StandaloneSchedulerBackend: Application has been killed. Reason: All \
masters are unresponsive! Giving up.
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SUBMIT, "Executor cores must be a positive number"),
        (HEAP, "Invalid maximum heap size: -Xmxlots"),
        (NO_JAVA, NO_JAVA.splitlines()[0]),
        (CONTEXT, "Could not parse Master URL: 'local[x]'"),
        (SESSION, "The value 'lots' in the config \"spark.sql.shuffle.partitions\" is invalid."),
        ("", "it does not say why"),
    ],
)
def test_the_line_that_says_why(text: str, line: str) -> None:
    assert decisive(text) == line


def heard(text: str) -> Hearing:
    """What a process has said that has ended."""
    found = Hearing()
    command = [sys.executable, "-c", "import sys; sys.stderr.write(sys.argv[1])", text]
    subprocess.run(command, stderr=found.writing, check=True)
    found.handed_over()
    return found


def test_a_jvm_that_has_ended_is_quoted_and_nothing_of_it_is_shown(
    capfd: pytest.CaptureFixture[str],
) -> None:
    given = {"spark.executor.cores": "hush"}
    with pytest.raises(StartError) as told, starting("local[2]", given, heard(SUBMIT)):
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")
    said = str(told.value)
    assert said.startswith("[FK500] Spark did not start: Executor cores must be a positive number.")
    assert "the master local[2], spark.executor.cores" in said
    assert "hush" not in said, "a value may be a secret"
    assert SUBMIT in told.value.__notes__[0], "whoever wants the stack trace gets all"
    assert capfd.readouterr().err == ""
    assert isinstance(told.value, ConfigurationError)


def test_a_setting_that_spark_names_is_named_alone_and_with_its_origin() -> None:
    given = {"spark.sql.shuffle.partitions": "lots", "spark.app.name": "x"}
    with pytest.raises(StartError) as told, starting("local[2]", given):
        raise ValueError(SESSION)
    again = told.value.given_by({"spark.sql.shuffle.partitions": "--conf", "master": "--master"})
    assert "Next: mend spark.sql.shuffle.partitions (--conf);" in str(again)
    assert again.__cause__ is told.value.__cause__
    assert again.__notes__ == told.value.__notes__


def test_a_master_that_takes_no_application_is_an_outage() -> None:
    with (
        pytest.raises(EngineError, match="takes connections, and no application"),
        starting("spark://host:8080", {}, heard(UNRESPONSIVE)),
    ):
        raise RuntimeError("Cannot call methods on a stopped SparkContext.")


def test_a_connect_server_that_goes_away_is_an_outage() -> None:
    with pytest.raises(EngineError, match="sc://host"), starting("sc://host", {}):
        raise RuntimeError("<_InactiveRpcError: status = StatusCode.UNAVAILABLE>")


def test_what_was_said_is_passed_on_once_spark_has_started(
    capfd: pytest.CaptureFixture[str],
) -> None:
    hearing = Hearing()
    command = [sys.executable, "-uc", "import sys\nfor line in sys.stdin: sys.stderr.write(line)"]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=hearing.writing, text=True) as java,
    ):
        hearing.handed_over()
        assert java.stdin is not None
        with starting("local[2]", {}, hearing):
            java.stdin.write("before\n")
            java.stdin.flush()
            while not hearing._kept:
                time.sleep(0.01)
            assert capfd.readouterr().err == ""
        java.stdin.write("after\n")
    hearing._thread.join()
    assert capfd.readouterr().err == "before\nafter\n"
