package io.conclave.examples;

import io.conclave.cache.MirrorChanges;
import io.conclave.cache.NodeChange;
import io.conclave.config.ChildrenCache;
import io.conclave.config.FileReservation;
import io.conclave.config.SequencePersister;
import io.conclave.coordinator.Coordinator;
import io.conclave.election.Candidacy;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * One of several processes that persist sequences: the leader among them watches which sequences there are, and keeps a
 * bound ahead of each in a file, where it outlives the whole coordination store.
 */
public final class SequenceKeeper {
    static final String SEQUENCES = "/sequences";
    private static final int AHEAD = 100;

    private final Coordinator coordinator;
    private final Path folder;
    private final Map<String, SequencePersister> kept = new ConcurrentHashMap<>();

    private SequenceKeeper(Coordinator coordinator, Path folder) {
        this.coordinator = coordinator;
        this.folder = folder;
    }

    /**
     * Runs until its input ends.
     *
     * @param arguments name, connect string, the folder of the bounds
     */
    public static void main(String[] arguments) throws Exception {
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            LeaderElection election = LeaderElection.at(coordinator, "/sequence-keepers")
                    .withData(arguments[0].getBytes(StandardCharsets.UTF_8));
            try (Candidacy candidacy = election.runWhileLeader(
                    leadership -> new SequenceKeeper(coordinator, Path.of(arguments[2])).lead(leadership))) {
                System.out.println("stands by");
                while (System.in.read() >= 0) {
                    System.out.println("has led " + candidacy.runCount() + " times");
                }
            }
        }
    }

    /** Interrupted when the leadership is lost. */
    private void lead(Leadership leadership) throws InterruptedException {
        System.out.println("is primary, token " + leadership.token());
        try (ChildrenCache sequences = ChildrenCache.at(coordinator, SEQUENCES)) {
            sequences.onChange(this::onChange);
            new CountDownLatch(1).await();
        } finally {
            kept.values().forEach(SequencePersister::close);
        }
    }

    private void onChange(MirrorChanges changes) {
        for (NodeChange change : changes.changes()) {
            String name = change.path().name();
            switch (change.type()) {
                case ADDED -> {
                    System.out.println("found sequence " + name);
                    kept.put(
                            name,
                            SequencePersister.start(
                                    coordinator,
                                    change.path().toString(),
                                    FileReservation.at(folder.resolve(name)),
                                    AHEAD));
                }
                case REMOVED -> {
                    System.out.println("sequence " + name + " is gone");
                    SequencePersister gone = kept.remove(name);
                    if (gone != null) {
                        gone.close();
                    }
                }
                case CHANGED, REPLACED -> {} // its persister watches it
            }
        }
    }
}
