import io.conclave.coordinator.Coordinator;
import io.conclave.launcher.Main;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jacoco.agent.rt.RT;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.analysis.IMethodCoverage;
import org.jacoco.core.tools.ExecFileLoader;

/** What an operation enters, from application to application and back; run by {@code scripts/walks}. */
public final class Walks {
    private static final int WARM = 200;
    private static final int RUNS = 15;
    private static final int PORT = 21_999;

    private interface Operation {
        void run() throws Exception;
    }

    /** A method that was entered, with its lines from the signature to the last statement. */
    private record Entered(String file, String name, int lines) {}

    private final List<Path> classes;

    private Walks(List<Path> classes) {
        this.classes = classes;
    }

    /** @param folders with the classes that count */
    public static void main(String[] folders) throws Exception {
        Path folder = Files.createTempDirectory("walks");
        Path config = Files.writeString(
                folder.resolve("zoo.cfg"), "clientPort=" + PORT + "\ndataDir=" + folder.resolve("data") + "\n");
        Thread server = new Thread(() -> Main.main(new String[] {"start-foreground", config.toString()}));
        server.setDaemon(true);
        server.start();
        Walks walks = new Walks(Stream.of(folders).map(Path::of).toList());
        try (Coordinator client = Coordinator.connect("conclave://127.0.0.1:" + PORT)) { // waits for the server
            NodePath path = NodePath.of("/data");
            client.execute(Create.of(path));
            DistributedLock lock = DistributedLock.at(client, "/lock");
            walks.print("getData", () -> client.execute(GetData.of(path)), () -> {});
            walks.print("setData", () -> client.execute(SetData.of(path, new byte[100])), () -> {});
            LockGrant[] held = new LockGrant[1];
            walks.print("acquire of a free lock", () -> held[0] = lock.acquire(), () -> held[0].close());
        }
        Runtime.getRuntime().halt(0);
    }

    /** Prints what each of some runs entered: what happens beside the operation does not happen in all of them. */
    private void print(String name, Operation operation, Operation after) throws Exception {
        Set<Entered> inAll = null;
        for (int run = -WARM; run < RUNS; run++) {
            if (run >= 0) {
                Thread.sleep(300); // so that the one before is over
                RT.getAgent().reset();
            }
            operation.run();
            if (run >= 0) {
                Set<Entered> entered = entered(RT.getAgent().getExecutionData(false));
                if (inAll == null) {
                    inAll = entered;
                }
                inAll.retainAll(entered);
            }
            after.run();
        }
        long files = inAll.stream().map(Entered::file).distinct().count();
        int lines = inAll.stream().mapToInt(Entered::lines).sum();
        System.out.printf("%-24s %4d files %5d methods %6d lines%n", name, files, inAll.size(), lines);
    }

    private Set<Entered> entered(byte[] executed) throws IOException {
        ExecFileLoader loader = new ExecFileLoader();
        loader.load(new ByteArrayInputStream(executed));
        CoverageBuilder found = new CoverageBuilder();
        Analyzer analyzer = new Analyzer(loader.getExecutionDataStore(), found);
        for (Path folder : classes) {
            analyzer.analyzeAll(folder.toFile());
        }
        Set<Entered> entered = new HashSet<>();
        for (IClassCoverage type : found.getClasses()) {
            for (IMethodCoverage method : type.getMethods()) {
                if (method.getInstructionCounter().getCoveredCount() > 0) {
                    entered.add(new Entered(
                            type.getPackageName() + "/" + type.getSourceFileName(),
                            type.getName() + "." + method.getName() + method.getDesc(),
                            method.getLastLine() - method.getFirstLine() + 2));
                }
            }
        }
        return entered;
    }
}
