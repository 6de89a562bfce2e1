package io.conclave.consensus.simulation;

import io.conclave.consensus.store.IncomingSnapshot;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.SnapshotPosition;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/** Stores with a planted mistake. */
final class MistakenStore {
    private MistakenStore() {}

    /** Received snapshots are installed when they are read, which is too late: they are confirmed before. */
    static LogStore installsLater(LogStore store) {
        return (LogStore) Proxy.newProxyInstance(
                LogStore.class.getClassLoader(), new Class<?>[] {LogStore.class}, (proxy, method, arguments) -> {
                    Object result = invoke(method, store, arguments);
                    return result instanceof IncomingSnapshot received ? new InstalledLater(received) : result;
                });
    }

    private static Object invoke(Method method, LogStore store, Object[] arguments) throws Throwable {
        try {
            return method.invoke(store, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private record InstalledLater(IncomingSnapshot of) implements IncomingSnapshot {
        @Override
        public long received() {
            return of.received();
        }

        @Override
        public void write(byte[] chunk) throws IOException {
            of.write(chunk);
        }

        @Override
        public SnapshotPosition verify() throws IOException {
            return of.verify();
        }

        @Override
        public void install() {}

        @Override
        public void read(Consumer<InputStream> reader) throws IOException {
            of.install();
            of.read(reader);
        }

        @Override
        public void discard() throws IOException {
            of.discard();
        }
    }

    static LogStore thatIgnores(String ignored, LogStore store) {
        return (LogStore) Proxy.newProxyInstance(
                LogStore.class.getClassLoader(), new Class<?>[] {LogStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(ignored)) {
                        return null;
                    }
                    return invoke(method, store, arguments);
                });
    }
}
