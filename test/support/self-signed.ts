import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./haproxy.ts";

/** A certificate that nobody signed but itself, and its key, in one text. */
export function testCertificate(names: string[]): string {
  const { folder, remove } = temporaryFolder();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const alternatives = `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`;
  const made = Bun.spawnSync(
    [
      ...["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"],
      ...["-subj", `/CN=${names[0] ?? "test"}`, "-addext", alternatives, "-keyout", key, "-out", certificate],
    ],
    { stdout: "ignore", stderr: "pipe" },
  );
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  const pem = readFileSync(certificate, "utf8") + readFileSync(key, "utf8");
  remove();
  return pem;
}
