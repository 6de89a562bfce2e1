package io.conclave.config;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.session.Registration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * What the recipes of this module promise, whatever the backend: caches, shared values, counters, unique ids, and here
 * configurations.
 */
public abstract class ConfigurationContract extends UniqueIdsContract {
    private static final ConfigKey<String> URL = ConfigKey.ofText("db/url");
    private static final ConfigKey<Long> POOL = ConfigKey.ofLong("db/pool");
    private static final ConfigKey<Boolean> DEBUG = ConfigKey.ofBoolean("debug");

    private static Configuration of(Coordinator coordinator) {
        return Configuration.at(coordinator, "/config");
    }

    @Test
    void keysHaveTypesAndVersions() throws Exception {
        Configuration mine = of(connect());
        Configuration others = of(connect());
        assertTrue(others.get(POOL).isEmpty());
        Versioned<Long> set = mine.set(POOL, 20L);
        mine.set(DEBUG, true);
        assertEquals(Optional.of(20L), others.get(POOL));
        assertEquals(Optional.of(true), others.get(DEBUG));
        assertTrue(others.compareAndSet(POOL, set, 30L).isPresent());
        assertTrue(others.compareAndSetAsync(POOL, set, 40L)
                .get(120, TimeUnit.SECONDS)
                .isEmpty());
        assertTrue(mine.removeAsync(DEBUG).get(120, TimeUnit.SECONDS));
        assertFalse(mine.removeAsync(DEBUG).get(120, TimeUnit.SECONDS));
        mine.set(DEBUG, true);
        assertTrue(mine.compareAndSet(POOL, set, 40L).isEmpty());
        assertTrue(mine.remove(POOL));
        assertTrue(others.get(POOL).isEmpty());
        assertThrows(IllegalArgumentException.class, () -> ConfigKey.ofText("a//b"));
        assertThrows(IllegalArgumentException.class, () -> ConfigKey.ofText(""));
    }

    @Test
    void watchOfAKeyReceivesTheLatestValue() throws Exception {
        Configuration mine = of(connect());
        List<Long> told = Collections.synchronizedList(new ArrayList<>());
        Registration watch = of(connect()).observe(POOL, value -> told.add(value.orElse(-1L)));
        await().atMost(PATIENCE).until(() -> told.equals(List.of(-1L)));
        for (long i = 1; i <= 30; i++) {
            mine.set(POOL, i);
        }
        await().atMost(PATIENCE).until(() -> told.get(told.size() - 1) == 30);
        mine.set(DEBUG, true);
        watch.close();
    }

    @Test
    void publicationIsSeenWholeByEveryView() throws Exception {
        Configuration mine = of(connect());
        List<String> torn = Collections.synchronizedList(new ArrayList<>());
        try (ConfigView view = of(connect()).view()) {
            view.onChange(update -> {
                Optional<Long> pool = update.snapshot().get(POOL);
                Optional<String> url = update.snapshot().get(URL);
                if (!pool.map(number -> "url" + number).equals(url)) {
                    torn.add(url + " and " + pool);
                }
            });
            view.awaitFirstSnapshot(PATIENCE);
            for (long i = 1; i <= 30; i++) {
                assertTrue(mine.publish(ConfigBatch.setting(URL, "url" + i).set(POOL, i)));
                if (i % 7 == 0) {
                    assertTrue(mine.publish(ConfigBatch.EMPTY.remove(URL).remove(POOL)));
                }
            }
            await().atMost(PATIENCE).until(() -> view.get(POOL).equals(Optional.of(30L)));
            assertEquals(Optional.of("url30"), view.get(URL));
            assertEquals(Set.of("db/pool", "db/url"), view.snapshot().names());
            assertTrue(view.isCurrent());
        }
        assertEquals(List.of(), torn);
    }

    @Test
    void publicationWithAFailedExpectationChangesNothing() throws Exception {
        Configuration mine = of(connect());
        Versioned<Long> read = mine.set(POOL, 1L);
        mine.set(POOL, 2L);
        assertFalse(mine.publish(ConfigBatch.setting(URL, "new").expecting(POOL, read)));
        assertTrue(mine.get(URL).isEmpty());
        Versioned<Long> fresh = mine.value(POOL).get().orElseThrow();
        assertTrue(mine.publish(ConfigBatch.setting(URL, "new").set(POOL, 3L).expecting(POOL, fresh)));
        assertEquals(Optional.of("new"), mine.get(URL));
        assertEquals(Optional.of(3L), mine.get(POOL));
        assertFalse(mine.publish(ConfigBatch.setting(DEBUG, true).expecting(POOL, fresh)));
        assertThrows(IllegalArgumentException.class, () -> ConfigBatch.setting(POOL, 4L)
                .expecting(POOL, new Versioned<>(3L, -1, 0)));
    }

    @Test
    void publicationsOfManyFollowEachOther() throws Exception {
        List<CompletableFuture<Boolean>> publications = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Configuration mine = of(connect());
            for (int j = 0; j < 5; j++) {
                String value = "p" + i + "-" + j;
                publications.add(mine.publishAsync(ConfigBatch.setting(URL, value)
                        .set(ConfigKey.ofText("db/copy"), value)
                        .set(ConfigKey.ofText("own/" + i), value)));
            }
        }
        for (CompletableFuture<Boolean> publication : publications) {
            assertTrue(get(publication));
        }
        ConfigSnapshot last = of(connect()).view().awaitFirstSnapshot(PATIENCE);
        assertEquals(last.get(URL), last.get(ConfigKey.ofText("db/copy")));
        assertEquals(6, last.names().size());
    }

    @Test
    void publicationThatIsTooLargeChangesNothing() throws Exception {
        Configuration mine = of(connect());
        mine.set(POOL, 1L);
        ConfigBatch batch = ConfigBatch.setting(POOL, 2L).set(URL, "x".repeat(3_000_000));
        assertThrows(RefusedException.class, () -> mine.publish(batch));
        assertEquals(Optional.of(1L), mine.get(POOL));
    }

    @Test
    void partThatIsPublishedLeavesTheKeyOfItsNameAlone() throws Exception {
        ConfigKey<String> db = ConfigKey.ofText("db");
        Configuration mine = of(connect());
        mine.set(db, "its own value");
        assertTrue(mine.below("db").publish(ConfigBatch.setting(ConfigKey.ofText("url"), "url")));
        assertTrue(mine.below("new").publish(ConfigBatch.setting(ConfigKey.ofText("key"), "value")));
        assertEquals(Optional.of("its own value"), mine.get(db));
        assertEquals(
                Set.of("db", "db/url", "new/key"),
                of(connect()).view().awaitFirstSnapshot(PATIENCE).names());
    }

    @Test
    void viewOfAPartKnowsItsKeysByTheirShortNames() throws Exception {
        Configuration mine = of(connect());
        mine.publish(ConfigBatch.setting(URL, "url").set(DEBUG, true));
        try (ConfigView view = of(connect()).below("db").view()) {
            ConfigSnapshot snapshot = view.awaitFirstSnapshot(PATIENCE);
            assertEquals(Set.of("url"), snapshot.names());
            assertEquals(Optional.of("url"), snapshot.get(ConfigKey.ofText("url")));
        }
    }
}
