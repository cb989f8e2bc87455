import { resolveTxt } from "node:dns/promises";
import { hostname, networkInterfaces } from "node:os";
import { theServer } from "../access/principal.ts";
import { createGuardedFetch } from "../base/deliver/guarded-fetch.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import { readTextFile } from "../base/disk/read-text.ts";
import { Failure } from "../base/wire/failure.ts";
import { createOutside, direct } from "../base/wire/outgoing.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Gate } from "../base/deliver/gate.ts";
import type { Log } from "../base/words/log.ts";
import { certificateLimits } from "../config/certificate-limits.ts";
import { proxyVariables } from "../config/config.ts";
import type { DnsAnswers } from "../ingress/certs/acme/dns.ts";
import { type ChallengeDoor, createChallengeDoor } from "../ingress/certs/challenge-door.ts";
import type { Ask } from "../ingress/certs/on-demand.ts";
import { type Certificates, createCertificates } from "../ingress/certs/create.ts";
import type { CertificateStore } from "../ingress/certs/store.ts";
import type { Controller } from "../orchestration/controller/controller.ts";
import type { Naming } from "../orchestration/core/naming.ts";
import type { Store } from "../orchestration/store/store.ts";
import { versionText } from "../version.ts";

interface CertificateRoom {
  certificates: Certificates;
  /** The proxy connects to it: it answers the challenges of CAs. */
  challenge: ChallengeDoor;
}

interface CertificateRoomOptions {
  store: Store;
  controller: Controller;
  names: Naming;
  log: Log;
  gate: Gate;
}

/** The certificates of the ingress, with what they need of the machine and of the platform. */
export function createCertificateRoom(options: CertificateRoomOptions): CertificateRoom {
  const { store, controller, names, log, gate } = options;
  const challenge = createChallengeDoor();
  const certificates = createCertificates({
    store: documentsOf(store),
    clock: systemClock,
    log,
    limits: certificateLimits,
    fetch: createOutside(proxyVariables()),
    fetchPinned: direct,
    challenge,
    dns: (plugin) => dnsThrough(controller, plugin),
    resolve: resolveHost,
    addresses: ownAddresses,
    readFile: (path) => readTextFile(path, certificateLimits.fileBytesMax),
    mayOrder: gate.isOpen,
    ask: gate.guard("no certificate is ordered", askThrough()),
    random: Math.random,
    userAgent: `${names.prefix}/${versionText()}`,
    commonName: `${names.prefix} internal CA on ${hostname()}`,
    onEvent({ type, names: hosts, issuer, text }) {
      const event = { actor: "ingress", action: `certificate.${type}`, detail: { names: hosts, issuer, text } };
      const now = systemClock.now();
      store
        .write((tx) => tx.events.append(event, now))
        .catch((error: unknown) => log.error("event of a certificate is lost", { error }));
    },
  });
  return { certificates, challenge };
}

/** Permission for a certificate on demand. The address is often one of this machine. */
function askThrough(): Ask {
  const { askMs, askBytesMax } = certificateLimits.onDemand;
  const guarded = createGuardedFetch({
    ...{ allowPrivate: true, resolve: resolveHost, headMs: askMs, bodyBytesMax: askBytesMax },
    fetch: createPinned(proxyVariables()),
  });
  return async (url, signal) => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(2 * askMs)]);
    return (await guarded({ method: "GET", url, headers: {} }, until)).status;
  };
}

function documentsOf(store: Store): CertificateStore {
  return {
    get(kind, id) {
      const found = store.certificates.get(kind, id);
      return found === undefined ? undefined : JSON.parse(found.text);
    },
    list: (kind) => store.certificates.list(kind).map(({ id, text }) => ({ id, document: JSON.parse(text) })),
    async put(kind, id, document) {
      const updatedAt = systemClock.now();
      await store.write((tx) => tx.certificates.put(kind, { id, text: JSON.stringify(document), updatedAt }));
    },
    async remove(kind, id) {
      await store.write((tx) => tx.certificates.remove(kind, id));
    },
  };
}

/** TXT records by the commands `dns-set NAME TEXT` and `dns-clear NAME TEXT` of a plugin. */
export function dnsThrough(controller: Controller, plugin: string): DnsAnswers {
  const run = async (command: string, args: string[]) => {
    try {
      await controller.dispatchPlugin(
        { plugin, command, body: { args } },
        { actor: "ingress", by: theServer, restart: false },
      );
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(error.code, `dns: plugin "${plugin}": ${error.message}`, { cause: error });
    }
  };
  return {
    set: ({ name, text }) => run("dns-set", [name, text]),
    clear: ({ name, text }) => run("dns-clear", [name, text]),
    look: textsOf,
    seenMs: certificateLimits.acme.dnsSeenMs,
  };
}

/** A name that has no texts yet is what a new record begins with. */
async function textsOf(name: string): Promise<string[]> {
  try {
    return (await resolveTxt(name)).map((parts) => parts.join(""));
  } catch {
    return [];
  }
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const open = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  return open.map(({ address }) => address);
}
