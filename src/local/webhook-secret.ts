import { parseArgs } from "node:util";
import { Failure } from "../base/wire/failure.ts";
import { serveOptions } from "../config/config.ts";
import { signingSecret } from "../base/deliver/signature.ts";
import { readKey } from "../base/disk/key-file.ts";
import { layoutOf } from "../base/disk/layout.ts";
import { sayNow } from "../client/basics/output.ts";

export const webhookSecretUsage = `usage: berth hooks secret [--root DIR]

Prints the secret of the webhook signatures of this server. Receivers use it to check the signature
header: the HMAC-SHA256, in hex, of the timestamp header, a dot, and the body as received. The
secret changes only with the key of the server.

  --root DIR   folder of all state (BERTH_ROOT, /opt/berth)`;

/** `berth hooks secret`: from the key file, so only for who may read that; no API tells it. */
export async function webhookSecretCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { root: { type: "string" }, help: { type: "boolean", short: "h" } },
    allowPositionals: false,
  });
  if (values.help) {
    sayNow(webhookSecretUsage);
    return 0;
  }
  const layout = layoutOf(serveOptions(values.root === undefined ? {} : { root: values.root }).root);
  const key = await readKey(layout.key);
  if (key === undefined) throw new Failure("not_found", `no berth state under "${layout.root}": use --root`);
  sayNow(signingSecret(key).reveal());
  return 0;
}
