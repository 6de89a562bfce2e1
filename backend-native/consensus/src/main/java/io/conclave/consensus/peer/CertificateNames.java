package io.conclave.consensus.peer;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;

/** The hosts that a certificate is for, by the rules of RFC 2818: subjectAltName, else the common name. */
final class CertificateNames {
    private static final int DNS_NAME = 2;
    private static final int ADDRESS = 7;

    private final List<String> hosts = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private final X509Certificate certificate;

    CertificateNames(X509Certificate certificate) {
        this.certificate = certificate;
        try {
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            if (alternatives != null) {
                for (List<?> alternative : alternatives) {
                    if (alternative.get(0).equals(DNS_NAME)) {
                        hosts.add(String.valueOf(alternative.get(1)));
                    } else if (alternative.get(0).equals(ADDRESS)) {
                        addresses.add(String.valueOf(alternative.get(1)));
                    }
                }
            }
            if (hosts.isEmpty()) {
                commonName();
            }
        } catch (CertificateParsingException | InvalidNameException e) {
            hosts.clear();
        }
    }

    private void commonName() throws InvalidNameException {
        for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
            if (part.getType().equalsIgnoreCase("CN")) {
                hosts.add(String.valueOf(part.getValue()));
            }
        }
    }

    /** Whether it is for the host, a name or an address. */
    boolean include(String host) {
        InetAddress literal = NetUtil.createInetAddressFromIpAddressString(host);
        if (literal != null) {
            return addresses.stream()
                    .map(NetUtil::createInetAddressFromIpAddressString)
                    .anyMatch(literal::equals);
        }
        String wanted = host.toLowerCase(Locale.ROOT);
        return hosts.stream().anyMatch(name -> matches(name.toLowerCase(Locale.ROOT), wanted));
    }

    /** An asterisk stands for the first label of a name of three labels or more. */
    private static boolean matches(String name, String wanted) {
        if (!name.startsWith("*.")) {
            return name.equals(wanted);
        }
        String domain = name.substring(1);
        int dot = wanted.indexOf('.');
        return dot > 0 && domain.indexOf('.', 1) > 0 && wanted.substring(dot).equals(domain);
    }

    @Override
    public String toString() {
        return certificate.getSubjectX500Principal().getName() + " for " + hosts + addresses;
    }
}
