package io.conclave.consensus.simulation;

import io.conclave.consensus.store.LogStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** A store that ignores one of its calls: a planted mistake. */
final class MistakenStore {
    private MistakenStore() {}

    static LogStore thatIgnores(String ignored, LogStore store) {
        return (LogStore) Proxy.newProxyInstance(
                LogStore.class.getClassLoader(), new Class<?>[] {LogStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(ignored)) {
                        return null;
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
