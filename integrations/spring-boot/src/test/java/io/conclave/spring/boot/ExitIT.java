package io.conclave.spring.boot;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An application that ends itself by System.exit while it leads: nothing waits for the run that waits for the end. Its
 * session timeout is longer than the patience of this test. Spring's own wait for scheduled methods is made short.
 */
class ExitIT {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {ExitingApplication.BY_METHOD, ExitingApplication.BY_GRANTED, ExitingApplication.BY_INTERRUPT})
    void exitInARunThatLeadsEndsTheProcess(String by) throws Exception {
        ProcessBuilder application = ChildProcess.application(
                ExitingApplication.class,
                "--exit.by=" + by,
                "--conclave.connect-string=memory:exit",
                "--conclave.session-timeout=60m",
                "--spring.docker.compose.enabled=false",
                "--spring.lifecycle.timeout-per-shutdown-phase=1s");
        ChildProcess.run(application, directory.resolve("log"), ExitingApplication.CODE);
    }
}
