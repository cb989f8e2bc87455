import { createBelievedTime } from "../../base/words/believed-time.ts";
import { Failure, problemsFailure } from "../../base/wire/failure.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import { type DataOf, scopes as allScopes } from "../../base/wire/endpoint.ts";
import { signedInPath } from "../api/people.ts";
import { createUiLink, signIn as signInEndpoint, signInPath } from "../api/sessions.ts";
import { readTokenRequest, type TokenTerms } from "../core/tokens/request.ts";
import { actorOf, type Grant } from "../core/tokens/grant.ts";
import { scopesOf } from "../core/people/roles.ts";
import type { ObservabilityNouns } from "../store/open-store.ts";
import type { Person, UiSession } from "../store/records.ts";
import { auditNote } from "./audit.ts";
import type { ObservabilityContext } from "./context.ts";
import type { Rates } from "./rates.ts";
import type { SignedInUser } from "./people/identity.ts";
import type { Streams } from "./streams.ts";
import { type Access, unauthorizedText } from "./tokens/access.ts";
import { mintOwned } from "./tokens/tokens.ts";

const readLink = bodyReader(createUiLink);
const readSignIn = bodyReader(signInEndpoint);

/** Where a browser is. */
export interface Browser {
  ip: string;
  agent: string;
}

/** A session that is good now, and what it may do. */
export interface OpenSession {
  session: UiSession;
  grant: Grant;
}

/** Browsers that are signed in. Each session stands for a token, and ends with it. */
export interface UiSessions {
  /** A code that signs one browser in, once. Fails `invalid`, and `conflict` when too many wait. */
  link(body: unknown, by: { actor: string }): DataOf<typeof createUiLink>;
  /** Fails `invalid`, `unauthorized` and `too_many`, as `Access.enter` does. */
  signIn(body: unknown, browser: Browser): Promise<OpenSession>;
  /** A session of a person with a role, who came back from the identity service. */
  beginFor(person: Person, found: SignedInUser, browser: Browser): Promise<OpenSession>;
  /** Undefined where the session or its token has ended, or the token may not be used from there. */
  find(id: string, browser: Browser): OpenSession | undefined;
  signOut(id: string): Promise<void>;
}

interface Link {
  terms: TokenTerms;
  actor: string;
  /** On the steady clock. */
  until: number;
}

/** What a new session stands for. */
interface Behind {
  id: string;
  owned: boolean;
  person?: UiSession["person"];
}

interface Parts {
  access: Access;
  rates: Rates;
  streams: Streams;
}

const codeBytes = 24;
const idBytes = 18;

