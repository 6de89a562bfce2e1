package io.conclave.simulation;

import io.conclave.connection.SessionLeases;
import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.CommittedEntry;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.consensus.core.MistakenCores;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.disk.MistakenWrites;
import io.conclave.consensus.disk.RetriedSyncs;
import io.conclave.consensus.disk.SimulatedDisk;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.member.CoreFactory;
import io.conclave.consensus.simulation.SimulatedLog;
import io.conclave.protocol.Xid;
import io.conclave.tree.Change;
import io.conclave.tree.ChangeCodec;
import io.conclave.tree.TreeState;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;

/** Mistakes that the simulation has to find, planted one at a time. */
enum Mistake {
    NONE,
    /** Batches of the log are called durable before they are. */
    ACKNOWLEDGED_BEFORE_DURABLE {
        @Override
        Disk disk(SimulatedDisk of) {
            return new MistakenWrites(of, DiskFile::write);
        }
    },
    /**
     * Room for what is written to the log was not set apart before, so that a full disk is met where it ends a server.
     */
    ROOM_NOT_SET_APART {
        @Override
        Disk disk(SimulatedDisk of) {
            return new MistakenWrites(of, (file, source, position) -> {
                if (of.room() < NEEDED_BYTES) {
                    throw new DiskFullException("no room for another " + NEEDED_BYTES + " bytes");
                }
                file.writeSynced(source, position);
            });
        }
    },
    /** A server takes its heartbeats as confirmed without having asked the leader, and so answers pings. */
    PINGS_ANSWERED_WITHOUT_LEADER {
        @Override
        SessionLeases leases(SessionLeases of) {
            return new SessionLeases() {
                @Override
                public Lease of(long sessionId) {
                    return of.of(sessionId);
                }

                @Override
                public boolean answersAtOnce() {
                    return true;
                }

                @Override
                public void whenLeaderKnows(Runnable action) {
                    of.whenLeaderKnows(action);
                }

                @Override
                public void whenLeaderKnowsSoon(Runnable action) {
                    of.whenLeaderKnowsSoon(action);
                }
            };
        }
    },
    /** A sync does not ask whether there is something to wait for. */
    SYNC_DOES_NOT_ASK {
        @Override
        ReplicatedLog log(SimulatedLog of, Random random) {
            return new DelegatingLog(of) {
                @Override
                public boolean readBarrier(Runnable action) {
                    action.run();
                    return true;
                }
            };
        }
    },
    /** What is proposed may be sent again as if it were new. */
    SENT_AGAIN_AS_NEW {
        @Override
        ReplicatedLog log(SimulatedLog of, Random random) {
            return new DelegatingLog(of) {
                @Override
                public boolean propose(Proposal proposal) {
                    boolean taken = super.propose(proposal);
                    if (taken && random.nextInt(500) == 0) {
                        super.propose(new Copy(proposal));
                    }
                    return taken;
                }
            };
        }
    },
    /** A session found silent is expired in one step, even after a change of leader or a later heartbeat. */
    EXPIRED_IN_ONE_STEP {
        @Override
        CommittedBatch batch(CommittedBatch of, TreeState state) {
            return changed(
                    of,
                    change -> change instanceof Change.SuspectSession suspect
                            ? new Change.CloseSession(suspect.id(), Change.ANY_ATTACHMENT, Change.CloseReason.OPERATOR)
                            : change);
        }
    },
    /** A request of a connection that its session has left is carried out. */
    OLD_ATTACHMENT_SERVED {
        @Override
        CommittedBatch batch(CommittedBatch of, TreeState state) {
            return changed(
                    of,
                    change -> change instanceof Change.Request request
                                    && state.session(request.sessionId()).isPresent()
                            ? new Change.Request(
                                    request.sessionId(),
                                    state.session(request.sessionId()).get().attachment(),
                                    request.authIds(),
                                    request.operation())
                            : change);
        }
    },
    /** Events leave behind the replies of the same moment. */
    EVENTS_BEHIND_REPLIES {
        @Override
        byte[] sent(byte[] frames) {
            return eventsLast(frames);
        }
    },
    /** A client that sets its watches again does not learn of missed events. */
    MISSED_EVENTS_NOT_TOLD {
        @Override
        long watchedSince(long zxid) {
            return Long.MAX_VALUE;
        }
    },
    /** A member that has applied a change wrongly does not hear that the others have another state. */
    STATES_NOT_COMPARED {
        @Override
        Consumer<String> wrong(Consumer<String> of) {
            return reason -> {};
        }
    },
    /** The leader deletes nothing that has outlived its time. */
    NOTHING_REAPED {
        @Override
        ReplicatedLog log(SimulatedLog of, Random random) {
            return new DelegatingLog(of) {
                @Override
                public boolean propose(Proposal proposal) {
                    return isDeletion(proposal.kind(), proposal.payload()) || super.propose(proposal);
                }
            };
        }
    },
    /** Whether a znode has outlived its time is decided by a clock that is ahead of the log's. */
    REAPED_BY_ANOTHER_CLOCK {
        @Override
        CommittedBatch batch(CommittedBatch of, TreeState state) {
            boolean deletes = of.entries().stream().anyMatch(entry -> isDeletion(entry.kind(), entry.payload()));
            return new CommittedBatch(
                    of.term(), of.firstIndex(), of.lastIndex(), of.timestampMs() + (deletes ? 1000 : 0), of.entries());
        }
    },
    /** A sync that has failed is tried again, and the second one says yes. */
    FAILED_SYNC_TRIED_AGAIN {
        @Override
        Disk disk(SimulatedDisk of) {
            return new RetriedSyncs(of);
        }
    },
    /** A change of the members is made also if the voters to be do not answer. */
    CHANGES_FORCED {
        @Override
        ReplicatedLog log(SimulatedLog of, Random random) {
            return new DelegatingLog(of) {
                @Override
                public CompletionStage<Long> change(MembershipChange change, long knownIndex) {
                    return super.change(forced(change), knownIndex);
                }
            };
        }
    },
    /** No leader vouches for a torn tail. */
    NEVER_VOUCHED {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("NEVER_VOUCHED");
        }
    },
    /** A server whose disk was set back never gives its log up, whatever the others confirm. */
    LOG_NEVER_GIVEN_UP {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("LOG_NEVER_GIVEN_UP");
        }
    },
    /** A leader confirms that it leads without a majority. */
    READ_INDEX_WITHOUT_MAJORITY {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("READ_INDEX_WITHOUT_MAJORITY");
        }
    },
    /** A member believes any term that it receives. */
    ANY_TERM_BELIEVED {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("ANY_TERM_BELIEVED");
        }
    },
    /** A snapshot that is older than what is there is put in its place. */
    STALE_SNAPSHOT_INSTALLED {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("STALE_SNAPSHOT_INSTALLED");
        }
    },
    /** A server applies, and serves, before it has read the state that another one sent. */
    APPLIED_WITHOUT_STATE {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("APPLIED_WITHOUT_STATE");
        }
    },
    /** A member votes for two in one term. */
    VOTED_TWICE {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("VOTED_TWICE");
        }
    },
    /** A member whose directory was wiped votes. */
    WIPED_VOTER_COUNTED {
        @Override
        CoreFactory cores() {
            return MistakenCores.with("WIPED_VOTER_COUNTED");
        }
    };

    private static final int NEEDED_BYTES = 16 * 1024;

    /** In place of a server's disk. */
    Disk disk(SimulatedDisk of) {
        return of;
    }

    /** In place of a server's log. */
    ReplicatedLog log(SimulatedLog of, Random random) {
        return of;
    }

    SessionLeases leases(SessionLeases of) {
        return of;
    }

    /** Whether one member applies a change wrongly in a run. */
    boolean misapplies(Random random) {
        return random.nextInt(3) == 0;
    }

    /** Called when a server's state is not that of the others. */
    Consumer<String> wrong(Consumer<String> of) {
        return of;
    }

    CoreFactory cores() {
        return CoreFactory.RAFT;
    }

    /** What is applied in place of a batch. */
    CommittedBatch batch(CommittedBatch of, TreeState state) {
        return of;
    }

    /** From when on a client says that it has missed events. */
    long watchedSince(long zxid) {
        return zxid;
    }

    /** What leaves a server in place of these frames. */
    byte[] sent(byte[] frames) {
        return frames;
    }

    private static byte[] eventsLast(byte[] frames) {
        ByteBuffer in = ByteBuffer.wrap(frames);
        ByteBuffer replies = ByteBuffer.allocate(frames.length);
        ByteBuffer events = ByteBuffer.allocate(frames.length);
        while (in.remaining() > 0) {
            int length = Integer.BYTES + in.getInt(in.position());
            boolean event = length > 8 && in.getInt(in.position() + Integer.BYTES) == Xid.WATCH_EVENT;
            (event ? events : replies).put(frames, in.position(), length);
            in.position(in.position() + length);
        }
        return replies.put(events.flip()).array();
    }

    private static MembershipChange forced(MembershipChange change) {
        return change instanceof MembershipChange.Put put
                ? new MembershipChange.Put(put.member(), true)
                : new MembershipChange.Remove(((MembershipChange.Remove) change).member(), true);
    }

    private static boolean isDeletion(LogEntryKind kind, byte[] payload) {
        return kind == LogEntryKind.APPLICATION
                && ChangeCodec.decode(ByteBuffer.wrap(payload)) instanceof Change.DeleteContainer;
    }

    private static CommittedBatch changed(CommittedBatch of, Function<Change, Change> how) {
        List<CommittedEntry> entries = new ArrayList<>();
        for (CommittedEntry entry : of.entries()) {
            if (entry.kind() != LogEntryKind.APPLICATION) {
                entries.add(entry);
                continue;
            }
            Change before = ChangeCodec.decode(ByteBuffer.wrap(entry.payload()));
            Change after = how.apply(before);
            // without its origin, since that brings its own change along
            entries.add(
                    after.equals(before) ? entry : new CommittedEntry(entry.kind(), ChangeCodec.encode(after), null));
        }
        return new CommittedBatch(of.term(), of.firstIndex(), of.lastIndex(), of.timestampMs(), entries);
    }

    private static class DelegatingLog extends SimulatedLog {
        DelegatingLog(SimulatedLog of) {
            super(of);
        }
    }

    private static final class Copy implements Proposal {
        private final byte[] payload;

        Copy(Proposal of) {
            payload = of.payload();
        }

        @Override
        public LogEntryKind kind() {
            return LogEntryKind.APPLICATION;
        }

        @Override
        public byte[] payload() {
            return payload;
        }

        @Override
        public void rejected(Rejection reason) {}
    }
}
