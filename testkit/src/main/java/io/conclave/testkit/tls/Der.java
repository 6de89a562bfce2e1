package io.conclave.testkit.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** The parts of DER that a certificate is made of. */
final class Der {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'");

    private Der() {}

    static byte[] tagged(int tag, byte[]... parts) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            body.writeBytes(part);
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(tag);
        int length = body.size();
        if (length < 0x80) {
            all.write(length);
        } else if (length < 0x100) {
            all.write(0x81);
            all.write(length);
        } else {
            all.write(0x82);
            all.write(length >> 8);
            all.write(length);
        }
        all.writeBytes(body.toByteArray());
        return all.toByteArray();
    }

    static byte[] sequence(byte[]... parts) {
        return tagged(0x30, parts);
    }

    static byte[] integer(BigInteger value) {
        return tagged(0x02, value.toByteArray());
    }

    static byte[] octets(byte[] value) {
        return tagged(0x04, value);
    }

    static byte[] bits(byte[] value, int unused) {
        return tagged(0x03, new byte[] {(byte) unused}, value);
    }

    static byte[] yes() {
        return tagged(0x01, new byte[] {(byte) 0xFF});
    }

    static byte[] text(int tag, String value) {
        return tagged(tag, value.getBytes(StandardCharsets.US_ASCII));
    }

    /** UTCTime until 2049, GeneralizedTime after it, as certificates have it. */
    static byte[] time(Instant value) {
        String text = TIME.format(value.atOffset(ZoneOffset.UTC));
        return value.atOffset(ZoneOffset.UTC).getYear() < 2050 ? text(0x17, text.substring(2)) : text(0x18, text);
    }

    /** GeneralizedTime. */
    static byte[] longTime(Instant value) {
        return text(0x18, TIME.format(value.atOffset(ZoneOffset.UTC)));
    }

    /** An object identifier such as 2.5.29.17. */
    static byte[] identifier(String dotted) {
        String[] words = dotted.split("\\.");
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.write(Integer.parseInt(words[0]) * 40 + Integer.parseInt(words[1]));
        for (int i = 2; i < words.length; i++) {
            int value = Integer.parseInt(words[i]);
            for (int shift = 28; shift > 0; shift -= 7) {
                if (value >>> shift != 0) {
                    body.write(0x80 | (value >>> shift & 0x7F));
                }
            }
            body.write(value & 0x7F);
        }
        return tagged(0x06, body.toByteArray());
    }
}
