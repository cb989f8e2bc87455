import { didYouMean } from "../../../base/pure/suggest.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { listManifests } from "../../../orchestration/api/apply.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { Failure, type Problem, problemsFailure } from "../../../base/wire/failure.ts";
import { type Silence, SilenceBody } from "../../api/alert-silences.ts";
import { appOf } from "../../core/alerts/labels.ts";
import { durationProblems } from "../../core/alerts/rules.ts";
import type { AlertParts } from "../alert-parts.ts";
import type { RuleRoom } from "./rules.ts";
import { silenceView } from "./views.ts";

export interface SilenceRoom {
  list(): Silence[];
  /** Fails `invalid` with the path of each fault. */
  add(body: unknown, by: string): Promise<Silence>;
  /** Fails `not_found`. */
  remove(id: string): Promise<Silence>;
}

const readBody = schemaReader(SilenceBody);
/** Names of rules that an error lists. */
const namesShown = 40;

export function createSilenceRoom(parts: AlertParts, rules: Pick<RuleRoom, "names">): SilenceRoom {
  const { store, clock, limits, newId } = parts;
  return {
    list: () => store.silences.list(clock.now()).map(silenceView),
    async add(given, by) {
      const body = readBody(given);
      const problems = [
        ...durationProblems("for", body.for),
        ...matcherProblems(body),
        ...ruleProblems(parts, rules.names(), body.matcher.rule),
        ...(await appProblems(parts, body.matcher.app)),
      ];
      if (problems.length > 0) throw problemsFailure(problems);
      const now = clock.now();
      if (store.silences.list(now).length >= limits.silencesMax) {
        throw new Failure("conflict", `there are ${limits.silencesMax} silences, which is the most: end one first`);
      }
      const until = now + (parseDuration(body.for) ?? 0);
      const silence = { id: newId(), matcher: body.matcher, by, reason: body.reason, createdAt: now, until };
      await store.write(({ silences }) => {
        silences.purge(now);
        silences.add(silence);
      });
      return silenceView(silence);
    },
    async remove(id) {
      const removed = await store.write(({ silences }) => silences.remove(id));
      if (removed === undefined) {
        throw new Failure("not_found", `there is no silence "${id}"; list them with: berth alerts silences`);
      }
      return silenceView(removed);
    },
  };
}

/** One without any part would silence everything by mistake. */
function matcherProblems({ matcher, for: span }: SilenceBody): Problem[] {
  const empty = Object.keys(matcher).length === 0;
  return [
    ...(empty ? [{ path: "matcher", message: 'is empty; for every alert write {"rule": "*"}' }] : []),
    ...(parseDuration(span) === 0 ? [{ path: "for", message: "must be longer than 0" }] : []),
  ];
}

/** A name without `*` is that of a rule, or of an alert whose rule was deleted: a misspelt one would hold nothing back. */
function ruleProblems({ store }: AlertParts, names: readonly string[], rule: string | undefined): Problem[] {
  if (rule === undefined || rule.includes("*") || names.includes(rule)) return [];
  if (store.alerts.open().some((alert) => alert.rule === rule)) return [];
  const some = names.slice(0, namesShown).join(", ");
  const known = names.length > namesShown ? `${some}, …; list them with: berth alerts rules` : some;
  const message = `there is no alert rule "${rule}"${didYouMean(rule, names)}; the rules are ${known}`;
  return [{ path: "matcher.rule", message }];
}

/** A name without `*` is that of an app, or of an alert whose app has just gone: a misspelt one would hold nothing back. */
async function appProblems({ client, store }: AlertParts, app: string | undefined): Promise<Problem[]> {
  if (app === undefined || app.includes("*")) return [];
  if (store.alerts.open().some(({ labels }) => appOf(labels) === app)) return [];
  const manifests = await client.call(listManifests, { query: {} });
  if (manifests.some(({ scope, name }) => `${scope}/${name}` === app)) return [];
  const message = `there is no app "${app}"; list them with: berth get; all apps of a scope are "SCOPE/*"`;
  return [{ path: "matcher.app", message }];
}
