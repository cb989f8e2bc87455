import type { Arguments, Flag } from "../basics/arguments.ts";
import type { Command, Context, Listing } from "./command.ts";
import { usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";

const watchFlag: Flag = { name: "watch", short: "w", summary: "go on showing it until Ctrl-C" };

/** Rows in a field of the answer (""; the answer itself), called by fields of a row: `app/web` for scope and name; of a field with several values the first. */
export function rowsOf(field: string, ...names: readonly string[]): Listing {
  return {
    rows: (data) => listIn(field === "" ? data : fieldOf(data, field)),
    name: (row) => {
      const values = names.map((name) => fieldOf(row, name));
      const parts = values
        .map((value) => (Array.isArray(value) ? value[0] : value))
        .filter((part) => part !== undefined && part !== "");
      return parts.map(String).join("/");
    },
  };
}

/** A command with two lists, told apart by which of them has rows. */
export function eitherOf(one: Listing, other: Listing): Listing {
  const rows = (data: unknown) => {
    const found = one.rows(data);
    return found.length > 0 ? found : other.rows(data);
  };
  return { rows, name: (row) => one.name(row) || other.name(row) };
}

/** A listing for commands whose first word has to be one of `verbs`; `byDefault`: or no word is given. */
export function whenListing(verbs: string, listing: Listing, { byDefault = false } = {}): Listing {
  return { ...listing, when: ([word]) => (word === undefined ? byDefault : verbs.split(" ").includes(word)) };
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === field)?.[1]
    : undefined;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The command with what all lists have in common; other commands stay as they are. */
export function withListing(command: Command): Command {
  const { lists, commands } = command;
  const inner = commands === undefined ? {} : { commands: commands.map(withListing) };
  if (lists === undefined) return { ...command, ...inner };
  return {
    ...command,
    ...inner,
    flags: [...command.flags, watchFlag],
    yaml: true,
    names: true,
    run: (context, args) => runListing(command, { lists, context, args }),
  };
}

interface Run {
  lists: Listing;
  context: Context;
  args: Arguments;
}

async function runListing(command: Command, { lists, context, args }: Run): Promise<number> {
  const isWatched = args.on("watch");
  const asked = isWatched ? "-w" : context.yaml ? "-o yaml" : context.names ? "-o name" : undefined;
  if (asked !== undefined && args.on("follow")) throw usageFailure(`${asked} does not go with -f`);
  if (lists.when?.(args.words) === false) {
    if (asked === undefined) return command.run(context, args);
    throw usageFailure(`${asked} is for lists: berth ${listUsage(command)}`);
  }
  const form = await formOf(lists, context);
  if (!isWatched) return command.run({ ...context, ...(form && { listForm: form }) }, args);
  const { watch } = await import("./watch.ts");
  const look = async () => {
    const said: string[] = [];
    let key = "";
    const terminal = { ...context.terminal, out: (text: string) => void said.push(text), note: () => undefined };
    const told = (data: unknown) => {
      key = JSON.stringify(data);
    };
    await command.run({ ...context, terminal, told, ...(form && { listForm: form }) }, args);
    return { text: said.join("\n"), key };
  };
  return watch(context, { look, everyMs: context.limits.followMs });
}

/** The form that lists, such as `certs list`. */
function listUsage({ usage }: Command): string {
  const form = usage.find((line) => /\blist\b/.test(line)) ?? "";
  return form.replace(/\[list\]/, "list").replace(/\[list (.*)\]$/, "list $1");
}

/** How `-o yaml` and `-o name` show the data of a list. */
async function formOf(lists: Listing, { yaml, names }: Context): Promise<((data: unknown) => string) | undefined> {
  if (names)
    return (data) =>
      lists
        .rows(data)
        .map((row) => printable(lists.name(row)))
        .join("\n");
  if (!yaml) return undefined;
  // Loaded when used, as it is not small.
  const { stringify } = await import("yaml");
  return (data) =>
    lists
      .rows(data)
      .map((row) => stringify(row, { lineWidth: 0 }).trimEnd())
      .join("\n---\n");
}
