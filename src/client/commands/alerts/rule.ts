import { unchecked } from "../../basics/unchecked.ts";
import type { BodyOf } from "../../../base/wire/endpoint.ts";
import { deleteRule, getRule, listRules, putRule, type Rule } from "../../../observability/api/alert-rules.ts";
import type { Arguments } from "../../basics/arguments.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { usageFailure } from "../../basics/failures.ts";
import { ruleText, rulesText } from "../../text/alert-text.ts";
import { listed, noWords, numberOf, oneWord, present } from "../../shell/words.ts";
import { rowsOf } from "../../shell/listing.ts";

const which = "which rule: its name, as berth alerts rules list shows it";

export const ruleCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the rules: the default pack, and your own",
    usage: ["alerts rules list"],
    lists: rowsOf("rules", "name"),
    flags: [],
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listRules);
      return answer(context, data, () => rulesText(data.rules, context));
    },
  },
  {
    name: "show",
    summary: "show one rule with all of its settings",
    usage: ["alerts rules show NAME"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(getRule, { params: { name: oneWord(args, which) } });
      return answer(context, data, () => ruleText(data, context));
    },
  },
  {
    name: "set",
    summary: "make a rule, or change one",
    usage: ["alerts rules set NAME [what it watches] [--for TIME] [--severity SEVERITY] [--app GLOB…]"],
    examples: [
      "alerts rules set down --for 3m  it may be down for 3 minutes",
      "alerts rules set error-rate --failed-of shop/web=20  one app may fail more of its requests",
      "alerts rules set panic --log panic:  a text in the output of apps",
      "alerts rules set slow --p99 800 --app shop/web  1 % takes longer than 800 ms",
      "alerts rules set cpu --metric system.cpu_percent --above 90  a metric",
    ],
    detail: ["What is not given stays as it is."],
    flags: [
      { name: "log", value: "TEXT", summary: "watch the output of apps for a text" },
      { name: "level", value: "LEVEL", summary: "with --log: only lines of this level" },
      { name: "more-than", value: "N", summary: "with --log: fires above this many lines (0)" },
      { name: "within", value: "TIME", summary: "with --log: the span in which they are counted (5m)" },
      { name: "failed", value: "PERCENT", summary: "watch the share of failed requests" },
      { name: "failed-of", value: "APP=PERCENT", repeat: true, summary: "another share for one app: shop/web=20" },
      { name: "p99", value: "MS", summary: "watch the 99th percentile of the response time" },
      { name: "metric", value: "NAME", summary: "watch a metric" },
      { name: "agg", value: "WORD", summary: "with --metric: avg, min, max, sum, rate, p50, p95 or p99 (avg)" },
      { name: "over", value: "TIME", summary: "with --metric: the span that is aggregated (5m)" },
      { name: "by", value: "LABELS", repeat: true, summary: "with --metric: one alert for each value of a label" },
      { name: "above", value: "N", summary: "with --metric: fires above" },
      { name: "below", value: "N", summary: "with --metric: fires below" },
      { name: "threshold", value: "N", summary: "certificate and backup: days; disk: percent used" },
      { name: "for", value: "TIME", summary: "how long it must hold before the alert fires" },
      { name: "keep", value: "TIME", summary: "how long all must be well before the alert ends" },
      { name: "severity", value: "SEVERITY", summary: "critical, warning or info" },
      { name: "app", value: "GLOB", repeat: true, summary: "only these apps: shop/web, shop/*" },
      { name: "group-by", value: "LABELS", repeat: true, summary: "alerts that share these labels share a message" },
      { name: "channel", value: "NAME", repeat: true, summary: "only to these channels" },
      { name: "title", value: "TEXT", summary: "of its messages; {app}, {value} and {detail} are filled in" },
    ],
    async run(context, args) {
      const name = oneWord(args, which);
      const known = await knownRule(context, name);
      const watch = watchOf(args, known);
      const body = {
        ...(known === undefined ? {} : settingsOf(known)),
        watch: unchecked<BodyOf<typeof putRule>["watch"]>(watch),
        ...present({
          for: args.value("for"),
          keep: args.value("keep"),
          severity: unchecked<BodyOf<typeof putRule>["severity"]>(args.value("severity")),
          apps: listed(args, "app"),
          group_by: listed(args, "group-by"),
          channels: listed(args, "channel"),
          title: args.value("title"),
        }),
      };
      const data = await context.api.call(putRule, { params: { name }, body });
      return answer(context, data, () => ruleText(data, context));
    },
  },
  turning("enable", true),
  turning("disable", false),
  {
    name: "delete",
    summary: "delete a rule; a changed one of the default pack becomes as it was",
    usage: ["alerts rules delete NAME"],
    flags: [],
    async run(context, args) {
      const name = oneWord(args, which);
      const data = await context.api.call(deleteRule, { params: { name } });
      return answer(context, data, () =>
        data.restored ? `rule ${name} is the default again` : `rule ${name} is deleted`,
      );
    },
  },
];

