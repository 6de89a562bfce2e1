package io.conclave.discovery;

import io.conclave.error.GrantLostException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.membership.MembershipState;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Each fault at each request of registrations and providers: an instance is there until it is deregistered or thrown
 * out, nothing of it stays behind, and a provider ends with the instances that there are.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class DiscoveryFaultsTest {
    private static final Fault[] DELETIONS =
            Arrays.stream(Fault.values()).filter(Fault::deletesNodes).toArray(Fault[]::new);

    private static ServiceDiscovery discovery(Actor actor) {
        return ServiceDiscovery.at(actor.coordinator(), "/services");
    }

    private static ServiceInstance instance(String id, int port) {
        return ServiceInstance.named("orders").id(id).address("host").port(port).build();
    }

    private static List<String> texts(List<ServiceInstance> instances) {
        return instances.stream()
                .map(one -> one.id() + ":" + one.port().orElseThrow())
                .toList();
    }

    @Test
    void registrationThatComesAndGoesLeavesNothingUnderAnyFault() {
        registration().verify();
    }

    static FaultDriver registration() {
        return FaultDriver.of("discovery, registration", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim().start(me -> {
                        ServiceRegistration registration =
                                me.await(discovery(me).registerAsync(instance("a", 1)));
                        try {
                            me.await(registration.updateAsync(instance("a", 2)));
                        } finally {
                            registration.close();
                        }
                    });
                    run.untilAtRest();
                    run.helper("next")
                            .start(me ->
                                    discovery(me).register(instance("a", 3)).close());
                })
                .explaining(GrantLostException.class, DELETIONS);
    }

    @Test
    void registrationThatStaysIsThereInTheEnd() {
        stayingRegistration().verify();
    }

    static FaultDriver stayingRegistration() {
        AtomicReference<ServiceRegistration> registration = new AtomicReference<>();
        return FaultDriver.of("discovery, staying registration", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    registration.set(null);
                    run.victim().start(me -> {
                        registration.set(discovery(me).register(instance("a", 1)));
                        registration.get().updateAsync(instance("a", 2));
                        run.pause(Duration.ofSeconds(1)); // it may be thrown out while it does nothing
                    });
                    run.victim().join();
                })
                .keepingZnodesUntilTheEnd()
                .explaining(GrantLostException.class, DELETIONS)
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40)); // until the next session, should this one have been lost
                    run.untilAtRest();
                    ServiceRegistration mine = registration.get();
                    List<String> seen = texts(discovery(run.helper("looking")).instances("orders"));
                    boolean isOut = run.struck().stream().anyMatch(Fault::deletesNodes)
                            && (mine == null || mine.state() == MembershipState.ENDED);
                    if (!seen.equals(mine == null || isOut ? List.of() : List.of("a:2"))) {
                        run.violated(mine + " is not seen as it should be: " + seen);
                    }
                });
    }

    @Test
    void providerEndsWithWhatIsThere() {
        provider().verify();
    }

    static FaultDriver provider() {
        AtomicReference<ServiceProvider> provider = new AtomicReference<>();
        return FaultDriver.of("discovery, provider", run -> {
                    run.rival(
                            "comes and goes",
                            me -> discovery(me).register(instance("x", 9)).close());
                    ServiceRegistration a = discovery(run.helper("a")).register(instance("a", 1));
                    ServiceRegistration b = discovery(run.helper("b")).register(instance("b", 2));
                    run.victim().start(me -> provider.set(discovery(me).provider("orders")));
                    run.untilAtRest();
                    a.update(instance("a", 3));
                    b.close();
                    run.untilAtRest();
                    discovery(run.helper("c")).register(instance("c", 4));
                })
                .keepingZnodesUntilTheEnd()
                .requestsAtMost(5, 20) // it reads all again, on every connection
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40));
                    run.untilAtRest();
                    List<String> seen = texts(provider.get().instances());
                    if (!seen.equals(List.of("a:3", "c:4"))
                            || !provider.get().cache().isCurrent()) {
                        run.violated("the provider ends with " + seen + " of " + provider);
                    }
                });
    }

    @Test
    void nameIsBoundOnceWhileOthersBindIt() {
        nameBoundByOthers().verify();
    }

    static FaultDriver nameBoundByOthers() {
        return FaultDriver.of("discovery, name", run -> {
                    NameService others = NameService.at(run.helper("other").coordinator(), "/names");
                    List<List<String>> told = Collections.synchronizedList(new ArrayList<>());
                    others.watch("printer", told::add);
                    others.bind("printer", List.of("first"));
                    run.rival("binds it", me -> NameService.at(me.coordinator(), "/names")
                            .bind("printer", List.of("rival")));
                    run.victim().start(me -> NameService.at(me.coordinator(), "/names")
                            .bind("printer", List.of("mine")));
                    run.untilAtRest();
                    long times = told.stream().filter(List.of("mine")::equals).count();
                    if (times > 1) {
                        run.violated("one call has bound the name twice: " + told);
                    }
                    if (run.isClean() && !others.resolve("printer").equals(List.of("mine"))) {
                        run.violated("it is not bound: " + told);
                    }
                })
                .explaining(OutcomeUnknownException.class, Fault.absences());
    }

    @Test
    void watchOfANameEndsWithWhatIsBound() {
        watchOfAName().verify();
    }

    static FaultDriver watchOfAName() {
        AtomicReference<List<String>> seen = new AtomicReference<>();
        return FaultDriver.of("discovery, watch of a name", run -> {
                    NameService others = NameService.at(run.helper("other").coordinator(), "/names");
                    others.bind("printer", List.of("first"));
                    run.rival("binds it and binds it back", me -> {
                        NameService names = NameService.at(me.coordinator(), "/names");
                        List<String> before = names.resolve("printer");
                        names.bind("printer", List.of("rival"));
                        names.bind("printer", before);
                    });
                    run.victim().start(me -> NameService.at(me.coordinator(), "/names")
                            .watch("printer", seen::set));
                    run.untilAtRest();
                    others.bind("printer", List.of("last", "very"));
                })
                .requestsAtMost(5, 20)
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40));
                    run.untilAtRest();
                    if (!List.of("last", "very").equals(seen.get())) {
                        run.violated("the watch ends with " + seen);
                    }
                });
    }
}
