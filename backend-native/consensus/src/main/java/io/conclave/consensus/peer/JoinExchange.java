package io.conclave.consensus.peer;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.PeerSecrets;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What two ends compute that have the same join token, when one gives the cluster's secret to the other. Each makes a
 * key pair of X25519 for this conversation. Each proves by an HMAC with the token's key over both public keys that it
 * has the token. The secret is sealed with AES-GCM under a key derived from the token's key and the shared key of the
 * two key pairs: a stranger that recorded the conversation and gets the token later learns nothing from it.
 *
 * @param token what both have
 * @param called the member that gives the secret
 * @param caller the number of the server that is to get it
 * @param callersKey the caller's public key, encoded
 * @param calledKey the called one's public key, encoded
 */
record JoinExchange(JoinToken token, int called, int caller, byte[] callersKey, byte[] calledKey) {
    /** Of an encoded public key: SubjectPublicKeyInfo of X25519. */
    static final int KEY_BYTES = 44;

    static final int PROOF_BYTES = 32;

    private static final String CURVE = "X25519";
    private static final String MAC = "HmacSHA256";
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int TAG_BITS = 128;
    private static final String CALLED = "conclave join 1: the called member has the token";
    private static final String CALLER = "conclave join 1: the caller has the token";
    private static final String SECRET = "conclave join 1: the cluster's secret";

    /** A new key pair, for one conversation. */
    static KeyPair newKeys() {
        try {
            return KeyPairGenerator.getInstance(CURVE).generateKeyPair();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no " + CURVE, e);
        }
    }

    byte[] calledProof() {
        return mac(token.key(), text(CALLED));
    }

    byte[] callersProof() {
        return mac(token.key(), text(CALLER));
    }

    static boolean isSame(byte[] proof, byte[] other) {
        return MessageDigest.isEqual(proof, other);
    }

    /** Label, both numbers, the token's id and both public keys: a proof fits no other conversation or direction. */
    private byte[] text(String label) {
        byte[] bytes = label.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(bytes.length + 2 * Integer.BYTES + Long.BYTES + 2 * KEY_BYTES)
                .put(bytes)
                .putInt(called)
                .putInt(caller)
                .putLong(token.id())
                .put(callersKey)
                .put(calledKey)
                .array();
    }

    private static byte[] mac(byte[] key, byte[] text) {
        try {
            Mac mac = Mac.getInstance(MAC);
            mac.init(new SecretKeySpec(key, MAC));
            return mac.doFinal(text);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no " + MAC, e);
        }
    }

    /**
     * The secrets as only the caller can open them.
     *
     * @throws MalformedMessageException if the caller's public key is none
     */
    byte[] seal(KeyPair called, List<byte[]> secrets) {
        int length =
                secrets.stream().mapToInt(secret -> Short.BYTES + secret.length).sum();
        ByteBuffer plain = ByteBuffer.allocate(1 + length).put((byte) secrets.size());
        secrets.forEach(secret -> plain.putShort((short) secret.length).put(secret));
        return seal(called, plain.array());
    }

    /** Seals anything. */
    byte[] seal(KeyPair called, byte[] plain) {
        try {
            return cipher(Cipher.ENCRYPT_MODE, called, callersKey).doFinal(plain);
        } catch (GeneralSecurityException e) {
            throw new MalformedMessageException("the caller's public key is none: " + e.getMessage());
        }
    }

    /**
     * What was sealed.
     *
     * @throws MalformedMessageException if it was sealed by another one, or changed on the way, or is no secrets
     */
    List<byte[]> open(KeyPair caller, byte[] sealed) {
        if (sealed.length < TAG_BITS / Byte.SIZE) {
            throw new MalformedMessageException("it sent " + sealed.length + " bytes as the cluster's secret");
        }
        ByteBuffer plain;
        try {
            plain = ByteBuffer.wrap(
                    cipher(Cipher.DECRYPT_MODE, caller, calledKey).doFinal(sealed));
        } catch (GeneralSecurityException e) {
            throw new MalformedMessageException("what it sent as the cluster's secret cannot be opened");
        }
        return secretsIn(plain);
    }

    private static List<byte[]> secretsIn(ByteBuffer plain) {
        List<byte[]> secrets = new ArrayList<>();
        int count = plain.hasRemaining() ? plain.get() : 0;
        if (count < 1 || count > PeerSecrets.MOST_SECRETS) {
            throw new MalformedMessageException("it sent " + count + " secrets");
        }
        for (int i = 0; i < count; i++) {
            int length = plain.remaining() < Short.BYTES ? 0 : Short.toUnsignedInt(plain.getShort());
            if (length < PeerSecrets.LEAST_BYTES || length > plain.remaining()) {
                throw new MalformedMessageException("a secret of " + length + " bytes, where it sent "
                        + plain.remaining() + "; " + PeerSecrets.LEAST_BYTES + " are the least");
            }
            byte[] secret = new byte[length];
            plain.get(secret);
            secrets.add(secret);
        }
        if (plain.hasRemaining()) {
            throw new MalformedMessageException(plain.remaining() + " bytes are left behind the secrets that it sent");
        }
        return secrets;
    }

    /**
     * The key is used for one message, so the nonce of the cipher need not differ. HKDF of RFC 5869, with one block.
     */
    private Cipher cipher(int mode, KeyPair own, byte[] other) throws GeneralSecurityException {
        KeyAgreement agreement = KeyAgreement.getInstance(CURVE);
        agreement.init(own.getPrivate());
        agreement.doPhase(KeyFactory.getInstance(CURVE).generatePublic(new X509EncodedKeySpec(other)), true);
        byte[] extracted = mac(token.key(), agreement.generateSecret());
        byte[] text = text(SECRET);
        byte[] key = mac(
                extracted,
                ByteBuffer.allocate(text.length + 1).put(text).put((byte) 1).array());
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_BITS, new byte[12]));
        cipher.updateAAD(text);
        return cipher;
    }
}
