import { printable } from "../basics/style.ts";

/** What a config change restarts, and how to see the end of it: the command does not wait for it. */
export function restartingLines(
  restarting: readonly string[],
  { of, why = "" }: { of: string; why?: string },
): string[] {
  if (restarting.length === 0) return [];
  return [
    ...restarting.map((ref) => `restarting ${printable(ref)}${why}`),
    `the restart goes on; follow it: berth get pods ${printable(of)} -w`,
  ];
}
