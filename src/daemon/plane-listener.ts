import type { ServeOptions } from "../config/config.ts";
import { observabilityLimits } from "../config/observability-limits.ts";
import { isPublicAddress } from "../config/observability-options.ts";
import { parseAddress } from "../config/values.ts";
import type { Layout } from "../base/disk/layout.ts";
import type { IngressWord } from "../base/http/ingress-word.ts";
import { heldUntil } from "../base/http/held.ts";
import { openAt } from "../base/http/front/address.ts";
import { type Listener, startListener } from "../base/http/listener.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Log } from "../base/words/log.ts";
import { derivedKey, type Secret } from "../base/words/secret.ts";
import { readyPlaneTls } from "../local/plane-tls.ts";
import { loadUiFiles } from "../local/ui/files.ts";
import { createObservabilityApp } from "../observability/http/app.ts";
import { planeRefusals } from "../observability/http/refusals.ts";
import { createSessionCookie } from "../observability/http/session-cookie.ts";
import { createUiPages } from "../observability/http/ui-pages.ts";
import { naming } from "../orchestration/core/naming.ts";
import { versionText } from "../version.ts";

/** What the plane serves. */
export type ServedPlane = Pick<Parameters<typeof createObservabilityApp>[0], "observability" | "mountOthers">;

interface PlaneParts {
  /** Requests wait for it, since connections are taken as early as the server can. */
  made: Promise<ServedPlane>;
  layout: Pick<Layout, "planeTls">;
  key: Secret<Uint8Array>;
  installationId: string;
  /** Prefix of the installation, for names of headers. */
  prefix: string;
  /** Our own ingress. */
  ingress: IngressWord;
  log: Log;
}

type PlaneListenOptions = Pick<ServeOptions, "observabilityAddr" | "observabilityTls" | "identityTrustedProxies">;

/** With TLS there is a second listener without, on loopback: for the ingress, for tunnels and for this machine. */
interface PlaneListener {
  /** Where this machine reaches the plane over plain HTTP. */
  local: string;
  /** Every address, for the log. */
  addresses: string[];
  stop(graceMs: number): Promise<void>;
}

/** Fails `conflict` when the address is in use, `invalid` for a bad certificate; undefined where the plane is turned off. */
export async function listenForPlane(
  parts: PlaneParts,
  options: PlaneListenOptions,
): Promise<PlaneListener | undefined> {
  const { observabilityAddr: address, observabilityTls } = options;
  if (address === "") return undefined;
  const { log } = parts;
  const tls = await readyPlaneTls(observabilityTls, { folder: parts.layout.planeTls, now: systemClock.now() });
  const start = starter(parts, options);
  const main = await openAt(address, () => start({ address: parseAddress(address), tls }));
  if (tls === undefined) {
    if (isPublicAddress(address)) log.warn("the observability plane has no TLS", { address, hint: plainHint });
    return { local: main.address, addresses: [main.address], stop: (graceMs) => main.stop(graceMs) };
  }
  const { fingerprint, selfSigned, expiresAt } = tls;
  const expires = new Date(expiresAt).toISOString();
  log.info("the observability plane serves TLS", { address, self_signed: selfSigned, sha256: fingerprint, expires });
  const local = await besides(main, () => start({ address: { hostname: "127.0.0.1", port: 0 }, tls: undefined }));
  return {
    local: local.address,
    addresses: [`https://${main.address}`, local.address],
    stop: async (graceMs) => void (await Promise.all([main.stop(graceMs), local.stop(graceMs)])),
  };
}

/** Two listeners are open, or none. */
async function besides(first: Listener, open: () => Listener): Promise<Listener> {
  try {
    return open();
  } catch (error) {
    await first.stop(0);
    throw error;
  }
}

const plainHint =
  "everyone on the way can read the tokens, and browsers of other machines cannot sign in: use --observability-tls self-signed, or --observability-addr 127.0.0.1:8687 behind an ingress to @observability";

interface Place {
  address: { hostname: string; port: number };
  tls: { cert: string; key: string } | undefined;
}

function starter(parts: PlaneParts, { identityTrustedProxies: trustedProxies }: PlaneListenOptions) {
  const { made, key, installationId: installation, prefix, ingress, log } = parts;
  const limits = observabilityLimits;
  const common = {
    cookie: createSessionCookie({
      key: derivedKey(key, "observability sessions"),
      installation,
      now: systemClock.now,
    }),
    pages: createUiPages(loadUiFiles),
    version: versionText(),
    headerPrefix: naming(prefix).headerPrefix,
  };
  return ({ address, tls }: Place): Listener =>
    startListener({
      address,
      tls: tls === undefined ? undefined : { cert: tls.cert, key: tls.key },
      handler: (connected) =>
        heldUntil(
          made.then(
            (served) =>
              createObservabilityApp({ ...served, connected, trustedProxies, ingress, ...common, log, limits }).fetch,
          ),
          {
            waitMs: limits.startWaitMs,
            late: planeRefusals.starting,
            onFailure: (error) => log.error("the observability plane does not serve", { error }),
          },
        ),
      refusals: planeRefusals,
      limits,
      log,
    });
}
