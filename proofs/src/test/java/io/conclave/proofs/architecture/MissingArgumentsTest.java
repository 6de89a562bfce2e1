package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.barriers.Barrier;
import io.conclave.barriers.DoubleBarrier;
import io.conclave.barriers.Latch;
import io.conclave.commit.TwoPhaseCommit;
import io.conclave.config.ChildrenCache;
import io.conclave.config.Configuration;
import io.conclave.config.NodeCache;
import io.conclave.config.SequencePersister;
import io.conclave.config.SharedCounter;
import io.conclave.config.SharedValue;
import io.conclave.config.SubtreeCache;
import io.conclave.config.UniqueIds;
import io.conclave.coordinator.Coordinator;
import io.conclave.discovery.NameService;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.election.LeaderElection;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.DistributedSemaphore;
import io.conclave.locks.LeasedLock;
import io.conclave.locks.LeasedSemaphore;
import io.conclave.locks.SharedLock;
import io.conclave.membership.Group;
import io.conclave.membership.KeptNode;
import io.conclave.membership.Partitioner;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.queues.DistributedDelayQueue;
import io.conclave.queues.DistributedPriorityQueue;
import io.conclave.queues.DistributedQueue;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A recipe that is made without a coordinator, or without a codec, says so where it is made. Later the caller is
 * another one, and an item of a queue may be gone already.
 */
class MissingArgumentsTest {
    private static final List<Class<?>> RECIPES = List.of(
            Barrier.class,
            ChildrenCache.class,
            Configuration.class,
            DistributedDelayQueue.class,
            DistributedLock.class,
            DistributedPriorityQueue.class,
            DistributedQueue.class,
            DistributedSemaphore.class,
            DoubleBarrier.class,
            Group.class,
            KeptNode.class,
            Latch.class,
            LeaderElection.class,
            LeasedLock.class,
            LeasedSemaphore.class,
            Mirror.class,
            NameService.class,
            NodeCache.class,
            Partitioner.class,
            SequencePersister.class,
            ServiceDiscovery.class,
            SharedCounter.class,
            SharedLock.class,
            SharedValue.class,
            SubtreeCache.class,
            TwoPhaseCommit.class,
            UniqueIds.class);

    @Test
    void everyRecipeIsMadeWithACoordinator() {
        for (Class<?> recipe : RECIPES) {
            List<Method> factories = factories(recipe);
            assertTrue(!factories.isEmpty(), () -> "nothing makes a " + recipe);
            for (Method factory : factories) {
                Throwable thrown = thrownBy(factory, null);
                assertEquals(NullPointerException.class, thrown.getClass(), () -> factory + " says: " + thrown);
            }
        }
    }

    @Test
    @SuppressWarnings("NullAway") // the mistake is the test
    void aQueueIsMadeWithACodec() throws Exception {
        try (Coordinator coordinator =
                Coordinator.connect("memory:" + getClass().getSimpleName())) {
            NodePath path = NodePath.of("/queue");
            assertThrows(NullPointerException.class, () -> DistributedQueue.at(coordinator, path, null));
            assertThrows(NullPointerException.class, () -> DistributedPriorityQueue.at(coordinator, path, null));
            assertThrows(NullPointerException.class, () -> DistributedDelayQueue.at(coordinator, path, null));
        }
    }

    @Test
    @SuppressWarnings("NullAway") // the mistake is the test
    void aListenerIsNotNull() throws Exception {
        try (Coordinator coordinator =
                Coordinator.connect("memory:" + getClass().getSimpleName())) {
            assertThrows(NullPointerException.class, () -> coordinator.onStateChange(null));
            assertThrows(NullPointerException.class, () -> coordinator.onRejection(null));
        }
    }

    private static List<Method> factories(Class<?> recipe) {
        return Arrays.stream(recipe.getMethods())
                .filter(method -> Modifier.isStatic(method.getModifiers()))
                .filter(method -> method.getParameterCount() > 0 && method.getParameterTypes()[0] == Coordinator.class)
                .toList();
    }

    private static Throwable thrownBy(Method factory, @Nullable Coordinator coordinator) {
        List<@Nullable Object> arguments = new ArrayList<>();
        arguments.add(coordinator);
        for (int i = 1; i < factory.getParameterCount(); i++) {
            arguments.add(valid(factory.getParameterTypes()[i]));
        }
        return assertThrows(
                        InvocationTargetException.class,
                        () -> factory.invoke(null, arguments.toArray()),
                        () -> factory + " makes one")
                .getCause();
    }

    private static @Nullable Object valid(Class<?> type) {
        if (type == String.class) {
            return "/path";
        } else if (type == NodePath.class) {
            return NodePath.of("/path");
        } else if (type == int.class) {
            return 1;
        } else if (type == long.class) {
            return 1L;
        } else if (type == Duration.class) {
            return Duration.ofSeconds(1);
        } else if (type == byte[].class) {
            return new byte[0];
        } else if (type == DataCodec.class) {
            return DataCodec.TEXT;
        } else if (type == MirrorScope.class) {
            return MirrorScope.values()[0];
        }
        return type == Collection.class ? List.of("part") : null;
    }
}
