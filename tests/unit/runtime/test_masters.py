"""Which masters and sizes of memory Spark could start with, by their form alone."""

import pytest

from falkirk.core.errors import ConfigurationError
from falkirk.runtime.masters import check_master
from falkirk.runtime.sizes import check_sizes

MASTERS = [
    *("local", "local[2]", "local[*]", "local[2,3]", "local[*, 3]", "local-cluster[2, 1, 1024]"),
    *("spark://host:7077", "spark://one:7077,two:7077", "spark://[::1]:7077", "yarn"),
    *("k8s://https://host:6443", "k8s://host", "sc://host", "sc://host:1/;token=x;use_ssl=true"),
]
NONE = [
    *("", "loco[2]", "bogus", "local[", "local[x]", "local[0]", "local[-1]", "local [2]"),
    *("local-cluster[2]", "spark://", "spark://host", "spark://host:port", "spark://one:1,two"),
    *("spark:/host:7077", "http://host:8080", "k8s://", "sc://", "sc://:1", "yarn-client"),
]


@pytest.mark.parametrize("master", MASTERS)
def test_masters_that_can_be(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize("master", NONE)
def test_masters_that_cannot_be(master: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check_master(master, "--master")
    assert str(refused.value).startswith(f"[FK500] --master: {master!r} is no master of Spark")
    assert "spark://HOST:PORT" in str(refused.value)


@pytest.mark.parametrize("size", ["4g", "512m", "600M", "1t"])
def test_sizes_of_the_drivers_memory(size: str) -> None:
    check_sizes({"spark.driver.memory": size})


@pytest.mark.parametrize("size", ["lots", "", "4gb", "512", "1.5g", "-1g", "0g"])
def test_what_java_takes_for_no_size(size: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check_sizes({"spark.driver.memory": size}, {"spark.driver.memory": "falkirk.toml"})
    said = str(refused.value)
    assert said.startswith(f"[FK500] falkirk.toml: spark.driver.memory is {size!r}, and must be")


def test_spark_takes_more_and_other_settings_are_its_own() -> None:
    check_sizes({"spark.executor.memory": "4gb", "spark.driver.maxResultSize": "0"})
    check_sizes({"spark.sql.shuffle.partitions": "lots"})
    with pytest.raises(ConfigurationError, match=r"spark\.executor\.memory is 'lots'"):
        check_sizes({"spark.executor.memory": "lots"})
