package io.conclave.locks;

import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.BackendSession;
import io.conclave.spi.Capability;
import io.conclave.spi.ConnectString;
import io.conclave.spi.SessionListener;
import io.conclave.testkit.memory.MemoryBackend;
import io.conclave.testkit.memory.MemoryStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * {@code torn-answers:name}: the store {@code memory:name}, but of a transaction's results only the first is told,
 * which no backend may do.
 */
public final class TornAnswersBackend implements BackendProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("torn-answers");
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
                return torn(memory.openSession(listener));
            }

            @Override
            public void close() {
                memory.close();
            }
        };
    }

    private static BackendSession torn(BackendSession session) {
        return (BackendSession) Proxy.newProxyInstance(
                TornAnswersBackend.class.getClassLoader(),
                new Class<?>[] {BackendSession.class},
                (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(session, arguments);
                        return method.getName().equals("submit")
                                ? ((CompletionStage<?>) result).thenApply(TornAnswersBackend::first)
                                : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Object first(Object answer) {
        return answer instanceof List<?> results ? results.subList(0, 1) : answer;
    }
}
