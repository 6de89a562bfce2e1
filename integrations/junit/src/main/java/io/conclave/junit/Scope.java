package io.conclave.junit;

import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * What one environment serves: a class with the classes nested in it, or a run of a test. The place of the annotation
 * decides, or how the extension is registered, and never which method asks: a constructor, a lifecycle method and a
 * test of one scope have one environment.
 */
final class Scope {
    private static final Namespace NAMESPACE = Namespace.create(Scope.class);

    /** The context of the class or of the test. */
    private final ExtensionContext context;

    private final Settings settings;
    private final Key key;

    /** Tells the environments of a context and of those around it apart. */
    private record Key(String context, Object owner) {}

    /** Where an extension is registered; a context can be closed, so that it must not lie in its own store itself. */
    private record Registration(ExtensionContext classContext) {}

    private Scope(ExtensionContext context, Settings settings, Object owner) {
        this.context = context;
        this.settings = settings;
        this.key = new Key(context.getUniqueId(), owner);
    }

    /** Notes that an extension is registered for a class; for the classes that are nested in it nothing new begins. */
    static void begin(ExtensionContext classContext, ConclaveExtension extension) {
        classContext.getStore(NAMESPACE).getOrComputeIfAbsent(extension, key -> new Registration(classContext));
    }

    /**
     * The scope that a context lies in.
     *
     * @param settings of an extension that a test registers; else the nearest annotation has them
     */
    static Scope of(ExtensionContext context, ConclaveExtension extension, Optional<Settings> settings) {
        if (settings.isEmpty()) {
            Optional<ExtensionContext> at = Optional.of(context);
            while (at.isPresent()) {
                Optional<ConclaveTest> annotation = at.get()
                        .getElement()
                        .flatMap(element -> AnnotationSupport.findAnnotation(element, ConclaveTest.class));
                if (annotation.isPresent()) {
                    return new Scope(at.get(), Settings.of(annotation.get()), ConclaveTest.class);
                }
                at = at.get().getParent();
            }
        }
        return new Scope(registered(context, extension), settings.orElse(Settings.DEFAULT), extension);
    }

    /** The context of the class that an extension is registered for, or else of the test. */
    private static ExtensionContext registered(ExtensionContext context, ConclaveExtension extension) {
        Registration registration = context.getStore(NAMESPACE).get(extension, Registration.class);
        if (registration != null) {
            return registration.classContext();
        }
        // A constructor of a class with the lifecycle PER_CLASS asks before the class begins: its class is the scope.
        return context;
    }

    /** The environment; started by the first that asks. Blocks until it serves. */
    Environment environment() {
        return store().getOrComputeIfAbsent(
                        key, absent -> Environment.start(settings, isClockManual()), Environment.class);
    }

    /** The environment, if any has asked for it. */
    Optional<Environment> started() {
        return Optional.ofNullable(store().get(key, Environment.class));
    }

    private boolean isClockManual() {
        return settings.servers() == 0 && (settings.manualClock() || ClockRequests.isAskedIn(context));
    }

    private Store store() {
        return context.getStore(NAMESPACE);
    }

    Settings settings() {
        return settings;
    }
}
