import { codeOf } from "../../base/wire/disk-failure.ts";
import { existsSync, writeFileSync } from "node:fs";
import { getAuthority } from "../../ingress/api/certificates.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";

/** Where systems keep the roots that they trust, and the program that reads them again. */
const trustStores: readonly TrustStore[] = [
  { folder: "/usr/local/share/ca-certificates", ending: "crt", update: ["update-ca-certificates"] },
  { folder: "/etc/pki/ca-trust/source/anchors", ending: "pem", update: ["update-ca-trust", "extract"] },
  { folder: "/etc/ca-certificates/trust-source/anchors", ending: "pem", update: ["trust", "extract-compat"] },
];

export const caCommand: CommandBody = {
  usage: ["ca", "ca install"],
  examples: [
    "ca > root.pem  the root certificate of the server's own CA",
    "ca install  let this machine trust it; run it as root, also on your laptop",
  ],
  detail: [
    "Certificates with tls.provider: internal are issued by a CA of the server itself. Programs trust",
    "them once they trust its root. install puts the root into the trust store of the machine that the",
    "command runs on. Firefox, Java and Node.js have stores of their own.",
  ],
  flags: [],
  async run(context, { words }) {
    const [verb, ...more] = words;
    if (more.length > 0 || (verb !== undefined && verb !== "install")) throw usageFailure("use: ca, or ca install");
    const data = await context.api.call(getAuthority);
    if (verb === "install") return install(context, data);
    return answer(context, data, () => data.certificate.trimEnd());
  },
};

interface Root {
  certificate: string;
  common_name: string;
  sha256: string;
}

async function install(context: Context, root: Root): Promise<number> {
  const path = await installRoot(context, root, trustStores);
  return answer(context, { ...root, path }, () => `this machine trusts "${printable(root.common_name)}" (${path})`);
}

interface TrustStore {
  folder: string;
  ending: string;
  update: readonly string[];
}

/** Puts a root into the first of the stores that is there; returns its file. */
export async function installRoot(
  { runLocal }: Pick<Context, "runLocal">,
  root: Root,
  stores: readonly TrustStore[],
): Promise<string> {
  const store = stores.find(({ folder }) => existsSync(folder));
  if (store === undefined) {
    throw new CommandFailure("no trust store found on this machine. Save the root with: berth ca > root.pem");
  }
  // One file per root: this machine may trust the roots of several servers.
  const path = `${store.folder}/berth-${root.sha256.slice(0, 12)}.${store.ending}`;
  try {
    writeFileSync(path, root.certificate, { mode: 0o644 });
  } catch (error) {
    const why =
      codeOf(error) === "ENOSPC" ? "no space left on the disk" : "run the command as root (sudo berth ca install)";
    throw new CommandFailure(`cannot write ${path}: ${why}`);
  }
  const code = await runLocal({ argv: store.update, env: {} });
  if (code !== 0) throw new CommandFailure(`${store.update.join(" ")} failed with exit code ${code}`);
  return path;
}