export function createUiSessions(context: ObservabilityContext, { access, rates, streams }: Parts): UiSessions {
  const { store, clock, limits, randomBytes } = context;
  const { lifeMs, openMax, linkMs, linksMax, clockJumpMs: jumpMs, clockHoldMs: holdMs } = limits.sessions;
  const believed = createBelievedTime(clock, { jumpMs, holdMs });
  const links = new Map<string, Link>();
  const random = (count: number) => Buffer.from(randomBytes(count)).toString("base64url");
  const dropOld = () => {
    for (const [code, { until }] of links) if (until <= clock.steady()) links.delete(code);
  };
  const begin = async ({ ip, agent }: Browser, token: (nouns: ObservabilityNouns) => Behind) => {
    const session = await store.write((nouns) => {
      const now = clock.now();
      nouns.sessions.trim(believed());
      if (nouns.sessions.count(now) >= openMax) {
        throw new Failure("conflict", `${openMax} browsers are signed in already: sign some out first`);
      }
      const { id, owned, person } = token(nouns);
      const until = Math.min(now + lifeMs, nouns.tokens.get(id)?.expiresAt ?? Number.POSITIVE_INFINITY);
      const begun = { id: random(idBytes), token: id, owned, createdAt: now, expiresAt: until, endedAt: undefined };
      const made: UiSession = { ...begun, ip, agent: agent.slice(0, limits.tokens.agentCharactersMax), person };
      nouns.sessions.add(made);
      const [action, target] = person === undefined ? ["POST", "/ui/api/session"] : ["GET", signedInPath];
      const done = { action: `${action} ${target}`, target };
      nouns.audit.append(auditNote(now, { actor: actorFor(nouns, made), ip, ...done }));
      return made;
    });
    const open = find(session.id, { ip, agent });
    if (open === undefined) throw new Failure("unauthorized", unauthorizedText);
    return open;
  };
  const find = (id: string, browser: Browser): OpenSession | undefined => {
    const session = store.sessions.get(id);
    if (session === undefined || session.endedAt !== undefined || session.expiresAt <= clock.now()) return undefined;
    const grant = access.grantOf(session.token, browser);
    if (grant === undefined) return undefined;
    if (session.person === undefined) return { session, grant: withSession(grant, session) };
    const person = standing(context, session.person);
    return person && { session, grant: { ...withSession(grant, session), person: person.email } };
  };
  const redeem = (code: string, { ip }: Browser): Link => {
    dropOld();
    const link = links.get(code);
    links.delete(code);
    if (link !== undefined) return link;
    rates.checkClient(ip);
    rates.failed(ip);
    throw new Failure(
      "unauthorized",
      "this link was used already, or is older than a minute: berth ui makes a new one",
    );
  };
  return {
    find,
    link(body, { actor }) {
      const { scopes = allScopes, apps } = readLink(body);
      const request = { scopes, apps, name: `web UI of ${actor}` };
      const { terms, problems } = readTokenRequest(request, { now: clock.now(), ...limits.tokens });
      if (problems.length > 0) throw problemsFailure(problems);
      dropOld();
      if (links.size >= linksMax) {
        throw new Failure("conflict", `${linksMax} links wait to be opened already: try again in a minute`);
      }
      const code = random(codeBytes);
      links.set(code, { terms, actor, until: clock.steady() + linkMs });
      const expires_at = new Date(clock.now() + linkMs).toISOString();
      return { code, path: `${signInPath}#link=${code}`, expires_at };
    },
    async signIn(body, browser) {
      const { token, link } = readSignIn(body);
      if ((token === undefined) === (link === undefined)) {
        throw new Failure("invalid", "give a token, or the code of a one-time link");
      }
      if (token !== undefined) {
        const authorization = `Bearer ${token.trim()}`;
        const { id } = access.enter({ authorization, ...browser });
        return begin(browser, () => ({ id, owned: false }));
      }
      const { terms, actor } = redeem(link ?? "", browser);
      const expiresAt = clock.now() + lifeMs;
      return begin(browser, (nouns) => {
        const { id } = mintOwned(context, nouns, { ...terms, expiresAt, createdBy: actor });
        return { id, owned: true };
      });
    },
    beginFor: (person, { user, session, expiresAt }, browser) =>
      begin(browser, (nouns) => {
        const { id, email: name, role, apps } = person;
        const until = Math.min(clock.now() + lifeMs, expiresAt ?? Number.POSITIVE_INFINITY);
        const terms = { name, apps, scopes: scopesOf(role), networks: [], expiresAt: until };
        const token = mintOwned(context, nouns, { ...terms, createdBy: `person:${name}` });
        nouns.people.signedIn(id, user, clock.now());
        return { id: token.id, owned: true, person: { id, session } };
      }),
    async signOut(id) {
      const ended = await store.write((nouns) => {
        const session = nouns.sessions.get(id);
        const isNew = nouns.sessions.end(id, clock.now());
        const out = { action: "DELETE /ui/api/session", target: "/ui/api/session" };
        if (isNew && session !== undefined) {
          nouns.audit.append(auditNote(clock.now(), { actor: actorFor(nouns, session), ip: session.ip, ...out }));
        }
        if (session?.owned) nouns.tokens.revoke(session.token, clock.now());
        return session;
      });
      streams.cutSession(id);
      if (ended?.owned) streams.cut(ended.token);
      // Else the next one at this browser would go on as this person with one click.
      const instance = store.people.instance();
      if (ended?.person !== undefined && instance !== undefined)
        await context.people.end(instance, ended.person.session);
    },
  };
}

/** What the session opens ends with it. */
function withSession(grant: Grant, { id, expiresAt }: UiSession): Grant {
  return { ...grant, session: id, expiresAt: Math.min(expiresAt, grant.expiresAt ?? Number.POSITIVE_INFINITY) };
}

function actorFor({ people }: Pick<ObservabilityNouns, "people">, { token, person }: UiSession): string {
  const email = person && people.get(person.id)?.email;
  return actorOf({ id: token, ...(email === undefined ? {} : { person: email }) });
}

/** The person of a session, while the role is there, and the identity service still knows user and session. */
function standing(
  { store, people }: Pick<ObservabilityContext, "store" | "people">,
  { id, session }: NonNullable<UiSession["person"]>,
): Person | undefined {
  const instance = store.people.instance();
  const person = store.people.get(id);
  if (instance === undefined || person?.user === undefined) return undefined;
  return people.stands(instance, { user: person.user, session }) ? person : undefined;
}
