import { Failure, type Problem, problemsFailure } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { type Rule, RuleBody } from "../../api/alert-rules.ts";
import { defaultRules } from "../../core/alerts/default-rules.ts";
import { type ActiveRule, activeRule, durationText, ruleProblems } from "../../core/alerts/rules.ts";
import { questionProblems, readMetrics } from "../metrics/questions.ts";
import type { AlertParts } from "../alert-parts.ts";

const readBody = schemaReader(RuleBody);

interface Known {
  name: string;
  body: RuleBody;
  origin: Rule["origin"];
}

export interface RuleRoom {
  /** Every rule, also those that are turned off. */
  active(): ActiveRule[];
  names(): string[];
  list(state: RuleState): Rule[];
  /** Fails `not_found`. */
  get(name: string, state: RuleState): Rule;
  /** Fails `invalid` with the path of each fault. */
  put(name: string, body: unknown, by: string): Promise<void>;
  /** True when a default rule is as it was again. Fails `conflict` for one that was not changed. */
  remove(name: string): Promise<boolean>;
}

/** What the rounds know of the rules. */
export interface RuleState {
  firing: ReadonlyMap<string, number>;
  blind: ReadonlyMap<string, string>;
}

export function createRules({ store, clock, limits }: AlertParts): RuleRoom {
  const known = (): Known[] => {
    const stored = store.rules.list();
    const changed = new Set(stored.map(({ name }) => name));
    const defaults = Object.entries(defaultRules).filter(([name]) => !changed.has(name));
    return [
      ...defaults.map(([name, body]): Known => ({ name, body, origin: "default" })),
      ...stored.map(({ name, body }): Known => ({ name, body, origin: name in defaultRules ? "changed" : "own" })),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return {
    active: () => known().map(({ name, body }) => activeRule(name, body)),
    names: () => known().map(({ name }) => name),
    list: (state) => known().map((one) => viewOf(one, state)),
    get(name, state) {
      const one = known().find((rule) => rule.name === name);
      if (one === undefined) throw unknownRule(name);
      return viewOf(one, state);
    },
    async put(name, given, by) {
      const body = readBody(given);
      const problems = [...ruleProblems(name, body), ...metricProblems(body)];
      if (problems.length > 0) throw problemsFailure(problems);
      if (store.rules.list().length >= limits.rulesMax) {
        throw new Failure("conflict", `there are ${limits.rulesMax} rules, which is the most: delete one first`);
      }
      await store.write(({ rules }) => rules.put({ name, body, updatedAt: clock.now(), updatedBy: by }));
    },
    async remove(name) {
      const removed = await store.write(({ rules }) => rules.remove(name));
      if (removed) return name in defaultRules;
      if (!(name in defaultRules)) throw unknownRule(name);
      const way = "turn it off instead: berth alerts rules disable";
      throw new Failure(
        "conflict",
        `the rule "${name}" is part of the default pack and cannot be deleted; ${way} ${name}`,
      );
    },
  };
}

/** A metric that there cannot be would leave the rule blind for ever. */
function metricProblems({ watch }: RuleBody): Problem[] {
  return watch.type === "metric" ? questionProblems("watch", [() => readMetrics(watch.metric, 1)]) : [];
}

function unknownRule(name: string): Failure {
  return new Failure("not_found", `there is no alert rule "${name}"; list them with: berth alerts rules`);
}

function viewOf({ name, body, origin }: Known, { firing, blind }: RuleState): Rule {
  const { watch, severity, forMs, keepMs, enabled } = activeRule(name, body);
  const problem = enabled ? blind.get(name) : undefined;
  return {
    name,
    origin,
    watch,
    severity,
    for: durationText(forMs),
    keep: durationText(keepMs),
    enabled,
    ...(body.title === undefined ? {} : { title: body.title }),
    ...(body.apps === undefined ? {} : { apps: body.apps }),
    ...(body.group_by === undefined ? {} : { group_by: body.group_by }),
    ...(body.channels === undefined ? {} : { channels: body.channels }),
    firing: firing.get(name) ?? 0,
    ...(problem === undefined ? {} : { problem }),
  };
}
