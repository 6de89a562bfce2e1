package io.conclave.proofs.contract;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Gives each test of a {@link RunsOn} a store of its own for as long as it runs. */
final class FreshStore implements BeforeEachCallback, AfterEachCallback {
    /** By the instance of the test; contracts equal nothing but themselves. */
    private static final Map<RunsOn, String> URLS = new ConcurrentHashMap<>();

    static String of(RunsOn test) {
        return Optional.ofNullable(URLS.get(test))
                .orElseThrow(() -> new IllegalStateException(test + " does not run: it has no store"));
    }

    @Override
    public void beforeEach(ExtensionContext context) throws InterruptedException {
        RunsOn test = testOf(context);
        URLS.put(test, test.backend().freshUrl());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        RunsOn test = testOf(context);
        Optional.ofNullable(URLS.remove(test)).ifPresent(test.backend()::release);
    }

    private static RunsOn testOf(ExtensionContext context) {
        return (RunsOn) context.getRequiredTestInstance();
    }
}
