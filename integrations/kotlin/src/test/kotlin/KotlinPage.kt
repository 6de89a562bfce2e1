import io.conclave.coordinator.Coordinator
import io.conclave.kotlin.withLock
import io.conclave.locks.DistributedLock
import kotlin.time.Duration.Companion.seconds

suspend fun settle(coordinator: Coordinator) {
    val lock = DistributedLock.at(coordinator, "/locks/orders")
    lock.withLock(5.seconds) { grant ->
        println("settled under ${grant.token()}")
    }
}
