package io.conclave.proofs.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.conclave.proofs.architecture.Modules.Module;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The rules; each takes a class and answers with what is wrong in it, in words. */
final class Rules {
    private static final Set<String> CLOCKS = Set.of(
            "java.lang.System.nanoTime",
            "java.lang.System.currentTimeMillis",
            "java.lang.Thread.sleep",
            "java.util.concurrent.TimeUnit.sleep",
            "java.util.concurrent.locks.LockSupport.parkNanos",
            "java.util.concurrent.locks.LockSupport.parkUntil",
            "java.util.concurrent.Executors.newScheduledThreadPool",
            "java.util.concurrent.Executors.newSingleThreadScheduledExecutor",
            "java.util.concurrent.CompletableFuture.orTimeout",
            "java.util.concurrent.CompletableFuture.completeOnTimeout",
            "java.util.concurrent.CompletableFuture.delayedExecutor",
            "java.util.Calendar.getInstance");

    /** Whatever is called on these reads a clock or waits by one. */
    private static final Set<String> TIMERS = Set.of(
            "java.time.Clock",
            "java.util.Timer",
            "java.util.concurrent.ScheduledExecutorService",
            "java.util.concurrent.ScheduledThreadPoolExecutor",
            "io.netty.util.HashedWheelTimer",
            "io.netty.handler.timeout.IdleStateHandler",
            "io.netty.handler.timeout.ReadTimeoutHandler",
            "io.netty.handler.timeout.WriteTimeoutHandler");

    private static final List<String> IMPURE = List.of(
            "java.util.concurrent.",
            "java.util.Random",
            "java.util.SplittableRandom",
            "java.util.random.",
            "java.security.SecureRandom",
            "java.util.Timer",
            "java.lang.Thread",
            "java.lang.Process",
            "java.io.File",
            "java.io.RandomAccess",
            "java.nio.file.",
            "java.nio.channels.",
            "java.net.",
            "java.time.");

    private static final String SERVER_FAULTS = "io.conclave.server.faults";

    private Rules() {}

    /** The arrows between modules, and what of others' a module may use. */
    static List<String> wrongArrows(JavaClass type, Module home) {
        return dependencies(type)
                .filter(dependency -> !mayUse(home, dependency.getTargetClass()))
                .map(dependency -> home.name() + " must not use this: " + dependency.getDescription())
                .toList();
    }

    private static boolean mayUse(Module home, JavaClass target) {
        String name = target.getBaseComponentType().getPackageName();
        if (name.isEmpty() || name.startsWith("java.") || name.startsWith("org.jspecify.annotations")) {
            return true;
        }
        if (name.startsWith("io.conclave")) {
            return Modules.of(target).map(home::mayUse).orElse(false);
        }
        return home.foreign().stream().anyMatch(prefix -> name.equals(prefix) || name.startsWith(prefix + "."));
    }

