import { threads } from "../threads.ts";
import { randomBytes } from "node:crypto";
import type { Gate } from "../base/deliver/gate.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import type { Key } from "../base/disk/key-file.ts";
import type { Layout } from "../base/disk/layout.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Opened } from "../base/words/opened.ts";
import { startThread } from "../base/words/thread.ts";
import type { Senders } from "./senders.ts";
import { type Listener, startListener } from "../base/http/listener.ts";
import type { Log } from "../base/words/log.ts";
import { identityLimits, proxyVariables, type ServeOptions } from "../config/config.ts";
import type { IngressWord } from "../base/http/ingress-word.ts";
import { parseAddress } from "../config/values.ts";
import { listenerRefusals } from "../identity/http/answers.ts";
import { createIdentityApp } from "../identity/http/app.ts";
import { createIdentity, type RunningIdentity } from "../identity/service/create.ts";
import { openIdentityStore } from "../identity/store/open-store.ts";

interface IdentityParts {
  opened: Opened;
  layout: Layout;
  options: ServeOptions;
  key: Key;
  gate: Gate;
  log: Log;
  sendMail: Senders["sendMail"];
  sendWebhooks: Senders["sendWebhooks"];
}

/** The identity service with its store; it needs nothing of Docker. */
export async function openIdentity(parts: IdentityParts): Promise<RunningIdentity> {
  const { opened, layout, options, key, gate, log, sendMail, sendWebhooks } = parts;
  const store = await opened.step(
    "open the database of users",
    () => openIdentityStore({ path: layout.identityDatabase, key, usersKept: identityLimits.usersKept }),
    (it) => it.close(),
  );
  return opened.step(
    "make the identity service",
    () =>
      createIdentity({
        store,
        gate,
        key,
        clock: systemClock,
        log,
        limits: identityLimits,
        randomBytes: (count) => randomBytes(count),
        fetch: createPinned(proxyVariables()),
        resolve: resolveHost,
        baseUrl: options.identityBaseUrl,
        isServed: options.identityAddr !== "",
        allowPrivate: options.identityAllowPrivate,
        sendMail,
        sendWebhook: sendWebhooks({
          allowPrivate: options.identityAllowPrivate,
          allowFlag: "--identity-allow-private-endpoints",
        }),
        search: {
          database: layout.identityDatabase,
          index: layout.identityIndex,
          start: startThread(threads.search),
        },
      }),
    (it) => it.close(),
  );
}

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
