import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "bun:test";
import { X509Certificate, createPrivateKey, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { type Authority, createAuthority, issueLeaf } from "../../../../src/ingress/certs/authority.ts";
import { pemOf, readPair } from "../../../../src/ingress/certs/pem.ts";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { folder } from "../../../support/files.ts";

const now = Date.UTC(2026, 0, 1);
let authority: Authority;
let leaf: { certificate: string; key: string };

beforeAll(async () => {
  authority = await createAuthority({ commonName: "berth internal CA", now });
  leaf = await issueLeaf(authority, { names: ["a.test"], now });
});

test("the certificate of the key comes first, in whatever order the chain was written", () => {
  const right = readPair({ certificate: `${leaf.certificate}${authority.certificate}`, key: leaf.key });
  const wrong = readPair({ certificate: `${authority.certificate}\n\n${leaf.certificate}`, key: leaf.key });
  expect(wrong).toEqual(right);
  expect(new X509Certificate(wrong.chain).subjectAltName).toBe("DNS:a.test");
  expect(wrong).toMatchObject({ names: ["a.test"], issuedBy: "berth internal CA" });
});

/** Leaf, two intermediates and root, made by openssl; `chain` is from the leaf to the root. */
function longChain(): { chain: string[]; key: string } {
  using place = folder({
    "ca.cnf": "basicConstraints=critical,CA:true\n",
    "leaf.cnf": "subjectAltName=DNS:long.test\n",
  });
  const openssl = (...args: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args], { cwd: place.path, stderr: "pipe" });
    if (exitCode !== 0) throw new Error(stderr.toString());
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=root", "-days", "9");
  const signed: [string, string, string][] = [
    ["one", "root", "ca"],
    ["two", "one", "ca"],
    ["leaf", "two", "leaf"],
  ];
  for (const [name, by, kind] of signed) {
    openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    const issuer = ["-CA", `${by}.pem`, "-CAkey", `${by}.key`, "-CAcreateserial", "-days", "9"];
    openssl("x509", "-req", "-in", `${name}.csr`, ...issuer, "-extfile", `${kind}.cnf`, "-out", `${name}.pem`);
  }
  const read = (name: string) => readFileSync(join(place.path, name), "utf8");
  return { chain: ["leaf", "two", "one", "root"].map((name) => read(`${name}.pem`)), key: read("leaf.key") };
}

test("a chain in any order goes from the certificate to its root; a stranger in the file comes last", () => {
  const { chain, key } = longChain();
  const [first = "", two = "", one = "", root = ""] = chain;
  const right = readPair({ certificate: chain.join(""), key }).chain;
  expect(right.match(/BEGIN/g)).toHaveLength(4);
  for (const order of [
    [root, one, two, first],
    [first, root, one, two],
    [two, first, root, one],
  ]) {
    expect(readPair({ certificate: order.join(""), key }).chain).toBe(right);
  }
  const stranger = readPair({ certificate: [authority.certificate, one, first, two].join(""), key }).chain;
  const known = readPair({ certificate: [first, two, one].join(""), key }).chain;
  expect(stranger).toStartWith(known);
  expect(new X509Certificate(stranger.slice(known.length)).subject).toContain("berth internal CA");
});

test("one file may hold certificate, chain and key, with comments and Windows line ends", () => {
  const text = `Bag Attributes\r\n${leaf.key}\r\n\r\nsubject=a\r\n${leaf.certificate}`.replaceAll(/\r?\n/g, "\r\n");
  const pair = readPair({ certificate: text, key: text });
  expect(pemOf(pair)).toMatch(/^-----BEGIN CERTIFICATE-----\n[\s\S]*-----END PRIVATE KEY-----\n$/);
  expect(pemOf(pair)).not.toMatch(/\r|\n\n/);
});

test("a key in the older form of elliptic curves is accepted", () => {
  const sec1 = createPrivateKey(leaf.key).export({ type: "sec1", format: "pem" }).toString();
  expect(readPair({ certificate: leaf.certificate, key: sec1 }).key).toBe(readPair({ ...leaf }).key);
});

test("what is wrong is said in words", () => {
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const pem = { type: "pkcs8", format: "pem" } as const;
  const locked = other.export({ ...pem, cipher: "aes-256-cbc", passphrase: "x" }).toString();
  const fails = (texts: Partial<{ certificate: string; key: string }>) => () => readPair({ ...leaf, ...texts });
  expect(fails({ key: other.export(pem).toString() })).toThrow("key: does not belong to the certificate");
  expect(fails({ key: "" })).toThrow("key: none found");
  expect(fails({ key: locked })).toThrow("key: protected with a passphrase. Remove it");
  const older = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  const lockedBefore = older.export({ type: "pkcs1", format: "pem", cipher: "aes-256-cbc", passphrase: "x" });
  expect(fails({ key: lockedBefore.toString() })).toThrow("key: protected with a passphrase. Remove it");
  expect(fails({ key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----" })).toThrow(
    "key: the PEM text is",
  );
  expect(fails({ certificate: leaf.key })).toThrow("certificate: none found");
  expect(fails({ certificate: leaf.certificate.replace("MII", "MIA") })).toThrow(
    "certificate: the PEM text is damaged",
  );
  expect(fails({ certificate: leaf.certificate.repeat(11) })).toThrow("11 certificates in one chain");
});

test("no text whatever makes it fail otherwise than in words", () => {
  const piece = fc.constantFrom(
    "-----BEGIN CERTIFICATE-----\n",
    "-----END CERTIFICATE-----\n",
    "MIIB\n",
    "-----",
    "\n",
  );
  const text = fc.array(fc.oneof(piece, fc.string()), { maxLength: 20 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, (certificate, key) => {
      try {
        readPair({ certificate: fc.stringify(certificate).length % 2 ? certificate : leaf.certificate, key });
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
    }),
  );
});