    /** The arrays in a public record: equals would compare their identities, and anybody could change them. */
    static List<String> arrayComponents(JavaClass type) {
        if (!type.isRecord() || !type.getModifiers().contains(JavaModifier.PUBLIC)) {
            return List.of();
        }
        return type.getFields().stream()
                .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC)
                        && field.getRawType().isArray())
                .map(field -> field.getFullName() + " is an array in a public record: use Bytes or a List")
                .toList();
    }

    /** Within a module: no package uses one that stands later in its list. */
    static List<String> againstPackageOrder(JavaClass type, Module home) {
        int own = rank(type, home);
        return dependencies(type)
                .filter(dependency -> Modules.of(dependency.getTargetClass())
                        .filter(target -> target.name().equals(home.name()))
                        .isPresent())
                .filter(dependency -> rank(dependency.getTargetClass(), home) > own)
                .map(dependency -> "against the order " + home.packages() + ": " + dependency.getDescription())
                .toList();
    }

    /** The faults of a server are for the artifact that gives them to tests, and not for what an application runs. */
    static List<String> usesOfServerFaults(JavaClass type, Module home) {
        if (Set.of("server", "server-testing").contains(home.name())) {
            return List.of();
        }
        return dependencies(type)
                .filter(dependency ->
                        dependency.getTargetClass().getPackageName().equals(SERVER_FAULTS))
                .map(dependency -> home.name() + " must not harm servers: " + dependency.getDescription())
                .toList();
    }

    /** What the Java module of another does not export to this one: on the module path its first use fails. */
    static List<String> unexported(JavaClass type, Module home) {
        return dependencies(type)
                .filter(dependency -> isHidden(dependency.getTargetClass().getBaseComponentType(), home))
                .map(dependency -> "not exported to " + JavaModules.nameOf(home) + ": " + dependency.getDescription())
                .toList();
    }

    private static boolean isHidden(JavaClass target, Module home) {
        return Modules.of(target)
                .filter(module -> !module.equals(home))
                .filter(module -> !JavaModules.exports(module, target.getPackageName(), home))
                .isPresent();
    }

    /** The bodies of requests and replies that are no nested records: the protocol is to be read as one page. */
    static List<String> looseBodies(JavaClass type) {
        boolean isBody = !type.isInterface()
                && (type.isAssignableTo("io.conclave.protocol.RequestBody")
                        || type.isAssignableTo("io.conclave.protocol.ReplyBody"));
        return isBody && (type.isTopLevelClass() || !type.isRecord())
                ? List.of(type.getName() + " is to be a record in RequestBody, WatchRequest,"
                        + " ConnectionRequest or ReplyBody")
                : List.of();
    }

    /** The simple names that two classes have, whatever their packages and modules are. */
    static List<String> sharedNames(Stream<JavaClass> types) {
        Map<String, List<String>> byName = types.filter(type -> type.isTopLevelClass() && !isDescriptor(type))
                .collect(Collectors.groupingBy(
                        JavaClass::getSimpleName,
                        TreeMap::new,
                        Collectors.mapping(JavaClass::getName, Collectors.toList())));
        return byName.values().stream()
                .filter(names -> names.size() > 1)
                .map(names -> "one name for two classes: " + names)
                .toList();
    }

    private static boolean isDescriptor(JavaClass type) {
        return type.getSimpleName().equals("package-info")
                || type.getSimpleName().equals("module-info");
    }

    private static int rank(JavaClass type, Module home) {
        return home.packages().indexOf(Modules.packageOf(type).orElseThrow());
    }

    /**
     * Has its loop's own timer: another thread would have to wake up at every turn. The simulation has its own in its
     * place.
     */
    private static final String LINKS_THREAD = "io.conclave.consensus.peer.PeerNetwork";

    /** Puts tasks behind the loop's next look at its sockets: it waits for that, and for no time. */
    private static final String SERVERS_LOOP = "io.conclave.connection.Loop";

    /** Reading a clock, sleeping, or a timer of one's own; only io.conclave.time may. */
    static List<String> clockReads(JavaClass type) {
        List<String> found = new ArrayList<>();
        accesses(type)
                .filter(access -> readsClock(
                        access.getTarget().getOwner(), access.getTarget().getName(), access))
                .forEach(access -> found.add(access.getDescription()));
        return found;
    }

    private static boolean readsClock(JavaClass owner, String name, JavaCodeUnitAccess<?> access) {
        String ownerName = owner.getName();
        boolean now = ownerName.startsWith("java.time.") && name.equals("now");
        boolean date = ownerName.equals("java.util.Date")
                && name.equals(JavaConstructor.CONSTRUCTOR_NAME)
                && access.getTarget().getRawParameterTypes().isEmpty();
        boolean nettySchedule = ownerName.startsWith("io.netty.")
                && name.startsWith("schedule")
                && !Set.of(LINKS_THREAD, SERVERS_LOOP)
                        .contains(access.getOriginOwner().getName());
        return now || date || nettySchedule || TIMERS.contains(ownerName) || CLOCKS.contains(ownerName + "." + name);
    }

    /** What the tree must not touch: its result may depend on its arguments only. */
    static List<String> impurities(JavaClass type) {
        Predicate<String> impure = name -> IMPURE.stream().anyMatch(name::startsWith)
                || name.startsWith("io.netty")
                || name.startsWith("org.slf4j");
        Stream<String> uses = dependencies(type)
                .filter(dependency -> impure.test(dependency.getTargetClass().getName()))
                .map(Dependency::getDescription);
        Stream<String> chance = accesses(type)
                .filter(access -> Set.of(
                                "java.lang.Math.random",
                                "java.util.UUID.randomUUID",
                                "java.util.Collections.shuffle",
                                "java.lang.System.getProperty",
                                "java.lang.System.getenv",
                                "java.lang.System.identityHashCode")
                        .contains(access.getTarget().getOwner().getName() + "."
                                + access.getTarget().getName()))
                .map(JavaAccess::getDescription);
        return Stream.of(uses, chance, clockReads(type).stream())
                .flatMap(found -> found)
                .toList();
    }

    private static Stream<Dependency> dependencies(JavaClass type) {
        return type.getDirectDependenciesFromSelf().stream();
    }

    private static Stream<JavaCodeUnitAccess<?>> accesses(JavaClass type) {
        List<JavaCodeUnitAccess<?>> all = new ArrayList<>();
        for (JavaCodeUnit unit : type.getCodeUnits()) {
            all.addAll(unit.getCallsFromSelf());
            all.addAll(unit.getMethodReferencesFromSelf());
            all.addAll(unit.getConstructorReferencesFromSelf());
        }
        return all.stream();
    }
}
