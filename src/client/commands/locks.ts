import { type Lock, listLocks, lock, unlock } from "../../orchestration/api/locks.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { noteUnstored } from "../shell/named.ts";
import { printable } from "../basics/style.ts";
import { oneWord } from "../shell/words.ts";
import { tableText } from "../basics/table-text.ts";
import { ageOf, timeText } from "../text/time-text.ts";
import { tableSetup } from "./get.ts";
import { rowsOf } from "../shell/listing.ts";

export const lockCommand: CommandBody = {
  usage: ["lock SCOPE[/NAME] WHY [--for TIME]"],
  examples: [
    'lock shop "moving the database"  nothing of shop can be changed',
    'lock shop/web "demo at noon" --for 2h  it ends by itself',
  ],
  detail: [
    "Until it is unlocked, apply, delete, config, scale, restart, release and rollback of the scope or",
    "the app are refused; the error says who locked it and why. What runs goes on, heals and scales by",
    "itself; looking, logs, exec and starting or stopping a pod stay possible.",
  ],
  flags: [{ name: "for", value: "TIME", summary: "ends by itself after this long: 30m, 2h, 7d" }],
  async run(context, args) {
    const [place, reason, ...more] = args.words;
    if (place === undefined || reason === undefined || more.length > 0) {
      throw usageFailure('say what and why: lock SCOPE[/NAME] "the database moves"');
    }
    const data = await context.api.call(lock, { query: { ...placeOf(place), reason, for: args.value("for") } });
    answer(context, data, () => `locked ${nameOf(data)}; unlock it with: berth unlock ${nameOf(data)}`);
    const { scope, name } = data;
    if (!context.json) await noteUnstored({ text: nameOf(data), scope, name }, context, "the lock is for what comes");
    return exitCodes.done;
  },
};

export const unlockCommand: CommandBody = {
  usage: ["unlock SCOPE[/NAME]"],
  examples: ["unlock shop  take changes again"],
  flags: [],
  async run(context, args) {
    const place = oneWord(args, "what to unlock: one SCOPE or SCOPE/NAME");
    const data = await context.api.call(unlock, { query: placeOf(place) });
    return answer(context, data, () => `unlocked ${nameOf(data)}; it was locked by ${data.actor}: ${data.reason}`);
  },
};

export const locksCommand: CommandBody = {
  usage: ["locks [SCOPE]"],
  examples: ["locks  what is locked, by whom and why"],
  flags: [],
  lists: rowsOf("locks", "scope", "name"),
  async run(context, args) {
    const [scope, ...more] = args.words;
    if (more.length > 0) throw usageFailure("locks takes one SCOPE at most");
    const data = await context.api.call(listLocks, { query: { scope } });
    return answer(context, data, () => lockTable(data.locks, tableSetup(context)));
  },
};

function lockTable(locks: readonly Lock[], { style, width, now }: ReturnType<typeof tableSetup>): string {
  if (locks.length === 0) return "nothing is locked";
  const rows = locks.map((held) =>
    [nameOf(held), held.actor, ageOf(held.since, now), held.until ? timeText(held.until) : "-", held.reason].map(
      printable,
    ),
  );
  return tableText([["WHAT", "BY", "AGE", "UNTIL", "WHY"], ...rows], { width, head: style.dim });
}

function nameOf({ scope, name }: Lock): string {
  return name === undefined ? scope : `${scope}/${name}`;
}

function placeOf(text: string): { scope: string; name: string | undefined } {
  const [scope = "", name, ...more] = text.split("/");
  if (scope === "" || name === "" || more.length > 0) throw usageFailure(`"${text}" is not SCOPE or SCOPE/NAME`);
  return { scope, name };
}
