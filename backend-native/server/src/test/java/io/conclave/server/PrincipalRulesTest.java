package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrincipalRulesTest {
    private static final Optional<String> OWN = Optional.of("HERE");

    private static String userOf(String rules, String principal) {
        return PrincipalRules.of(rules).userOf(PrincipalName.of(principal), OWN);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "DEFAULT| bob@HERE| bob",
                "DEFAULT| bob/host@HERE| bob",
                "RULE:[1:$1]| bob@THERE| bob",
                "RULE:[2:$1]| hdfs/host@THERE| hdfs",
                "RULE:[2:$1;$2](hdfs;.*)s/^.*$/store/| hdfs/host@THERE| store",
                "RULE:[1:$1@$0](.*@THERE)s/@.*//| bob@THERE| bob",
                "RULE:[1:$1@$0](.*@ELSEWHERE)s/@.*// RULE:[1:there-$1]| bob@THERE| there-bob",
                "RULE:[1:$1@$0](.*@ELSEWHERE)s/@.*//  DEFAULT | bob@HERE| bob",
                "RULE:[1:$1]s/b/p/| bob@HERE| pob",
                "RULE:[1:$1]s/b/p/g| bob@HERE| pop",
                "RULE:[1:$1]s/(.)o(.)/$2u$1/ | bob@HERE | bub",
                "DEFAULT| bob| bob",
            })
    void theFirstRuleThatFitsSaysWhoItIs(String rules, String principal, String user) {
        assertEquals(user, userOf(rules, principal));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "DEFAULT | bob@THERE | no rule of security.auth_to_local fits bob@THERE",
                "RULE:[2:$1] | bob@HERE | no rule of security.auth_to_local fits bob@HERE",
                "RULE:[1:$1](al.*) | bob@HERE | no rule of security.auth_to_local fits bob@HERE",
                "RULE:[1:$1@$0] | bob@HERE | has / or @ in it",
                "RULE:[1:$1]s/.*// | bob@HERE | which is empty",
            })
    void whoFitsNoRuleIsRefused(String rules, String principal, String reason) {
        String message = assertThrows(IllegalArgumentException.class, () -> userOf(rules, principal))
                .getMessage();
        assertTrue(message.contains(reason), message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RULE",
                "default",
                "DEFAULT RULE:[1:$1",
                "RULE:[3:$1]",
                "RULE:[1:$2]",
                "RULE:[1:$]",
                "RULE:[1:$1]([)",
                "RULE:[1:$1]s/(/x/",
                "RULE:[1:$1]s/(a)/$2/",
                "RULE:[1:$1]s/a/$/",
                "RULE:[1:$1]s/a/b"
            })
    void whatIsNoRuleIsNamed(String rules) {
        String message = assertThrows(IllegalArgumentException.class, () -> PrincipalRules.of(rules))
                .getMessage();
        assertTrue(message.startsWith("\""), message);
        String ofKey = assertThrows(
                        ConfigException.class,
                        () -> new ClientAuthConfig(
                                "SHA1", Set.of(), false, Set.of(), Optional.empty(), false, false, false, rules))
                .getMessage();
        assertTrue(ofKey.startsWith("security.auth_to_local: "), ofKey);
    }

    /** The rules decide which realms are known here, so nothing of a realm has to stay that they have let in. */
    @Test
    void hostAndRealmStayUnlessTheyAreRemoved() {
        PrincipalRules rules = PrincipalRules.of("RULE:[2:service-$1] RULE:[1:$1]");
        PrincipalName hdfs = PrincipalName.of("hdfs/host@THERE");
        assertEquals("service-hdfs/host@THERE", hdfs.id(rules, false, false, OWN));
        assertEquals("service-hdfs@THERE", hdfs.id(rules, true, false, OWN));
        assertEquals("service-hdfs", hdfs.id(rules, true, true, OWN));
        assertEquals("bob", PrincipalName.of("bob").id(rules, true, true, OWN), "a user of DIGEST-MD5");
    }
}
