import type { ObservabilityContext } from "../context.ts";
import type { Rates } from "../rates.ts";
import type { UiSessions } from "../sessions.ts";
import type { Streams } from "../streams.ts";
import { createManagedPeople, type ManagedPeople } from "./manage.ts";
import { createEnder, type Ender } from "./parts.ts";
import { createPersonSignIn, type PersonSignIn } from "./sign-in.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

/** People who sign in to the web UI through the identity service. */
export interface PeopleRoom extends ManagedPeople {
  signIn: PersonSignIn;
  /** Ends the sessions of people whom the identity service has banned, deleted or signed out, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Parts {
  rates: Rates;
  streams: Streams;
  sessions: UiSessions;
}

export function createPeopleRoom(context: ObservabilityContext, { rates, streams, sessions }: Parts): PeopleRoom {
  const ender = createEnder(context, streams);
  return {
    ...createManagedPeople(context, ender),
    signIn: createPersonSignIn(context, { rates, begin: sessions.beginFor }),
    run: (signal) => watch(context, ender, signal),
  };
}

/** Each request asks for itself; this is for streams, which were let in before, and for the list of sessions. */
async function watch(context: ObservabilityContext, ender: Ender, signal: AbortSignal): Promise<void> {
  const { store, clock, people, limits, log } = context;
  const hasEnded = ({ user }: { user: string | undefined }, session: string) => {
    const instance = store.people.instance();
    return instance === undefined || user === undefined || !people.stands(instance, { user, session });
  };
  while (!signal.aborted) {
    await sleepAbout(clock, limits.people.lookMs, signal);
    const over = store.sessions.ofPeople(clock.now()).filter(({ person }) => {
      const known = person === undefined ? undefined : store.people.get(person.id);
      return known === undefined || hasEnded(known, person?.session ?? "");
    });
    if (over.length === 0) continue;
    const ids = new Set(over.map(({ id }) => id));
    try {
      ender.cut(await store.write((nouns) => ender.mark(nouns, ({ id }) => ids.has(id))));
    } catch (error) {
      log.error("sessions of people not ended", { error });
    }
  }
}
