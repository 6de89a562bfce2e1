package io.conclave.ensemble;

import java.io.IOException;
import java.nio.file.Path;

/** A JVM that starts two servers as processes, pauses one, prints their process ids, and waits until it is killed. */
final class EnsembleOwner {
    private EnsembleOwner() {}

    /**
     * @param arguments where the servers have their files, since temporary ones of a JVM that is killed are not deleted
     */
    public static void main(String[] arguments) throws IOException {
        ConclaveEnsemble ensemble = ConclaveEnsemble.builder()
                .voters(2)
                .directory(Path.of(arguments[0]))
                .asProcesses()
                .start();
        ensemble.pause(ensemble.follower());
        ProcessHandle.current().descendants().forEach(process -> System.out.println(process.pid()));
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // until the end
        }
        ensemble.close();
    }
}
