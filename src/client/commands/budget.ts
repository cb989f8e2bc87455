import { getBudget, listBudgets, putBudget } from "../../observability/api/incidents.ts";
import { answer, type Command, type CommandBody } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { resourceReference } from "../basics/reference.ts";
import { budgetsText, budgetText } from "../text/incident-text.ts";
import { optionalWord, present } from "../shell/words.ts";

const monthFlag = { name: "month", value: "MONTH", summary: "2026-01, UTC (this month)" };

const commands: readonly Command[] = [
  {
    name: "show",
    summary: "show how long apps may be down in a month, and what was spent on what",
    usage: ["budget show [SCOPE/NAME] [--month MONTH]"],
    flags: [monthFlag],
    async run(context, args) {
      const text = optionalWord(args);
      const query = present({ month: args.value("month") });
      if (text === undefined) {
        const data = await context.api.call(listBudgets, { query });
        return answer(context, data, () => budgetsText(data.budgets, context));
      }
      const data = await context.api.call(getBudget, { params: placeOf(text), query });
      return answer(context, data, () => budgetText(data, context));
    },
  },
  {
    name: "set",
    summary: "set how much of a month an app is meant to be up",
    usage: ["budget set SCOPE/NAME PERCENT"],
    examples: ["budget set shop/web 99.5  3.6 hours of a month", "budget set shop/web default  99.9 again"],
    flags: [],
    async run(context, args) {
      const [text, percent, ...more] = args.words;
      if (text === undefined || percent === undefined || more.length > 0) {
        throw usageFailure("say which app and how much: budget set SCOPE/NAME 99.9");
      }
      const target = percent === "default" ? null : Number(percent);
      if (Number.isNaN(target)) throw usageFailure(`"${percent}" is not a number; write it like 99.9`);
      const data = await context.api.call(putBudget, {
        params: placeOf(text),
        body: { target_percent: target },
      });
      return answer(context, data, () => budgetText(data, context));
    },
  },
];

function placeOf(text: string): { scope: string; name: string } {
  const { scope, name } = resourceReference(text);
  if (scope === undefined) throw usageFailure(`"${text}" has no scope: write SCOPE/NAME`);
  return { scope, name };
}

export const budgetCommand: CommandBody = {
  usage: ["budget"],
  examples: [
    "budget  how long each app was down this month, and how long it still may be",
    "budget show shop/web  which deploys and deaths that went to",
  ],
  detail: ["An app is down while it is meant to run and no replica of it is ready."],
  flags: [],
  commands,
  run: (context, args) => commands[0]?.run(context, args) ?? Promise.resolve(exitCodes.failed),
};
