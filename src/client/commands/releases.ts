import { listReleases, type Release } from "../../orchestration/api/releases.ts";
import { postFailure } from "../../base/pure/exit-code.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { oneWord } from "../shell/words.ts";
import { receiptText } from "../text/receipt-text.ts";
import { ageOf, shortDuration } from "../text/time-text.ts";
import { resourceQuery } from "../basics/reference.ts";
import type { TableSetup } from "../text/resource-table.ts";
import { printable, type Style } from "../basics/style.ts";
import { takenBackFields } from "../facts/taken-back.ts";
import { tableText } from "../basics/table-text.ts";
import { tableSetup } from "./get.ts";
import { rowsOf } from "../shell/listing.ts";

export const releasesCommand: CommandBody = {
  usage: ["releases SCOPE/NAME [--kind KIND]"],
  examples: ["releases shop/web  every release and its result"],
  flags: [{ name: "kind", short: "k", value: "KIND", summary: "deployment (default) or statefulset" }],
  lists: rowsOf("releases", "id"),
  async run(context, args) {
    const query = resourceQuery(oneWord(args, "whose releases: one SCOPE/NAME"), args.value("kind"));
    const data = await context.api.call(listReleases, { query });
    return answer(context, data, () => releaseTable(data.releases, tableSetup(context)));
  },
};

function releaseTable(releases: readonly Release[], { style, width, now }: TableSetup): string {
  if (releases.length === 0) return "no releases yet";
  const rows = releases.map((release) => [
    release.id,
    statusText(release, style),
    causeText(release),
    String(release.revision),
    printable(release.image ?? "-"),
    ageOf(release.started_at, now),
    tookText(release, now),
    printable(whyText(release)),
  ]);
  return tableText([["ID", "STATUS", "CAUSE", "REVISION", "IMAGE", "AGE", "TOOK", "WHY"], ...rows], {
    width,
    head: style.dim,
  });
}

function statusText({ status }: Release, style: Style): string {
  if (status === "succeeded") return style.green(status);
  return status === "failed" ? style.red(status) : style.yellow(status);
}

function causeText({ cause, rolled_back_from: goal }: Release): string {
  return goal === undefined ? cause : `${cause} to ${goal}`;
}

/** What somebody wrote about it first. A failed release names its reason, then what visitors saw of it. */
function whyText(release: Release): string {
  const error = release.error ?? postFailure(release.post_exit_code);
  const fate = error === undefined ? [tookBack(release) || trafficText(release)] : [error, trafficText(release)];
  const canary = release.canary?.text ?? "";
  const message = release.message === undefined ? "" : `"${release.message}"`;
  return [message, ...fate, canary].filter((part) => part !== "").join("; ");
}

function tookBack({ taken_back: paths = [] }: Release): string {
  return paths.length === 0 ? "" : `took back ${takenBackFields(paths)}`;
}

function trafficText({ receipt }: Release): string {
  return receipt === undefined ? "" : receiptText(receipt);
}

function tookText({ started_at: started, ended_at: ended }: Release, now: number): string {
  return shortDuration((ended === undefined ? now : Date.parse(ended)) - Date.parse(started));
}
