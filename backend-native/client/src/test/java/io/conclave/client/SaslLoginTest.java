package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.protocol.OpCode;
import io.conclave.session.Authentication;
import io.conclave.testkit.ManualTimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.auth.Subject;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.FailedLoginException;
import javax.security.auth.login.LoginException;
import javax.security.auth.spi.LoginModule;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Logins that hang, as at a Kerberos server that does not answer. */
final class SaslLoginTest extends WireSessionFixture {
    private static final Duration AS_REAL = Duration.ofMillis(10);
    private static final Authentication HANGING = Authentication.saslSection("Hanging");

    private static volatile Logins logins = new Logins();

    /** Those of one test. */
    private static final class Logins {
        final AtomicInteger begun = new AtomicInteger();
        final AtomicInteger ended = new AtomicInteger();
        final CountDownLatch mayEnd = new CountDownLatch(1);
    }

    /** Fails when the test lets it. */
    public static final class HangingLogin implements LoginModule {
        @Override
        public void initialize(
                Subject subject, CallbackHandler handler, Map<String, ?> sharedState, Map<String, ?> options) {}

        @Override
        public boolean login() throws LoginException {
            Logins own = logins;
            own.begun.incrementAndGet();
            try {
                own.mayEnd.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            own.ended.incrementAndGet();
            throw new FailedLoginException("no server has answered");
        }

        @Override
        public boolean commit() {
            return true;
        }

        @Override
        public boolean abort() {
            return true;
        }

        @Override
        public boolean logout() {
            return true;
        }
    }

    /** The JAAS configuration of this JVM. ZooKeeper's servers ask for other sections, which are not there. */
    private static final class OneSection extends Configuration {
        @Override
        public AppConfigurationEntry @Nullable [] getAppConfigurationEntry(String name) {
            return name.equals("Hanging")
                    ? new AppConfigurationEntry[] {
                        new AppConfigurationEntry(
                                HangingLogin.class.getName(), LoginModuleControlFlag.REQUIRED, Map.of())
                    }
                    : null;
        }
    }

    @BeforeEach
    void begin() {
        logins = new Logins();
        Configuration.getConfiguration(); // what is made of the file is made now, not behind our back
        Configuration.setConfiguration(new OneSection());
    }

    @AfterEach
    void endLogins() {
        logins.mayEnd.countDown();
    }

    @Test
    void theyHoldUpNoOtherSession() throws Exception {
        FakeServer silent = server(peer -> {
            peer.accept(peer.readGreeting(), TIMEOUT_MS);
            peer.ignore();
        });
        CountDownLatch proving = new CountDownLatch(1);
        FakeServer server = server(peer -> {
            peer.accept(peer.readGreeting(), TIMEOUT_MS);
            if (peer.next().opCode() == OpCode.SASL) {
                proving.countDown();
            }
        });
        ManualTimeSource time = new ManualTimeSource();
        int sessions = 5;
        for (int i = 0; i < sessions; i++) {
            session(silent.url(), time, 1000, HANGING);
        }
        session(server.url(), time, 1000, Authentication.saslDigestMd5("bob", "secret"));
        assertTrue(proving.await(120, TimeUnit.SECONDS));
        Awaitility.await().until(() -> logins.begun.get() == sessions);
        logins.mayEnd.countDown(); // so that the sessions can be closed
        Awaitility.await().until(() -> logins.ended.get() == sessions);
    }

    @Test
    void nobodyLogsInForAConnectionThatHasEnded() {
        AtomicInteger accepted = new AtomicInteger();
        Semaphore mayEnd = new Semaphore(0);
        FakeServer server = server(peer -> {
            peer.accept(peer.readGreeting(), TIMEOUT_MS);
            accepted.incrementAndGet();
            mayEnd.acquire();
        });
        ManualTimeSource time = new ManualTimeSource();
        session(server.url(), time, 1000, HANGING);
        Awaitility.await().until(() -> logins.begun.get() == 1);
        int last = 4;
        for (int i = 2; i <= last; i++) {
            int next = i;
            mayEnd.release();
            time.advanceUntil(AS_REAL, () -> accepted.get() == next);
        }
        assertEquals(1, logins.begun.get());
        logins.mayEnd.countDown();
        Awaitility.await().until(() -> logins.ended.get() >= 2);
        assertEquals(2, logins.begun.get(), "the first connection's and the last one's");
        mayEnd.release(last);
    }
}
