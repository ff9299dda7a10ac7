"""What only Spark's JVM can tell: which executors live, and which cached blocks are still there.

The one module that goes through the gateway of a classic session. Nothing here is needed for rows
to be right; on Spark Connect, where there is no gateway, a loss is noticed by the job that meets
it.
"""

from typing import Any

from falkirk.runtime.session import is_connect

BLOCK_MANAGER = "org.apache.spark.storage.BlockManager"


class Gateway:
    """The JVM behind a classic session."""

    def __init__(self, session: Any) -> None:
        """Nothing is asked yet."""
        self._jvm = session._jvm
        self._python = session.sparkContext
        self._context = self._python._jsc.sc()
        self._master: Any = None
        self._remember()

    def _remember(self) -> None:
        """Looks up once what PySpark looks up for every list that it hands over.

        It does so by a short name, for which Java searches all of Spark's jars in vain.
        """
        converting = self._jvm.org.apache.spark.api.python.PythonUtils
        converting.toSeq = converting.toSeq
        self._jvm.PythonUtils = converting

    @property
    def is_local(self) -> bool:
        """Whether jobs run inside the driver, so that no executor can be lost without it."""
        return bool(self._context.isLocal())

    def executors(self) -> frozenset[str]:
        """The addresses of all live block managers, the driver's among them."""
        addresses = str(self._context.getExecutorMemoryStatus().keys().mkString(" "))
        return frozenset(addresses.split())

    def cores(self) -> int:
        """How many tasks can run at once."""
        return int(self._python.defaultParallelism)

    def exit_status(self) -> int | None:
        """The status with which the JVM has ended; None while it runs, or if others started it."""
        process = getattr(self._python._gateway, "proc", None)
        status: int | None = None if process is None else process.poll()
        return status

    def into_pool(self, pool: str | None) -> None:
        """Puts what this thread runs from now on into a scheduling pool; None is the common one.

        Under Spark's FAIR mode a pool with nothing running gets the next core that is free.
        """
        self._python.setLocalProperty("spark.scheduler.pool", pool)

    def blocks_of(self, frame: Any) -> Any:
        """The blocks that a locally checkpointed frame reads."""
        return frame._jdf.queryExecution().logical().rdd()

    def are_missing(self, blocks: Any) -> bool:
        """Whether a block is gone, by the books of those who place them."""
        number, master = blocks.id(), self._block_manager_master()
        block = self._jvm.org.apache.spark.storage.RDDBlockId
        return not all(
            master.contains(block(number, partition))
            for partition in range(blocks.getNumPartitions())
        )

    def release(self, blocks: Any) -> None:
        """Lets executors forget blocks, without waiting for it."""
        blocks.unpersist(False)

    def persisted(self) -> int:
        """How many cached sets of blocks there are, ours and others'."""
        return int(self._context.getPersistentRDDs().size())

    def heap_bytes(self) -> int:
        """What is in use of the driver's heap after a collection."""
        self._jvm.java.lang.System.gc()
        runtime = self._jvm.java.lang.Runtime.getRuntime()
        return int(runtime.totalMemory() - runtime.freeMemory())

    def _block_manager_master(self) -> Any:
        # Reflection over all of SparkEnv fails on a class that Spark does not ship, so exactly the
        # two methods on the way are looked up.
        if self._master is None:
            manager = self._called("org.apache.spark.SparkEnv", "blockManager", BLOCK_MANAGER)(
                self._context.env()
            )
            self._master = self._called(BLOCK_MANAGER, "master", BLOCK_MANAGER + "Master")(manager)
        return self._master

    def _called(self, owner: str, method: str, returned: str) -> Any:
        named, invoke = self._jvm.java.lang.Class.forName, self._jvm.java.lang.invoke
        kind = invoke.MethodType.methodType(named(returned))
        handle = invoke.MethodHandles.publicLookup().findVirtual(named(owner), method, kind)

        def call(target: Any) -> Any:
            arguments = self._jvm.java.util.ArrayList()
            arguments.add(target)
            return handle.invokeWithArguments(arguments)

        return call


def gateway_of(session: Any) -> Gateway | None:
    """The gateway of a session; None on Spark Connect."""
    return None if is_connect(session) else Gateway(session)
