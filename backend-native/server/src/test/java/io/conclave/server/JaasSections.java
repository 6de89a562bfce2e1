package io.conclave.server;

import java.util.Map;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * What the JAAS file of this JVM says, without a file. For tests that have the resource lock "the JAAS configuration of
 * the JVM".
 *
 * <p>Every server that starts asks for the configuration. The first one to ask while there is none makes one of the
 * file, and puts it in force without a look at what was set meanwhile. So there is always one: made before the first of
 * ours, and an empty one after the last.
 */
final class JaasSections extends Configuration {
    static final String DIGEST_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";

    private final Map<String, AppConfigurationEntry> sections;

    private JaasSections(Map<String, AppConfigurationEntry> sections) {
        this.sections = sections;
    }

    /** A section with one module. */
    static AppConfigurationEntry section(String module, Map<String, String> options) {
        return new AppConfigurationEntry(module, LoginModuleControlFlag.REQUIRED, options);
    }

    /** Puts these sections in force, by their names. */
    static void set(Map<String, AppConfigurationEntry> sections) {
        Configuration.getConfiguration(); // what is made of the file is made now, not behind our back
        Configuration.setConfiguration(new JaasSections(sections));
    }

    /** Puts a section "Users" in force, with these options. */
    static void setUsers(Map<String, String> options) {
        set(Map.of("Users", section(DIGEST_MODULE, options)));
    }

    /** No section is left. */
    static void clear() {
        set(Map.of());
    }

    @Override
    public AppConfigurationEntry @Nullable [] getAppConfigurationEntry(String name) {
        AppConfigurationEntry section = sections.get(name);
        return section == null ? null : new AppConfigurationEntry[] {section};
    }
}
