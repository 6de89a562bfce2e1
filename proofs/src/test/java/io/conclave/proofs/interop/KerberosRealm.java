package io.conclave.proofs.interop;

import io.conclave.testkit.proxy.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.kerby.kerberos.kerb.KrbException;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/** A realm of Kerberos with its KDC in this JVM, and a keytab for each principal. The JVM uses it while it is open. */
final class KerberosRealm implements AutoCloseable {
    /** Its name. */
    static final String NAME = "CONCLAVE.TEST";

    private static final String PROPERTY = "java.security.krb5.conf";

    private final Path directory = ServerDirectory.create("kerberos");
    private final SimpleKdcServer kdc;

    KerberosRealm() {
        try {
            kdc = new SimpleKdcServer();
            kdc.setKdcRealm(NAME);
            kdc.setKdcHost("127.0.0.1");
            kdc.setKdcTcpPort(FreePort.find());
            kdc.setAllowUdp(false);
            kdc.setAllowTcp(true);
            kdc.setWorkDir(directory.toFile());
            kdc.init();
            kdc.start();
            System.setProperty(PROPERTY, directory.resolve("krb5.conf").toString());
        } catch (KrbException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }

    /** Adds a principal with a random key. */
    Path keytab(String principal) {
        try {
            Path keytab = directory.resolve(principal.replace('/', '_') + ".keytab");
            kdc.createAndExportPrincipals(keytab.toFile(), principal + "@" + NAME);
            return keytab;
        } catch (KrbException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }

    /** The lines of a JAAS section for a principal of this realm. */
    String module(String principal, Path keytab, boolean isInitiator) {
        return "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true doNotPrompt=true"
                + " refreshKrb5Config=true isInitiator=" + isInitiator + " keyTab=\"" + keytab + "\" principal=\""
                + principal + "@" + NAME + "\";";
    }

    /** Ends the KDC: no ticket is given from now on. */
    void stop() {
        try {
            kdc.stop();
        } catch (KrbException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }

    @Override
    public void close() {
        stop();
        System.clearProperty(PROPERTY);
        ServerDirectory.delete(directory);
    }
}
