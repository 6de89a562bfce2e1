import io.conclave.coordinator.Coordinator
import io.conclave.kotlin.withLock
import io.conclave.locks.DistributedLock
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking

suspend fun settle(coordinator: Coordinator) {
    val lock = DistributedLock.at(coordinator, "/locks/orders")
    lock.withLock(5.minutes) { grant ->
        println("settled under ${grant.token()}")
    }
}

fun main() = runBlocking {
    Coordinator.connect("embedded:").use { settle(it) }
}
