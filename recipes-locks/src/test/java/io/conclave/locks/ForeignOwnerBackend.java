package io.conclave.locks;

import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.Request;
import io.conclave.session.SessionState;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.BackendSession;
import io.conclave.spi.Capability;
import io.conclave.spi.ConnectString;
import io.conclave.spi.SessionListener;
import io.conclave.testkit.memory.MemoryBackend;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * {@code foreign-owner:name}: the store {@code memory:name}, but every ephemeral znode seems to belong to another
 * session, as when the znode of a dying session is taken for one's own.
 */
public final class ForeignOwnerBackend implements BackendProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("foreign-owner");
    }

    @Override
    public Backend open(ConnectString connectString, BackendOptions options) {
        MemoryBackend memory = new MemoryBackend(MemoryStore.named(connectString.path()), options);
        return new Backend() {
            @Override
            public Set<Capability> capabilities() {
                return memory.capabilities();
            }

            @Override
            public BackendSession openSession(SessionListener listener) {
                return new ForeignOwnerSession(memory.openSession(listener));
            }

            @Override
            public void close() {
                memory.close();
            }
        };
    }

    private record ForeignOwnerSession(BackendSession session) implements BackendSession {
        @Override
        public long id() {
            return session.id();
        }

        @Override
        public SessionState state() {
            return session.state();
        }

        @Override
        @SuppressWarnings("unchecked")
        public <R> CompletionStage<R> submit(Request<R> request) {
            return session.submit(request)
                    .thenApply(answer -> answer instanceof Create.Created created
                            ? (R) new Create.Created(created.path(), ofAnother(created.stat()))
                            : answer);
        }

        private static NodeStat ofAnother(NodeStat stat) {
            long owner = stat.isEphemeral() ? stat.ephemeralOwner() + 1 : 0;
            return new NodeStat(
                    stat.czxid(),
                    stat.mzxid(),
                    stat.pzxid(),
                    stat.ctimeMs(),
                    stat.mtimeMs(),
                    stat.version(),
                    stat.cversion(),
                    stat.aversion(),
                    owner,
                    stat.dataLength(),
                    stat.numChildren());
        }

        @Override
        public Executor dispatcher() {
            return session.dispatcher();
        }

        @Override
        public long connectionNumber() {
            return session.connectionNumber();
        }

        @Override
        public Duration remaining() {
            return session.remaining();
        }

        @Override
        public boolean deadlineIsStrict() {
            return session.deadlineIsStrict();
        }

        @Override
        public OptionalLong generation() {
            return session.generation();
        }

        @Override
        public CompletionStage<Void> closeAsync() {
            return session.closeAsync();
        }
    }
}
