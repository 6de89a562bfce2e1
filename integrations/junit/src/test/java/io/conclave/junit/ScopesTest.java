package io.conclave.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.conclave.coordinator.Coordinator;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/** One environment for each scope, closed at its end. */
class ScopesTest {
    @Test
    void classHasOneWithItsNestedClasses() {
        run(4, ScopeCases.OnAClass.class);
        assertOne(18, ScopeCases.OnAClass.class);
        for (Coordinator coordinator : Seen.coordinators(ScopeCases.OnAClass.class)) {
            assertEquals(SessionState.CLOSED, coordinator.state());
        }
        String name = Seen.stores(ScopeCases.OnAClass.class).get(0).substring("memory:".length());
        assertTrue(MemoryStore.named(name).snapshot().isEmpty(), "its store is forgotten, this one is new");
        MemoryStore.forget(name);
    }

    @Test
    void nearestAnnotationCountsForAllOfATest() {
        run(3, ScopeCases.Overridden.class);
        List<String> stores = Seen.stores(ScopeCases.Overridden.class);
        assertEquals(6, stores.size());
        assertEquals(3, Set.copyOf(stores).size(), "one for the class, the method and the nested class");
    }

    @Test
    void classThatLivesForAllItsTestsHasOne() {
        run(2, ScopeCases.PerClass.class);
        assertOne(4, ScopeCases.PerClass.class);
    }

    @Test
    void eachRunOfAnAnnotatedMethodHasItsOwn() {
        run(3, ScopeCases.OnMethods.class);
        assertEquals(3, new HashSet<>(Seen.stores(ScopeCases.OnMethods.class)).size());
    }

    @Test
    void lifecycleMethodsHaveThatOfTheirTest() {
        run(1, ScopeCases.OnAMethodWithLifecycle.class);
        assertOne(2, ScopeCases.OnAMethodWithLifecycle.class);
    }

    @Test
    void staticFieldMakesOneForTheClass() {
        run(2, ScopeCases.StaticField.class);
        assertOne(5, ScopeCases.StaticField.class);
    }

    @Test
    void instanceFieldMakesOneForEachTest() {
        run(2, ScopeCases.InstanceField.class);
        List<String> stores = Seen.stores(ScopeCases.InstanceField.class);
        assertNotEquals(stores.get(0), stores.get(1));
    }

    @Test
    void instanceFieldMakesOneForAClassThatLivesForAllItsTests() {
        run(2, ScopeCases.InstanceFieldPerClass.class);
        assertOne(3, ScopeCases.InstanceFieldPerClass.class);
    }

    @Test
    void eachHeirOfAnAnnotatedClassHasItsOwn() {
        run(2, ScopeCases.FirstHeir.class, ScopeCases.SecondHeir.class);
        List<String> stores = Seen.stores(ScopeCases.Inherited.class);
        assertNotEquals(stores.get(0), stores.get(1));
    }

    private static void assertOne(int times, Class<?> by) {
        List<String> stores = Seen.stores(by);
        assertEquals(times, stores.size(), stores::toString);
        assertEquals(1, Set.copyOf(stores).size(), stores::toString);
    }

    private static void run(int tests, Class<?>... classes) {
        EngineTestKit.Builder kit = EngineTestKit.engine("junit-jupiter");
        Arrays.stream(classes).forEach(one -> kit.selectors(selectClass(one)));
        EngineExecutionResults results = kit.execute();
        results.allEvents().failed().stream().forEach(event -> fail(event.toString()));
        results.testEvents().assertStatistics(events -> events.succeeded(tests));
    }
}
