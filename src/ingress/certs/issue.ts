import { Failure } from "../../base/wire/failure.ts";
import { covers } from "../core/certificates/names.ts";
import { accountKey, type Target } from "../core/certificates/wanted.ts";
import type { AcmeWorld } from "./acme/issue.ts";
import type { Held } from "./holdings.ts";
import type { Internal } from "./internal.ts";
import type { CertificateLimits } from "./limits.ts";
import type { Orders } from "./orders.ts";
import { readOwnFile } from "./own-file.ts";
import { type Pair, type PairTexts, pemOf, readPair } from "./pem.ts";

interface IssueOptions {
  world: AcmeWorld;
  internal: Internal;
  orders: Orders;
  /** Text of a file that a manifest names. Fails with a text for people. */
  readFile: (reference: string) => Promise<string>;
  limits: CertificateLimits;
  /** Asks whether a name that is issued on demand still has permission. Fails `forbidden` when it has not. */
  confirm: (name: string, ask: string, signal: AbortSignal) => Promise<void>;
}

interface IssueTask {
  target: Target;
  /** The certificate that is there now. */
  held: Held | undefined;
  /** Called once an order was placed: from then on a failure counts at the CA. */
  onOrder: () => void;
  signal: AbortSignal;
}

/** Gets the certificate of a target from its issuer and checks it. Fails with a text for people. */
export async function issue(options: IssueOptions, task: IssueTask): Promise<Pair> {
  const { target } = task;
  const { limits, world } = options;
  const now = world.clock.now();
  if (target.issuer.kind === "file") {
    const { readFile } = options;
    const { pemBytesMax } = limits;
    return readOwnFile({ issuer: target.issuer, names: target.names, readFile, now, pemBytesMax });
  }
  const pair = readPair(await issuedTexts(options, task));
  const missing = target.names.filter((host) => !pair.names.some((name) => covers(name, host)));
  if (missing.length > 0) throw new Failure("unprocessable", `ca: the certificate is not for ${missing.join(", ")}`);
  if (pair.notAfter <= now) throw new Failure("unprocessable", "ca: the certificate has expired already");
  const bytes = Buffer.byteLength(pemOf(pair));
  if (bytes > limits.pemBytesMax) throw new Failure("unprocessable", `ca: the chain has ${bytes} bytes, too many`);
  return pair;
}

async function issuedTexts(options: IssueOptions, task: IssueTask): Promise<PairTexts> {
  const { names, issuer, ask } = task.target;
  const [name = ""] = names;
  if (ask !== undefined) await options.confirm(name, ask, task.signal);
  if (issuer.kind !== "acme") return options.internal.issue(names);
  // Loaded when it is used first: a server without such certificates does without the package.
  const { issueByAcme } = await import("./acme/issue.ts");
  return issueByAcme(options.world, {
    name,
    issuer,
    previous: task.held?.chain,
    signal: task.signal,
    async spend() {
      const at = options.world.clock.now();
      const order = { at, account: accountKey(issuer), name, isRenewal: task.held !== undefined };
      await options.orders.spend(ask === undefined ? order : { ...order, isOnDemand: true });
      task.onOrder();
    },
  });
}
