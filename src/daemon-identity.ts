import { type Listener, startListener } from "./base/http/listener.ts";
import type { Log } from "./base/words/log.ts";
import { identityLimits, type ServeOptions } from "./config/config.ts";
import type { IngressWord } from "./base/http/ingress-word.ts";
import { parseAddress } from "./config/values.ts";
import { listenerRefusals } from "./identity/http/answers.ts";
import { createIdentityApp } from "./identity/http/app.ts";
import type { RunningIdentity } from "./identity/service/create.ts";

/** The listener of the identity service; undefined where it is turned off. */
export function listenForIdentity(
  running: RunningIdentity,
  options: ServeOptions,
  { ingress, log }: { ingress: IngressWord; log: Log },
): Listener | undefined {
  if (options.identityAddr === "") return undefined;
  const trusted = options.identityTrustedProxies;
  return startListener({
    address: parseAddress(options.identityAddr),
    handler: ({ peerOf }) =>
      createIdentityApp({
        identity: running.identity,
        log,
        limits: identityLimits,
        proxies: { peerOf, trusted, ingress },
      }).fetch,
    refusals: listenerRefusals,
    limits: identityLimits,
    log,
  });
}