function turning(verb: string, enabled: boolean): Command {
  const state = enabled ? "on" : "off";
  return {
    name: verb,
    summary: enabled ? "turn a rule on" : "turn a rule off; its alerts end",
    usage: [`alerts rules ${verb} NAME`],
    flags: [],
    async run(context, args) {
      const name = oneWord(args, which);
      const rule = await context.api.call(getRule, { params: { name } });
      const body = { ...settingsOf(rule), enabled };
      const data = await context.api.call(putRule, { params: { name }, body });
      return answer(context, data, () => `rule ${name} is ${state}`);
    },
  };
}

async function knownRule(context: Context, name: string): Promise<Rule | undefined> {
  const { rules } = await context.api.call(listRules);
  return rules.find((rule) => rule.name === name);
}

/** What an operator can write of a rule. */
function settingsOf({ name: _, origin: _o, firing: _f, problem: _p, ...settings }: Rule) {
  return settings;
}

/** What the flags say that it watches; else what it watches now. */
function watchOf(args: Arguments, known: Rule | undefined): unknown {
  const log = args.value("log");
  const metric = args.value("metric");
  const limit = numberOf(args, "threshold");
  const [failed, p99] = [numberOf(args, "failed"), numberOf(args, "p99")];
  const shares = args.values("failed-of");
  if (log !== undefined) {
    const more = { level: args.value("level"), more_than: numberOf(args, "more-than"), within: args.value("within") };
    return { type: "log", pattern: log, ...present(more) };
  }
  if (metric !== undefined) {
    const how = { agg: args.value("agg"), over: args.value("over"), group_by: listed(args, "by") };
    const limits = { above: numberOf(args, "above"), below: numberOf(args, "below") };
    return { type: "metric", metric, ...present(how), ...present(limits) };
  }
  if (failed !== undefined || p99 !== undefined || shares.length > 0) {
    const before = known?.watch.type === "requests" ? known.watch : undefined;
    // A share of one app leaves what holds for the others.
    const usual = failed === undefined && p99 === undefined ? before : { failed_percent: failed, p99_ms: p99 };
    const own = { ...before?.failed_percent_of, ...Object.fromEntries(shares.map(shareOf)) };
    const failedOf = Object.keys(own).length === 0 ? undefined : own;
    return { type: "requests", ...present({ ...usual, failed_percent_of: failedOf }) };
  }
  if (known === undefined) throw usageFailure("say what the rule watches: --log, --failed, --p99 or --metric");
  return limit === undefined ? known.watch : { ...known.watch, limit };
}

/** `shop/web=20` */
function shareOf(text: string): [string, number] {
  const [app = "", percent = "", ...more] = text.split("=");
  if (more.length > 0 || percent.trim() === "" || !Number.isFinite(Number(percent)))
    throw usageFailure(`--failed-of takes SCOPE/NAME=PERCENT, such as shop/web=20, not ${JSON.stringify(text)}`);
  return [app, Number(percent)];
}
