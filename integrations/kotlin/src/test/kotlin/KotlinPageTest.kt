import io.conclave.coordinator.Coordinator
import io.conclave.locks.DistributedLock
import java.nio.file.Files
import java.nio.file.Path
import java.util.UUID
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The example of docs/integrations/kotlin.md, which is KotlinPage.kt, letter by letter. */
class KotlinPageTest {
    @Test
    fun theExampleOfThePageIsTheOneThatIsCompiled() {
        val page = Files.readString(Path.of("../../docs/integrations/kotlin.md"))
        val examples = Regex("```kotlin\n(.*?)```", RegexOption.DOT_MATCHES_ALL).findAll(page)
        assertEquals(
            listOf(Files.readString(Path.of("src/test/kotlin/KotlinPage.kt"))),
            examples.map { it.groupValues[1] }.toList(),
        )
    }

    @Test
    fun theExampleOfThePageRuns() = runBlocking {
        Coordinator.connect("memory:${UUID.randomUUID()}").use { coordinator ->
            settle(coordinator)
            DistributedLock.at(coordinator, "/locks/orders").acquire().close() // it was given back
        }
    }
}
