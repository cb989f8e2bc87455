import { certificateLimits } from "../../src/config/certificate-limits.ts";
import type { DnsAnswers } from "../../src/ingress/certs/acme/dns.ts";
import { type Certificates, type CertificatesOptions, createCertificates } from "../../src/ingress/certs/create.ts";
import type { CertificateKind, CertificateStore } from "../../src/ingress/certs/store.ts";
import type { CertificateEvent } from "../../src/ingress/certs/tending.ts";
import type { AcmeIssuer } from "../../src/ingress/core/certificates/wanted.ts";
import { createFakeCa, type FakeCa } from "./fake-ca.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { silentLog } from "./silent-log.ts";
import { patienceMs } from "./wait.ts";

/** Documents in memory, as JSON, so that nothing is shared with what was put. */
export function memoryCertificateStore(): CertificateStore & { texts: Map<string, string>; fails: boolean } {
  const texts = new Map<string, string>();
  const keyOf = (kind: CertificateKind, id: string) => `${kind} ${id}`;
  const store: ReturnType<typeof memoryCertificateStore> = {
    texts,
    fails: false,
    get(kind, id) {
      const text = texts.get(keyOf(kind, id));
      return text === undefined ? undefined : JSON.parse(text);
    },
    list: (kind) =>
      [...texts].flatMap(([key, text]) =>
        key.startsWith(`${kind} `) ? [{ id: key.slice(kind.length + 1), document: JSON.parse(text) }] : [],
      ),
    async put(kind, id, document) {
      if (store.fails) throw new Error("disk full");
      texts.set(keyOf(kind, id), JSON.stringify(document));
    },
    async remove(kind, id) {
      texts.delete(keyOf(kind, id));
    },
  };
  return store;
}

export interface CertificateWorld {
  clock: FakeClock;
  ca: FakeCa;
  store: ReturnType<typeof memoryCertificateStore>;
  /** Token to text, as port 80 answers. */
  answers: Map<string, string>;
  txt: Map<string, string>;
  /** What names resolve to; others do not exist. */
  addresses: Map<string, string[]>;
  events: CertificateEvent[];
  files: Map<string, string>;
  /** What the address of names on demand answers, 404 where left out; and what it was asked. */
  permissions: Map<string, number>;
  asked: string[];
  acme: AcmeIssuer;
  /** A manager as after a start of the server; the one before has been stopped. */
  start(more?: Partial<CertificatesOptions>): Promise<Certificates>;
  stop(): Promise<void>;
  /** Lets time pass, so that all that becomes due is done. */
  pass(ms: number): Promise<void>;
}

/** Certificates against a fake CA, on a clock that moves by hand. */
export async function certificateWorld(): Promise<CertificateWorld> {
  const clock = createFakeClock();
  const answers = new Map<string, string>();
  const txt = new Map<string, string>();
  const addresses = new Map<string, string[]>();
  const ca = await createFakeCa({
    now: () => clock.now(),
    answerOf: (name, token) => (txt.has(`_acme-challenge.${name.replace("*.", "")}`) ? "dns" : answers.get(token)),
  });
  const events: CertificateEvent[] = [];
  const files = new Map<string, string>();
  const permissions = new Map<string, number>();
  const asked: string[] = [];
  const store = memoryCertificateStore();
  const dns: DnsAnswers = {
    set: async ({ name, text }) => void txt.set(name, text),
    clear: async ({ name }) => void txt.delete(name),
    look: async (name) => [txt.get(name) ?? ""],
    seenMs: 10_000,
  };
  const port80 = (url: string) => {
    const found = answers.get(new URL(url).pathname.split("/").at(-1) ?? "");
    return found === undefined ? new Response("not found", { status: 404 }) : new Response(found);
  };
  const options: CertificatesOptions = {
    ...{
      store,
      clock,
      limits: { ...certificateLimits, lookMs: 86_400_000 },
      log: silentLog,
      random: () => 0,
      userAgent: "test",
    },
    commonName: "berth internal CA",
    mayOrder: () => true,
    fetch: (url, init) => ca.fetch(url, init),
    fetchPinned: (url) => Promise.resolve(port80(url)),
    challenge: {
      set: async (token, text) => void answers.set(token, text),
      clear: async (token) => void answers.delete(token),
    },
    dns: () => dns,
    async resolve(name) {
      const found = addresses.get(name);
      if (found === undefined) throw new Error("ENOTFOUND");
      return found;
    },
    addresses: () => ["192.0.2.1"],
    async readFile(reference) {
      return files.get(reference) ?? "";
    },
    async ask(url) {
      asked.push(url);
      return permissions.get(new URL(url).searchParams.get("domain") ?? "") ?? 404;
    },
    onEvent: (event) => events.push(event),
  };
  let running: { certificates: Certificates; stopping: AbortController; done: Promise<void> } | undefined;
  /** The loop sleeps, and so does each piece of work that is under way. */
  const settled = async () => {
    const busy = () => running?.certificates.list().filter(({ isUnderWay }) => isUnderWay).length ?? 0;
    const deadline = performance.now() + patienceMs;
    while (running !== undefined && clock.sleepers !== busy() + 1) {
      if (performance.now() > deadline) throw new Error("the certificates do not come to rest");
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const world: CertificateWorld = {
    ...{ clock, ca, store, answers, txt, addresses, events, files, permissions, asked },
    acme: {
      ...{ kind: "acme", directory: ca.directory, email: "ops@shop.test", root: undefined, eab: undefined },
      ...{ dnsPlugin: undefined, skipChecks: false },
    },
    async start(more = {}) {
      await world.stop();
      const certificates = createCertificates({ ...options, ...more });
      const stopping = new AbortController();
      running = { certificates, stopping, done: certificates.run(stopping.signal) };
      return certificates;
    },
    async stop() {
      running?.stopping.abort();
      await running?.done;
      running = undefined;
    },
    async pass(ms) {
      await settled();
      const end = clock.steady() + ms;
      for (let due = clock.nextDue(); due !== undefined && due <= end; due = clock.nextDue()) {
        clock.moveTo(due);
        await settled();
      }
      clock.moveTo(end);
      await settled();
    },
  };
  return world;
}
