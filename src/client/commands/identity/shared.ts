import { listIdentityInstances } from "../../../identity/api/manage/instances.ts";
import type { Arguments, Flag } from "../../basics/arguments.ts";
import type { Context } from "../../shell/command.ts";
import { usageFailure } from "../../basics/failures.ts";
import { printable } from "../../basics/style.ts";
import { tableText } from "../../basics/table-text.ts";

export const instanceFlag: Flag = {
  name: "instance",
  short: "i",
  value: "ID",
  summary: "the instance; may be left out where there is only one",
};

export const pageFlags: readonly Flag[] = [
  { name: "limit", short: "n", value: "N", summary: "at most this many (50)" },
  { name: "cursor", value: "TEXT", summary: "go on after the page that ended with it" },
];

/** `--instance`, or the only one there is. */
export async function instanceOf({ api }: Context, args: Arguments): Promise<string> {
  const given = args.value("instance");
  if (given !== undefined) return given;
  const { instances } = await api.call(listIdentityInstances);
  const [only, ...more] = instances;
  if (only !== undefined && more.length === 0) return only.id;
  throw usageFailure(
    only === undefined
      ? "there is no instance yet: berth identity quickstart makes one"
      : "there are several instances: say which with --instance; berth identity instance list shows them",
  );
}

/** A value that is a secret: `-` reads it from stdin, so that it is in no command line. */
export async function secretValue(args: Arguments, flag: string, context: Context): Promise<string | undefined> {
  const value = args.value(flag);
  return value === "-" ? (await context.stdin()).replace(/\r?\n$/, "") : value;
}

export function flagOf(args: Arguments, name: string): boolean | undefined {
  return args.value(name) === undefined ? undefined : args.on(name);
}

export function table(head: readonly string[], rows: readonly (readonly string[])[], { terminal }: Context): string {
  const safe = rows.map((row) => row.map(printable));
  return tableText([head, ...safe], { width: terminal.width, head: terminal.style.dim });
}

/** How to see the next page, where there is one. */
export function moreText(next: string | undefined): string {
  return next === undefined ? "" : `\nmore with --cursor ${next}`;
}
