package io.conclave.proofs.contract;

import io.conclave.locks.LockContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** All coordinators of a test share the server of one directory. */
class EmbeddedLockContractIT extends LockContract {
    @TempDir
    private Path directory;

    @Override
    protected String connectString() {
        return "embedded:" + directory;
    }
}
