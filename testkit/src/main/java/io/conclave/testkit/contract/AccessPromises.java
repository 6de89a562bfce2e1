package io.conclave.testkit.contract;

import static io.conclave.error.RefusalReason.BAD_VERSION;
import static io.conclave.error.RefusalReason.INVALID_ACL;
import static io.conclave.error.RefusalReason.NO_AUTH;
import static io.conclave.error.RefusalReason.NO_NODE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.node.Acl;
import io.conclave.node.Permission;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetAcl;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import io.conclave.session.Authentication;
import io.conclave.spi.Capability;
import io.conclave.time.TimeSource;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Permissions: the schemes world, auth and digest. */
abstract class AccessPromises extends MixedWatchPromises {
    private static final String SUPER_ID = "super:g9oN2HttPfn8MMWJZ2r45Np/LIA=";

    @Test
    void creatorOnlyNodeIsClosedToOthersAndOpenToTheSameUser() {
        needs(Capability.ACL);
        SessionProbe alice = open(optionsOf("alice", "secret"));
        SessionProbe aliceElsewhere = open(optionsOf("alice", "secret"));
        SessionProbe impostor = open(optionsOf("alice", "guess"));
        SessionProbe anonymous = open();
        alice.ask(Create.of(path("a")).withData(bytes("1")).withAcl(Acl.CREATOR_ONLY));

        for (SessionProbe other : List.of(impostor, anonymous)) {
            other.session.submit(Sync.of(path("a")));
            assertEquals(NO_AUTH, other.refused(GetData.of(path("a"))));
            assertEquals(NO_AUTH, other.refused(GetChildren.of(path("a"))));
            assertEquals(NO_AUTH, other.refused(SetData.of(path("a"), bytes("2"))));
            assertEquals(NO_AUTH, other.refused(Create.of(path("a").child("b"))));
            assertEquals(NO_AUTH, other.refused(GetAcl.of(path("a"))));
            assertEquals(NO_AUTH, other.refused(SetAcl.of(path("a"), Acl.OPEN)));
        }
        aliceElsewhere.session.submit(Sync.of(path("a")));
        assertArrayEquals(bytes("1"), aliceElsewhere.ask(GetData.of(path("a"))).data());
    }

    @Test
    void deletingNeedsPermissionOnTheParent() {
        needs(Capability.ACL);
        SessionProbe alice = open(optionsOf("alice", "secret"));
        SessionProbe anonymous = open();
        alice.ask(Create.of(path("p")).withAcl(Acl.CREATOR_ONLY));
        alice.ask(Create.of(path("p").child("a")).withAcl(Acl.OPEN));
        assertEquals(NO_AUTH, anonymous.refused(Delete.of(path("p").child("a"))));
        alice.ask(Delete.of(path("p").child("a")));
    }

    @Test
    void permissionsAreNotInherited() {
        needs(Capability.ACL);
        SessionProbe alice = open(optionsOf("alice", "secret"));
        alice.ask(Create.of(path("p")).withAcl(Acl.CREATOR_ONLY));
        alice.ask(Create.of(path("p").child("open")).withData(bytes("1")).withAcl(Acl.OPEN));
        SessionProbe anonymous = open();
        anonymous.session.submit(Sync.of(path("p")));
        assertArrayEquals(
                bytes("1"), anonymous.ask(GetData.of(path("p").child("open"))).data());
    }

    @Test
    void theAclIsReadBackWithTheDigestOfUserAndPassword() {
        needs(Capability.ACL);
        SessionProbe session = open(optionsOf("super", "superpw"));
        session.ask(Create.of(path("a")).withAcl(Acl.CREATOR_ONLY));
        Acl.Entry expected = new Acl.Entry(EnumSet.allOf(Permission.class), "digest", SUPER_ID);
        assertEquals(
                new Acl(List.of(expected)), session.ask(GetAcl.of(path("a"))).acl());

        session.ask(Create.of(path("open")));
        assertEquals(Acl.OPEN, session.ask(GetAcl.of(path("open"))).acl());
    }

    @Test
    void anAclIsSetWithItsOwnVersion() {
        needs(Capability.ACL);
        SessionProbe session = open();
        session.ask(Create.of(path("a")));
        assertEquals(1, session.ask(new SetAcl(path("a"), Acl.OPEN, 0)).aversion());
        assertEquals(BAD_VERSION, session.refused(new SetAcl(path("a"), Acl.OPEN, 0)));
        session.ask(SetAcl.of(path("a"), Acl.READ_ONLY));
        assertEquals(Acl.READ_ONLY, session.ask(GetAcl.of(path("a"))).acl());
        assertEquals(NO_AUTH, session.refused(SetData.of(path("a"), bytes("1"))));
        assertEquals(0, session.ask(GetData.of(path("a"))).stat().version());
        assertEquals(NO_NODE, session.refused(SetAcl.of(path("missing"), Acl.OPEN)));
        assertEquals(NO_NODE, session.refused(GetAcl.of(path("missing"))));
    }

    @Test
    void anAclWithAnUnknownIdIsRefused() {
        needs(Capability.ACL);
        SessionProbe session = open();
        assertEquals(
                INVALID_ACL,
                session.refused(Create.of(path("a")).withAcl(Acl.CREATOR_ONLY)),
                "scheme auth in a session without an identity");
        Acl unknown = new Acl(List.of(new Acl.Entry(EnumSet.of(Permission.READ), "horoscope", "leo")));
        assertEquals(INVALID_ACL, session.refused(Create.of(path("a")).withAcl(unknown)));
        Acl malformed = new Acl(List.of(new Acl.Entry(EnumSet.of(Permission.READ), "world", "everyone")));
        assertEquals(INVALID_ACL, session.refused(Create.of(path("a")).withAcl(malformed)));
    }

    @Test
    void aNodeCreatedWithoutAnAclGetsTheDefault() {
        needs(Capability.ACL);
        SessionProbe session = open(options(
                sessionTimeout(),
                TimeSource.system(),
                List.of(Authentication.digest("super", "superpw")),
                Acl.CREATOR_ONLY,
                1000));
        session.ask(Create.of(path("a")));
        session.ask(Multi.of(Create.of(path("b"))));
        for (String name : List.of("a", "b")) {
            Acl acl = session.ask(GetAcl.of(path(name))).acl();
            assertTrue(acl.entries().stream().allMatch(entry -> entry.id().equals(SUPER_ID)), name + ": " + acl);
        }
    }
}
