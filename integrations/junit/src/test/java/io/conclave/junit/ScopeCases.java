package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.session.SessionState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Classes that {@link ScopesTest} runs. Each notes the stores that it is given. */
final class ScopeCases {
    private ScopeCases() {}

    @ConclaveTest
    static class OnAClass {
        OnAClass(String store) {
            Seen.note(OnAClass.class, store);
        }

        @BeforeAll
        static void beforeAll(String store, Coordinator ofTheClass) {
            Seen.note(OnAClass.class, store);
            Seen.note(OnAClass.class, ofTheClass);
        }

        @BeforeEach
        void beforeEach(String store) {
            Seen.note(OnAClass.class, store);
        }

        @AfterEach
        void afterEach(String store) {
            Seen.note(OnAClass.class, store);
        }

        @AfterAll
        static void afterAll(String store) {
            Seen.note(OnAClass.class, store);
            Assertions.assertEquals(
                    SessionState.CONNECTED,
                    Seen.coordinators(OnAClass.class).get(0).state());
        }

        @Test
        void one(String store, Coordinator ofTheTest) throws InterruptedException {
            ofTheTest.execute(Create.of(NodePath.of("/left")));
            Seen.note(OnAClass.class, store);
            Seen.note(OnAClass.class, ofTheTest);
        }

        @Test
        void two(String store) {
            Seen.note(OnAClass.class, store);
        }

        @Nested
        @TestInstance(Lifecycle.PER_CLASS)
        class NestedPerClass {
            NestedPerClass(String store) {
                Seen.note(OnAClass.class, store);
            }

            @Test
            void three(String store) {
                Seen.note(OnAClass.class, store);
            }

            @Nested
            class Deeper {
                @Test
                void four(String store) {
                    Seen.note(OnAClass.class, store);
                }
            }
        }
    }

    @ConclaveTest
    static class Overridden {
        @BeforeEach
        void beforeEach(String store) {
            Seen.note(Overridden.class, store);
        }

        @Test
        void one(String store) {
            Seen.note(Overridden.class, store);
        }

        @Test
        @ConclaveTest
        void two(String store) {
            Seen.note(Overridden.class, store);
        }

        @Nested
        @ConclaveTest
        class Inner {
            @Test
            void three(String store) {
                Seen.note(Overridden.class, store);
            }
        }
    }

    @ConclaveTest
    @TestInstance(Lifecycle.PER_CLASS)
    static class PerClass {
        PerClass(String store) {
            Seen.note(PerClass.class, store);
        }

        @BeforeAll
        void beforeAll(String store) {
            Seen.note(PerClass.class, store);
        }

        @Test
        void one(String store) {
            Seen.note(PerClass.class, store);
        }

        @Test
        void two(String store) {
            Seen.note(PerClass.class, store);
        }
    }

    static class OnMethods {
        @Test
        @ConclaveTest
        void one(String store) {
            Seen.note(OnMethods.class, store);
        }

        @ConclaveTest
        @RepeatedTest(2)
        void two(String store) {
            Seen.note(OnMethods.class, store);
        }
    }

    static class OnAMethodWithLifecycle {
        @BeforeEach
        void before(String store) {
            Seen.note(OnAMethodWithLifecycle.class, store);
        }

        @Test
        @ConclaveTest
        void one(String store) {
            Seen.note(OnAMethodWithLifecycle.class, store);
        }
    }

    @TestInstance(Lifecycle.PER_CLASS)
    static class StaticField {
        @RegisterExtension
        static final ConclaveExtension CONCLAVE = ConclaveExtension.builder().build();

        StaticField(String store) {
            Seen.note(StaticField.class, store);
        }

        @BeforeAll
        static void beforeAll(String store) {
            Seen.note(StaticField.class, store);
        }

        @Test
        void one(String store) {
            Seen.note(StaticField.class, store);
        }

        @Nested
        @TestInstance(Lifecycle.PER_CLASS)
        class Inner {
            Inner(String store) {
                Seen.note(StaticField.class, store);
            }

            @Test
            void two(String store) {
                Seen.note(StaticField.class, store);
            }
        }
    }

    static class InstanceField {
        @RegisterExtension
        final ConclaveExtension conclave = ConclaveExtension.builder().build();

        @Test
        void one(String store) {
            Seen.note(InstanceField.class, store);
        }

        @Nested
        class Inner {
            @Test
            void two(String store) {
                Seen.note(InstanceField.class, store);
            }
        }
    }

    @TestInstance(Lifecycle.PER_CLASS)
    static class InstanceFieldPerClass {
        @RegisterExtension
        final ConclaveExtension conclave = ConclaveExtension.builder().build();

        @BeforeAll
        void beforeAll(String store) {
            Seen.note(InstanceFieldPerClass.class, store);
        }

        @Test
        void one(String store) {
            Seen.note(InstanceFieldPerClass.class, store);
        }

        @Test
        void two(String store) {
            Seen.note(InstanceFieldPerClass.class, store);
        }
    }

    @ConclaveTest
    abstract static class Inherited {
        @Test
        void one(String store) {
            Seen.note(Inherited.class, store);
        }
    }

    static class FirstHeir extends Inherited {}

    static class SecondHeir extends Inherited {}
}
